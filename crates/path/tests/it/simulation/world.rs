//! Two ends, the paths between them, and a clock that jumps from one thing to the next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use laneway_path::{FailBack, MigrationState, Modify, Nanos, PathId, Policy, QpState};
use laneway_stats::SplitMix64;

use super::end::End;
use super::fault::{Fault, KINDS};
use super::link::{Link, MS, US};

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
    pub tried: [u64; KINDS.len()],
    /// A packet that was sent, for forgers.
    sample: Vec<u8>,
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
            tried: [0; KINDS.len()],
            sample: Vec::new(),
            random,
        }
    }

    /// Two plain paths, a message each way every 100 us on average.
    pub fn plain(seed: u64) -> World {
        let mut world = World::new(seed);
        let end = |number: u32, peer: u32, numbers: [u32; 2]| {
            End::new(number, peer, numbers, 2, 1400, Policy::keep_armed(number == 11), 0)
        };
        world.ends = [end(11, 22, [7, 8]), end(22, 11, [8, 7])];
        world.links = (0..2).map(|_| [Link::plain(), Link::plain()]).collect();
        world.without_carrier = vec![[0; 2]; 2];
        world.pace = 100 * US;
        world
    }

    /// Lets so much time pass.
    pub fn pass(&mut self, time: Nanos) -> Result<(), String> {
        self.run_until(self.now + time, true)
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
            let may_send = sends && end.drains == 0 && end.waits() < WAITING;
            let message = may_send.then_some(self.next_message[number]);
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
        let due = self.next_message[end] <= now && self.ends[end].waits() < WAITING;
        if sends && self.ends[end].drains == 0 && due {
            self.ends[end].send(now)?;
            let wait = self.random.uniform() * 2.0 * self.pace as f64;
            self.next_message[end] = now + wait as Nanos;
        }
        self.ends[end].manage(now);
        if self.ends[end].connection.next_timeout().is_some_and(|at| at <= now) {
            self.ends[end].change(now, &mut self.random, |c| c.on_timeout(now))?;
        }
        let mut packet = Vec::new();
        while let Some(path) = self.ends[end].connection.poll_transmit(now, &mut packet) {
            self.carry(end, path, &packet);
            packet.clear();
        }
        self.ends[end].change(now, &mut self.random, |_| {})?;
        self.ends[end].post_receives();
        Ok(())
    }

    fn carry(&mut self, end: usize, path: PathId, packet: &[u8]) {
        let number = usize::from(path.0);
        let dead = self.without_carrier[number].iter().any(|count| *count > 0);
        let arrivals = self.links[number][end].carry(self.now, packet.len(), &mut self.random);
        if dead {
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

    fn begin_fault(&mut self) -> Result<(), String> {
        let fault = Fault::draw(&mut self.random, self.links.len());
        self.tried[fault.kind()] += 1;
        self.apply(&fault, true)?;
        let over = self.now + fault.lasts(&mut self.random);
        self.faults.push(fault);
        self.push(over, Due::Over(self.faults.len() - 1));
        Ok(())
    }

    fn end_fault(&mut self, number: usize) -> Result<(), String> {
        let fault = self.faults[number];
        self.apply(&fault, false)
    }

    fn apply(&mut self, fault: &Fault, begins: bool) -> Result<(), String> {
        let count = |count: &mut u32| *count = if begins { *count + 1 } else { *count - 1 };
        match *fault {
            Fault::Drop { path } => {
                self.links[path].iter_mut().for_each(|link| count(&mut link.down));
            }
            Fault::OneWay { path, end } => count(&mut self.links[path][end].down),
            Fault::Blackout => {
                self.links.iter_mut().flatten().for_each(|link| count(&mut link.down));
            }
            Fault::Trouble { path, end, trouble } => {
                let now = if begins { trouble } else { Default::default() };
                self.links[path][end].trouble = now;
            }
            Fault::Carrier { path, ends } => {
                for end in (0..2).filter(|end| ends[*end]) {
                    count(&mut self.without_carrier[path][end]);
                    let up = self.without_carrier[path][end] == 0;
                    let (now, path) = (self.now, PathId(path as u8));
                    self.ends[end].change(now, &mut self.random, |connection| {
                        connection.on_carrier(now, path, up);
                    })?;
                }
            }
            Fault::Pause { end } => count(&mut self.ends[end].paused),
            Fault::NotReady { end } => count(&mut self.ends[end].holds_receives),
            Fault::Drain { end } => {
                count(&mut self.ends[end].drains);
                let to = if self.ends[end].drains > 0 { QpState::Sqd } else { QpState::Rts };
                if self.ends[end].connection.state() != to {
                    let moved = self.ends[end].connection.modify(self.now, Modify::to(to));
                    assert_eq!(moved, Ok(()));
                }
            }
            Fault::DrainPath { path, end } => {
                count(&mut self.drained[path][end]);
                let (now, drained) = (self.now, self.drained[path][end] > 0);
                self.ends[end].drain_path(now, PathId(path as u8), drained);
            }
            Fault::Request { ends } if begins => {
                for end in (0..2).filter(|end| ends[*end]) {
                    // Refused unless it is armed; the connection goes on either way.
                    let (now, waits) = (self.now, self.random.index(2) == 0);
                    self.ends[end].change(now, &mut self.random, |connection| {
                        _ = connection.migrate(now);
                        if waits {
                            connection.hold();
                        }
                    })?;
                }
            }
            Fault::Reload { end } if begins => {
                let later = self.now + (20.0 * MS as f64 * self.random.uniform()) as Nanos;
                if self.random.index(2) == 0 {
                    self.ends[end].specify_again(later);
                } else {
                    // Refused where no alternate path is specified yet.
                    _ = self.ends[end].load(self.now);
                    self.ends[end].connection.hold();
                }
            }
            Fault::Request { .. } | Fault::Reload { .. } => {
                self.ends.iter_mut().for_each(|end| end.connection.resume());
            }
            Fault::Forged { end } if begins => self.forge(end),
            Fault::Forged { .. } => {}
        }
        Ok(())
    }

    /// Hands in a packet that was cut, lengthened, or sent to another connection, and random bytes.
    fn forge(&mut self, end: usize) {
        let mut packets = vec![self.sample.clone(), self.sample.clone()];
        let cut = self.random.index(self.sample.len().clamp(1, 32));
        packets[0].truncate(cut);
        if let Some(byte) = packets[1].get_mut(4) {
            *byte ^= 0x40;
        }
        packets.push((0..self.random.index(100)).map(|_| self.random.next_u64() as u8).collect());
        let before = *self.ends[end].connection.counters();
        let states = |end: &End| (end.connection.state(), end.connection.migration());
        let state = states(&self.ends[end]);
        for packet in packets {
            let path = PathId(self.random.index(self.links.len()) as u8);
            self.ends[end].connection.on_packet(self.now, path, &packet);
        }
        let after = *self.ends[end].connection.counters();
        assert_eq!(after.received, before.received, "a forged packet was taken");
        assert_eq!(states(&self.ends[end]), state);
    }
}
