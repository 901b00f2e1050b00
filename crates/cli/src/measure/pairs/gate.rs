//! `--min-bw`: the bandwidth that every pair must have, as a share of what is usual or as a rate.

use laneway_core::Failure;
use laneway_measure::p2p::{LeastRate, Limits};
use laneway_sim::platform::parse_rate;

use crate::words::{PARTS, share};

/// What fails the gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gate {
    /// Less than this part of the usual bandwidth.
    Share(f64),
    /// Less than so many bytes a second.
    Rate(f64),
}

impl Gate {
    /// Reads `90%`, `0.9`, `12GB/s` or `100Gbit`.
    pub fn read(text: &str) -> Result<Gate, Failure> {
        let has_unit = text.ends_with(|c: char| c.is_ascii_alphabetic());
        let begins = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        if !(has_unit && begins) {
            return share("min-bw", text, PARTS, "90%").map(Gate::Share);
        }
        parse_rate(text).map(Gate::Rate).map_err(|cause| {
            Failure::usage(format!("no min-bw `{text}`"), cause, "--min-bw 12GB/s or --min-bw 90%")
        })
    }

    /// The limits of a survey whose long messages have so many bytes. A rate is a limit beside that
    /// of what is usual.
    pub fn limits(gate: Option<Gate>, bytes: usize) -> Limits {
        let mut limits = Limits::default();
        match gate {
            None => {}
            Some(Gate::Share(part)) => limits.least_bandwidth = part,
            Some(Gate::Rate(bytes_per_second)) => {
                limits.least_rate = Some(LeastRate { bytes_per_second, bytes });
            }
        }
        limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_is_a_share_or_a_rate() {
        assert_eq!(Gate::read("90%"), Ok(Gate::Share(0.9)));
        assert_eq!(Gate::read("0.9"), Ok(Gate::Share(0.9)));
        assert_eq!(Gate::read("12GB/s"), Ok(Gate::Rate(12e9)));
        assert_eq!(Gate::read("100Gbit"), Ok(Gate::Rate(12.5e9)));
        for bad in ["", "90", "12GB", "0Gbit", "-1Gbit", "fast", "nan", "120%", "12 parsecs"] {
            let failure = Gate::read(bad).expect_err(bad).to_string();
            assert!(failure.contains("--min-bw"), "{bad}: {failure}");
        }
    }
}
