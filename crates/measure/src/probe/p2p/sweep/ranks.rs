//! Which ranks are measured with each other.

use std::collections::BTreeSet;
use std::str::FromStr;

use laneway_core::{CommError, Rank};

use super::super::pattern::Pattern;
use super::super::plan::Plan;
use super::experiment::Experiment;

/// The pairs, or triples, of ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ranks {
    /// Ranks 0 and 1 (and 2); all ranks for rings and for many pairs at once.
    #[default]
    Usual,
    /// Every pair, or every triple.
    All,
    /// Two ranks each, or three.
    Given(Vec<Vec<Rank>>),
}

impl FromStr for Ranks {
    type Err = String;

    /// `all`, or `0:1,2:3`, or `0:1:2` for three ranks. Twice the same is measured once.
    fn from_str(text: &str) -> Result<Ranks, String> {
        if text == "all" {
            return Ok(Ranks::All);
        }
        let subset = |word: &str| {
            let ranks: Result<Vec<Rank>, _> = word.split(':').map(str::parse).collect();
            let ranks = ranks.ok().filter(|ranks| ranks.len() == 2 || ranks.len() == 3)?;
            let twice = |(at, rank): (usize, &Rank)| ranks[..at].contains(rank);
            (!ranks.iter().enumerate().any(twice)).then_some(ranks)
        };
        let found: Option<Vec<Vec<Rank>>> = text.split(',').map(subset).collect();
        let mut found = found.ok_or("a pair is two different ranks, as in 0:1")?;
        let mut seen = BTreeSet::new();
        found.retain(|ranks| seen.insert(ranks.clone()));
        Ok(Ranks::Given(found))
    }
}

impl Ranks {
    /// The subsets of `ranks` ranks that are measured, one after the other or those
    /// without a common rank at the same time.
    pub(super) fn plan(
        &self,
        experiment: Experiment,
        ranks: u32,
        parallel: bool,
    ) -> Result<Plan, CommError> {
        use Experiment::Pattern as Of;
        let is_ring = matches!(experiment, Of(Pattern::Sendrecv | Pattern::Exchange));
        let is_multi = experiment == Of(Pattern::MultiPair);
        let is_triple = experiment == Of(Pattern::PointToTwo);
        let half = ranks / 2;
        let list = |plan: Plan| plan.subsets().map(<[Rank]>::to_vec).collect();
        let subsets = match self {
            Ranks::Usual | Ranks::All if is_multi => {
                vec![(0..half).flat_map(|i| [i, i + half]).collect()]
            }
            Ranks::Usual if is_ring => vec![(0..ranks).collect()],
            Ranks::Usual => vec![(0..if is_triple { 3 } else { 2 }).collect()],
            Ranks::All if is_triple => list(Plan::triples(ranks)),
            Ranks::All => list(Plan::pairs(ranks)),
            Ranks::Given(subsets) if is_multi => vec![subsets.concat()],
            Ranks::Given(subsets) => subsets.clone(),
        };
        // The circle method's rounds are found again: it lists them one after the other.
        let plan = Plan::of(subsets)?;
        Ok(if parallel { plan } else { plan.one_by_one() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_and_triples_are_read() {
        let given = |subsets: &[&[Rank]]| {
            Ok(Ranks::Given(subsets.iter().map(|subset| subset.to_vec()).collect()))
        };
        assert_eq!("all".parse(), Ok(Ranks::All));
        assert_eq!("0:1,2:3,0:1".parse(), given(&[&[0, 1], &[2, 3]]));
        assert_eq!("0:1,1:0".parse(), given(&[&[0, 1], &[1, 0]]));
        assert_eq!("0:2:1".parse(), given(&[&[0, 2, 1]]));
        for bad in ["", "one", "1", "1:1", "0:1:1", "0:1:2:3", "0:1,", "-1:2"] {
            assert!(bad.parse::<Ranks>().is_err(), "{bad}");
        }
    }
}
