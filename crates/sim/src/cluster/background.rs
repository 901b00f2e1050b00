//! Traffic of others: what each source sends next, and when.

use crate::carrier::MessageId;
use crate::network::{Background, Traffic};

/// One entry of the platform, in progress.
#[derive(Debug)]
pub(super) struct Source {
    pub background: Background,
    /// The steady flow, while there is one.
    pub flow: Option<MessageId>,
    state: u64,
}

impl Source {
    pub fn new(background: Background) -> Source {
        let seed = match background.traffic {
            Traffic::Messages { seed: Some(seed), .. } => seed,
            _ => 0,
        };
        Source { background, flow: None, state: seed }
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

    /// From the exponential distribution of mean 1, by splitmix64.
    fn exponential(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let uniform = ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64;
        -(1.0 - uniform).ln()
    }
}
