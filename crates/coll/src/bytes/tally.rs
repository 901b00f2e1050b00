//! How many calls were right, and what all ranks know of each.

use laneway_core::{Comm, CommError, Row, talk};

use super::case::Outcome;

/// How many calls came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Calls whose every byte is right.
    pub passed: u64,
    /// Calls with something wrong.
    pub failed: u64,
    /// Calls that the algorithm does not serve.
    pub skipped: u64,
}

impl Tally {
    /// Counts these outcomes.
    pub fn of(outcomes: &[Outcome]) -> Tally {
        let mut tally = Tally::default();
        for outcome in outcomes {
            match outcome {
                Outcome::Passed => tally.passed += 1,
                Outcome::Failed(_) => tally.failed += 1,
                Outcome::Skipped(_) => tally.skipped += 1,
            }
        }
        tally
    }

    /// Adds the counts of another.
    pub fn add(&mut self, other: &Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// The counts by their names.
    pub fn row(&self) -> Row {
        let row = Row::new().with("passed", self.passed).with("failed", self.failed);
        row.with("skipped", self.skipped)
    }
}

/// Collective: a call failed if it failed anywhere; all ranks learn of it.
pub fn agree(comm: &dyn Comm, outcomes: &mut [Outcome]) -> Result<(), CommError> {
    let failures: String = outcomes
        .iter()
        .enumerate()
        .filter_map(|(i, outcome)| match outcome {
            Outcome::Failed(why) => Some(format!("{i} {}\n", why.replace('\n', " "))),
            _ => None,
        })
        .collect();
    let all = talk::gather(comm, failures.as_bytes())?.concat();
    let all = talk::broadcast(comm, &all)?;
    for line in String::from_utf8_lossy(&all).lines() {
        let Some((index, why)) = line.split_once(' ') else { continue };
        let outcome = index.parse::<usize>().ok().and_then(|index| outcomes.get_mut(index));
        if let Some(outcome) = outcome.filter(|outcome| **outcome == Outcome::Passed) {
            *outcome = Outcome::Failed(why.to_owned());
        }
    }
    Ok(())
}
