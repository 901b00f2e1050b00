//! What is usual for each kind of way, though some ranks are slow.
//!
//! A slow rank spoils a way of every other, but none is made faster by another. So the level of a
//! rank is the time of the fastest quarter of its ways, which a sound rank has with other sound
//! ones, and usual is the middle of these levels: as long as half of the ranks are sound, it is
//! theirs. Of three ranks one that is slow both ways and one that is so in one direction are most
//! ends already, so that among so few the faster quarter counts.

use std::collections::BTreeMap;

use super::kinds::Kind;

/// A time of one way, and who is at its two ends.
#[derive(Clone, Copy)]
pub(super) struct Timed {
    pub kind: Kind,
    pub ends: [usize; 2],
    pub seconds: f64,
}

/// The ends of three ranks in two directions.
const FEW: usize = 6;

/// The usual seconds of each kind.
pub(super) fn usual(all: impl Iterator<Item = Timed>) -> BTreeMap<Kind, f64> {
    let mut kinds: BTreeMap<Kind, BTreeMap<usize, Vec<f64>>> = BTreeMap::new();
    for Timed { kind, ends, seconds } in all {
        let by_end = kinds.entry(kind).or_default();
        ends.iter().for_each(|end| by_end.entry(*end).or_default().push(seconds));
    }
    let middle = |by_end: BTreeMap<usize, Vec<f64>>| {
        let levels: Vec<f64> = by_end.into_values().map(|own| lower_quantile(own, 4)).collect();
        let parts = if levels.len() <= FEW { 4 } else { 2 };
        lower_quantile(levels, parts)
    };
    kinds.into_iter().map(|(kind, by_end)| (kind, middle(by_end))).collect()
}

/// The value at one part of `parts`, the lower one of two.
pub(super) fn lower_quantile(mut values: Vec<f64>, parts: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / parts).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_ranks_may_be_slow() {
        let kind = Kind::Host;
        for ranks in 3..12 {
            for slow in 0..=ranks / 2 {
                let times =
                    (0..ranks).flat_map(|a| (0..a).map(move |b| [a, b])).map(|ends| Timed {
                        kind,
                        ends,
                        seconds: if ends.iter().any(|&rank| rank < slow) { 3.0 } else { 1.0 },
                    });
                // One sound rank of three has no other to show it with.
                let sound = ranks - slow >= 2;
                assert!(!sound || usual(times)[&kind] == 1.0, "{slow} of {ranks}");
            }
        }
    }
}
