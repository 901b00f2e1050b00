//! One conversation for every driver: what is sent, asked for and refused.

use std::time::{Duration, Instant};

use laneway_connections::{ConnectionId, Driver, NetError, Notice, Setup, Status, What};
use laneway_path::{Cause, Event, MigrationState, OnMigrated, PathId, Policy, QpState, Refusal};

pub const LIMIT: Duration = Duration::from_secs(20);
const ROOM: usize = 200_000;

/// Nothing happens that is not asked for.
pub fn by_hand() -> Setup {
    let policy = Policy { on_migrated: OnMigrated::Nothing, ..Policy::keep_armed(false) };
    Setup { policy, arms: false, ..Setup::usual() }
}

/// Two ends of a connection, and what each has seen. Messages are numbered and checked.
pub struct Talk<'a> {
    pub ends: [&'a mut dyn Driver; 2],
    pub ids: [ConnectionId; 2],
    pub events: [Vec<Event>; 2],
    pub notices: [Vec<Notice>; 2],
    sent: [u64; 2],
    posted: [u64; 2],
    pub received: [u64; 2],
    pub arrived: [u64; 2],
}

fn message(from: usize, number: u64) -> Vec<u8> {
    let length = [0, 1, 64, 4095, 1000, 100_000, 17][number as usize % 7];
    (0..length).map(|i| (i as u64 * 31 + number * 7 + from as u64) as u8).collect()
}

impl<'a> Talk<'a> {
    pub fn new(ends: [&'a mut dyn Driver; 2], ids: [ConnectionId; 2]) -> Talk<'a> {
        Talk {
            ends,
            ids,
            events: Default::default(),
            notices: Default::default(),
            sent: [0; 2],
            posted: [0; 2],
            received: [0; 2],
            arrived: [0; 2],
        }
    }

    pub fn say(&mut self, from: usize) {
        let number = self.sent[from];
        self.ends[from].send(self.ids[from], number, message(from, number)).expect("it is sent");
        self.sent[from] += 1;
    }

    pub fn listen(&mut self, at: usize) {
        let (id, number) = (self.ids[at], self.posted[at]);
        self.ends[at].post_receive(id, number, Vec::with_capacity(ROOM)).expect("posted");
        self.posted[at] += 1;
    }

    pub fn step(&mut self) {
        for end in 0..2 {
            self.ends[end].progress();
            while let Some(notice) = self.ends[end].poll() {
                assert_eq!(notice.connection, self.ids[end]);
                match &notice.what {
                    What::Event(Event::Received { id, message: bytes }) => {
                        assert_eq!(*id, self.received[end], "in order");
                        assert_eq!(*bytes, message(1 - end, *id), "message {id}");
                        self.received[end] += 1;
                    }
                    What::Event(Event::Sent { id, message: bytes }) => {
                        assert_eq!(*id, self.arrived[end], "in order");
                        assert_eq!(*bytes, message(end, *id), "given back");
                        self.arrived[end] += 1;
                    }
                    What::Event(event) => self.events[end].push(event.clone()),
                    _ => self.notices[end].push(notice),
                }
            }
        }
    }

    pub fn until(&mut self, what: &str, mut done: impl FnMut(&Talk<'_>) -> bool) {
        let begun = Instant::now();
        while !done(self) {
            let (events, name) = (&self.events, self.ends[0].describe());
            assert!(begun.elapsed() < LIMIT, "{name}: {what}: {events:?} {:?}", self.received);
            self.step();
        }
    }

    /// Sends `count` messages from each end, all of which arrive.
    pub fn exchange(&mut self, count: usize) {
        for _ in 0..count {
            for end in 0..2 {
                self.listen(end);
                self.say(end);
            }
        }
        self.until("messages", |talk| {
            let all = talk.sent;
            talk.received == [all[1], all[0]] && talk.arrived == all
        });
    }

    pub fn status(&self, end: usize) -> Status {
        self.ends[end].status(self.ids[end]).expect("it is there")
    }

    /// Messages go on until both ends are armed: devices load paths by traffic.
    pub fn until_armed(&mut self) {
        let begun = Instant::now();
        while !(0..2).all(|end| self.status(end).migration == MigrationState::Armed) {
            assert!(begun.elapsed() < LIMIT, "never armed: {:?}", self.events);
            self.exchange(1);
        }
        self.until("reported", |talk| {
            let last = |end: usize| {
                let armed =
                    |event: &&Event| matches!(event, Event::Armed { .. } | Event::Migrated { .. });
                talk.events[end].iter().rfind(armed)
            };
            (0..2).all(|end| matches!(last(end), Some(Event::Armed { .. })))
        });
    }

    pub fn migrations(&self, end: usize) -> Vec<(PathId, PathId, Cause)> {
        let of = |event: &Event| match event {
            Event::Migrated { from, to, cause } => Some((*from, *to, *cause)),
            _ => None,
        };
        self.events[end].iter().filter_map(of).collect()
    }

    fn refusals(&mut self) {
        let id = self.ids[0];
        let end = &mut self.ends[0];
        let refused = |refusal| Err(NetError::Refused(refusal));
        let not_armed = Refusal::NotArmed { migration: MigrationState::Migrated };
        assert_eq!(end.migrate(&[id]), refused(not_armed));
        assert_eq!(end.load(&[id]), refused(Refusal::NoAlternate));
        let primary = Refusal::AlternateIsPrimary { path: PathId(0) };
        assert_eq!(end.specify(&[id], PathId(0)), refused(primary));
        let unknown = Refusal::UnknownPath { path: PathId(9) };
        assert_eq!(end.specify(&[id], PathId(9)), refused(unknown));
        let unknown_id = ConnectionId(0xff_fffe);
        let gone = Err(NetError::UnknownConnection { number: unknown_id.0 });
        assert_eq!(end.migrate(&[unknown_id]), gone);
        assert_eq!(end.send(unknown_id, 1, vec![1]), gone);
        assert_eq!(end.post_receive(unknown_id, 1, vec![]), gone);
        assert_eq!(end.close(unknown_id), gone);
        assert_eq!(end.status(unknown_id), gone.map(|()| unreachable!()));
    }

    /// Loads a path at both ends, and goes there by the wish of one.
    fn change_to(&mut self, path: PathId, by: usize) {
        let from = self.status(0).primary;
        for end in 0..2 {
            let id = self.ids[end];
            self.ends[end].specify(&[id], path).expect("possible");
            // One may have followed the other before.
            let migration = self.status(end).migration;
            assert_eq!(migration, MigrationState::Migrated);
            self.ends[end].load(&[id]).expect("possible");
        }
        self.until_armed();
        assert_eq!(self.status(0).alternate, Some(path));
        let before = [0, 1].map(|end| self.migrations(end).len());
        for _ in 0..20 {
            self.say(0);
            self.say(1);
        }
        self.ends[by].migrate(&[self.ids[by]]).expect("armed");
        for _ in 0..20 {
            self.listen(0);
            self.listen(1);
        }
        self.exchange(10);
        self.until("both have moved", |talk| {
            (0..2).all(|end| talk.migrations(end).len() == before[end] + 1)
        });
        for (end, before) in before.into_iter().enumerate() {
            let (was, to, cause) = self.migrations(end)[before];
            assert_eq!((was, to), (from, path));
            assert!(end != by || cause == Cause::Request, "{cause:?}");
            let status = self.status(end);
            assert_eq!((status.state, status.primary), (QpState::Rts, path));
            assert_eq!((status.migration, status.alternate), (MigrationState::Migrated, None));
        }
    }
}

/// With [`by_hand`] and two paths; the connection is just made.
pub fn converse(ends: [&mut dyn Driver; 2], ids: [ConnectionId; 2]) {
    let mut talk = Talk::new(ends, ids);
    let status = talk.status(0);
    assert_eq!((status.state, status.migration), (QpState::Rts, MigrationState::Migrated));
    assert_eq!((status.primary, status.alternate), (PathId(0), None));
    talk.refusals();
    talk.exchange(30);
    talk.change_to(PathId(1), 0);
    let not_armed = Refusal::NotArmed { migration: MigrationState::Migrated };
    let again = talk.ends[0].migrate(&[ids[0]]);
    assert_eq!(again, Err(NetError::Refused(not_armed)));
    talk.change_to(PathId(0), 1);
    talk.exchange(30);
    talk.ends[0].close(ids[0]).expect("open");
    let gone = Err(NetError::UnknownConnection { number: ids[0].0 });
    assert_eq!(talk.ends[0].send(ids[0], 1, vec![1]), gone);
}
