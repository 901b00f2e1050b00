//! The shape of one collective call: the operation, its ranks, its root, and how the data is cut.

use std::sync::Arc;

use crate::blocks::{Blocks, Matrix};
use crate::placement::Placement;
use crate::schedule::Rank;

/// The collective operations. The v-forms and reduce_scatter take blocks that differ by rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Collective {
    /// Synchronises all ranks.
    Barrier,
    /// Broadcasts the vector of the root to all ranks.
    Bcast,
    /// Scatters one block of the root to each rank.
    Scatter,
    /// Scatter with blocks of different lengths.
    Scatterv,
    /// Gathers one block of each rank at the root.
    Gather,
    /// Gather with blocks of different lengths.
    Gatherv,
    /// Reduces the vectors of all ranks at the root.
    Reduce,
    /// Reduces the vectors of all ranks on every rank.
    Allreduce,
    /// Gathers one block of each rank on every rank.
    Allgather,
    /// Allgather with blocks of different lengths.
    Allgatherv,
    /// Exchanges one block between each pair of ranks.
    Alltoall,
    /// All-to-all with blocks of different lengths.
    Alltoallv,
    /// Reduces the vectors, and scatters the result in blocks.
    ReduceScatter,
    /// Reduce-scatter with blocks of one length.
    ReduceScatterBlock,
    /// Reduces the vectors of the ranks up to and including this one.
    Scan,
    /// Reduces the vectors of the ranks before this one.
    Exscan,
}

use Collective::*;

impl Collective {
    /// All of them.
    pub const ALL: [Collective; 16] = [
        Barrier,
        Bcast,
        Scatter,
        Scatterv,
        Gather,
        Gatherv,
        Reduce,
        Allreduce,
        Allgather,
        Allgatherv,
        Alltoall,
        Alltoallv,
        ReduceScatter,
        ReduceScatterBlock,
        Scan,
        Exscan,
    ];

    /// The name of the collective.
    pub fn name(self) -> &'static str {
        match self {
            Barrier => "barrier",
            Bcast => "bcast",
            Scatter => "scatter",
            Scatterv => "scatterv",
            Gather => "gather",
            Gatherv => "gatherv",
            Reduce => "reduce",
            Allreduce => "allreduce",
            Allgather => "allgather",
            Allgatherv => "allgatherv",
            Alltoall => "alltoall",
            Alltoallv => "alltoallv",
            ReduceScatter => "reduce_scatter",
            ReduceScatterBlock => "reduce_scatter_block",
            Scan => "scan",
            Exscan => "exscan",
        }
    }

    /// Finds a collective by its name.
    pub fn by_name(name: &str) -> Option<Collective> {
        Collective::ALL.into_iter().find(|c| c.name() == name)
    }

    /// The form under which algorithms are registered: one algorithm serves equal and other blocks.
    pub fn family(self) -> Collective {
        match self {
            Scatterv => Scatter,
            Gatherv => Gather,
            Allgatherv => Allgather,
            Alltoallv => Alltoall,
            ReduceScatterBlock => ReduceScatter,
            other => other,
        }
    }

    /// Whether block lengths may differ from rank to rank.
    pub fn is_irregular(self) -> bool {
        matches!(self, Scatterv | Gatherv | Allgatherv | Alltoallv | ReduceScatter)
    }

    /// Whether it has a root.
    pub fn has_root(self) -> bool {
        matches!(self.family(), Bcast | Scatter | Gather | Reduce)
    }

    /// Whether it is a reduction.
    pub fn reduces(self) -> bool {
        matches!(self.family(), Reduce | Allreduce | ReduceScatter | Scan | Exscan)
    }
}

/// The layout of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One vector of this length in bytes: bcast, reduce, allreduce, scan, exscan; 0 for a barrier.
    Vector(u64),
    /// A block for each rank: scatter, gather, allgather, reduce_scatter.
    Blocks(Blocks),
    /// A block for each pair: alltoall.
    Matrix(Matrix),
}

/// The relative position of In and Out in the caller's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Two buffers, or one of them empty.
    Apart,
    /// In is a part of Out, at this offset.
    InWithinOut(u64),
    /// Out is a part of In, at this offset.
    OutWithinIn(u64),
}

/// One collective call, as all ranks see it.
///
/// In and Out of rank r, by family:
///
/// | family | In | Out | in place |
/// |---|---|---|---|
/// | bcast | none | the vector, set at the root | always |
/// | scatter | the root's p blocks | block r | the root's Out is its block of In |
/// | gather | block r | p blocks at the root | the root's In is its block of Out |
/// | reduce | the vector | the vector at the root | the root's In is Out |
/// | allreduce, scan, exscan | the vector | the vector | In is Out |
/// | allgather | block r | p blocks | In is block r of Out |
/// | alltoall | p blocks | p blocks | In is Out |
/// | reduce_scatter | p blocks | block r | Out is the front of In |
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shape {
    /// The collective.
    pub collective: Collective,
    /// The number of ranks.
    pub ranks: u32,
    /// The root; 0 if the operation has none.
    pub root: Rank,
    /// The layout and lengths of the blocks.
    pub layout: Layout,
    /// Bytes of an element, which no cut divides; 1 where nothing is reduced.
    pub element: u32,
    /// Whether a reduction may change the order of its operands.
    pub commutative: bool,
    /// Whether input and output share their memory.
    pub in_place: bool,
    /// The site of each rank; all at one site if not given.
    pub placement: Option<Arc<Placement>>,
}

/// Why a shape is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadShape(pub String);

impl std::fmt::Display for BadShape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadShape {}

impl Shape {
    /// A call with equal blocks of `size` bytes (or a vector of `size`), root 0, elements of a
    /// byte.
    pub fn new(collective: Collective, ranks: u32, size: u64) -> Shape {
        let layout = match collective.family() {
            Barrier => Layout::Vector(0),
            Bcast | Reduce | Allreduce | Scan | Exscan => Layout::Vector(size),
            Alltoall => Layout::Matrix(Matrix::Equal(size)),
            _ => Layout::Blocks(Blocks::Equal(size)),
        };
        let (element, commutative, in_place, placement) = (1, true, false, None);
        Shape { collective, ranks, root: 0, layout, element, commutative, in_place, placement }
    }

    /// Sets the root.
    pub fn with_root(mut self, root: Rank) -> Shape {
        self.root = root;
        self
    }

    /// Sets the placement of the ranks.
    pub fn with_placement(mut self, placement: Arc<Placement>) -> Shape {
        self.placement = Some(placement);
        self
    }

    /// Sets the blocks.
    pub fn with_blocks(mut self, blocks: Blocks) -> Shape {
        self.layout = Layout::Blocks(blocks);
        self
    }

    /// Sets the blocks from rank to rank.
    pub fn with_matrix(mut self, matrix: Matrix) -> Shape {
        self.layout = Layout::Matrix(matrix);
        self
    }

    /// Sets the element size; a reduction may reorder operands if `commutative`.
    pub fn with_element(mut self, element: u32, commutative: bool) -> Shape {
        self.element = element;
        self.commutative = commutative;
        self
    }

    /// Sets whether input and output share memory.
    pub fn with_in_place(mut self, in_place: bool) -> Shape {
        self.in_place = in_place;
        self
    }

    /// Refuses what no algorithm could serve; every constructor may then rely on it.
    pub fn validate(&self) -> Result<(), BadShape> {
        let bad = |text: String| Err(BadShape(text));
        let (name, p) = (self.collective.name(), self.ranks);
        if p == 0 {
            return bad(format!("{name} needs at least one rank"));
        }
        if self.root >= p {
            return bad(format!("root {} is not one of {p} ranks", self.root));
        }
        let fits = match (&self.layout, self.collective.family()) {
            (layout, Barrier | Bcast | Reduce | Allreduce | Scan | Exscan) => {
                matches!(layout, Layout::Vector(_))
            }
            (layout, Alltoall) => matches!(layout, Layout::Matrix(_)),
            (layout, _) => matches!(layout, Layout::Blocks(_)),
        };
        if !fits {
            return bad(format!("{name} does not take its data in this form"));
        }
        if self.element == 0 {
            return bad("an element has at least one byte".into());
        }
        self.validate_lengths()
    }

    fn validate_lengths(&self) -> Result<(), BadShape> {
        let (p, element) = (self.ranks, u64::from(self.element));
        let total = match &self.layout {
            Layout::Vector(n) => Some(*n),
            Layout::Blocks(Blocks::Equal(n)) => n.checked_mul(u64::from(p)),
            Layout::Blocks(Blocks::At(at)) => {
                if at.len() != p as usize + 1 || at[0] != 0 || at.windows(2).any(|w| w[0] > w[1]) {
                    return Err(BadShape(format!("{p} ranks need {} ascending offsets", p + 1)));
                }
                at.last().copied()
            }
            Layout::Matrix(Matrix::Equal(n)) => n.checked_mul(u64::from(p)),
            Layout::Matrix(Matrix::Each(_)) => {
                (0..p).try_fold(0u64, |most, r| Some(most.max(self.in_len(r).max(self.out_len(r)))))
            }
        };
        // Scratch is a small multiple of the data, so a quarter of the range leaves room for it.
        match total {
            Some(total) if total <= i64::MAX as u64 / 4 => {}
            _ => {
                return Err(BadShape(format!(
                    "the blocks of {p} ranks overflow the address space"
                )));
            }
        }
        let whole = match &self.layout {
            Layout::Vector(n) => n % element == 0,
            Layout::Blocks(b) => (0..p).all(|r| b.len(r) % element == 0),
            Layout::Matrix(_) => true,
        };
        if !whole {
            return Err(BadShape(format!("the data is not in whole elements of {element} bytes")));
        }
        if let (Layout::Matrix(m @ Matrix::Each(_)), true) = (&self.layout, self.in_place)
            && (0..p).any(|s| (0..s).any(|d| m.len(s, d) != m.len(d, s)))
        {
            return Err(BadShape("in place, every pair must exchange blocks of one length".into()));
        }
        Ok(())
    }

    /// The length of the vector; 0 if there is none.
    pub fn vector(&self) -> u64 {
        match &self.layout {
            Layout::Vector(n) => *n,
            _ => 0,
        }
    }

    /// The ranks' blocks; the vector cut into even blocks where there is a vector.
    pub fn blocks(&self) -> Blocks {
        match &self.layout {
            Layout::Blocks(blocks) => blocks.clone(),
            Layout::Vector(n) => Blocks::cut(*n, self.ranks, u64::from(self.element)),
            Layout::Matrix(_) => Blocks::Equal(0),
        }
    }

    /// The blocks from rank to rank of an alltoall.
    pub fn matrix(&self) -> Matrix {
        match &self.layout {
            Layout::Matrix(matrix) => matrix.clone(),
            _ => Matrix::Equal(0),
        }
    }

    /// The length of the send buffer of `rank`.
    pub fn in_len(&self, rank: Rank) -> u64 {
        let at_root = |n| if rank == self.root { n } else { 0 };
        match (&self.layout, self.collective.family()) {
            (_, Barrier | Bcast) => 0,
            (Layout::Blocks(b), Scatter) => at_root(b.total(self.ranks)),
            (Layout::Blocks(b), ReduceScatter) => b.total(self.ranks),
            (Layout::Blocks(b), _) => b.len(rank),
            (Layout::Vector(n), _) => *n,
            (Layout::Matrix(m), _) => m.totals(self.ranks, rank).0,
        }
    }

    /// The length of the receive buffer of `rank`.
    pub fn out_len(&self, rank: Rank) -> u64 {
        let at_root = |n| if rank == self.root { n } else { 0 };
        match (&self.layout, self.collective.family()) {
            (_, Barrier) => 0,
            (Layout::Blocks(b), Gather) => at_root(b.total(self.ranks)),
            (Layout::Blocks(b), Allgather) => b.total(self.ranks),
            (Layout::Blocks(b), _) => b.len(rank),
            (Layout::Vector(n), Reduce) => at_root(*n),
            (Layout::Vector(n), _) => *n,
            (Layout::Matrix(m), _) => m.totals(self.ranks, rank).1,
        }
    }

    /// The relative position of the two buffers of `rank`.
    pub fn place(&self, rank: Rank) -> Place {
        let root = rank == self.root;
        match (&self.layout, self.collective.family()) {
            _ if !self.in_place => Place::Apart,
            (Layout::Blocks(b), Scatter) if root => Place::OutWithinIn(b.off(rank)),
            (Layout::Blocks(b), Gather) if root => Place::InWithinOut(b.off(rank)),
            (_, Barrier | Bcast | Scatter | Gather) => Place::Apart,
            (Layout::Blocks(b), Allgather) => Place::InWithinOut(b.off(rank)),
            (Layout::Blocks(_), ReduceScatter) => Place::OutWithinIn(0),
            (_, Reduce) if !root => Place::Apart,
            _ => Place::InWithinOut(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_that_cannot_be_are_refused() {
        assert!(Shape::new(Bcast, 0, 8).validate().is_err());
        assert!(Shape::new(Bcast, 4, 8).with_root(4).validate().is_err());
        assert!(Shape::new(Scatter, 4, u64::MAX / 2).validate().is_err());
        assert!(Shape::new(Allreduce, 4, 7).with_element(8, true).validate().is_err());
        let short = Blocks::of_lengths(&[1, 2]).unwrap();
        assert!(Shape::new(Gatherv, 4, 0).with_blocks(short).validate().is_err());
        for collective in Collective::ALL {
            assert_eq!(Shape::new(collective, 5, 16).validate(), Ok(()));
            assert_eq!(Collective::by_name(collective.name()), Some(collective));
        }
    }
}
