//! One collective call with real data: the shape, the call, and every byte of the answer compared.

use std::sync::Arc;

use laneway_core::{
    Blocks, Collective, Comm, CommError, Exec, Layout, Matrix, Placement, Rank, Row, Shape,
};

use super::content::{Content, mix};
use super::memory::Memory;
use crate::answerer::Answerer;
use crate::counts;
use crate::registry::Counts;

/// One call to make.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Case {
    /// What is called.
    pub collective: Collective,
    /// Who does it.
    pub answerer: Answerer,
    /// The root, where there is one.
    pub root: Rank,
    /// Bytes, or elements where the collective reduces.
    pub size: u64,
    /// Whether input and output share their memory.
    pub in_place: bool,
    /// What the ranks contribute.
    pub content: Content,
}

/// What came of it, on one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every byte is right.
    Passed,
    /// Something is wrong, and where.
    Failed(String),
    /// The algorithm does not serve the shape, and says why.
    Skipped(String),
}

impl Case {
    /// The call as all ranks see it. Blocks that may differ do: none, twice and once the size.
    pub fn shape(&self, ranks: u32) -> Shape {
        let element = self.content.element();
        let size = self.size.saturating_mul(u64::from(element));
        let shape = Shape::new(self.collective, ranks, size).with_root(self.root);
        let commutative = self.content.reduction().is_none_or(|r| r.commutative());
        let shape = shape.with_element(element, commutative).with_in_place(self.in_place);
        let length = |key: u64| match mix(key) % 4 {
            0 => 0,
            1 => size.saturating_mul(2),
            _ => size,
        };
        match self.collective {
            Collective::Alltoallv => {
                // In place every pair must exchange blocks of one length.
                let pair = |s: Rank, d: Rank| u64::from(s.min(d)) << 32 | u64::from(s.max(d));
                let way = |s: Rank, d: Rank| u64::from(s) << 32 | u64::from(d);
                let key = |s, d| if self.in_place { pair(s, d) } else { way(s, d) };
                match Matrix::of_lengths(ranks, |s, d| length(key(s, d))) {
                    Some(matrix) => shape.with_matrix(matrix),
                    None => shape,
                }
            }
            c if c.is_irregular() => {
                let lengths: Vec<u64> = (0..u64::from(ranks)).map(length).collect();
                match Blocks::of_lengths(&lengths) {
                    Some(blocks) => shape.with_blocks(blocks),
                    None => shape,
                }
            }
            _ => shape,
        }
    }

    /// Bytes that all ranks need together: two answers, the wanted one, and scratch.
    pub fn memory_bytes(&self, ranks: u32) -> u64 {
        let shape = self.shape(ranks);
        let most = |rank| shape.in_len(rank).saturating_add(shape.out_len(rank));
        let largest = (0..ranks).map(most).max().unwrap_or(0);
        largest.saturating_mul(4).saturating_mul(u64::from(ranks))
    }

    /// The call and what came of it as a row.
    pub fn row(&self, ranks: u32, outcome: &Outcome) -> Row {
        let (ok, detail) = match outcome {
            Outcome::Passed => (Some(true), None),
            Outcome::Failed(why) => (Some(false), Some(why.clone())),
            Outcome::Skipped(why) => (None, Some(why.clone())),
        };
        let element = u64::from(self.content.element());
        Row::new()
            .with("op", self.collective.name())
            .with("algorithm", self.answerer.name())
            .with("ranks", ranks)
            .with("root", self.collective.has_root().then_some(self.root))
            .with("size_bytes", self.size.saturating_mul(element))
            .with("in_place", self.in_place)
            .with("reduction", self.content.name())
            .with("ok", ok)
            .with("detail", detail)
    }

    /// Collective: makes the call and compares this rank's answer. `placement` says where the ranks
    /// are, for algorithms that ask; calls that follow each other have different sequence numbers.
    pub fn run(
        &self,
        comm: &dyn Comm,
        placement: Option<&Arc<Placement>>,
        sequence: u16,
    ) -> Result<Outcome, CommError> {
        let mut shape = self.shape(comm.size());
        if let Err(bad) = shape.validate() {
            return Ok(Outcome::Skipped(bad.0));
        }
        shape.placement = placement.cloned();
        let mut memory = Memory::new(&shape, comm.rank(), &self.content);
        match self.answerer {
            Answerer::Native if !comm.has_native(&shape) => {
                return Ok(Outcome::Skipped("this library cannot do it".into()));
            }
            Answerer::Native => memory.native(comm, &shape, &self.content)?,
            Answerer::Ours(algorithm, params) => {
                let schedule = match algorithm.schedule(&shape, &params) {
                    Ok(schedule) => schedule,
                    Err(refusal) => return Ok(Outcome::Skipped(refusal.0)),
                };
                if algorithm.counts == Counts::All && self.share(comm, &shape)? != shape.layout {
                    return Ok(Outcome::Failed(
                        "the shared lengths differ from the true ones".into(),
                    ));
                }
                let mut tmp = vec![0xA5; schedule.tmp_len(comm.rank()) as usize];
                let buffers = memory.buffers(&mut tmp);
                Exec::new(comm, &*schedule, buffers, self.content.reduction(), sequence)?.run()?;
            }
        }
        let wanted = self.content.wanted(&shape, comm.rank()).unwrap_or_default();
        if let Some(difference) = memory.difference(&wanted) {
            return Ok(Outcome::Failed(format!("rank {}: {difference}", comm.rank())));
        }
        self.compare_with_native(comm, &shape, memory.output())
    }

    /// The library's own answer to the same call must be the same.
    fn compare_with_native(
        &self,
        comm: &dyn Comm,
        shape: &Shape,
        output: &[u8],
    ) -> Result<Outcome, CommError> {
        let ours = matches!(self.answerer, Answerer::Ours(..));
        let builtin = !matches!(self.content, Content::Maps);
        if !ours || !builtin || !comm.has_native(shape) {
            return Ok(Outcome::Passed);
        }
        let mut native = Memory::new(shape, comm.rank(), &self.content);
        native.native(comm, shape, &self.content)?;
        let undefined = shape.collective == Collective::Exscan && comm.rank() == 0;
        if !undefined && native.output() != output {
            let rank = comm.rank();
            return Ok(Outcome::Failed(format!("rank {rank}: the library's own answer differs")));
        }
        Ok(Outcome::Passed)
    }

    /// Lets a rank learn from others what MPI would not tell it.
    fn share(&self, comm: &dyn Comm, shape: &Shape) -> Result<Layout, CommError> {
        let (p, me) = (comm.size(), comm.rank());
        let known: Vec<u64> = match (&shape.layout, self.collective) {
            (Layout::Matrix(m), Collective::Alltoallv) => (0..p).map(|to| m.len(me, to)).collect(),
            (Layout::Blocks(b), Collective::Scatterv | Collective::Gatherv) => {
                (0..p).map(|r| if me == self.root { b.len(r) } else { 0 }).collect()
            }
            _ => return Ok(shape.layout.clone()),
        };
        counts::share(comm, self.collective, self.root, &known)
    }
}
