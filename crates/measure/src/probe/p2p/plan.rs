//! Who is measured when: rounds of subsets that have no rank in common.

use laneway_core::{CommError, Rank};

/// No communicator has a rank above this.
const MOST: Rank = 1 << 24;

/// Rounds of disjoint subsets; the first rank of a subset leads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    rounds: Vec<Vec<Vec<Rank>>>,
}

impl Plan {
    /// All pairs of ranks by the circle method: one rank stands still, the others move on by one
    /// place a round and meet the one opposite. The fewest rounds: one less than the ranks, or as
    /// many where their number is odd, and one rests.
    pub fn pairs(ranks: u32) -> Plan {
        let places = ranks + ranks % 2;
        let moving = places.saturating_sub(1);
        let round = |turn: u32| {
            let at = |place: u32| (place + turn) % moving;
            let pair = |place: u32| {
                let (a, b) = (at(place), at(moving - place));
                // The still place meets the one that would meet itself.
                let b = if a == b { moving } else { b };
                (b < ranks && a < ranks).then(|| vec![a.min(b), a.max(b)])
            };
            (0..places / 2).filter_map(pair).collect()
        };
        Plan { rounds: (0..moving).map(round).filter(|round: &Vec<_>| !round.is_empty()).collect() }
    }

    /// The partner of a rank in round `turn` of [`Plan::pairs`]; `None` if it rests.
    pub fn partner(ranks: u32, turn: u32, rank: Rank) -> Option<Rank> {
        let moving = (ranks + ranks % 2).checked_sub(1).filter(|&moving| moving > 0)?;
        let turn = turn % moving;
        let other = match rank {
            _ if rank == moving => turn,
            // The place opposite is as far from the still one on the other side.
            _ => (2 * turn + moving - rank) % moving,
        };
        let other = if other == rank { moving } else { other };
        (rank < ranks && other < ranks).then_some(other)
    }

    /// Rounds of [`Plan::pairs`].
    pub fn rounds_of_pairs(ranks: u32) -> u32 {
        if ranks < 2 { 0 } else { ranks - 1 + ranks % 2 }
    }

    /// Some of the rounds.
    pub fn part(&self, rounds: std::ops::Range<usize>) -> Plan {
        Plan { rounds: self.rounds.get(rounds).unwrap_or_default().to_vec() }
    }

    /// Any subsets, each in the first round that has room for it.
    pub fn of(subsets: Vec<Vec<Rank>>) -> Result<Plan, CommError> {
        Plan::without_shared(subsets, |_| Vec::new())
    }

    /// Any subsets; those that `also` use one thing besides ranks, such as the way out of a site,
    /// are in different rounds as well.
    pub fn without_shared(
        subsets: Vec<Vec<Rank>>,
        also: impl Fn(&[Rank]) -> Vec<u32>,
    ) -> Result<Plan, CommError> {
        let mut waiting = Vec::with_capacity(subsets.len());
        for subset in subsets {
            let mut sorted = subset.clone();
            sorted.sort_unstable();
            sorted.dedup();
            let is_empty_or_beyond = sorted.last().is_none_or(|&rank| rank > MOST);
            if is_empty_or_beyond || sorted.len() < subset.len() {
                let what = format!("{subset:?} is not a subset: it needs ranks, each of them once");
                return Err(CommError::Argument { what });
            }
            waiting.push((also(&subset), subset));
        }
        let ranks = numbers(waiting.iter().flat_map(|(_, subset)| subset));
        let things = numbers(waiting.iter().flat_map(|(also, _)| also));
        let mut rounds = Vec::new();
        while !waiting.is_empty() {
            let (mut busy, mut used) = (vec![false; ranks], vec![false; things]);
            let (mut round, mut free) = (Vec::new(), ranks);
            waiting.retain(|(also, subset)| {
                let taken = free < subset.len()
                    || subset.iter().any(|&rank| busy[rank as usize])
                    || also.iter().any(|&thing| used[thing as usize]);
                if !taken {
                    free -= subset.len();
                    subset.iter().for_each(|&rank| busy[rank as usize] = true);
                    also.iter().for_each(|&thing| used[thing as usize] = true);
                    round.push(subset.clone());
                }
                taken
            });
            rounds.push(round);
        }
        Ok(Plan { rounds })
    }

    /// One rank and two others, all of them: three for each set of three, as each of it leads once.
    pub fn triples(ranks: u32) -> Plan {
        let leads = |i: Rank| {
            let others = (0..ranks).filter(move |&rank| rank != i);
            others.flat_map(move |j| {
                (j + 1..ranks).filter(move |&k| k != i).map(move |k| vec![i, j, k])
            })
        };
        let all = (0..ranks).flat_map(leads).collect();
        // Three different ranks are a subset.
        Plan::of(all).unwrap_or(Plan { rounds: Vec::new() })
    }

    /// The same subsets one after another, while all other ranks wait.
    pub fn one_by_one(&self) -> Plan {
        Plan { rounds: self.subsets().map(|subset| vec![subset.to_vec()]).collect() }
    }

    /// The same subsets backwards: the last rank of each leads.
    pub fn turned(&self) -> Plan {
        let mut plan = self.clone();
        plan.rounds.iter_mut().flatten().for_each(|subset| subset.reverse());
        plan
    }

    /// Each round with its subsets.
    pub fn rounds(&self) -> &[Vec<Vec<Rank>>] {
        &self.rounds
    }

    /// Every subset, round after round.
    pub fn subsets(&self) -> impl Iterator<Item = &[Rank]> {
        self.rounds.iter().flatten().map(Vec::as_slice)
    }
}

/// One more than the largest.
fn numbers<'a>(all: impl Iterator<Item = &'a u32>) -> usize {
    all.max().map_or(0, |&most| most as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_disjoint(plan: &Plan) {
        for round in plan.rounds() {
            let mut all: Vec<Rank> = round.iter().flatten().copied().collect();
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count, "{round:?}");
        }
    }

    #[test]
    fn all_pairs_meet_once_in_the_fewest_rounds() {
        for ranks in 0..40u32 {
            let plan = Plan::pairs(ranks);
            assert_disjoint(&plan);
            let mut pairs: Vec<&[Rank]> = plan.subsets().collect();
            pairs.sort_unstable();
            let all = (0..ranks).flat_map(|i| (i + 1..ranks).map(move |j| vec![i, j]));
            assert_eq!(pairs, all.collect::<Vec<_>>(), "{ranks}");
            assert_eq!(plan.rounds().len() as u32, Plan::rounds_of_pairs(ranks), "{ranks}");
            for (turn, round) in plan.rounds().iter().enumerate() {
                for rank in 0..ranks {
                    let pair = round.iter().find(|pair| pair.contains(&rank));
                    let other = pair.map(|pair| pair[0] + pair[1] - rank);
                    assert_eq!(Plan::partner(ranks, turn as u32, rank), other, "{ranks} {rank}");
                }
            }
            assert_eq!(plan.one_by_one().rounds().len(), pairs.len());
            assert_eq!(plan.turned().turned(), plan);
        }
    }

    #[test]
    fn triples_are_complete_and_packed() {
        let plan = Plan::triples(9);
        assert_disjoint(&plan);
        assert_eq!(plan.subsets().count(), 9 * 28);
        // Three triples fit into a round of nine; greed may waste a few rounds.
        assert!((84..120).contains(&plan.rounds().len()), "{}", plan.rounds().len());
        assert_eq!(Plan::triples(2).subsets().count(), 0);
    }

    #[test]
    fn what_is_shared_keeps_subsets_apart() {
        // Ranks 0 to 2 are one site and 3 to 5 another; one way leads from one to the other.
        let far = |pair: &[Rank]| if (pair[0] < 3) != (pair[1] < 3) { vec![0] } else { vec![] };
        let all = Plan::pairs(6).subsets().map(<[Rank]>::to_vec).collect();
        let plan = Plan::without_shared(all, far).expect("a plan");
        assert_disjoint(&plan);
        assert_eq!(plan.subsets().count(), 15);
        for round in plan.rounds() {
            assert!(round.iter().filter(|pair| !far(pair).is_empty()).count() <= 1, "{round:?}");
        }
    }

    #[test]
    fn invalid_subsets_are_refused() {
        assert!(Plan::of(vec![vec![1, 2, 1]]).is_err());
        assert!(Plan::of(vec![vec![]]).is_err());
        assert!(Plan::of(vec![vec![0, u32::MAX]]).is_err());
        assert_eq!(Plan::of(vec![vec![3], vec![3]]).map(|plan| plan.rounds().len()), Ok(2));
    }
}
