//! Packets that a path holds back while 2^24 others go over the alternate one.

use laneway_path::number::START_LIMIT;
use laneway_path::wire::{Body, Header, read, write};
use laneway_path::{
    AckTimeout, Config, Connection, Event, MigrationState, Modify, Nanos, NotReadyTimer, PathId,
    QpState, Retries,
};

const LAP: u64 = START_LIMIT as u64;
const FIRST: PathId = PathId(0);

/// Two ends without a wire between them, and the messages that arrived.
struct Pair {
    now: Nanos,
    ends: [Connection; 2],
    /// The first path delays all packets of these ends until it is released.
    holds: [bool; 2],
    held: [Vec<Vec<u8>>; 2],
    sent: u64,
    received: u64,
    acknowledged: u64,
}

fn connect(number: u32, peer: u32) -> Connection {
    let start = START_LIMIT - 1;
    let mut connection = Connection::new(Config { number, paths: 2 });
    let steps = [
        Modify { path: Some(FIRST), ..Modify::to(QpState::Init) },
        Modify {
            peer: Some(peer),
            receive_number: Some(start),
            packet_bytes: Some(1000),
            not_ready_timer: NotReadyTimer::new(1),
            alternate: Some(PathId(1)),
            load: true,
            ..Modify::to(QpState::Rtr)
        },
        Modify {
            send_number: Some(start),
            ack_timeout: AckTimeout::new(18),
            retries: Retries::new(7),
            not_ready_retries: Retries::new(7),
            ..Modify::to(QpState::Rts)
        },
    ];
    for step in steps {
        assert_eq!(connection.modify(0, step), Ok(()));
    }
    connection
}

impl Pair {
    fn new() -> Pair {
        Pair {
            now: 0,
            ends: [connect(11, 22), connect(22, 11)],
            holds: [false; 2],
            held: [Vec::new(), Vec::new()],
            sent: 0,
            received: 0,
            acknowledged: 0,
        }
    }

    fn send(&mut self) {
        let message = self.sent.to_be_bytes().to_vec();
        assert_eq!(self.ends[0].send(self.now, self.sent, message), Ok(()));
        let buffer = Vec::with_capacity(8);
        assert_eq!(self.ends[1].post_receive(self.sent, buffer), Ok(()));
        self.sent += 1;
    }

    /// Advances the clock; packets that are sent arrive at once.
    fn pass(&mut self, time: Nanos) {
        self.now += time;
        let mut packet = Vec::new();
        for end in [0, 1, 0, 1] {
            self.ends[end].on_timeout(self.now);
            while let Some(path) = self.ends[end].poll_transmit(self.now, &mut packet) {
                if self.holds[end] && path == FIRST {
                    self.held[end].push(packet.clone());
                } else {
                    self.ends[1 - end].on_packet(self.now, path, &packet);
                }
                packet.clear();
            }
        }
        self.take_events();
    }

    fn take_events(&mut self) {
        for end in &mut self.ends {
            while let Some(event) = end.poll_event() {
                match event {
                    Event::Received { message, .. } => {
                        assert_eq!(message, self.received.to_be_bytes(), "not what was sent");
                        self.received += 1;
                    }
                    Event::Sent { id, .. } => {
                        assert_eq!(id, self.acknowledged);
                        self.acknowledged += 1;
                    }
                    Event::Failed { .. } => panic!("{event:?}"),
                    _ => {}
                }
            }
        }
    }

    fn send_until(&mut self, messages: u64) {
        while self.acknowledged < messages {
            while self.sent < messages && self.sent - self.acknowledged < 16 {
                self.send();
            }
            self.pass(100_000);
        }
    }

    /// The first path holds back an acknowledgement and a packet of data; the messages go on over
    /// the alternate path.
    fn with_held_packets() -> Pair {
        let mut pair = Pair::new();
        while pair.ends.iter().any(|end| end.migration() != MigrationState::Armed) {
            pair.pass(1_000_000);
        }
        pair.send_until(20);
        pair.holds[1] = true;
        pair.send();
        pair.pass(1000);
        pair.pass(200_000);
        assert_eq!((pair.received, pair.acknowledged), (21, 20));
        pair.holds[0] = true;
        pair.send();
        pair.pass(200_000);
        assert_eq!((pair.received, pair.acknowledged), (21, 20));
        assert_eq!(pair.ends[0].migrate(pair.now), Ok(()));
        pair.send_until(60);
        pair
    }

    fn replayed(&self) -> [u64; 2] {
        self.ends.each_ref().map(|end| end.counters().replayed)
    }

    /// What was held back arrives, as it left or changed: nothing of it is believed.
    fn release(&mut self, change: impl Fn(usize, Vec<u8>) -> Vec<u8>) {
        // A message is under way, which a mistaken acknowledgement would take for arrived.
        self.send();
        let (received, acknowledged) = (self.received, self.acknowledged);
        for end in [0, 1] {
            let held = std::mem::take(&mut self.held[end]);
            assert!(!held.is_empty());
            for packet in held {
                let before = self.replayed()[1 - end];
                let packet = change(end, packet);
                self.ends[1 - end].on_packet(self.now, FIRST, &packet);
                // Without data or news of any, it may as well be late.
                let judged = end == 1 || is_data(&packet);
                assert!(!judged || self.replayed()[1 - end] > before, "it was taken");
            }
        }
        self.take_events();
        assert_eq!((self.received, self.acknowledged), (received, acknowledged));
        self.holds = [false; 2];
        self.send_until(self.sent + 100);
        assert_eq!(self.received, self.sent);
    }
}

fn is_data(packet: &[u8]) -> bool {
    matches!(read(packet), Some((_, Body::Data { .. })))
}

fn rewrite(header: &Header, body: &Body<'_>) -> Vec<u8> {
    let mut packet = Vec::new();
    write(header, body, &mut packet);
    packet
}

/// The packets look as if they had left a lap ago, which spares the packets of a lap.
#[test]
fn a_packet_of_a_lap_ago_is_refused() {
    let mut pair = Pair::with_held_packets();
    let reached = LAP - 1 + pair.sent;
    pair.release(|end, packet| {
        let (mut header, mut body) = read(&packet).expect("as it was sent");
        if end == 1 {
            header.expects = reached + 1 - LAP;
        }
        if let Body::Data { number, .. } = &mut body {
            *number = reached - LAP;
        }
        rewrite(&header, &body)
    });
}

/// The packets of a lap go by.
#[test]
fn long_a_packet_held_back_for_a_lap_is_refused() {
    let mut pair = Pair::with_held_packets();
    // The next packet has the number of the one that was held back, and a lap more.
    pair.send_until(LAP + 20);
    pair.release(|_, packet| packet);
}
