//! Traffic of others: what each source sends next, and when.

use laneway_stats::SplitMix64;

use crate::carrier::MessageId;
use crate::network::{Background, Traffic};

/// One entry of the platform, in progress.
#[derive(Debug)]
pub(super) struct Source {
    pub background: Background,
    /// The steady flow, while there is one.
    pub flow: Option<MessageId>,
    random: SplitMix64,
}

impl Source {
    pub fn new(background: Background) -> Source {
        let seed = match background.traffic {
            Traffic::Messages { seed: Some(seed), .. } => seed,
            _ => 0,
        };
        Source { background, flow: None, random: SplitMix64::new(seed) }
    }

    /// When it does something for the first time. Messages at random instants have none that is
    /// certain: the first comes after a gap like the others.
    pub fn first(&mut self) -> Option<f64> {
        let start = self.background.start;
        match self.background.traffic {
            Traffic::Messages { seed: Some(_), .. } => self.next(start),
            _ => Some(start),
        }
    }

    /// When it does something again, having just begun or sent something at `now`.
    pub fn next(&mut self, now: f64) -> Option<f64> {
        let until = self.background.until;
        let next = match self.background.traffic {
            Traffic::Steady { .. } => return until.is_finite().then_some(until),
            Traffic::Messages { every, seed: None, .. } => now + every,
            Traffic::Messages { every, .. } => now + every * self.exponential(),
        };
        (next < until).then_some(next)
    }

    /// From the exponential distribution of mean 1.
    fn exponential(&mut self) -> f64 {
        -(1.0 - self.random.uniform()).ln()
    }
}
