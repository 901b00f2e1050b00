//! What a run still has to carry: where it cannot be carried within the limit, the run ends at
//! once.

use crate::error::SimError;
use crate::network::{Resource, Route};

/// Sums in another order differ by less.
const ROUNDING: f64 = 1.0 + 1e-9;

/// What is not on the network yet.
#[derive(Debug)]
pub(crate) struct Rest {
    /// The limit of virtual time.
    limit: f64,
    /// The part of a transfer, and of its latency, that takes place.
    part: f64,
    /// For how long it occupies each resource.
    seconds: Vec<f64>,
}

impl Rest {
    /// A run that occupies each resource for these seconds, and whose transfers may end early by a
    /// part of their length.
    pub fn new(seconds: &[f64], limit: f64, early: f64) -> Rest {
        Rest { limit, part: 1.0 - early, seconds: seconds.to_vec() }
    }

    /// A message leaves: what its resources have not begun to carry, itself included, begins no
    /// earlier than now. An error if some of it must end after the limit.
    pub fn launch(
        &mut self,
        now: f64,
        bytes: u64,
        route: &Route,
        resources: &[Resource],
    ) -> Result<(), SimError> {
        for &number in &route.resources {
            let resource = &resources[number as usize];
            let Some(left) = self.seconds.get_mut(number as usize).filter(|_| resource.shared)
            else {
                continue;
            };
            if now + self.part * *left > self.limit * ROUNDING {
                return Err(SimError::Limit { seconds: self.limit });
            }
            *left -= bytes as f64 / resource.rate;
        }
        Ok(())
    }
}
