//! The comparison of a lossy primary path with the alternate one, before the connection leaves it.
//!
//! Probes of full length go over both paths, the more the lighter the loss. The connection migrates
//! if less than half as many get lost on the alternate one, and not by chance. After each trial the
//! next one waits, twice as long as before, and after each migration the difference must be clearer,
//! until no path has lost packets for a while: two bad paths do not take turns.

use crate::Nanos;

/// The time between two probes of a path.
const APART: Nanos = 250_000;
const LEAST_PROBES: u64 = 40;
const MOST_PROBES: u64 = 500;
/// The number that a path with the loss that was found loses on average.
const LOST: u64 = 8;
/// The primary path must lose this number more than twice those of the alternate one.
const CLEAR: u64 = 4;
/// The wait for the last answers, beside two round trips.
const ANSWERS: Nanos = 2_000_000;
/// The first and the longest time between trials.
const HOLD: Nanos = 200_000_000;
const MOST_HOLD: Nanos = 60_000_000_000;
/// After so long without loss the first of these is in force again.
const CALM: Nanos = 10_000_000_000;

/// What both paths have answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answered {
    pub primary: u64,
    pub alternate: u64,
}

struct Running {
    probes: u64,
    left: u64,
    before: Answered,
    next_at: Nanos,
}

/// What is to be done for a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Wait,
    /// Both paths are probed.
    Probe,
    /// The alternate path is better.
    Migrate,
}

#[derive(Default)]
pub(crate) struct Trial {
    running: Option<Running>,
    next_after: Nanos,
    hold: Nanos,
    lossy_at: Nanos,
    /// Migrations since then that a trial at either end may have caused.
    moved: u64,
}

impl Trial {
    /// The path in use loses packets; whether a trial may begin.
    pub fn may_begin(&mut self, now: Nanos) -> bool {
        if now >= self.lossy_at.saturating_add(CALM) {
            (self.next_after, self.hold, self.moved) = (now, 0, 0);
        }
        self.lossy_at = now;
        self.running.is_none() && now >= self.next_after
    }

    /// Begins, where the primary path loses this part of the packets, in thousandths.
    pub fn begin(&mut self, now: Nanos, lost: u64, before: Answered) {
        let probes = (1000 * LOST / lost.max(1)).clamp(LEAST_PROBES, MOST_PROBES);
        self.hold = (2 * self.hold).clamp(HOLD, MOST_HOLD);
        self.next_after = now + self.hold;
        self.running = Some(Running { probes, left: probes, before, next_at: now });
    }

    /// The path is left, perhaps because it loses packets.
    pub fn on_moved(&mut self) {
        self.moved += 1;
    }

    /// Ends without a result.
    pub fn stop(&mut self) {
        self.running = None;
    }

    /// When something is to be done.
    pub fn next_at(&self) -> Option<Nanos> {
        self.running.as_ref().map(|running| running.next_at)
    }

    /// What is to be done now; probes answered so far, and the round trip.
    pub fn step(&mut self, now: Nanos, answered: Answered, trip: Nanos) -> Step {
        let Some(running) = self.running.as_mut().filter(|running| running.next_at <= now) else {
            return Step::Wait;
        };
        if running.left > 0 {
            running.left -= 1;
            let wait = if running.left > 0 { APART } else { ANSWERS + 2 * trip };
            running.next_at = now + wait;
            return Step::Probe;
        }
        let lost = |now: u64, before: u64| running.probes.saturating_sub(now - before.min(now));
        let primary = lost(answered.primary, running.before.primary);
        let alternate = lost(answered.alternate, running.before.alternate);
        self.running = None;
        let clear = CLEAR * (1 + self.moved);
        if primary >= 2 * alternate + clear { Step::Migrate } else { Step::Wait }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: Answered = Answered { primary: 7, alternate: 5 };

    /// Runs a trial of paths that answer these parts of a hundred.
    fn run(trial: &mut Trial, now: Nanos, lost: u64, parts: Answered) -> (Step, Nanos) {
        trial.begin(now, lost, BEFORE);
        let mut probes = 0;
        loop {
            let now = trial.next_at().expect("it runs");
            let answered = Answered {
                primary: BEFORE.primary + probes * parts.primary / 100,
                alternate: BEFORE.alternate + probes * parts.alternate / 100,
            };
            match trial.step(now, answered, 1000) {
                Step::Probe => probes += 1,
                step => return (step, now),
            }
        }
    }

    #[test]
    fn only_a_better_path_is_taken() {
        let mut trial = Trial::default();
        let mut step =
            |lost, primary, alternate| run(&mut trial, 0, lost, Answered { primary, alternate }).0;
        assert_eq!(step(200, 80, 100), Step::Migrate);
        assert_eq!(step(200, 80, 98), Step::Migrate);
        assert_eq!(step(200, 80, 90), Step::Wait);
        assert_eq!(step(200, 95, 100), Step::Wait, "by chance");
        assert_eq!(step(20, 98, 100), Step::Migrate);
        assert_eq!(step(20, 98, 98), Step::Wait);
        trial.on_moved();
        let clear = Answered { primary: 80, alternate: 100 };
        assert_eq!(run(&mut trial, 0, 200, clear).0, Step::Migrate);
        let doubtful = Answered { primary: 85, alternate: 100 };
        assert_eq!(run(&mut trial, 0, 200, doubtful).0, Step::Wait, "it was left before");
        let both = Answered { primary: 80, alternate: 100 };
        assert_eq!(run(&mut trial, 0, 200, both).1, 39 * APART + ANSWERS + 2000);
    }

    #[test]
    fn trials_become_rarer_until_there_is_peace() {
        let bad = Answered { primary: 50, alternate: 50 };
        let (mut trial, mut now, mut count) = (Trial::default(), 0, 0);
        while now < 60 * 1_000_000_000 {
            if trial.may_begin(now) {
                now = run(&mut trial, now, 200, bad).1;
                count += 1;
            }
            now += 1_000_000;
        }
        assert!(count <= 10, "{count}");
        let calm = 1_000 * 1_000_000_000;
        assert!(trial.may_begin(calm));
        run(&mut trial, calm, 200, bad);
        assert!(!trial.may_begin(calm + HOLD - 1));
        assert!(trial.may_begin(calm + HOLD), "the first wait again");
    }
}
