//! The comparison of a lossy primary path with the alternate one, before the connection leaves it.
//!
//! Probes of full length go over both paths, the more the lighter the loss. The connection migrates
//! if less than half as many get lost on the alternate one, and not by chance. Probes that get lost
//! one after the other count once: a queue that overflows is not a bad path. After each trial the
//! next one waits, twice as long as before, and after each migration the difference must be
//! clearer, until no path has lost packets for a while: two bad paths do not take turns.

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

/// How often probes got lost on both paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    pub primary: u64,
    pub alternate: u64,
}

struct Running {
    left: u64,
    began: Nanos,
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
    pub fn begin(&mut self, now: Nanos, lost: u64) {
        let probes = (1000 * LOST / lost.max(1)).clamp(LEAST_PROBES, MOST_PROBES);
        self.skip(now);
        self.running = Some(Running { left: probes, began: now, next_at: now });
    }

    /// The path is left without a trial: the next one waits as after a trial.
    pub fn skip(&mut self, now: Nanos) {
        self.hold = (2 * self.hold).clamp(HOLD, MOST_HOLD);
        self.next_after = now + self.hold;
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

    /// What is to be done now, with this round trip; `lost` gives what got lost since a time.
    pub fn step(&mut self, now: Nanos, trip: Nanos, lost: impl FnOnce(Nanos) -> Lost) -> Step {
        let Some(running) = self.running.as_mut().filter(|running| running.next_at <= now) else {
            return Step::Wait;
        };
        if running.left > 0 {
            running.left -= 1;
            let wait = if running.left > 0 { APART } else { ANSWERS + 2 * trip };
            running.next_at = now + wait;
            return Step::Probe;
        }
        let Lost { primary, alternate } = lost(running.began);
        self.running = None;
        let clear = CLEAR * (1 + self.moved);
        if primary >= 2 * alternate + clear { Step::Migrate } else { Step::Wait }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a trial of paths that lose these parts of a hundred.
    fn run(trial: &mut Trial, begins: Nanos, lost: u64, parts: Lost) -> (Step, Nanos) {
        trial.begin(begins, lost);
        let mut probes = 0;
        loop {
            let now = trial.next_at().expect("it runs");
            let lost = |since| {
                assert_eq!(since, begins);
                let of = |part: u64| probes * part / 100;
                Lost { primary: of(parts.primary), alternate: of(parts.alternate) }
            };
            match trial.step(now, 1000, lost) {
                Step::Probe => probes += 1,
                step => return (step, now),
            }
        }
    }

    #[test]
    fn only_a_better_path_is_taken() {
        let mut trial = Trial::default();
        let mut step =
            |lost, primary, alternate| run(&mut trial, 0, lost, Lost { primary, alternate }).0;
        assert_eq!(step(200, 20, 0), Step::Migrate);
        assert_eq!(step(200, 20, 2), Step::Migrate);
        assert_eq!(step(200, 20, 10), Step::Wait);
        assert_eq!(step(200, 5, 0), Step::Wait, "by chance");
        assert_eq!(step(20, 2, 0), Step::Migrate);
        assert_eq!(step(20, 2, 2), Step::Wait);
        trial.on_moved();
        let clear = Lost { primary: 20, alternate: 0 };
        assert_eq!(run(&mut trial, 0, 200, clear).0, Step::Migrate);
        let doubtful = Lost { primary: 15, alternate: 0 };
        assert_eq!(run(&mut trial, 0, 200, doubtful).0, Step::Wait, "it was left before");
        assert_eq!(run(&mut trial, 0, 200, clear).1, 39 * APART + ANSWERS + 2000);
    }

    #[test]
    fn trials_become_rarer_until_there_is_peace() {
        let bad = Lost { primary: 50, alternate: 50 };
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
