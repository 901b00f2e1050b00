//! The engine keeps its times, its order and its books.

use laneway_stats::SplitMix64;

use super::{Engine, Pipe, Wan, Way, WayCounters};

const MS: u64 = 1_000_000;

/// Two sites with this way from 0 to 1, and the way back.
fn wan(way: Way, pipes: Vec<Pipe>) -> Wan {
    let back = Way { delay: 0.001, ..Way::default() };
    Wan { sites: 2, ways: vec![None, Some(way), Some(back), None], pipes, seed: 1 }
}

fn engine(way: Way, pipes: Vec<Pipe>) -> Engine {
    Engine::new(wan(way, pipes)).unwrap()
}

fn pipe(name: &str, rate: f64, queue_bytes: u64) -> Pipe {
    Pipe { name: name.into(), rate, queue_bytes }
}

/// A UDP packet of a length, from a port, that carries its number.
fn packet(length: usize, port: u16, number: u32) -> Vec<u8> {
    let mut packet = vec![0; length];
    packet[0] = 0x45;
    packet[9] = 17;
    packet[20..22].copy_from_slice(&port.to_be_bytes());
    packet[24..28].copy_from_slice(&number.to_be_bytes());
    packet
}

fn number_of(packet: &[u8]) -> u32 {
    u32::from_be_bytes(packet[24..28].try_into().unwrap())
}

/// Jumps from event to event until the network is empty: times, sites and numbers.
fn drain(engine: &mut Engine) -> Vec<(u64, usize, u32)> {
    let mut out = Vec::new();
    let mut seen = Vec::new();
    while let Some(now) = engine.next_at() {
        while let Some(to) = engine.pop(now, &mut out) {
            seen.push((now, to, number_of(&out)));
        }
    }
    seen
}

fn times(engine: &mut Engine) -> Vec<u64> {
    drain(engine).iter().map(|seen| seen.0).collect()
}

fn counters(engine: &Engine) -> WayCounters {
    engine.counters().ways[1]
}

#[test]
fn a_delay_is_exact() {
    let mut engine = engine(Way { delay: 0.005, ..Way::default() }, vec![]);
    engine.push(7, 0, 1, &packet(100, 1, 0));
    engine.push(9, 1, 0, &packet(100, 1, 1));
    let mut out = Vec::new();
    assert_eq!(engine.pop(MS + 8, &mut out), None);
    assert_eq!(drain(&mut engine), [(MS + 9, 0, 1), (5 * MS + 7, 1, 0)]);
    assert_eq!(engine.next_at(), None);
}

#[test]
fn a_pipe_serves_one_packet_after_the_other() {
    let way = Way { delay: 0.001, pipes: vec![0], ..Way::default() };
    let mut engine = engine(way, vec![pipe("p", 1e6, u64::MAX)]);
    for (number, length) in [1000, 500, 1500].into_iter().enumerate() {
        engine.push(0, 0, 1, &packet(length, 1, number as u32));
    }
    assert_eq!(times(&mut engine), [2 * MS, 2 * MS + MS / 2, 4 * MS]);
    engine.push(10 * MS, 0, 1, &packet(1000, 1, 3));
    assert_eq!(times(&mut engine), [12 * MS], "an idle pipe has saved nothing up");
}

/// 64 bytes at 3 GB/s take 21 1/3 ns.
#[test]
fn parts_of_nanoseconds_are_not_lost() {
    let mut engine =
        engine(Way { pipes: vec![0], ..Way::default() }, vec![pipe("p", 3e9, 1 << 40)]);
    for number in 0..3_000_000 {
        engine.push(0, 0, 1, &packet(64, 1, number));
    }
    let last = *times(&mut engine).last().unwrap();
    assert!(last.abs_diff(64 * MS) <= 1, "{last}");
}

/// Parts of nanoseconds belong to packets back to back.
#[test]
fn an_idle_pipe_begins_anew() {
    let mut engine = engine(Way { pipes: vec![0], ..Way::default() }, vec![pipe("p", 3e9, 0)]);
    for number in 0..4 {
        engine.push(u64::from(number) * 1000, 0, 1, &packet(64, 1, number));
        assert_eq!(times(&mut engine), [u64::from(number) * 1000 + 21]);
    }
}

/// A sleeper until `next_at` is never late, and is not woken for what a pipe does.
#[test]
fn the_next_time_is_that_of_a_packet_that_leaves() {
    let start = |way: Way| {
        let mut engine = engine(way, vec![pipe("p", 1e6, u64::MAX)]);
        engine.push(0, 0, 1, &packet(1000, 1, 0));
        engine
    };
    let slow = Way { delay: 0.005, pipes: vec![0], ..Way::default() };
    let mut delayed = start(slow.clone());
    // The other way's delay is a millisecond: what the pipe ends may have to take that one.
    assert_eq!(delayed.next_at(), Some(2 * MS));
    delayed.set(0, 1, 0, |way| way.delay = 0.005).unwrap();
    assert_eq!(delayed.next_at(), Some(6 * MS));
    delayed.set(0, 0, 1, |way| way.delay = 0.0).unwrap();
    assert_eq!(drain(&mut delayed), [(MS, 1, 0)]);

    let mut overtaking = start(Way { reorder: 1.0, ..slow });
    overtaking.set(0, 0, 1, |way| way.reorder = 0.0).unwrap();
    overtaking.push(0, 0, 1, &packet(1000, 1, 1));
    assert_eq!(drain(&mut overtaking), [(MS, 1, 0), (7 * MS, 1, 1)]);
}

#[test]
fn ways_share_a_pipe() {
    let way = Way { pipes: vec![0], ..Way::default() };
    let mut wan = wan(way.clone(), vec![pipe("p", 1e6, u64::MAX)]);
    wan.ways[2] = Some(Way { delay: 0.5, ..way });
    let mut engine = Engine::new(wan).unwrap();
    for number in 0..4 {
        engine.push(0, number % 2, 1 - number % 2, &packet(1000, 1, number as u32));
    }
    let seen = drain(&mut engine);
    let due = [(MS, 1, 0), (3 * MS, 1, 2), (502 * MS, 0, 1), (504 * MS, 0, 3)];
    assert_eq!(seen, due);
    assert_eq!(engine.counters().pipes[0].most_waiting_bytes, 3000);
}

#[test]
fn each_connection_has_its_own_pace() {
    let way = Way { connection: Some(1e6), ..Way::default() };
    let mut engine = engine(way, vec![]);
    for number in 0..3 {
        engine.push(0, 0, 1, &packet(1000, 1, number));
        engine.push(0, 0, 1, &packet(500, 2, 10 + number));
    }
    let mut seen = drain(&mut engine);
    seen.sort_by_key(|seen| seen.2);
    let half = MS / 2;
    let times: Vec<u64> = seen.iter().map(|seen| seen.0).collect();
    assert_eq!(times, [MS, 2 * MS, 3 * MS, half, 2 * half, 3 * half]);
}

/// The second pipe serves in the order of arrival there, not of entry.
#[test]
fn two_pipes_in_a_row() {
    let slow = Way { pipes: vec![0, 2], ..Way::default() };
    let fast = Way { pipes: vec![1, 2], ..Way::default() };
    let pipes =
        vec![pipe("slow", 1e6, 1 << 20), pipe("fast", 4e6, 1 << 20), pipe("last", 2e6, 1 << 20)];
    let ways = vec![None, Some(slow), Some(fast), None];
    let mut engine = Engine::new(Wan { sites: 2, ways, pipes, seed: 1 }).unwrap();
    engine.push(0, 0, 1, &packet(1000, 1, 0));
    engine.push(0, 1, 0, &packet(1000, 1, 1));
    engine.push(0, 1, 0, &packet(1000, 1, 2));
    engine.push(0, 0, 1, &packet(1000, 1, 3));
    // Into the last at 1.00, 0.25, 0.50 and 2.00 ms, each for half a millisecond.
    let quarter = MS / 4;
    let due = [(3 * quarter, 0, 1), (5 * quarter, 0, 2), (7 * quarter, 1, 0), (10 * quarter, 1, 3)];
    assert_eq!(drain(&mut engine), due);
}

#[test]
fn a_full_queue_drops_to_the_byte() {
    let way = Way { pipes: vec![0], ..Way::default() };
    let mut engine = engine(way, vec![pipe("p", 1e6, 2500)]);
    // One is served, two wait; 500 bytes are left, which 501 do not fit, 500 do, and 29 no more.
    for (number, length) in [1000, 1000, 1000, 1000, 501, 500, 29].into_iter().enumerate() {
        engine.push(0, 0, 1, &packet(length, 1, number as u32));
    }
    assert_eq!(counters(&engine).dropped.packets, 3);
    assert_eq!(counters(&engine).dropped.bytes, 1530);
    // A nanosecond before the first has left, nothing has changed; then there is room for 1000.
    engine.push(MS - 1, 0, 1, &packet(29, 1, 7));
    engine.push(MS, 0, 1, &packet(1001, 1, 8));
    engine.push(MS, 0, 1, &packet(1000, 1, 9));
    assert_eq!(counters(&engine).dropped.packets, 5);
    let numbers: Vec<u32> = drain(&mut engine).iter().map(|seen| seen.2).collect();
    assert_eq!(numbers, [0, 1, 2, 5, 9]);
    let pipe = engine.counters().pipes[0];
    assert_eq!((pipe.most_waiting_bytes, pipe.dropped.packets), (2500, 5));
}

#[test]
fn a_paced_connection_drops_to_the_byte() {
    let way = Way { connection: Some(1e6), queue_bytes: 3000, ..Way::default() };
    let mut engine = engine(way, vec![]);
    for number in 0..10 {
        engine.push(0, 0, 1, &packet(1000, 1, number));
        engine.push(0, 0, 1, &packet(1000, 2, number));
    }
    assert_eq!(counters(&engine).dropped.packets, 12);
    assert_eq!(times(&mut engine).len(), 8);
}

#[test]
fn jitter_keeps_order_and_its_bounds() {
    let mut engine = engine(Way { delay: 0.010, jitter: 0.004, ..Way::default() }, vec![]);
    let mut entered = Vec::new();
    let mut seen = Vec::new();
    let mut out = Vec::new();
    for number in 0..20_000 {
        let now = u64::from(number) * MS / 10;
        entered.push(now);
        while let Some(at) = engine.next_at().filter(|&at| at <= now) {
            assert_eq!(engine.pop(at, &mut out), Some(1));
            seen.push((at, 1, number_of(&out)));
        }
        engine.push(now, 0, 1, &packet(100, 1, number));
    }
    seen.extend(drain(&mut engine));
    assert_eq!(seen.len(), 20_000);
    let mut delays = Vec::new();
    for (number, (at, _, carried)) in seen.into_iter().enumerate() {
        assert_eq!(carried, number as u32, "order");
        delays.push(at - entered[number]);
    }
    assert!(delays.iter().all(|delay| (10 * MS..=14 * MS).contains(delay)));
    assert!(delays.iter().any(|delay| *delay > 13_900_000));
    assert!(delays.iter().any(|&delay| delay < 13 * MS), "those behind wait for a late one");
}

/// Four standard deviations of a share over this many packets.
fn is_share(count: u64, of: u64, share: f64) -> bool {
    let deviation = (share * (1.0 - share) * of as f64).sqrt();
    (count as f64 - share * of as f64).abs() <= 4.0 * deviation
}

#[test]
fn shares_are_what_was_asked_for() {
    let seed = 20;
    println!("seed {seed}");
    let way = Way {
        delay: 0.001,
        loss: 0.01,
        duplicate: 0.02,
        reorder: 0.03,
        corrupt: 0.04,
        ..Way::default()
    };
    let mut engine = Engine::new(Wan { seed, ..wan(way, vec![]) }).unwrap();
    let (mut out, mut flipped, mut overtaking) = (Vec::new(), 0, 0);
    let mut newest = 0;
    for number in 0..100_000 {
        let now = u64::from(number) * 1000;
        while engine.pop(now, &mut out).is_some() {
            assert_eq!(out[..20], packet(60, 1, 0)[..20], "the header is never corrupted");
            let bits = |bytes: &[u8]| bytes.iter().map(|byte| byte.count_ones()).sum::<u32>();
            // Beyond the number, which tells order, there are zeros alone.
            flipped += u64::from(bits(&out[28..]));
            let carried = number_of(&out);
            overtaking += u64::from(carried > newest + 500 && carried <= number);
            newest = if carried > number { newest } else { carried };
        }
        engine.push(now, 0, 1, &packet(60, 1, number));
    }
    drain(&mut engine);
    let counted = counters(&engine);
    let passed = 100_000 - counted.lost.packets;
    let copies = passed + counted.duplicated.packets;
    assert!(is_share(counted.lost.packets, 100_000, 0.01), "{counted:?}");
    assert!(is_share(counted.duplicated.packets, passed, 0.02), "{counted:?}");
    assert!(is_share(counted.reordered.packets, copies, 0.03), "{counted:?}");
    assert!(is_share(counted.corrupted.packets, copies, 0.04), "{counted:?}");
    assert_eq!(counted.left.packets, copies);
    // 32 of the 40 bytes of payload are looked at; the last thousand packets are not.
    assert!(is_share(flipped, copies - 1000, 0.04 * 32.0 / 40.0), "{flipped}");
    assert!(overtaking > 2000, "{overtaking}");
}

#[test]
fn a_packet_that_overtakes_has_no_delay() {
    let mut engine = engine(Way { delay: 0.005, ..Way::default() }, vec![]);
    engine.push(0, 0, 1, &packet(100, 1, 0));
    engine.set(1, 0, 1, |way| way.reorder = 1.0).unwrap();
    engine.push(2, 0, 1, &packet(100, 1, 1));
    assert_eq!(drain(&mut engine), [(2, 1, 1), (5 * MS, 1, 0)]);
    assert_eq!(counters(&engine).reordered.packets, 1);
}

#[test]
fn a_corrupted_packet_differs_in_one_bit_and_one_without_payload_in_none() {
    let mut engine = engine(Way { corrupt: 1.0, ..Way::default() }, vec![]);
    let mut out = Vec::new();
    for length in [28, 100, 1500] {
        let sent = packet(length, 1, 5);
        engine.push(0, 0, 1, &sent);
        assert_eq!(engine.pop(0, &mut out), Some(1));
        let differing = sent.iter().zip(&out).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
        assert_eq!((out.len(), differing), (length, 1));
        assert_eq!(out[..20], sent[..20]);
    }
    for length in 0..=20 {
        engine.push(0, 0, 1, &packet(28, 1, 5)[..length]);
        assert_eq!(engine.pop(0, &mut out), Some(1));
        assert_eq!(out, packet(28, 1, 5)[..length]);
    }
    assert_eq!(counters(&engine).corrupted.packets, 3);
}

#[test]
fn nothing_enters_a_way_that_is_down() {
    let mut engine = engine(Way { delay: 0.005, ..Way::default() }, vec![]);
    engine.push(0, 0, 1, &packet(100, 1, 0));
    engine.set(MS, 0, 1, |way| way.down = true).unwrap();
    engine.push(2 * MS, 0, 1, &packet(100, 1, 1));
    engine.set(3 * MS, 0, 1, |way| way.down = false).unwrap();
    engine.push(4 * MS, 0, 1, &packet(100, 1, 2));
    assert_eq!(drain(&mut engine), [(5 * MS, 1, 0), (9 * MS, 1, 2)]);
    assert_eq!(counters(&engine).lost.packets, 1);
}

#[test]
fn what_is_served_keeps_its_time_and_what_waits_takes_the_new_rate() {
    let way = Way { pipes: vec![0], ..Way::default() };
    let mut engine = engine(way, vec![pipe("p", 1e6, u64::MAX)]);
    for number in 0..3 {
        engine.push(0, 0, 1, &packet(1000, 1, number));
    }
    engine.set_pipe(MS + 1, "p", |pipe| pipe.rate = 1e5).unwrap();
    assert_eq!(times(&mut engine), [MS, 2 * MS, 12 * MS]);
    assert_eq!(engine.counters().most_late_ns, 1, "the first was taken after the change");
}

/// A shorter delay, and an end of pacing, let nothing overtake.
#[test]
fn changes_keep_order() {
    let mut engine = engine(Way { delay: 0.005, connection: Some(1e6), ..Way::default() }, vec![]);
    for number in 0..3 {
        engine.push(0, 0, 1, &packet(1000, 1, number));
    }
    engine.set(1, 0, 1, |way| way.connection = None).unwrap();
    engine.push(1, 0, 1, &packet(1000, 1, 3));
    // All wait for the first, which is being served.
    assert_eq!(drain(&mut engine), (0..4).map(|i| (6 * MS, 1, i)).collect::<Vec<_>>());
    engine.push(7 * MS, 0, 1, &packet(1000, 1, 4));
    engine.set(8 * MS, 0, 1, |way| way.delay = 0.0).unwrap();
    engine.push(8 * MS, 0, 1, &packet(1000, 1, 5));
    assert_eq!(drain(&mut engine), [(12 * MS, 1, 4), (12 * MS, 1, 5)]);
}

#[test]
fn packets_to_nowhere_are_counted() {
    let mut engine = engine(Way::default(), vec![]);
    for (from, to) in [(0, 0), (0, 2), (2, 0), (usize::MAX, 1), (1, usize::MAX)] {
        engine.push(0, from, to, &packet(100, 1, 0));
    }
    assert_eq!(engine.counters().unrouted.packets, 5);
    assert_eq!(drain(&mut engine), []);
}

#[test]
fn connections_that_are_over_are_forgotten() {
    let mut engine = engine(Way { connection: Some(1e9), ..Way::default() }, vec![]);
    let mut out = Vec::new();
    for number in 0..100_000_u32 {
        let mut packet = packet(100, number as u16, number);
        packet[16] = (number >> 16) as u8;
        engine.push(u64::from(number) * 1000, 0, 1, &packet);
        engine.pop(u64::from(number) * 1000 + 500, &mut out);
    }
    assert!(engine.count_servers() <= 1025, "{}", engine.count_servers());
    assert_eq!(counters(&engine).left.packets, 100_000);
}

#[test]
fn networks_that_cannot_be_are_refused() {
    let good = wan(Way { pipes: vec![0], ..Way::default() }, vec![pipe("p", 1e6, 1)]);
    assert!(Engine::new(good.clone()).is_ok());
    let breaks: [fn(&mut Wan); 9] = [
        |wan| wan.sites = 3,
        |wan| wan.sites = usize::MAX,
        |wan| wan.pipes.clear(),
        |wan| wan.pipes[0].rate = 0.0,
        |wan| wan.pipes[0].rate = f64::NAN,
        |wan| wan.pipes[0].name = "two words".into(),
        |wan| wan.pipes.push(wan.pipes[0].clone()),
        |wan| wan.ways[1].as_mut().unwrap().loss = -0.1,
        |wan| wan.ways[1].as_mut().unwrap().delay = f64::INFINITY,
    ];
    for (index, change) in breaks.into_iter().enumerate() {
        let mut wan = good.clone();
        change(&mut wan);
        assert!(Engine::new(wan).is_err(), "{index}");
    }
}

/// Zero half of the time, so that settings meet in all combinations.
fn draw(draws: &mut SplitMix64, most: f64) -> f64 {
    if draws.index(2) == 0 { 0.0 } else { draws.uniform() * most }
}

fn draw_way(draws: &mut SplitMix64, pipes: usize) -> Way {
    Way {
        delay: draw(draws, 0.01),
        jitter: draw(draws, 0.01),
        connection: (draws.index(2) == 0).then(|| 1e5 + draw(draws, 1e7)),
        pipes: (0..draws.index(4)).map(|_| draws.index(pipes)).collect(),
        loss: draw(draws, 0.5),
        duplicate: draw(draws, 0.5),
        reorder: draw(draws, 0.5),
        corrupt: draw(draws, 0.5),
        queue_bytes: draws.index(20_000) as u64,
        down: draws.index(8) == 0,
    }
}

/// Random networks, traffic and changes, each from its own seed.
#[test]
fn no_packet_is_lost_or_made_otherwise() {
    for seed in 0..200 {
        println!("seed {seed}");
        let mut draws = SplitMix64::new(seed);
        let sites = 1 + draws.index(3);
        let pipes: Vec<Pipe> = (0..1 + draws.index(4))
            .map(|i| pipe(&i.to_string(), 1e5 + draw(&mut draws, 1e8), draws.index(30_000) as u64))
            .collect();
        let ways = (0..sites * sites)
            .map(|_| (draws.index(4) > 0).then(|| draw_way(&mut draws, pipes.len())))
            .collect();
        let mut engine = Engine::new(Wan { sites, ways, pipes, seed }).unwrap();
        let mut pushed = 0;
        let (mut now, mut popped, mut out) = (0, 0, Vec::new());
        for number in 0..2000 {
            now += draws.index(50_000) as u64;
            let (from, to) = (draws.index(sites), draws.index(sites));
            match draws.index(20) {
                0 => {
                    let new = draw_way(&mut draws, 1);
                    let set = |way: &mut Way| *way = Way { pipes: way.pipes.clone(), ..new };
                    assert_eq!(
                        engine.set(now, from, to, set).is_ok(),
                        engine.wan().find_way(from, to).is_some()
                    );
                }
                1 => {
                    let rate = 1e5 + draw(&mut draws, 1e8);
                    engine.set_pipe(now, "0", |pipe| pipe.rate = rate).unwrap();
                }
                2..8 => popped += u64::from(engine.pop(now, &mut out).is_some()),
                _ => {
                    let length = 28 + draws.index(1473);
                    pushed += 1;
                    engine.push(now, from, to, &packet(length, draws.index(3) as u16, number));
                }
            }
        }
        popped += drain(&mut engine).len() as u64;
        check_books(&engine, pushed, popped);
    }
}

fn check_books(engine: &Engine, pushed: u64, popped: u64) {
    let counters = engine.counters();
    let (mut entered, mut left) = (counters.unrouted.packets, 0);
    for way in &counters.ways {
        let WayCounters { lost, dropped, duplicated, .. } = way;
        let came = way.entered.packets + duplicated.packets;
        assert_eq!(came, way.left.packets + lost.packets + dropped.packets, "{way:?}");
        let came = way.entered.bytes + duplicated.bytes;
        assert_eq!(came, way.left.bytes + lost.bytes + dropped.bytes, "{way:?}");
        entered += way.entered.packets;
        left += way.left.packets;
    }
    assert_eq!((entered, left), (pushed, popped));
}

#[test]
fn a_seed_decides_everything() {
    let way = Way { jitter: 0.01, loss: 0.1, duplicate: 0.1, reorder: 0.1, ..Way::default() };
    let run = |seed| {
        let mut engine = Engine::new(Wan { seed, ..wan(way.clone(), vec![]) }).unwrap();
        for number in 0..1000 {
            engine.push(u64::from(number) * 1000, 0, 1, &packet(100, 1, number));
        }
        drain(&mut engine)
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

/// Memory is used again: as many packets as were ever in the network at once, and no more.
#[test]
fn memory_is_used_again() {
    let mut engine = engine(Way { delay: 0.001, ..Way::default() }, vec![]);
    let mut out = Vec::new();
    for number in 0..100_000 {
        let now = u64::from(number) * 10_000;
        while engine.pop(now, &mut out).is_some() {}
        engine.push(now, 0, 1, &packet(1500, 1, number));
    }
    assert!(engine.count_packets() <= 101, "{}", engine.count_packets());
}
