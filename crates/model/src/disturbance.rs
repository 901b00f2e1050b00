//! What others add to a call, one disturbance at a time: between the mean and the middle.
//!
//! LMO's parameters are means while others use the network, and the low ends of their intervals
//! are those of a quiet network. What the mean of a call is above the quiet one is made of
//! disturbances. Where fewer than one is expected, more than half of the calls meet none, and the
//! middle of them is what a quiet network gives; where there are many, it is the mean.

use crate::experiments::{Experiments, Kind, Timed};
use crate::parameter::Parameter;

/// The seconds that one disturbance adds; none where nobody disturbs. Of a Poisson number of equal
/// delays it is their variance over their mean. The longest round trips tell it: a shorter one may
/// be over before the disturbance is.
pub(crate) fn find(experiments: &Experiments) -> Option<Parameter> {
    let bytes = |timed: &Timed| match timed.kind {
        Kind::RoundTrip { out_bytes, back_bytes } => Some(out_bytes.max(back_bytes)),
        _ => None,
    };
    let longest = experiments.fitted().filter_map(bytes).max()?;
    let long = experiments.fitted().filter(|timed| bytes(timed) == Some(longest));
    let slowed = long.filter(|timed| timed.is_disturbed());
    let each =
        |timed: &Timed| Parameter::exact(timed.spread.powi(2) / (timed.time.value - timed.fastest));
    Parameter::middle(&slowed.map(each).collect::<Vec<_>>()).map(Parameter::not_negative)
}

/// About what half of the calls do not exceed, of a mean and of a quiet network. The median of a
/// Poisson number is up to ln 2 below its mean, and 0 where few are expected; of many messages that
/// are disturbed one by one it is the mean. This is below by all that others add, by 0.74 of a
/// disturbance at most, and by nothing.
pub(crate) fn middle(quiet: f64, mean: f64, each: f64) -> f64 {
    let more = (mean - quiet).max(0.0);
    if each > 0.0 { mean - more * (-0.5 * more / each).exp() } else { mean }
}

#[cfg(test)]
mod tests {
    use laneway_stats::SplitMix64;

    use super::*;

    #[test]
    fn drawn_disturbances_have_this_middle_and_tell_their_length() {
        let mut draws = SplitMix64::new(7);
        for rate in [0.2, 0.6, 1.5, 4.0, 20.0] {
            let mut time = || {
                let (mut met, mut at) = (0, -draws.uniform().ln());
                while at < rate {
                    (met, at) = (met + 1, at - draws.uniform().ln());
                }
                10.0 + 3.0 * f64::from(met)
            };
            let mut times: Vec<f64> = (0..20_001).map(|_| time()).collect();
            times.sort_by(f64::total_cmp);
            let count = times.len() as f64;
            let mean = times.iter().sum::<f64>() / count;
            let found = middle(10.0, mean, 3.0);
            // Times go in steps of a whole disturbance.
            assert!((found - times[10_000]).abs() < 2.0, "{rate}: {found}, {}", times[10_000]);
            let spread = (times.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / count).sqrt();
            let kind = Kind::RoundTrip { out_bytes: 1 << 18, back_bytes: 0 };
            let time = Parameter::exact(mean);
            let timed =
                Timed { kind, ranks: vec![0, 1], time, spread, fastest: 10.0, held_back: false };
            let timed = vec![timed];
            let each = find(&Experiments { timed, ..Experiments::default() }).expect("disturbed");
            assert!((each.value / 3.0 - 1.0).abs() < 0.05, "{rate}: {each:?}");
        }
    }
}
