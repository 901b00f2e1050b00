//! Whether a fit holds, and what it leaves unknown: experiments beside what the model says of them.

use std::collections::BTreeMap;

use laneway_stats::quantile;

use crate::error::ModelError;
use crate::parameter::Parameter;

/// An experiment beside what the model says of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Check {
    /// Such as `round trip`, or `held back`.
    pub kind: &'static str,
    /// The experiment, with its size and ranks.
    pub what: String,
    /// What it took.
    pub measured: Parameter,
    /// Of all repetitions.
    pub fastest: f64,
    /// What the model says.
    pub predicted: f64,
    /// What it says of a network that nobody else uses.
    pub quiet: f64,
}

impl Check {
    /// How far the model is off, as a part of what was measured, beyond the measured interval.
    /// Others have a part of what lies between the fastest repetition and the interval, and of
    /// what the model says beyond a quiet network: half of these counts.
    pub fn residual(&self) -> f64 {
        let Parameter { value, low, high } = self.measured;
        let of_others = |off: f64, part: f64| off.min(part.max(0.0));
        let below = (low - self.predicted).max(0.0);
        let above = (self.predicted - high).max(0.0);
        let below = below - of_others(below, low - self.fastest) / 2.0;
        let off = below.max(above - of_others(above, self.predicted - self.quiet) / 2.0);
        if off > 0.0 { off / value.max(f64::MIN_POSITIVE) } else { 0.0 }
    }
}

/// One of so many experiments of a kind may be off as it likes.
const DISTURBED: usize = 100;
/// No prediction is taken as known better than to such a part: instants, the order of messages that
/// meet at one instant, and straight lines between sizes are no parameters.
const LEAST_UNKNOWN: f64 = 0.01;
/// Calls combine more messages than experiments do, and are off by so many times as much.
const MARGIN: f64 = 1.5;
/// A model that is farther off for experiments that are like calls promises no interval.
const BEYOND: f64 = 0.1;

/// Whether a fit holds: what the model says of experiments beside what they took.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Quality {
    /// What nine of ten experiments are off at most, as parts of their times.
    pub typical: f64,
    /// What the worst is off.
    pub worst: f64,
    /// Which experiment is the worst.
    pub worst_of: String,
    /// The most that the worst may be.
    pub limit: f64,
    /// What the model is off for experiments that are like calls (all ranks at once, fans, echoes)
    /// and that no fit saw: the worst of them.
    pub held_back: f64,
    /// Which of them is the worst.
    pub held_back_of: String,
    /// The part that a call may be off as hosts were not measured but taken to be copies of others.
    pub assumed: f64,
}

impl Quality {
    /// `checks` decide whether the model holds; `trials` are those that no fit saw. Of many
    /// experiments of one kind a few may be disturbed: one of each hundred is passed over.
    pub fn of(checks: &[Check], trials: &[Check], limit: f64) -> Quality {
        let residuals: Vec<f64> = checks.iter().map(Check::residual).collect();
        let mut kinds: BTreeMap<&str, Vec<&Check>> = BTreeMap::new();
        checks.iter().for_each(|check| kinds.entry(check.kind).or_default().push(check));
        let worst = kinds.into_values().filter_map(|mut own| {
            own.sort_by(|one, other| other.residual().total_cmp(&one.residual()));
            own.get(own.len() / DISTURBED).copied()
        });
        let worst = worst.max_by(|one, other| one.residual().total_cmp(&other.residual()));
        let order = |one: &&Check, other: &&Check| one.residual().total_cmp(&other.residual());
        let trial = trials.iter().max_by(order);
        Quality {
            typical: quantile(&residuals, 0.9).unwrap_or(0.0),
            worst: worst.map_or(0.0, Check::residual),
            worst_of: worst.map_or(String::new(), |check| check.what.clone()),
            limit,
            held_back: trial.map_or(0.0, Check::residual),
            held_back_of: trial.map_or(String::new(), |check| check.what.clone()),
            assumed: 0.0,
        }
    }

    /// The part that a call may be off beyond what the intervals of the parameters say.
    pub fn unknown(&self) -> f64 {
        LEAST_UNKNOWN.max(self.typical).max(MARGIN * self.held_back) + self.assumed
    }

    /// Why predictions have no intervals, as a sentence; none where they have.
    pub fn beyond(&self) -> Option<String> {
        let far = |of: &str, off: f64| {
            let (off, limit) = (100.0 * off, 100.0 * BEYOND);
            format!(
                "Calls are beyond the model, and have no intervals: it is {off:.1} % off for {of}, \
                 and {limit:.0} % is the limit of a promise."
            )
        };
        (self.held_back > BEYOND).then(|| far(&self.held_back_of, self.held_back))
    }

    /// Whether the model may be asked.
    pub fn holds(&self) -> bool {
        self.worst <= self.limit
    }

    pub(crate) fn demand(&self) -> Result<(), ModelError> {
        let Quality { worst: residual, limit, .. } = *self;
        match self.holds() {
            true => Ok(()),
            false => {
                let worst = self.worst_of.clone();
                Err(ModelError::DoesNotHold { worst, residual, limit })
            }
        }
    }
}
