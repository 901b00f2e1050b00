//! What a sweep of patterns measures, and what cannot be measured.

use laneway_core::units::format_size;
use laneway_core::{Rank, Row};
use laneway_processes::memory;

use super::super::pattern::{Pattern, window};
use super::error::Refusal;
use super::experiment::Experiment;
use super::ranks::Ranks;
use crate::Rule;
use crate::cache::Cache;

/// More messages at once would need more room for their list than for their bytes.
pub const MOST_WINDOW: usize = 65_536;

/// Patterns over sizes, on pairs of ranks.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PatternSweep {
    /// In the order of the rows.
    pub experiments: Vec<Experiment>,
    /// Bytes of a message, rising.
    pub sizes: Vec<u64>,
    /// Sizes to add to each experiment, where its curves bend.
    pub refine: u32,
    /// Who sends to whom.
    pub ranks: Ranks,
    /// Whether pairs without a common rank are measured at the same time.
    pub parallel: bool,
    /// Bytes that come home in a round trip; as many as went where there are none.
    pub back: Option<usize>,
    /// Messages under way, 1 to [`MOST_WINDOW`], for patterns that have a window.
    pub window: usize,
    /// Whether buffers lie in the cache.
    pub cache: Cache,
    /// When a figure has enough repetitions.
    pub rule: Rule,
    /// Shuffles the order of the points.
    pub seed: u64,
    /// Whether every sample is kept.
    pub keep: bool,
}

impl PatternSweep {
    /// The usual pairs, a window of 64, warm buffers.
    pub fn new(experiments: Vec<Experiment>, sizes: Vec<u64>) -> PatternSweep {
        PatternSweep {
            experiments,
            sizes,
            refine: 0,
            ranks: Ranks::Usual,
            parallel: false,
            back: None,
            window: 64,
            cache: Cache::Warm,
            rule: Rule::default(),
            seed: 1,
            keep: false,
        }
    }

    /// What was asked for.
    pub fn params(&self) -> Row {
        let sizes: Vec<String> = self.sizes.iter().map(|&size| format_size(size)).collect();
        let names: Vec<&str> = self.experiments.iter().map(|one| one.name()).collect();
        Row::new()
            .with("pattern", names.join(","))
            .with("sizes", sizes.join(","))
            .with("parallel", self.parallel)
            .with("window", self.window as u64)
            .with("cache", self.cache.to_string())
            .with("min_reps", self.rule.min_reps)
            .with("max_reps", self.rule.max_reps)
            .with("seed", self.seed)
    }

    /// What no ranks can do.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.has(Pattern::Overlap) && self.sizes.contains(&0) {
            return Err(Refusal::NothingToHide);
        }
        if !(1..=MOST_WINDOW).contains(&self.window) {
            return Err(Refusal::Window { window: self.window, most: MOST_WINDOW });
        }
        let is_trip = |one: &Experiment| *one == Experiment::Pattern(Pattern::RoundTrip);
        if self.back.is_some() && !self.experiments.iter().all(is_trip) {
            return Err(Refusal::Back);
        }
        Ok(())
    }

    /// Refuses what this number of ranks cannot do.
    pub fn check_ranks(&self, ranks: u32) -> Result<(), Refusal> {
        let (is_multi, has_triples) = (self.has(Pattern::MultiPair), self.has(Pattern::PointToTwo));
        let least = if has_triples { 3 } else { 2 };
        if ranks < least {
            return Err(Refusal::TooFewRanks { ranks, least });
        }
        let Ranks::Given(subsets) = &self.ranks else { return Ok(()) };
        let is_missing = |subset: &&Vec<Rank>| subset.iter().any(|&rank| rank >= ranks);
        if let Some(subset) = subsets.iter().find(is_missing) {
            return Err(Refusal::NoSuchRank { subset: subset.clone(), ranks });
        }
        let misfit = subsets.iter().any(|subset| (subset.len() == 3) != has_triples);
        if misfit || has_triples && self.experiments.len() > 1 {
            return Err(Refusal::PairsAndTriples);
        }
        let mut all: Vec<Rank> = subsets.iter().flatten().copied().collect();
        all.sort_unstable();
        match all.windows(2).find(|two| is_multi && two[0] == two[1]) {
            Some(two) => Err(Refusal::TwoPairsAtOnce { rank: two[0] }),
            None => Ok(()),
        }
    }

    fn has(&self, pattern: Pattern) -> bool {
        self.experiments.contains(&Experiment::Pattern(pattern))
    }

    /// Bytes that come home if they differ from those that go.
    pub(super) fn back(&self, pattern: Pattern, size: usize) -> Option<usize> {
        (pattern == Pattern::RoundTrip).then_some(self.back.unwrap_or(size))
    }

    /// Why the buffers of `ranks` ranks do not fit into this machine.
    pub fn memory_objection(&self, ranks: u32) -> Option<String> {
        let sizes = self.sizes.iter().copied().chain(self.back.map(|back| back as u64));
        let size = sizes.max().unwrap_or(0);
        // Out and in, of an exchange from both sides, and as many under way.
        let need = match self.cache {
            Cache::Warm => size.saturating_mul(4),
            // A march has room for two windows at least.
            Cache::Cold { bytes } => {
                let window = window(self.window, size as usize, self.cache) as u64;
                size.saturating_mul(8 * window).saturating_add((bytes as u64).saturating_mul(2))
            }
        };
        memory::objection(need.saturating_mul(u64::from(ranks)), size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_measured_is_refused() {
        let sweep = |pattern: Pattern| PatternSweep::new(vec![pattern.into()], vec![0, 8]);
        assert_eq!(sweep(Pattern::Latency).check(), Ok(()));
        assert_eq!(sweep(Pattern::Overlap).check(), Err(Refusal::NothingToHide));
        let window = PatternSweep { window: 0, ..sweep(Pattern::Rate) };
        assert_eq!(window.check(), Err(Refusal::Window { window: 0, most: MOST_WINDOW }));
        let back = |pattern| PatternSweep { back: Some(8), ..sweep(pattern) }.check();
        assert_eq!((back(Pattern::RoundTrip), back(Pattern::Gap)), (Ok(()), Err(Refusal::Back)));
        let given = |pattern, ranks: &str, count| {
            let ranks = ranks.parse().expect("ranks");
            PatternSweep { ranks, ..sweep(pattern) }.check_ranks(count)
        };
        let refusal = Refusal::TooFewRanks { ranks: 2, least: 3 };
        assert_eq!(given(Pattern::PointToTwo, "all", 2), Err(refusal));
        let refusal = Refusal::NoSuchRank { subset: vec![0, 4], ranks: 4 };
        assert_eq!(given(Pattern::Latency, "0:1,0:4", 4), Err(refusal));
        assert_eq!(given(Pattern::Latency, "0:1:2", 4), Err(Refusal::PairsAndTriples));
        let twice = Refusal::TwoPairsAtOnce { rank: 1 };
        assert_eq!(given(Pattern::MultiPair, "0:1,1:2", 4), Err(twice));
        assert_eq!(given(Pattern::Latency, "0:1,1:2", 4), Ok(()));
    }
}
