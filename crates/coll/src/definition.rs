//! What each collective means: which bytes every rank's Out must hold in the end.
//!
//! Everything that judges an algorithm asks here: the checker symbolically, `laneway check` with
//! real bytes.

use std::ops::Range;

use laneway_core::{Collective, Rank, Reduction, Shape};

/// A run of Out, and where its bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Offset in Out.
    pub at: u64,
    /// How many bytes it has.
    pub len: u64,
    /// Whose inputs are joined, in this order; one rank where nothing is reduced.
    pub ranks: Range<Rank>,
    /// Offset in those ranks' inputs.
    pub off: u64,
}

/// The definition for one rank. The input of a broadcast's root is its Out.
pub fn definition(shape: &Shape, rank: Rank) -> Vec<Piece> {
    let p = shape.ranks;
    let root = rank == shape.root;
    let one = |at, len, from: Rank, off| Piece { at, len, ranks: from..from + 1, off };
    let pieces = match shape.collective.family() {
        Collective::Bcast => vec![one(0, shape.vector(), shape.root, 0)],
        Collective::Scatter => {
            let blocks = shape.blocks();
            vec![one(0, blocks.len(rank), shape.root, blocks.off(rank))]
        }
        Collective::Gather if !root => vec![],
        Collective::Gather | Collective::Allgather => {
            let blocks = shape.blocks();
            (0..p).map(|from| one(blocks.off(from), blocks.len(from), from, 0)).collect()
        }
        Collective::Reduce if !root => vec![],
        Collective::Reduce | Collective::Allreduce => {
            vec![Piece { at: 0, len: shape.vector(), ranks: 0..p, off: 0 }]
        }
        Collective::Scan => vec![Piece { at: 0, len: shape.vector(), ranks: 0..rank + 1, off: 0 }],
        Collective::Exscan if rank == 0 => vec![],
        Collective::Exscan => vec![Piece { at: 0, len: shape.vector(), ranks: 0..rank, off: 0 }],
        Collective::ReduceScatter => {
            let blocks = shape.blocks();
            vec![Piece { at: 0, len: blocks.len(rank), ranks: 0..p, off: blocks.off(rank) }]
        }
        Collective::Alltoall => {
            let matrix = shape.matrix();
            (0..p)
                .map(|from| {
                    let (to, sent) = (matrix.received(from, rank), matrix.sent(from, rank));
                    one(to.off, to.len, from, sent.off)
                })
                .collect()
        }
        _ => vec![],
    };
    pieces.into_iter().filter(|piece| piece.len > 0).collect()
}

/// The definition with real bytes: `input(rank, off, bytes)` fills in what a rank contributes.
/// Where the definition says nothing (rank 0 of an exscan) the result keeps zeros.
pub fn expected(
    shape: &Shape,
    rank: Rank,
    reduction: Option<&Reduction>,
    input: impl Fn(Rank, u64, &mut [u8]),
) -> Vec<u8> {
    let mut out = vec![0; shape.out_len(rank) as usize];
    let mut operand = Vec::new();
    for piece in definition(shape, rank) {
        let target = &mut out[piece.at as usize..(piece.at + piece.len) as usize];
        input(piece.ranks.start, piece.off, target);
        for from in piece.ranks.start + 1..piece.ranks.end {
            operand.resize(target.len(), 0);
            input(from, piece.off, &mut operand);
            if let Some(reduction) = reduction {
                reduction.apply(&operand, target, false);
            }
        }
    }
    out
}
