//! One end: a connection, a program that sends and checks, and what loads its alternate path.

use std::collections::{BTreeSet, VecDeque};

use laneway_path::{
    AckTimeout, Cause, Config, Connection, Event, Manager, MigrationState, Modify, Nanos,
    NotReadyTimer, PathId, Policy, QpState, Refusal, Retries,
};
use laneway_stats::SplitMix64;

/// Receives that are posted at a time, each for the longest message.
const RECEIVES: u64 = 4;
pub const LONGEST: usize = 6_000;

/// The bytes of message number `k`: its number, and a byte of its own.
pub fn message(k: u64) -> Vec<u8> {
    let mut random = SplitMix64::new(k ^ 0x5eed);
    let len = match random.index(16) {
        0 => LONGEST,
        1 => random.index(LONGEST),
        2..=4 => random.index(1000),
        _ => random.index(100),
    };
    let mut bytes = vec![k as u8 ^ 0x5e; len.max(8)];
    bytes[..8].copy_from_slice(&k.to_be_bytes());
    bytes
}

pub struct End {
    pub connection: Connection,
    next_send: u64,
    acknowledged: u64,
    next_receive: u64,
    posted: u64,
    received: u64,
    pub holds_receives: u32,
    pub paused: u32,
    pub drains: u32,
    manager: Manager,
    /// Events that the asynchronous thread has not seen yet, and when it will.
    unseen: VecDeque<(Nanos, Event)>,
    /// How long it may take to see one.
    sees_within: Nanos,
    /// When the alternate path is loaded that was specified by hand.
    load_at: Option<Nanos>,
    pub migrations: u64,
    /// Paths that it has left since the world looked.
    pub left: Vec<PathId>,
    /// Rows of the migration table that were seen.
    pub seen: BTreeSet<(MigrationState, &'static str)>,
    pub digest: u64,
    received_at: Nanos,
    /// The longest time between two messages that came.
    pub longest_gap: Nanos,
}

impl End {
    pub fn new(
        number: u32,
        peer: u32,
        numbers: [u32; 2],
        paths: usize,
        size: usize,
        policy: Policy,
        sees_within: Nanos,
    ) -> End {
        let connection = Connection::new(Config { number, paths: paths as u8 });
        End::with(connection, peer, numbers, size, policy, sees_within)
    }

    /// The same, for a connection that has just been created.
    pub fn with(
        mut connection: Connection,
        peer: u32,
        numbers: [u32; 2],
        size: usize,
        policy: Policy,
        sees_within: Nanos,
    ) -> End {
        let (number, paths) = (connection.number(), connection.paths());
        let must = "a fresh connection goes to RTS";
        let init = Modify { path: Some(PathId(0)), ..Modify::to(QpState::Init) };
        connection.modify(0, init).expect(must);
        let rtr = Modify {
            peer: Some(peer),
            receive_number: Some(numbers[1]),
            packet_bytes: Some(size),
            not_ready_timer: NotReadyTimer::new(8),
            alternate: Some(PathId(1)),
            load: true,
            ..Modify::to(QpState::Rtr)
        };
        connection.modify(0, rtr).expect(must);
        let rts = Modify {
            send_number: Some(numbers[0]),
            ack_timeout: AckTimeout::new(18),
            retries: Retries::new(7),
            not_ready_retries: Retries::new(7),
            ..Modify::to(QpState::Rts)
        };
        connection.modify(0, rts).expect(must);
        End {
            connection,
            next_send: 0,
            acknowledged: 0,
            next_receive: 0,
            posted: 0,
            received: 0,
            holds_receives: 0,
            paused: 0,
            drains: 0,
            manager: Manager::new(policy, paths),
            left: Vec::new(),
            unseen: VecDeque::new(),
            sees_within,
            load_at: None,
            migrations: 0,
            seen: BTreeSet::new(),
            digest: u64::from(number),
            received_at: 0,
            longest_gap: 0,
        }
    }

    pub fn send(&mut self, now: Nanos) -> Result<(), String> {
        let sent = self.connection.send(now, self.next_send, message(self.next_send));
        sent.map_err(|refusal| refusal.to_string())?;
        self.next_send += 1;
        Ok(())
    }

    pub fn sent(&self) -> u64 {
        self.next_send
    }

    pub fn received(&self) -> u64 {
        self.received
    }

    pub fn waits(&self) -> u64 {
        self.next_send - self.acknowledged
    }

    pub fn describe(&self) -> String {
        let c = &self.connection;
        let (state, migration, primary) = (c.state(), c.migration(), c.primary());
        let (alternate, waits, epoch) = (c.alternate(), self.waits(), c.epoch());
        let (counters, received) = (c.counters(), self.received);
        format!(
            "{state} {migration} {primary}, alternate {alternate:?}, epoch {epoch}, {waits} wait, \
             {received} received, {counters:?}"
        )
    }

    pub fn post_receives(&mut self) {
        while self.holds_receives == 0 && self.posted - self.received < RECEIVES {
            if self.connection.post_receive(self.posted, Vec::with_capacity(LONGEST)).is_err() {
                return;
            }
            self.posted += 1;
        }
    }

    /// When the asynchronous thread has something to do.
    pub fn manages_at(&self) -> Option<Nanos> {
        let event = self.unseen.front().map(|(at, _)| *at);
        [event, self.load_at, self.manager.next_timeout()].into_iter().flatten().min()
    }

    /// What the asynchronous thread does by now.
    pub fn manage(&mut self, now: Nanos) {
        while self.unseen.front().is_some_and(|(at, _)| *at <= now) {
            let Some((_, event)) = self.unseen.pop_front() else { break };
            self.manager.on_event(now, &mut self.connection, &event);
        }
        if self.manager.next_timeout().is_some_and(|at| at <= now) {
            self.manager.on_timeout(now, &mut self.connection);
        }
        if self.load_at.is_some_and(|at| at <= now) {
            self.load_at = None;
            // Refused where the path has become the primary one meanwhile.
            _ = self.load(now);
        }
    }

    /// The user specifies the alternate path anew, and loads it later.
    pub fn specify_again(&mut self, later: Nanos) {
        if let Some(path) = self.connection.alternate() {
            assert_eq!(self.connection.specify(path), Ok(()));
            self.load_at = Some(later);
        }
    }

    /// The user takes a path out of use, or gives it back.
    pub fn drain_path(&mut self, now: Nanos, path: PathId, drained: bool) {
        let connection = &mut self.connection;
        let done = match drained {
            true => self.manager.drain(now, connection, path),
            false => self.manager.undrain(now, connection, path),
        };
        assert_eq!(done, Ok(()));
    }

    pub fn load(&mut self, now: Nanos) -> Result<(), Refusal> {
        let before = self.connection.migration();
        self.connection.load(now)?;
        self.seen.insert((before, Cause::Load.name()));
        Ok(())
    }

    /// Does something to the connection, and takes note of what comes of it.
    pub fn change(
        &mut self,
        now: Nanos,
        random: &mut SplitMix64,
        change: impl FnOnce(&mut Connection),
    ) -> Result<(), String> {
        let before = self.connection.migration();
        change(&mut self.connection);
        self.take_events(now, before, random)
    }

    /// Checks the connection's events; an error where something is lost, twice, or wrong.
    fn take_events(
        &mut self,
        now: Nanos,
        before: MigrationState,
        random: &mut SplitMix64,
    ) -> Result<(), String> {
        while let Some(event) = self.connection.poll_event() {
            if matches!(
                event,
                Event::Armed { .. }
                    | Event::Migrated { .. }
                    | Event::Unhealthy { .. }
                    | Event::Wanted { .. }
            ) {
                let wait = (random.uniform() * self.sees_within as f64) as Nanos;
                let at = (now + wait).max(self.unseen.back().map_or(0, |(at, _)| *at));
                self.unseen.push_back((at, event.clone()));
            }
            self.digest = SplitMix64::new(self.digest ^ now ^ digest(&event)).next_u64();
            match event {
                Event::Sent { id, .. } if id == self.acknowledged => self.acknowledged += 1,
                Event::Received { id, message: bytes } if id == self.next_receive => {
                    self.next_receive += 1;
                    if bytes[..] != message(self.received)[..] {
                        return Err(format!("message {} is not what was sent", self.received));
                    }
                    self.received += 1;
                    self.longest_gap = self.longest_gap.max(now - self.received_at);
                    self.received_at = now;
                }
                Event::Migrated { from, cause, .. } => {
                    self.migrations += 1;
                    self.left.push(from);
                    self.seen.insert((before, cause.name()));
                }
                Event::Armed { .. } => {
                    self.seen.insert((MigrationState::Rearm, Cause::Loaded.name()));
                }
                Event::Unhealthy { .. } => {
                    self.seen.insert((MigrationState::Armed, Cause::Unhealthy.name()));
                }
                Event::Established | Event::Drained | Event::Wanted { .. } => {}
                other => return Err(format!("{other:?} was not to happen")),
            }
        }
        Ok(())
    }
}

fn digest(event: &Event) -> u64 {
    match event {
        Event::Sent { id, .. } => 8 * id,
        Event::Received { id, message } => 8 * (id + ((message.len() as u64) << 32)) + 1,
        Event::Armed { path } => 8 * u64::from(path.0) + 2,
        Event::Migrated { from, to, cause } => {
            8 * (u64::from(from.0) << 16 | u64::from(to.0) << 8 | *cause as u64) + 3
        }
        _ => 4,
    }
}
