//! What a survey measures, and what it calls slow.

use super::error::Refusal;
use super::sample::{LEAST_PARTNERS, Sample};
use super::sites::Sites;
use crate::Rule;
use crate::p2p::{LeastRate, Limits, Sizes};
use crate::repeat::{Aim, LEAST_SAMPLES};

/// Bytes of the message that tells the latency.
const SHORT_BYTES: usize = 8;

/// Shorter messages tell a latency and no bandwidth.
pub const LEAST_BYTES: usize = 1024;

/// The bandwidth that every pair must have.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Gate {
    /// This part of the usual bandwidth of its kind.
    Share(f64),
    /// A rate in bytes a second, whatever is usual.
    Rate(f64),
}

/// All pairs of ranks: what is measured, and what is slow.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Survey {
    /// When a figure has enough repetitions.
    pub rule: Rule,
    /// Bytes of the long message, at least [`LEAST_BYTES`].
    pub size: usize,
    /// What a pair must have; a pair is slow by the usual limits where there is none.
    pub gate: Option<Gate>,
    /// How many times the usual latency a pair may have.
    pub most_latency: f64,
    /// Which ranks share a site.
    pub sites: Sites,
    /// One pair at a time, while all others wait.
    pub sequential: bool,
    /// A sample in place of all pairs.
    pub sample: Option<Sample>,
}

impl Survey {
    /// Thousands of pairs are to be looked at, and slow ones are slow by more than a little.
    pub const RULE: Rule = Rule {
        aim: Aim::Median { precision: 0.03, level: 0.95 },
        min_reps: LEAST_SAMPLES,
        max_reps: 100,
        budget: 0.5,
    };

    /// Messages of 1 MiB, sites by the hosts' domains or by the latencies, and no gate.
    pub fn new() -> Survey {
        Survey {
            rule: Survey::RULE,
            size: 1 << 20,
            gate: None,
            most_latency: Limits::default().most_latency,
            sites: Sites::Domains,
            sequential: false,
            sample: None,
        }
    }

    /// Bytes of both messages.
    pub fn sizes(&self) -> Sizes {
        Sizes { latency: SHORT_BYTES, bandwidth: self.size }
    }

    /// What is slow. A rate is a limit beside that of what is usual.
    pub fn limits(&self) -> Limits {
        let usual = Limits { most_latency: self.most_latency, ..Limits::default() };
        match self.gate {
            None => usual,
            Some(Gate::Share(least_bandwidth)) => Limits { least_bandwidth, ..usual },
            Some(Gate::Rate(bytes_per_second)) => {
                let least_rate = Some(LeastRate { bytes_per_second, bytes: self.size });
                Limits { least_rate, ..usual }
            }
        }
    }

    /// Whether the long message tells a bandwidth.
    pub fn check_size(&self) -> Result<(), Refusal> {
        match self.size < LEAST_BYTES {
            true => Err(Refusal::ShortMessage { size: self.size, least: LEAST_BYTES }),
            false => Ok(()),
        }
    }

    /// Refuses what this number of ranks cannot do.
    pub fn check(&self, ranks: u32) -> Result<(), Refusal> {
        self.check_size()?;
        if ranks < 2 {
            return Err(Refusal::NoPairs);
        }
        if matches!(self.gate, Some(Gate::Share(_))) && ranks < 3 {
            return Err(Refusal::NothingToCompare);
        }
        match self.sample.and_then(|sample| sample.partners) {
            Some(partners) if !(LEAST_PARTNERS..ranks.max(3)).contains(&partners) => {
                Err(Refusal::Partners { partners, ranks })
            }
            _ => Ok(()),
        }
    }
}

impl Default for Survey {
    fn default() -> Survey {
        Survey::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_is_a_limit() {
        let limits = |gate| Survey { gate, most_latency: 1.5, ..Survey::new() }.limits();
        let usual = Limits { most_latency: 1.5, ..Limits::default() };
        assert_eq!(limits(None), usual);
        assert_eq!(limits(Some(Gate::Share(0.9))), Limits { least_bandwidth: 0.9, ..usual });
        let least_rate = Some(LeastRate { bytes_per_second: 12e9, bytes: 1 << 20 });
        assert_eq!(limits(Some(Gate::Rate(12e9))), Limits { least_rate, ..usual });
    }

    #[test]
    fn what_cannot_be_surveyed_is_refused() {
        let survey = Survey::new();
        assert_eq!(survey.check(1), Err(Refusal::NoPairs));
        assert_eq!(survey.check(2), Ok(()));
        let gate = Survey { gate: Some(Gate::Share(0.9)), ..survey.clone() };
        assert_eq!(gate.check(2), Err(Refusal::NothingToCompare));
        assert_eq!(gate.check(3), Ok(()));
        let short = Survey { size: 1023, ..survey };
        assert_eq!(short.check(4), Err(Refusal::ShortMessage { size: 1023, least: 1024 }));
    }
}
