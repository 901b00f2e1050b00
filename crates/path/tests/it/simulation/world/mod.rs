//! Two ends, the paths between them, and a clock that jumps from one thing to the next.

mod faults;
mod held;
mod streams;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use laneway_path::{Config, Connection, FailBack, MigrationState, Nanos, PathId, Policy};
use laneway_stats::SplitMix64;

use super::end::End;
use super::fault::{Fault, KINDS};
use super::link::{Link, MS, US};
use held::Held;
use streams::Streams;

/// Messages that wait for their acknowledgement, at most.
const WAITING: u64 = 8;
/// Everything must have arrived so long after the last fault is over.
const ENDS_WITHIN: Nanos = 30_000 * MS;

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Packet {
        end: usize,
        path: u8,
        /// When it reached the machine, whenever its process looks.
        at: Nanos,
        bytes: Vec<u8>,
    },
    /// The fault of that number is over.
    Over(usize),
    /// The first frame of a stream may be delivered at this end.
    Frame { end: usize, path: usize, generation: u64 },
    /// A stream may be opened.
    Open { path: usize, generation: u64 },
    /// This end learns that its stream is lost.
    Lost { end: usize, path: usize, generation: u64 },
}

pub struct World {
    now: Nanos,
    random: SplitMix64,
    pub ends: [End; 2],
    /// By path, then by the end that sends.
    links: Vec<[Link; 2]>,
    /// Faults that want an interface down, by path and end.
    without_carrier: Vec<[u32; 2]>,
    /// Users that want a path out of use.
    drained: Vec<[u32; 2]>,
    due: BinaryHeap<Reverse<(Nanos, u64, Due)>>,
    number: u64,
    faults: Vec<Fault>,
    next_message: [Nanos; 2],
    pace: Nanos,
    /// Messages that wait for their acknowledgement, at most.
    most_waiting: u64,
    /// The first end sends one message at a time, the other one sends it back.
    echoes: bool,
    pub tried: [u64; KINDS.len()],
    /// A packet that was sent, for forgers.
    sample: Vec<u8>,
    held: Held,
    /// Where data goes by streams.
    streams: Option<Streams>,
}

impl World {
    pub fn new(seed: u64) -> World {
        let mut random = SplitMix64::new(seed);
        let paths = if random.index(8) == 0 { 3 } else { 2 };
        let links = (0..paths).map(|_| [Link::new(&mut random), Link::new(&mut random)]).collect();
        // Packet numbers wrap while it runs, in one world out of two.
        let mut number = || match random.index(2) {
            0 => (1 << 24) - 1 - random.index(500) as u32,
            _ => random.index(1 << 24) as u32,
        };
        let numbers = [number(), number()];
        let size = 200 + random.index(1300);
        let pace = (1e5 * 50f64.powf(random.uniform())) as Nanos;
        // The asynchronous thread is quick in one world out of two.
        let sees_within = random.index(2) as Nanos * 4 * MS;
        let fail_back = FailBack { path: PathId(0), hold: 20 * MS, most_hold: 400 * MS };
        let fail_back = (random.index(2) == 0).then_some(fail_back);
        let policy = |leads: bool| Policy { fail_back, ..Policy::keep_armed(leads) };
        World {
            now: 0,
            ends: [
                End::new(11, 22, numbers, paths, size, policy(true), sees_within),
                End::new(22, 11, [numbers[1], numbers[0]], paths, size, policy(false), sees_within),
            ],
            links,
            without_carrier: vec![[0; 2]; paths],
            drained: vec![[0; 2]; paths],
            due: BinaryHeap::new(),
            number: 0,
            faults: Vec::new(),
            next_message: [0, 0],
            pace,
            most_waiting: WAITING,
            echoes: random.index(8) == 0,
            tried: [0; KINDS.len()],
            sample: Vec::new(),
            held: Held::default(),
            streams: None,
            random,
        }
    }

    /// The same over streams.
    pub fn over_streams(seed: u64) -> World {
        let mut world = World::new(seed);
        let frame = 200 + world.random.index(8000);
        world.use_streams(frame);
        world
    }

    /// Data goes by streams from now on, in frames of up to this length; before anything is sent.
    pub fn use_streams(&mut self, frame: usize) {
        let paths = self.links.len();
        let policy = |leads: bool| Policy::keep_armed(leads);
        let end = |number: u32, peer: u32, numbers: [u32; 2]| {
            let config = Config { number, paths: paths as u8 };
            let connection = Connection::new(config).over_streams(frame);
            End::with(connection, peer, numbers, 1400, policy(number == 11), 0)
        };
        self.ends = [end(11, 22, [7, 8]), end(22, 11, [8, 7])];
        self.begin_streams();
    }

    /// Two plain paths, a message each way every 100 us on average.
    pub fn plain(seed: u64) -> World {
        World::with_paths(seed, 2)
    }

    /// The same, with this number of paths.
    pub fn with_paths(seed: u64, paths: usize) -> World {
        let mut world = World::new(seed);
        let end = |number: u32, peer: u32, numbers: [u32; 2]| {
            End::new(number, peer, numbers, paths, 1400, Policy::keep_armed(number == 11), 0)
        };
        world.ends = [end(11, 22, [7, 8]), end(22, 11, [8, 7])];
        world.links = (0..paths).map(|_| [Link::plain(), Link::plain()]).collect();
        world.without_carrier = vec![[0; 2]; paths];
        (world.pace, world.echoes) = (100 * US, false);
        world
    }

    /// The same, a message each way every 500 us on average.
    pub fn sparse(seed: u64) -> World {
        World { pace: 500 * US, ..World::plain(seed) }
    }

    /// One message at a time, there and back over two plain paths.
    pub fn echo(seed: u64) -> World {
        World { pace: 1, echoes: true, ..World::plain(seed) }
    }

    /// As many messages as two plain paths carry.
    pub fn busy(seed: u64) -> World {
        let mut world = World::plain(seed);
        (world.pace, world.most_waiting) = (1, 256);
        world
    }

    /// Lets so much time pass.
    pub fn pass(&mut self, time: Nanos) -> Result<(), String> {
        self.run_until(self.now + time, true)
    }

    /// The same, and no messages are sent.
    pub fn rest(&mut self, time: Nanos) -> Result<(), String> {
        self.run_until(self.now + time, false)
    }

    /// Bytes and long packets that all paths were given so far.
    pub fn carried(&self) -> (u64, u64) {
        let sum = |(bytes, long), link: &Link| (bytes + link.bytes, long + link.long);
        self.links.iter().flatten().fold((0, 0), sum)
    }

    /// Something breaks, or is repaired.
    pub fn change(&mut self, fault: &Fault, begins: bool) -> Result<(), String> {
        self.apply(fault, begins)
    }

    /// Others fill the queues of a path.
    pub fn fill(&mut self, path: usize, wait: Nanos) {
        let now = self.now;
        self.links[path].iter_mut().for_each(|link| link.fill(now, wait));
    }

    /// Injects faults, then none: everything must arrive, and the alternate path be armed again.
    pub fn run(&mut self, faults: usize) -> Result<(), String> {
        let mut next_fault = 100 * MS;
        self.run_until(next_fault, true)?;
        while self.faults.len() < faults {
            self.run_until(next_fault, true)?;
            self.begin_fault()?;
            // Some come together, some one at a time.
            let apart = 25.0 * MS as f64 * self.random.uniform().powi(2);
            next_fault = self.now + apart as Nanos;
        }
        let over = |due: &Reverse<(Nanos, u64, Due)>| match &due.0 {
            (at, _, Due::Over(_)) => *at,
            _ => 0,
        };
        let peace = self.due.iter().map(over).max().unwrap_or(0).max(self.now);
        self.run_until(peace, true)?;
        let limit = peace + ENDS_WITHIN;
        while !self.is_settled() {
            if self.now >= limit {
                let [a, b] = self.ends.each_ref().map(End::describe);
                return Err(format!("not settled long after the last fault: {a}; {b}"));
            }
            self.run_until((self.now + 10 * MS).min(limit), false)?;
        }
        self.check_nothing_lost()
    }

    fn is_settled(&self) -> bool {
        let done =
            |end: &End| end.waits() == 0 && end.connection.migration() == MigrationState::Armed;
        self.ends.iter().all(done)
            && self.ends[0].connection.primary() == self.ends[1].connection.primary()
    }

    fn check_nothing_lost(&self) -> Result<(), String> {
        for (here, there) in [(0, 1), (1, 0)] {
            let (sent, received) = (self.ends[here].sent(), self.ends[there].received());
            if sent != received {
                return Err(format!("{sent} messages sent, {received} received"));
            }
        }
        Ok(())
    }

    fn run_until(&mut self, until: Nanos, sends: bool) -> Result<(), String> {
        loop {
            let at = self.next_instant(sends).unwrap_or(until).max(self.now);
            if at > until {
                self.now = until;
                return Ok(());
            }
            self.now = at;
            self.deliver()?;
            for end in 0..2 {
                if self.ends[end].paused == 0 {
                    self.turn(end, sends)?;
                }
            }
            if at == until {
                return Ok(());
            }
        }
    }

    /// The next thing that happens; a turn that changes nothing must not be asked for again.
    fn next_instant(&self, sends: bool) -> Option<Nanos> {
        let due = self.due.peek().map(|Reverse((at, ..))| *at);
        let of_end = |number: usize| {
            let end = &self.ends[number];
            if end.paused > 0 {
                return None;
            }
            let message = (sends && self.may_send(number)).then_some(self.next_message[number]);
            let timeout = end.connection.next_timeout().map(|at| at.max(self.now + US));
            [timeout, message, end.manages_at()].into_iter().flatten().min()
        };
        [due, of_end(0), of_end(1)].into_iter().flatten().min()
    }

    /// Hands in what has arrived by now; an end that is paused finds it when it goes on.
    fn deliver(&mut self) -> Result<(), String> {
        while self.due.peek().is_some_and(|Reverse((at, ..))| *at <= self.now) {
            let Some(Reverse((_, _, due))) = self.due.pop() else { break };
            match due {
                Due::Over(fault) => self.end_fault(fault)?,
                Due::Frame { end, path, generation } => {
                    self.deliver_frame(end, path, generation)?
                }
                Due::Open { path, generation } => self.open_stream(path, generation)?,
                Due::Lost { end, path, generation } => self.lose_stream(end, path, generation)?,
                Due::Packet { end, path, at, bytes } => {
                    if self.ends[end].paused > 0 {
                        let later = self.now + MS;
                        self.push(later, Due::Packet { end, path, at, bytes });
                        continue;
                    }
                    let (now, random) = (self.now, &mut self.random);
                    self.ends[end].change(now, random, |connection| {
                        connection.on_packet(at, PathId(path), &bytes);
                    })?;
                }
            }
        }
        Ok(())
    }

    /// One end does all that it can do now.
    fn turn(&mut self, end: usize, sends: bool) -> Result<(), String> {
        let now = self.now;
        self.ends[end].post_receives();
        if sends && self.may_send(end) && self.next_message[end] <= now {
            self.ends[end].send(now)?;
            let wait = self.random.uniform() * 2.0 * self.pace as f64;
            self.next_message[end] = now + wait as Nanos;
        }
        self.ends[end].manage(now);
        if self.ends[end].connection.next_timeout().is_some_and(|at| at <= now) {
            self.ends[end].change(now, &mut self.random, |c| c.on_timeout(now))?;
        }
        self.report_streams(end);
        let mut packet = Vec::new();
        while let Some(departure) = self.ends[end].connection.poll_departure(now, &mut packet) {
            let payload = departure.payload.as_ref();
            let part = payload.map_or(&[][..], |part| self.ends[end].connection.payload(part));
            packet.extend_from_slice(part);
            if departure.framed {
                self.carry_frame(end, departure.path, &packet);
            } else {
                self.carry(end, departure.path, &packet);
            }
            packet.clear();
        }
        self.ends[end].change(now, &mut self.random, |_| {})?;
        self.follow_migrations(end)?;
        self.ends[end].post_receives();
        Ok(())
    }

    /// Whether an end may send its next message when its time comes.
    fn may_send(&self, number: usize) -> bool {
        let end = &self.ends[number];
        let next = match (self.echoes, number) {
            (false, _) => end.waits() < self.most_waiting,
            (true, 0) => end.sent() == end.received(),
            (true, _) => end.sent() < end.received(),
        };
        next && end.drains == 0
    }

    fn carry(&mut self, end: usize, path: PathId, packet: &[u8]) {
        let number = usize::from(path.0);
        let dead = self.without_carrier[number].iter().any(|count| *count > 0);
        let arrivals = self.links[number][end].carry(self.now, packet.len(), &mut self.random);
        self.held.on_sent(end, packet);
        if dead || self.held.hold(end, path, packet) {
            return;
        }
        if self.random.index(64) == 0 {
            self.sample = packet.to_vec();
        }
        for at in arrivals {
            self.push(at, Due::Packet { end: 1 - end, path: path.0, at, bytes: packet.to_vec() });
        }
    }

    fn push(&mut self, at: Nanos, due: Due) {
        self.number += 1;
        self.due.push(Reverse((at, self.number, due)));
    }
}
