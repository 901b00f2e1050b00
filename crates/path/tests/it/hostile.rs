//! Packets that an honest peer would not send: the parser reads only what the writer writes, and
//! nothing that a connection is given makes it panic. `LANEWAY_SEED=7` sets the seed.

use laneway_path::wire::{
    Body, Counts, DIVERSIONS, Echo, HEADER_BYTES, Header, MOST_PATHS, Range, read, write,
};
use laneway_path::{
    AckTimeout, Config, Connection, Modify, Nanos, NotReadyTimer, PathId, QpState, Retries,
};
use laneway_stats::SplitMix64;

const MS: Nanos = 1_000_000;
const PATHS: u8 = 3;
const NUMBERS: [u32; 2] = [7, 9];
const LONGEST: usize = 5000;

fn random() -> SplitMix64 {
    let seed = std::env::var("LANEWAY_SEED").ok();
    SplitMix64::new(seed.map_or(1, |word| word.parse().expect("a seed")))
}

fn end(side: usize) -> Connection {
    let mut connection = Connection::new(Config { number: NUMBERS[side], paths: PATHS });
    let init = Modify { path: Some(PathId(0)), ..Modify::to(QpState::Init) };
    connection.modify(0, init).expect("INIT");
    let rtr = Modify {
        peer: Some(NUMBERS[1 - side]),
        receive_number: Some(0),
        packet_bytes: Some(1000),
        not_ready_timer: Some(NotReadyTimer::USUAL),
        alternate: Some(PathId(1)),
        load: true,
        ..Modify::to(QpState::Rtr)
    };
    connection.modify(0, rtr).expect("RTR");
    let rts = Modify {
        send_number: Some(0),
        ack_timeout: AckTimeout::new(14),
        retries: Retries::new(7),
        not_ready_retries: Retries::new(7),
        ..Modify::to(QpState::Rts)
    };
    connection.modify(0, rts).expect("RTS");
    connection
}

/// Packets that leave now.
fn packets(now: Nanos, connection: &mut Connection) -> Vec<(PathId, Vec<u8>)> {
    let mut all = Vec::new();
    loop {
        let mut packet = Vec::new();
        let Some(path) = connection.poll_transmit(now, &mut packet) else { return all };
        all.push((path, packet));
        assert!(all.len() < 20_000, "it does not cease to send");
    }
}

/// A number that is small, large, or about where the connection is.
fn number(random: &mut SplitMix64) -> u64 {
    match random.index(5) {
        0 => random.next_u64() >> random.index(64),
        1 => u64::MAX - random.index(3) as u64,
        2 => (1 << random.index(64)) - random.index(2) as u64,
        _ => random.index(200) as u64,
    }
}

/// A packet that has the form of one, most often.
fn hostile(random: &mut SplitMix64, to: u32, path: u8) -> Vec<u8> {
    let mut some = || number(random);
    let header = Header {
        framed: false,
        path: PathId(path),
        to,
        serial: some(),
        epoch: some() as u32,
        primary: PathId((some() % MOST_PATHS as u64) as u8),
        diversions: some() as u8 % DIVERSIONS,
        expects: some(),
    };
    let counts = Counts { marked: some() as u16, again: some() as u16 };
    let path = PathId((some() % MOST_PATHS as u64) as u8);
    let (serial, delay_us, arrived) = (some(), some() as u32, some());
    let echo = Echo { path, serial, delay_us, arrived, counts };
    let range = Range { after: some() as u32, count: some() as u32 };
    let (number, flags, bytes) = (some(), some(), vec![7; some() as usize % 1500]);
    let body = match random.index(9) {
        0..=2 => {
            let [first, last, ack_wanted] = [1, 2, 4].map(|bit| flags & bit != 0);
            Body::Data { number, first, last, ack_wanted, bytes: &bytes }
        }
        3 => {
            Body::Ack { echoes: vec![echo; random.index(9)], early: vec![range; random.index(33)] }
        }
        4 => Body::NotReady { timer: random.index(32) as u8 },
        5 => Body::Probe { bytes: bytes.len() },
        6 => Body::Answer { probe: echo, queued: flags & 8 != 0 },
        7 => Body::Arm { bytes: bytes.len() },
        _ => Body::Arming { bytes: bytes.len() },
    };
    let mut packet = Vec::new();
    write(&header, &body, &mut packet);
    match random.index(8) {
        0 => packet[random.index(HEADER_BYTES)] ^= 1 << random.index(8),
        1 => packet.truncate(random.index(packet.len() + 1)),
        2 => packet.push(0),
        _ => {}
    }
    packet
}

#[test]
fn only_what_is_written_is_read() {
    let mut random = random();
    let (mut read_again, mut refused) = (0, 0);
    for _ in 0..300_000 {
        let path = random.index(MOST_PATHS) as u8;
        let mut packet = hostile(&mut random, 7, path);
        if random.index(4) == 0 {
            packet = (0..random.index(100)).map(|_| random.next_u64() as u8).collect();
        }
        let Some((header, body)) = read(&packet) else {
            refused += 1;
            continue;
        };
        let mut again = Vec::new();
        write(&header, &body, &mut again);
        // Bytes that fill a probe say nothing.
        let says = match body {
            Body::Probe { .. } | Body::Arm { .. } | Body::Arming { .. } => HEADER_BYTES,
            _ => again.len(),
        };
        assert_eq!(again.len(), packet.len(), "{header:?} {body:?}");
        assert_eq!(again[..says], packet[..says], "{header:?} {body:?}");
        read_again += 1;
    }
    println!("{read_again} packets were read, {refused} refused");
    assert!(read_again > 100_000 && refused > 10_000);
}

/// A peer that knows the keys may break its connection, and nothing more.
#[test]
fn a_hostile_peer_causes_no_panic_and_no_end_of_packets() {
    let mut random = random();
    for round in 0..laneway_needs::amount(300, 20_000) {
        let mut ends = [end(0), end(1)];
        let mut now = MS;
        for (side, connection) in ends.iter_mut().enumerate() {
            for k in 0..20 {
                let room = Vec::with_capacity(LONGEST);
                connection.post_receive(k, room).expect("room");
                let bytes = vec![side as u8; random.index(LONGEST)];
                connection.send(now, k, bytes).expect("sent");
            }
        }
        // Some states change before the first hostile packet.
        let honest = random.index(40);
        for step in 0..100 {
            now += random.index(3 * MS as usize) as Nanos;
            for side in 0..2 {
                ends[side].on_timeout(now);
                while ends[side].poll_event().is_some() {}
                let left = packets(now, &mut ends[side]);
                let peer = &mut ends[1 - side];
                left.iter().for_each(|(path, packet)| peer.on_packet(now, *path, packet));
                for _ in 0..if step < honest { 0 } else { 4 } {
                    let path = random.index(usize::from(PATHS)) as u8;
                    let packet = hostile(&mut random, NUMBERS[1 - side], path);
                    peer.on_packet(now, PathId(path), &packet);
                }
            }
        }
        let counters = ends[0].counters();
        assert!(counters.malformed > 0 && counters.received > 0, "round {round}: {counters:?}");
    }
}

/// What a network says of a packet counts as little as the packet.
#[test]
fn marks_of_replayed_packets_are_not_counted() {
    let mut ends = [end(0), end(1)];
    let now = MS;
    for k in 0..3 {
        ends[1].post_receive(k, Vec::with_capacity(LONGEST)).expect("room");
        ends[0].send(now, k, vec![1; 3000]).expect("sent");
    }
    let left = packets(now, &mut ends[0]);
    let mut marked = 0;
    for (path, packet) in &left {
        if packet[0] == 1 {
            ends[1].on_mark(*path);
            marked += 1;
        }
        ends[1].on_packet(now, *path, packet);
        for _ in 0..5 {
            ends[1].on_mark(*path);
            ends[1].on_packet(now, *path, packet);
        }
    }
    let answers = packets(now + MS, &mut ends[1]);
    let reported = answers.iter().find_map(|(_, packet)| match read(packet)?.1 {
        Body::Ack { echoes, .. } => echoes.iter().find(|e| e.path == PathId(0)).map(|e| e.counts),
        _ => None,
    });
    assert!(marked > 0);
    assert_eq!(reported.map(|counts| counts.marked), Some(marked));
}
