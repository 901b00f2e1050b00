//! Two endpoints that talk: messages over their connections in turn, checked as they arrive.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use laneway_connections::{ConnectionId, Endpoint, LocalPath, Options, Secret, Setup, What};
use laneway_path::{Bundle, Event, MigrationState, PathId};

pub const LIMIT: Duration = Duration::from_secs(20);
pub const MESSAGE: usize = 20_000;
/// Messages between two looks at what became of them.
pub const MESSAGES: u64 = 200;

pub fn options(paths: Vec<LocalPath>, setup: Setup) -> Options {
    let secret = Secret::from_bytes(b"the secret of both endpoints").expect("long enough");
    Options { paths, secret, accepts: true, setup }
}

/// Two endpoints with several connections, which messages go over in turn.
pub struct Pair {
    pub ends: [Endpoint; 2],
    pub ids: [Vec<ConnectionId>; 2],
    sender: Bundle<()>,
    receiver: Bundle<Vec<u8>>,
    pub sent: u64,
    pub arrived: u64,
    under_way: u64,
}

impl Pair {
    pub fn new(ends: [Endpoint; 2], connections: usize) -> Pair {
        let mut pair = Pair {
            ends,
            ids: [vec![], vec![ConnectionId(0); connections]],
            sender: Bundle::new(connections),
            receiver: Bundle::new(connections),
            sent: 0,
            arrived: 0,
            under_way: 0,
        };
        for _ in 0..connections {
            pair.open();
        }
        let mut accepted = 0;
        let begun = Instant::now();
        let mut connected = 0;
        while accepted + connected < 2 * connections {
            assert!(begun.elapsed() < LIMIT, "{accepted} accepted, {connected} connected");
            pair.ends.iter_mut().for_each(|end| _ = end.progress());
            while let Some(notice) = pair.ends[0].poll() {
                connected += usize::from(notice.what == What::Connected);
            }
            while let Some(notice) = pair.ends[1].poll() {
                if let What::Accepted { label } = notice.what {
                    pair.ids[1][label as usize] = notice.connection;
                    accepted += 1;
                }
            }
        }
        for (end, ids) in pair.ends.iter_mut().zip(&pair.ids) {
            for id in ids {
                for _ in 0..16 {
                    end.post_receive(*id, 0, Vec::with_capacity(MESSAGE)).expect("room");
                }
            }
        }
        pair
    }

    pub fn open(&mut self) {
        let (to, label) = (self.ends[1].addresses(), self.ids[0].len() as u64);
        self.ids[0].push(self.ends[0].begin_open(&to, label, LIMIT).expect("begun"));
    }

    fn step(&mut self) {
        self.ends[0].progress();
        while let Some(notice) = self.ends[0].poll() {
            match notice.what {
                What::Event(Event::Sent { .. }) => self.under_way -= 1,
                What::Event(Event::Failed { why }) => panic!("{why:?}"),
                _ => {}
            }
        }
        self.ends[1].progress();
        while let Some(notice) = self.ends[1].poll() {
            if let What::Event(Event::Received { message, .. }) = notice.what {
                let of = self.ids[1].iter().position(|id| *id == notice.connection);
                self.receiver.on_received(of.expect("a connection of the pair"), message);
                let room = Vec::with_capacity(MESSAGE);
                self.ends[1].post_receive(notice.connection, 0, room).expect("room");
            }
        }
        while let Some(message) = self.receiver.poll() {
            assert_eq!(message[..8], self.arrived.to_be_bytes(), "in order, and once");
            assert!(message.len() == MESSAGE && message[8..].iter().all(|byte| *byte == 7));
            self.arrived += 1;
        }
    }

    /// Sends `count` more, and waits until all have arrived.
    pub fn send(&mut self, count: u64) {
        let (until, begun) = (self.sent + count, Instant::now());
        while self.arrived < until {
            assert!(begun.elapsed() < LIMIT, "{} of {until} arrived", self.arrived);
            while self.sent < until && self.under_way < 16 {
                let mut message = vec![7; MESSAGE];
                message[..8].copy_from_slice(&self.sent.to_be_bytes());
                let id = self.ids[0][self.sender.next_connection()];
                self.ends[0].send(id, 0, message).expect("it goes on");
                (self.sent, self.under_way) = (self.sent + 1, self.under_way + 1);
            }
            self.step();
        }
    }

    /// How many connections have each of two paths as primary one, at both ends.
    pub fn primaries(&self) -> [[usize; 2]; 2] {
        [0, 1].map(|end| {
            let of = |id: &ConnectionId| self.ends[end].get(*id).expect("it is there");
            let on = |path| self.ids[end].iter().filter(|id| of(id).primary() == path).count();
            [on(PathId(0)), on(PathId(1))]
        })
    }

    pub fn are_armed(&self) -> bool {
        let all = self.ends.iter().flat_map(Endpoint::connections);
        all.into_iter().all(|connection| connection.migration() == MigrationState::Armed)
    }

    pub fn until(&mut self, what: &str, done: impl Fn(&Pair) -> bool) {
        let begun = Instant::now();
        while !done(self) {
            assert!(begun.elapsed() < LIMIT, "{what}: {:?}", self.primaries());
            self.step();
            thread::sleep(Duration::from_micros(100));
        }
    }
}

/// Has an interface lose packets that leave by it, in silence, as a program of old packet filters
/// says; `None` for no longer.
pub fn lose(namespace: &str, device: &str, program: Option<&str>) {
    let tc = |words: &str, program: Option<&str>| {
        let mut command = Command::new("tc");
        command.args(["-n", namespace]).args(words.split(' ')).args(program);
        let output = command.output().expect("tc starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "tc {words}: {said}");
    };
    match program {
        None => tc(&format!("qdisc del dev {device} clsact"), None),
        Some(_) => {
            tc(&format!("qdisc add dev {device} clsact"), None);
            let filter = "egress protocol all prio 1 handle 1 bpf da bytecode";
            tc(&format!("filter add dev {device} {filter}"), program);
        }
    }
}
