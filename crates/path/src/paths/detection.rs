//! Whether the primary path is dead: it is asked, and so is the alternate one.
//!
//! A silent peer may only be computing, and a long queue may only be long. So nothing follows from
//! silence alone: the primary path is dead where the alternate one answers time and again and the
//! primary one does not, for longer than its packets took of late. It answers if a packet that was
//! sent over it is known to have arrived and a packet has come over it, both since then: that is
//! how a path that is dead in one direction is found.
//!
//! A queue that grows on the way lets packets through, each later than the one before. Every sign
//! of life begins the wait anew, and the wait is twice as long as signs were apart.
//!
//! Where packets wait at either end to leave by the primary path, its silence says nothing, for as
//! long as a queue may be.

use super::route::Route;
use crate::Nanos;

/// The first interval between probes; it grows while no answer comes.
const APART: Nanos = 2_000_000;
const MOST_APART: Nanos = 64_000_000;
/// The alternate path must answer so often.
const ANSWERS: u32 = 3;
/// A path is suspected after twice its longest round trip of late, and this.
const PATIENCE: Nanos = 1_000_000;
/// What waits to leave for longer than this never will.
const LONGEST_QUEUE: Nanos = 1_000_000_000;

pub(crate) struct Suspicion {
    since: Nanos,
    /// The longest time between signs of life since it began.
    between: Nanos,
    asked_at: Nanos,
    apart: Nanos,
    answers: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is alive.
    Alive,
    /// It is dead, and the alternate path is not.
    Dead,
    /// Nothing can be said yet.
    Wait,
    /// Ask now.
    Ask,
}

/// How long one waits for a sign of life of a path before it is suspected.
pub(crate) fn patience(primary: &Route) -> Nanos {
    PATIENCE + 2 * primary.trips().longest()
}

impl Suspicion {
    /// Both paths are to be asked at once.
    pub fn new(now: Nanos) -> Suspicion {
        Suspicion { since: now, between: 0, asked_at: now, apart: APART, answers: 0 }
    }

    /// When to judge again.
    pub fn next_at(&self) -> Nanos {
        self.asked_at + self.apart
    }

    /// What is known now; `alternate` is there if it could take over.
    pub fn judge(&mut self, now: Nanos, primary: &Route, alternate: Option<&Route>) -> Verdict {
        if primary.liveness().is_alive_since(self.since) {
            return Verdict::Alive;
        }
        if let Some(sign) = primary.liveness().last_sign().filter(|sign| *sign > self.since) {
            self.between = self.between.max(sign - self.since);
            (self.since, self.answers) = (sign, 0);
        }
        if now < self.next_at() {
            return Verdict::Wait;
        }
        let queued = primary.link.queued_here || primary.link.queued_there;
        // A sign may be a little later than the time that the driver took before it looked.
        let silent = now.saturating_sub(self.since);
        if queued && silent < LONGEST_QUEUE {
            self.answers = 0;
        } else if alternate.is_some_and(|route| route.liveness().is_alive_since(self.asked_at)) {
            self.answers += 1;
        } else {
            self.apart = (2 * self.apart).min(MOST_APART);
        }
        let patience = patience(primary).max(PATIENCE + 2 * self.between);
        if self.answers >= ANSWERS && silent >= patience {
            return Verdict::Dead;
        }
        self.asked_at = now;
        Verdict::Ask
    }
}
