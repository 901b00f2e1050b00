//! Schedules that are written down: a rank's steps are listed on first use.
//!
//! For patterns that follow where ranks are, and so have no formula. A rank that executes one lists
//! its own part alone.

use std::sync::OnceLock;

use laneway_core::{Rank, Round, Schedule};

/// The rounds of one lane, one after another.
#[derive(Debug, Default)]
pub struct Lane {
    all: Round,
    begins: Vec<usize>,
}

impl Lane {
    /// Begins the next round, and gives what its steps are written to.
    pub fn round(&mut self) -> &mut Round {
        self.begins.push(self.all.steps.len());
        &mut self.all
    }

    /// The number of the round that was begun last.
    pub fn last(&self) -> u64 {
        self.begins.len() as u64 - 1
    }

    pub fn is_empty(&self) -> bool {
        self.begins.is_empty()
    }

    fn write(&self, k: usize, out: &mut Round) {
        let end = self.begins.get(k + 1).copied().unwrap_or(self.all.steps.len());
        out.steps.extend_from_slice(&self.all.steps[self.begins[k]..end]);
    }
}

/// What all ranks do, as a function of the rank.
pub trait Script: Send + Sync {
    fn ranks(&self) -> u32;

    /// The lanes of a rank.
    fn lanes(&self, rank: Rank) -> Vec<Lane>;

    /// Bytes of scratch that a rank needs.
    fn tmp_len(&self, rank: Rank) -> u64;
}

/// A script as a schedule.
pub struct Scripted<S> {
    script: S,
    lists: Vec<OnceLock<Vec<Lane>>>,
}

impl<S: Script> Scripted<S> {
    pub fn new(script: S) -> Scripted<S> {
        let lists = (0..script.ranks()).map(|_| OnceLock::new()).collect();
        Scripted { script, lists }
    }

    fn list(&self, rank: Rank) -> &[Lane] {
        self.lists[rank as usize].get_or_init(|| self.script.lanes(rank))
    }
}

impl<S: Script> Schedule for Scripted<S> {
    fn ranks(&self) -> u32 {
        self.script.ranks()
    }

    fn lanes(&self, rank: Rank) -> u32 {
        self.list(rank).len() as u32
    }

    fn rounds(&self, rank: Rank, lane: u32) -> u64 {
        self.list(rank)[lane as usize].begins.len() as u64
    }

    fn round(&self, rank: Rank, lane: u32, k: u64, out: &mut Round) {
        self.list(rank)[lane as usize].write(k as usize, out);
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        self.script.tmp_len(rank)
    }
}
