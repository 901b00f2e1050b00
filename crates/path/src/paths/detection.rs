//! Whether the primary path is dead: it is asked, and so is the alternate one.
//!
//! A silent peer may only be computing, and a long queue may only be long. So nothing follows from
//! silence alone: the primary path is dead where the alternate one answers time and again and the
//! primary one does not, for longer than its packets took of late. It answers if a packet that was
//! sent over it is known to have arrived and a packet has come over it, both since it was
//! suspected: that is how a path that is dead in one direction is found.
//!
//! A path that answers may still pass short packets only. Where it does and nothing is
//! acknowledged, it is asked in packets of full length.
//!
//! A path that was rerouted may be slower by far, and is not dead. Data is diverted to the
//! alternate path as soon as the primary one seems dead, and the connection migrates when it has
//! been silent for longer than any reroute explains.
//!
//! A queue that grows on the way lets packets through, each later than the one before. Every sign
//! of life begins the wait anew, and the wait is twice as long as signs were apart.
//!
//! Many connections that wait for one path do not probe it at the same instants for ever: longer
//! intervals differ by connection.
//!
//! One of many senders on a path may send a packet in several round trips: the next packet shows
//! whether the one before was lost, and probes wait for it. If each asked first, probes would take
//! the place of data.
//!
//! Where packets wait at either end to leave by the primary path, its silence says nothing, for as
//! long as a queue may be.

use super::route::Route;
use crate::Nanos;
use crate::state::Cause;

/// The first interval between probes; it grows while no answer comes.
const APART: Nanos = 2_000_000;
const MOST_APART: Nanos = 72_000_000;
/// The alternate path must answer so often.
const ANSWERS: u32 = 3;
/// A path is suspected after twice its longest round trip of late, and this.
const PATIENCE: Nanos = 1_000_000;
/// What waits to leave for longer than this never will.
const LONGEST_QUEUE: Nanos = 1_000_000_000;
/// A path that shows no sign for so long was not only rerouted.
const CERTAIN: Nanos = 60_000_000;
/// A packet that is sent again is acknowledged after so long, beside four round trips.
const PROGRESS: Nanos = 8_000_000;

/// Why the primary path is suspected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// Nothing comes.
    Silence,
    /// It answers, and nothing is acknowledged.
    Length,
}

pub(crate) struct Suspicion {
    doubt: Doubt,
    began: Nanos,
    /// The latest sign of life, or when it began.
    since: Nanos,
    /// The longest time between signs of life since it began.
    between: Nanos,
    asked_at: Nanos,
    apart: Nanos,
    /// What longer intervals are shorter by, in parts of 4096.
    spread: u64,
    answers: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is alive.
    Alive,
    /// It seems dead, and the alternate path is not: data goes there. Ask again.
    Divert,
    /// It is dead, for this cause, and the alternate path is not.
    Dead(Cause),
    /// Nothing can be said yet.
    Wait,
    /// Ask now.
    Ask,
}

/// How long one waits for a sign of life of a path before it is suspected.
pub(crate) fn patience(primary: &Route) -> Nanos {
    PATIENCE + 2 * primary.trips().longest() + primary.flight.pause(primary.trip())
}

/// How long one waits for progress on a path that answers.
pub(crate) fn progress_patience(primary: &Route) -> Nanos {
    PROGRESS + 4 * primary.trips().longest() + 4 * primary.flight.pause(primary.trip())
}

/// Less than a quarter of 4096, different for each number of a connection.
fn spread(number: u32) -> u64 {
    u64::from(number.wrapping_mul(0x9e37_79b9) >> 22)
}

impl Suspicion {
    /// Both paths are to be asked at once; `number` is that of the connection.
    pub fn new(now: Nanos, doubt: Doubt, number: u32) -> Suspicion {
        let (began, since, asked_at) = (now, now, now);
        let spread = spread(number);
        Suspicion { doubt, began, since, between: 0, asked_at, apart: APART, spread, answers: 0 }
    }

    pub fn doubt(&self) -> Doubt {
        self.doubt
    }

    /// When to judge again.
    pub fn next_at(&self) -> Nanos {
        self.asked_at + self.apart - (self.apart - APART) * self.spread / 4096
    }

    /// The alternate path can take over from now on: it is asked soon.
    pub fn hurry(&mut self) {
        self.apart = APART;
    }

    /// What is known now; `alternate` is there if it could take over.
    pub fn judge(&mut self, now: Nanos, primary: &Route, alternate: Option<&Route>) -> Verdict {
        let life = primary.liveness();
        let (alive, sign, cause) = match self.doubt {
            Doubt::Silence => (life.is_alive_since(self.began), life.last_sign(), Cause::Failure),
            Doubt::Length => (life.carries_since(self.began), life.last_carried(), Cause::Length),
        };
        if alive {
            return Verdict::Alive;
        }
        if let Some(sign) = sign.filter(|sign| *sign > self.since) {
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
        } else if alternate.is_some_and(|route| route.liveness().carries_since(self.asked_at)) {
            self.answers += 1;
        } else {
            self.apart = (2 * self.apart).min(MOST_APART);
        }
        self.asked_at = now;
        let patience = patience(primary).max(PATIENCE + 2 * self.between);
        if self.answers < ANSWERS || silent < patience {
            return Verdict::Ask;
        }
        if silent >= CERTAIN { Verdict::Dead(cause) } else { Verdict::Divert }
    }
}

#[cfg(test)]
mod tests {
    use super::super::alternate::WATCH_BUSY;
    use super::*;

    /// The alternate path is watched less often than it is asked during a suspicion, and found dead
    /// by its watch alone: if both were dead, nothing would look for a third.
    #[test]
    fn a_long_suspicion_leaves_time_to_watch_the_alternate_path() {
        for number in 0..10_000 {
            let mut suspicion = Suspicion::new(0, Doubt::Silence, number);
            suspicion.apart = MOST_APART;
            assert!(suspicion.next_at() > WATCH_BUSY, "connection {number}");
        }
    }
}
