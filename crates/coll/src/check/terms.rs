//! What a byte holds: the inputs of which ranks, joined in which order.

use std::collections::BTreeMap;

use laneway_core::Rank;

/// A joined set of inputs; 0 is "nothing yet", r + 1 is rank r's own.
pub type Term = u32;

pub const UNDEFINED: Term = 0;

/// Terms by number: ranks as ascending runs, or as runs in the order in which they were joined
/// where the reduction does not commute.
pub struct Terms {
    commutative: bool,
    runs: Vec<Vec<(Rank, Rank)>>,
    numbers: BTreeMap<Vec<(Rank, Rank)>, Term>,
    joined: BTreeMap<(Term, Term), Option<Term>>,
}

impl Terms {
    pub fn new(ranks: u32, commutative: bool) -> Terms {
        let mut runs = vec![vec![]];
        runs.extend((0..ranks).map(|rank| vec![(rank, rank + 1)]));
        let numbers = runs.iter().enumerate().map(|(i, r)| (r.clone(), i as Term)).collect();
        Terms { commutative, runs, numbers, joined: BTreeMap::new() }
    }

    pub fn of(rank: Rank) -> Term {
        rank + 1
    }

    /// The term of ranks `from` up to `to` joined in order.
    pub fn range(&mut self, from: Rank, to: Rank) -> Term {
        self.number(vec![(from, to)])
    }

    /// a (+) b; `None` where an input would count twice.
    pub fn join(&mut self, a: Term, b: Term) -> Option<Term> {
        if let Some(&known) = self.joined.get(&(a, b)) {
            return known;
        }
        let mut runs: Vec<(Rank, Rank)> = self.runs[a as usize].clone();
        runs.extend(&self.runs[b as usize]);
        let mut sorted = runs.clone();
        sorted.sort_unstable();
        let twice = sorted.windows(2).any(|w| w[1].0 < w[0].1);
        let result = (!twice).then(|| {
            let mut merged: Vec<(Rank, Rank)> = Vec::new();
            for run in if self.commutative { sorted } else { runs } {
                match merged.last_mut() {
                    Some(last) if last.1 == run.0 => last.1 = run.1,
                    _ => merged.push(run),
                }
            }
            self.number(merged)
        });
        self.joined.insert((a, b), result);
        result
    }

    /// For people: `ranks 0..4`, `ranks 3..4, 0..3`.
    pub fn describe(&self, term: Term) -> String {
        let runs = &self.runs[term as usize];
        if runs.is_empty() {
            return "undefined".into();
        }
        let runs: Vec<String> = runs.iter().map(|(a, b)| format!("{a}..{b}")).collect();
        format!("ranks {}", runs.join(", "))
    }

    fn number(&mut self, runs: Vec<(Rank, Rank)>) -> Term {
        if let Some(&term) = self.numbers.get(&runs) {
            return term;
        }
        let term = self.runs.len() as Term;
        self.runs.push(runs.clone());
        self.numbers.insert(runs, term);
        term
    }
}
