//! How a buffer is cut into the blocks of the ranks: equal, of differing lengths, or a whole
//! matrix.

use std::sync::Arc;

use crate::schedule::{Buf, Rank, Span, span};

/// One block for each rank, contiguous: equal by formula, others by their offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// All of this length.
    Equal(u64),
    /// p + 1 ascending offsets; block i is `at[i]..at[i + 1]` and may be empty.
    At(Arc<[u64]>),
}

impl Blocks {
    /// Blocks of the given lengths; `None` where their sum overflows.
    pub fn of_lengths(lengths: &[u64]) -> Option<Blocks> {
        let mut at = Vec::with_capacity(lengths.len() + 1);
        let mut end = 0u64;
        at.push(0);
        for &length in lengths {
            end = end.checked_add(length)?;
            at.push(end);
        }
        Some(Blocks::At(at.into()))
    }

    /// A vector cut into `parts` blocks of whole elements, as even as can be, the longer ones
    /// first.
    pub fn cut(vector: u64, parts: u32, element: u64) -> Blocks {
        let (elements, parts) = (vector / element, u64::from(parts));
        if elements % parts == 0 {
            return Blocks::Equal(vector / parts);
        }
        let (each, longer) = (elements / parts, elements % parts);
        Blocks::At((0..=parts).map(|i| (i * each + i.min(longer)) * element).collect())
    }

    /// The offset of the block of a rank.
    #[inline]
    pub fn off(&self, rank: Rank) -> u64 {
        match self {
            Blocks::Equal(len) => u64::from(rank) * len,
            Blocks::At(at) => at[rank as usize],
        }
    }

    /// The length of the block of a rank.
    #[inline]
    pub fn len(&self, rank: Rank) -> u64 {
        match self {
            Blocks::Equal(len) => *len,
            Blocks::At(at) => at[rank as usize + 1] - at[rank as usize],
        }
    }

    /// Blocks `a` up to but not including `b`.
    #[inline]
    pub fn span(&self, buf: Buf, a: Rank, b: Rank) -> Span {
        span(buf, self.off(a), self.off(b) - self.off(a))
    }

    /// Block `rank` alone.
    #[inline]
    pub fn block(&self, buf: Buf, rank: Rank) -> Span {
        span(buf, self.off(rank), self.len(rank))
    }

    /// The total length of the blocks of `ranks` ranks.
    pub fn total(&self, ranks: u32) -> u64 {
        self.off(ranks)
    }

    /// The length of the longest block.
    pub fn longest(&self, ranks: u32) -> u64 {
        (0..ranks).map(|rank| self.len(rank)).max().unwrap_or(0)
    }
}

/// The block lengths between all pairs of ranks in an all-to-all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matrix {
    /// All of this length.
    Equal(u64),
    /// Each of its own length.
    Each(Arc<Table>),
}

/// Lengths by source and destination, with the offsets at which each rank keeps them.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    ranks: u32,
    /// Row r: p + 1 offsets in the send buffer of r.
    sent: Vec<u64>,
    /// Row r: p + 1 offsets in the receive buffer of r.
    received: Vec<u64>,
}

impl Matrix {
    /// `length(source, destination)` for all pairs; `None` where a sum overflows.
    pub fn of_lengths(ranks: u32, length: impl Fn(Rank, Rank) -> u64) -> Option<Matrix> {
        let offsets = |length: &dyn Fn(Rank, Rank) -> u64| {
            let mut all = Vec::new();
            for row in 0..ranks {
                let mut end = 0u64;
                all.push(0);
                for column in 0..ranks {
                    end = end.checked_add(length(row, column))?;
                    all.push(end);
                }
            }
            Some(all)
        };
        let sent = offsets(&length)?;
        let received = offsets(&|row, column| length(column, row))?;
        Some(Matrix::Each(Arc::new(Table { ranks, sent, received })))
    }

    /// The length of the block from one rank to another.
    pub fn len(&self, source: Rank, destination: Rank) -> u64 {
        self.sent(source, destination).len
    }

    /// The offset of the block for `destination` in the send buffer of `source`.
    pub fn sent(&self, source: Rank, destination: Rank) -> Span {
        match self {
            Matrix::Equal(len) => span(Buf::In, u64::from(destination) * len, *len),
            Matrix::Each(table) => table.span(Buf::In, &table.sent, source, destination),
        }
    }

    /// The offset of the block from `source` in the receive buffer of `destination`.
    pub fn received(&self, source: Rank, destination: Rank) -> Span {
        match self {
            Matrix::Equal(len) => span(Buf::Out, u64::from(source) * len, *len),
            Matrix::Each(table) => table.span(Buf::Out, &table.received, destination, source),
        }
    }

    /// The bytes that `rank` sends and receives, its own block included.
    pub fn totals(&self, ranks: u32, rank: Rank) -> (u64, u64) {
        let last = ranks - 1;
        (self.sent(rank, last).end(), self.received(last, rank).end())
    }
}

impl Table {
    fn span(&self, buf: Buf, rows: &[u64], row: Rank, column: Rank) -> Span {
        let at = row as usize * (self.ranks as usize + 1) + column as usize;
        span(buf, rows[at], rows[at + 1] - rows[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_cut_into_whole_elements() {
        let blocks = Blocks::cut(7 * 8, 3, 8);
        assert_eq!((0..3).map(|r| blocks.len(r)).collect::<Vec<_>>(), [24, 16, 16]);
        assert_eq!(blocks.total(3), 56);
        assert_eq!(Blocks::cut(64, 4, 8), Blocks::Equal(16));
        assert_eq!(Blocks::cut(8, 3, 8).len(2), 0);
    }

    #[test]
    fn a_matrix_is_seen_alike_from_both_ends() {
        let matrix = Matrix::of_lengths(3, |s, d| u64::from(s * 10 + d)).unwrap();
        assert_eq!(matrix.sent(2, 1), span(Buf::In, 20, 21));
        assert_eq!(matrix.received(2, 1), span(Buf::Out, 1 + 11, 21));
        assert_eq!(matrix.totals(3, 1), (10 + 11 + 12, 1 + 11 + 21));
        assert!(Blocks::of_lengths(&[u64::MAX, 1]).is_none());
    }
}
