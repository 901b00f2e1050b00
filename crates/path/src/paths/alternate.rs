//! The alternate path: specified, loaded together with the peer, then watched until it is needed.
//!
//! The states and their changes are the table [`MIGRATIONS`](crate::state::MIGRATIONS). What
//! belongs to a state exists only in it: the handshake that loads the path in REARM, the probes in
//! ARMED.
//!
//! An armed path is probed in full length while there is traffic: what passes short packets only
//! cannot take over. While there is none, short probes show that it is alive.

use super::liveness::Liveness;
use crate::state::{Cause, MigrationState, migration};
use crate::{Nanos, PathId};

/// The first interval between requests to load a path; it doubles each time.
const ARM_APART: Nanos = 2_000_000;
const ARM_MOST_APART: Nanos = 250_000_000;
/// The probe interval of an armed path while there is traffic, and while there is none.
pub(super) const WATCH_BUSY: Nanos = 50_000_000;
const WATCH_IDLE: Nanos = 500_000_000;
/// While there is no traffic, probes are short but for one in this time: thousands of idle
/// connections would fill a link with long ones.
const WATCH_LENGTH: Nanos = 30_000_000_000;
/// The number of unanswered probes that make it unhealthy.
const UNANSWERED: u32 = 4;

/// The handshake that loads the path.
#[derive(Clone, Copy)]
struct Arming {
    next_at: Nanos,
    apart: Nanos,
    /// Whether it has asked at once because the peer was heard to have the path, too.
    is_hurried: bool,
}

impl Arming {
    fn new(now: Nanos) -> Arming {
        Arming { next_at: now, apart: ARM_APART, is_hurried: false }
    }
}

/// Probes over an armed path.
#[derive(Clone, Copy)]
pub(crate) struct Watch {
    /// When the latest probe left, of whatever length.
    asked_at: Nanos,
    /// When the latest one of full length left; or when the path was armed, by such a packet.
    full_at: Nanos,
    unanswered: u32,
    /// Another connection has asked; before this time its answer may come.
    waits_until: Nanos,
}

impl Watch {
    fn new(now: Nanos) -> Watch {
        Watch { asked_at: now, full_at: now, unanswered: 0, waits_until: 0 }
    }

    /// When the path was probed last.
    pub fn asked_at(&self) -> Nanos {
        self.asked_at
    }

    /// What became of the last probe, as far as this path shows it.
    pub fn is_answered(&self, life: &Liveness) -> bool {
        match self.asked_at == self.full_at {
            true => life.carries_since(self.full_at),
            false => life.is_alive_since(self.asked_at),
        }
    }

    /// Whether the next probe must be of full length: data may follow, or it is not known for long
    /// that the path carries such packets.
    pub fn needs_length(&self, now: Nanos, busy: bool, life: &Liveness) -> bool {
        busy || now >= self.full_at + WATCH_LENGTH || !life.carries_since(self.full_at)
    }

    /// Whether an answer to the last probe may still be on its way.
    pub fn is_early(&self, now: Nanos) -> bool {
        now < self.asked_at + WATCH_BUSY
    }

    fn probe_at(&self, busy: bool) -> Nanos {
        // The first traffic after a rest does not wait: it must be known where it can go.
        match busy {
            true => self.full_at + WATCH_BUSY,
            false => (self.asked_at + WATCH_IDLE).max(self.waits_until),
        }
    }
}

#[derive(Clone, Copy)]
enum Stage {
    Migrated,
    Rearm(Arming),
    Armed(Watch),
}

/// The alternate path of a connection, if specified, and its migration state.
pub(crate) struct Alternate {
    path: Option<PathId>,
    stage: Stage,
}

impl Alternate {
    pub fn none() -> Alternate {
        Alternate { path: None, stage: Stage::Migrated }
    }

    /// A path that is not loaded.
    pub fn specified(path: PathId) -> Alternate {
        Alternate { path: Some(path), stage: Stage::Migrated }
    }

    pub fn path(&self) -> Option<PathId> {
        self.path
    }

    pub fn state(&self) -> MigrationState {
        match self.stage {
            Stage::Migrated => MigrationState::Migrated,
            Stage::Rearm(_) => MigrationState::Rearm,
            Stage::Armed(_) => MigrationState::Armed,
        }
    }

    /// The path, if it can take over.
    pub fn armed(&self) -> Option<PathId> {
        self.path.filter(|_| matches!(self.stage, Stage::Armed(_)))
    }

    pub fn is_loading(&self) -> bool {
        matches!(self.stage, Stage::Rearm(_))
    }

    /// Changes the state as the table says; false where it does not apply.
    fn step(&mut self, now: Nanos, cause: Cause) -> bool {
        let Some(to) = migration(self.state(), cause) else { return false };
        self.stage = match to {
            MigrationState::Migrated => Stage::Migrated,
            MigrationState::Rearm => Stage::Rearm(Arming::new(now)),
            MigrationState::Armed => Stage::Armed(Watch::new(now)),
        };
        true
    }

    /// Begins to load the path.
    pub fn load(&mut self, now: Nanos) {
        self.step(now, Cause::Load);
    }

    /// The peer loads the same path, and it works.
    pub fn arm(&mut self, now: Nanos) -> bool {
        self.step(now, Cause::Loaded)
    }

    /// The path does not work: it is loaded again.
    pub fn disarm(&mut self, now: Nanos) -> bool {
        self.step(now, Cause::Unhealthy)
    }

    /// The connection migrates, and has no alternate path any more; false where it cannot.
    pub fn migrate(&mut self, now: Nanos, cause: Cause) -> bool {
        let steps = self.step(now, cause);
        if steps {
            self.path = None;
        }
        steps
    }

    /// When the peer is asked next to load the path.
    pub fn ask_at(&self) -> Option<Nanos> {
        match self.stage {
            Stage::Rearm(arming) => Some(arming.next_at),
            _ => None,
        }
    }

    /// Whether the peer is to be asked now to load the path; the next request is later.
    pub fn ask(&mut self, now: Nanos) -> Option<PathId> {
        let (Stage::Rearm(arming), Some(path)) = (&mut self.stage, self.path) else { return None };
        if now < arming.next_at {
            return None;
        }
        arming.next_at = now + arming.apart;
        arming.apart = (2 * arming.apart).min(ARM_MOST_APART);
        Some(path)
    }

    /// The interface works again: requests begin anew.
    pub fn ask_anew(&mut self, now: Nanos) {
        if let Stage::Rearm(arming) = &mut self.stage {
            *arming = Arming::new(now);
        }
    }

    /// The peer has the path: no need to wait for the time of the next request. Only once at once:
    /// if answers got lost, both ends would do nothing else.
    pub fn hurry(&mut self, now: Nanos) {
        if let Stage::Rearm(arming) = &mut self.stage {
            let apart = if std::mem::replace(&mut arming.is_hurried, true) { ARM_APART } else { 0 };
            arming.next_at = arming.next_at.min(now + apart);
        }
    }

    /// When the armed path is probed next.
    pub fn probe_at(&self, busy: bool) -> Option<Nanos> {
        self.watch().map(|watch| watch.probe_at(busy))
    }

    /// The probes of the armed path.
    pub fn watch(&self) -> Option<Watch> {
        match self.stage {
            Stage::Armed(watch) => Some(watch),
            _ => None,
        }
    }

    /// The armed path is probed now in full length, outside the usual interval.
    pub fn on_probed(&mut self, now: Nanos) {
        if let Stage::Armed(watch) = &mut self.stage {
            (watch.asked_at, watch.full_at) = (now, now);
        }
    }

    /// Another connection that probed the path at `asked_at` vouches for it with what is in `life`
    /// now; whether that spares a probe, or soon may.
    pub fn take_word(&mut self, now: Nanos, life: &Liveness, asked_at: Option<Nanos>) -> bool {
        let Stage::Armed(watch) = &mut self.stage else { return false };
        let [alive, carried] = life.proved_at();
        if let Some(alive) = alive.filter(|at| *at > watch.asked_at) {
            (watch.asked_at, watch.unanswered) = (alive, 0);
            watch.full_at = carried.unwrap_or(0).max(watch.full_at);
            if now < watch.probe_at(false) && !watch.needs_length(now, false, life) {
                return true;
            }
        }
        // It is waited for once: on a dead path each finds out for itself.
        let has_waited = watch.waits_until >= watch.asked_at + WATCH_IDLE;
        let has_asked = asked_at.is_some_and(|at| at > watch.asked_at && now < at + WATCH_BUSY);
        if has_asked && !has_waited {
            watch.waits_until = now + WATCH_BUSY;
        }
        has_asked && !has_waited
    }

    /// The armed path is probed now, in full length or not, and this is what became of the last
    /// probe; false if too many were missed in a row.
    pub fn probe(&mut self, now: Nanos, full: bool, last: Probed) -> bool {
        let Stage::Armed(watch) = &mut self.stage else { return true };
        watch.asked_at = now;
        if full {
            watch.full_at = now;
        }
        match last {
            Probed::Answered => watch.unanswered = 0,
            Probed::Missed => watch.unanswered += 1,
            Probed::Unknown => {}
        }
        watch.unanswered < UNANSWERED
    }
}

/// What became of the last probe over an armed path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probed {
    Answered,
    Missed,
    /// Nothing can be said of the path.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: PathId = PathId(1);

    fn loading() -> Alternate {
        let mut alternate = Alternate::specified(PATH);
        alternate.load(0);
        alternate
    }

    #[test]
    fn requests_and_probes_exist_in_their_state_only() {
        let mut alternate = Alternate::specified(PATH);
        assert_eq!((alternate.ask_at(), alternate.probe_at(true)), (None, None));
        assert!(!alternate.arm(0) && !alternate.disarm(0) && alternate.armed().is_none());
        alternate.load(0);
        assert_eq!((alternate.ask_at(), alternate.probe_at(true)), (Some(0), None));
        assert!(alternate.arm(7));
        assert_eq!((alternate.ask_at(), alternate.probe_at(true)), (None, Some(7 + WATCH_BUSY)));
        assert_eq!(alternate.armed(), Some(PATH));
        assert!(alternate.migrate(8, Cause::Failure));
        assert_eq!((alternate.path(), alternate.probe_at(true)), (None, None));
        assert!(!alternate.migrate(9, Cause::Failure), "it is used up");
    }

    #[test]
    fn the_peer_is_asked_more_and_more_rarely() {
        let mut alternate = loading();
        let mut now = 0;
        for apart in [ARM_APART, 2 * ARM_APART, 4 * ARM_APART] {
            assert_eq!(alternate.ask(now), Some(PATH));
            assert_eq!((alternate.ask(now), alternate.ask_at()), (None, Some(now + apart)));
            now += apart;
        }
        alternate.hurry(now - 1);
        assert_eq!(alternate.ask_at(), Some(now - 1), "at once");
        assert_eq!(alternate.ask(now - 1), Some(PATH));
        alternate.hurry(now);
        assert_eq!(alternate.ask_at(), Some(now + ARM_APART), "at once only once");
    }

    #[test]
    fn probes_missed_in_a_row_make_it_unhealthy() {
        let mut alternate = loading();
        assert!(alternate.arm(0));
        let mut probe = |now, last| alternate.probe(now, true, last);
        for _ in 1..UNANSWERED {
            assert!(probe(1, Probed::Missed));
        }
        assert!(probe(2, Probed::Unknown), "the peer may be busy");
        assert!(probe(3, Probed::Answered));
        for _ in 1..UNANSWERED {
            assert!(probe(4, Probed::Missed));
        }
        assert!(!probe(5, Probed::Missed));
        assert!(alternate.disarm(6) && alternate.is_loading());
    }

    #[test]
    fn probes_are_short_while_nothing_is_sent_and_the_length_is_known() {
        let mut alternate = loading();
        assert!(alternate.arm(0));
        let (mut life, mut now) = (Liveness::default(), 0);
        let mut lengths = Vec::new();
        for _ in 0..120 {
            now = alternate.probe_at(false).expect("it is armed");
            let full = alternate.watch().is_some_and(|watch| watch.needs_length(now, false, &life));
            lengths.push(full);
            assert!(alternate.probe(now, full, Probed::Answered));
            life.on_arrival(now + 1);
            life.on_confirmed(now);
            if full {
                life.on_carried(now + 1, now);
            }
        }
        let full = lengths.iter().filter(|full| **full).count();
        assert!(lengths[0] && full == 2, "{full} of full length in a minute");
        let watch = alternate.watch().expect("it is armed");
        assert!(watch.is_answered(&life) && watch.is_early(now) && !watch.is_early(2 * now));
        assert!(alternate.probe_at(true) < Some(now), "at once when there is traffic");
        assert!(watch.needs_length(now, true, &life));
        assert!(alternate.probe(now, true, Probed::Answered));
        assert_eq!(alternate.probe_at(true), Some(now + WATCH_BUSY));
        let watch = alternate.watch().expect("it is armed");
        assert!(!watch.is_answered(&life), "a short packet says nothing of a long one");
        assert!(watch.needs_length(now, false, &life), "until it is answered");
    }

    #[test]
    fn the_word_of_another_connection_spares_probes() {
        let mut alternate = loading();
        assert!(alternate.arm(0));
        let (mut life, mut other) = (Liveness::default(), Liveness::default());
        let due = alternate.probe_at(false).expect("it is armed");
        assert!(!alternate.take_word(due, &life, None), "nothing is known");
        let asked_at = due - 1;
        assert!(alternate.take_word(due, &life, Some(asked_at)), "an answer may come");
        assert_eq!(alternate.probe_at(false), Some(due + WATCH_BUSY));
        let late = due + WATCH_BUSY;
        assert!(!alternate.take_word(late, &life, Some(late - 1)), "not twice");
        other.on_arrival(due + 2);
        other.on_confirmed(asked_at);
        other.on_carried(due + 2, asked_at);
        life.take_word(&other);
        assert_eq!(life.arrived_at(), None, "nothing came to this connection");
        assert!(alternate.take_word(late, &life, Some(asked_at)));
        let due = alternate.probe_at(false).expect("it is armed");
        assert_eq!(due, asked_at + WATCH_IDLE);
        assert!(!alternate.take_word(due, &life, Some(asked_at)), "that is known");
        let watch = alternate.watch().expect("it is armed");
        assert!(watch.is_answered(&life), "the probe that it was spared is answered");
    }
}
