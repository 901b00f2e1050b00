//! Pairs that rank 0 deals out: it alone has the plan, and every other rank the turns that are its
//! own. Kept by all, the pairs of a thousand ranks would take memory by the cube of their number.

use std::ops::Range;

use laneway_core::{Comm, CommError, Rank, talk};

use super::disjoint::{Estimate, Lab, Members, NUMBERS};
use super::plan::Plan;
use crate::isolation::Isolation;
use crate::talk::{OVER, TASK, broadcast, bytes_of, numbers_of};

/// The rounds of a plan of pairs as one rank has them.
pub struct Deal {
    /// On rank 0.
    plan: Option<Plan>,
    rounds: u32,
    /// This rank's pairs, in the order of their rounds.
    own: Vec<Turn>,
}

/// One pair of this rank.
#[derive(Clone, Copy, Debug)]
struct Turn {
    round: u32,
    other: Rank,
    leads: bool,
}

/// Words that a turn is sent as.
const WORDS: usize = 3;

fn words_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn turns_of(bytes: &[u8]) -> Vec<Turn> {
    let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
    let (turns, _) = words.as_chunks::<WORDS>();
    turns.iter().map(|&[round, other, leads]| Turn { round, other, leads: leads != 0 }).collect()
}

impl Deal {
    /// Collective: rank 0 deals a plan of pairs; what the others give does not count.
    pub fn new(comm: &dyn Comm, plan: Option<Plan>) -> Result<Deal, CommError> {
        if comm.rank() != 0 {
            let mut head = [0; 8];
            comm.recv(Some(0), Some(TASK), &mut head)?;
            let [rounds, count] =
                [&head[..4], &head[4..]].map(|word| word.try_into().map_or(0, u32::from_le_bytes));
            let mut bytes = vec![0; count as usize * 4 * WORDS];
            comm.recv(Some(0), Some(TASK), &mut bytes)?;
            return Ok(Deal { plan: None, rounds, own: turns_of(&bytes) });
        }
        let plan = plan.unwrap_or_else(|| Plan::pairs(0));
        let mut dealt = vec![Vec::new(); comm.size() as usize];
        for (round, pairs) in (0u32..).zip(plan.rounds()) {
            for pair in pairs {
                let &[leader, other] = &pair[..] else {
                    let what = format!("{} ranks are not a pair", pair.len());
                    return Err(CommError::Argument { what });
                };
                for (rank, turn) in [(leader, [round, other, 1]), (other, [round, leader, 0])] {
                    let turns = dealt.get_mut(rank as usize);
                    turns.ok_or_else(|| CommError::no_rank(rank, comm.size()))?.extend(turn);
                }
            }
        }
        let rounds = plan.rounds().len() as u32;
        for (turns, rank) in dealt.iter().zip(0..).skip(1) {
            comm.send(rank, TASK, &words_of(&[rounds, (turns.len() / WORDS) as u32]))?;
            comm.send(rank, TASK, &words_of(turns))?;
        }
        let own = turns_of(&words_of(&dealt[0]));
        Ok(Deal { plan: Some(plan), rounds, own })
    }

    /// What was dealt, on rank 0.
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// How many rounds there are.
    pub fn rounds(&self) -> usize {
        self.rounds as usize
    }

    /// Some of the rounds.
    pub fn part(&self, rounds: Range<usize>) -> Deal {
        let plan = self.plan.as_ref().map(|plan| plan.part(rounds.clone()));
        let first = rounds.start as u32;
        let own = self.own.iter().filter(|turn| rounds.contains(&(turn.round as usize)));
        let own = own.map(|turn| Turn { round: turn.round - first, ..*turn }).collect();
        Deal { plan, rounds: rounds.len() as u32, own }
    }

    /// Collective: no rank goes on before all pairs of a round are done.
    fn end_round(
        &self,
        comm: &dyn Comm,
        round: usize,
        leads: bool,
        turned: bool,
    ) -> Result<(), CommError> {
        if let Some(plan) = &self.plan {
            let leaders = plan.rounds()[round].iter().map(|pair| pair[usize::from(turned)]);
            for leader in leaders.filter(|&leader| leader != 0) {
                comm.recv(Some(leader), Some(OVER), &mut [])?;
            }
        } else if leads {
            comm.send(0, OVER, &[])?;
        }
        broadcast(comm, &mut [])
    }

    /// Collective: the leaders' numbers at rank 0, in the order of the plan.
    fn gather(
        &self,
        comm: &dyn Comm,
        own: &[f64],
        turned: bool,
    ) -> Result<Option<Vec<Estimate>>, CommError> {
        let all = talk::gather(comm, &bytes_of(own))?;
        let Some(plan) = &self.plan else { return Ok(None) };
        let all: Vec<Vec<f64>> = all.iter().map(|bytes| numbers_of(bytes)).collect();
        let mut next = vec![0; all.len()];
        let estimate = |pair: &[Rank]| {
            let leader = pair[usize::from(turned)] as usize;
            let at = next[leader];
            next[leader] += NUMBERS;
            all[leader].get(at..at + NUMBERS).and_then(Estimate::from)
        };
        Ok(Some(plan.subsets().map(estimate).collect::<Option<Vec<_>>>().unwrap_or_default()))
    }
}

impl Lab<'_> {
    /// Collective: [`Lab::run`] for pairs that rank 0 has dealt out; in `turned` ones the second
    /// rank leads. Between rounds all ranks wait for rank 0.
    pub fn run_dealt(
        &self,
        deal: &Deal,
        turned: bool,
        mut experiment: impl FnMut(&Members) -> Result<f64, CommError>,
    ) -> Result<Option<Vec<Estimate>>, CommError> {
        let mut own = Vec::new();
        {
            let gate = Isolation::barrier().gate(self.comm)?;
            let mut room = Default::default();
            gate.open(&mut room)?.pass()?;
            let mut turns = deal.own.iter().copied().peekable();
            for round in 0..deal.rounds {
                (self.each_round)(round as usize, deal.rounds());
                let turn = turns.next_if(|turn| turn.round == round);
                let leads = turn.is_some_and(|turn| turn.leads != turned);
                if let Some(turn) = turn {
                    let me = self.comm.rank();
                    let ranks = if leads { [me, turn.other] } else { [turn.other, me] };
                    let position = usize::from(!leads);
                    let members = Members { comm: self.comm, ranks: &ranks, position };
                    let samples = self.repeat(&members, &mut experiment)?;
                    if leads {
                        (self.each_subset)(&samples);
                        own.extend(Estimate::of(&self.rule, &samples).numbers());
                    }
                }
                deal.end_round(self.comm, round as usize, leads, turned)?;
            }
        }
        deal.gather(self.comm, &own, turned)
    }
}
