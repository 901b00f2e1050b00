//! Sharing the lengths of the blocks, for the algorithms whose relays must know them.
//!
//! MPI tells a rank only its own lengths (the root of a scatterv or gatherv knows all of them).
//! Where [`Counts::All`](crate::Counts::All) is declared and blocks differ, this runs first.

use laneway_core::{
    Blocks, Buffers, Collective, Comm, CommError, Exec, Layout, Matrix, Rank, Shape,
};

use crate::registry::find;

/// Collective: turns what a rank knows into what all must know.
///
/// `known` holds p lengths: for scatterv and gatherv those of all blocks at the root (others pass
/// anything of that length), for alltoallv the lengths that this rank sends, by destination.
pub fn share(
    comm: &dyn Comm,
    collective: Collective,
    root: Rank,
    known: &[u64],
) -> Result<Layout, CommError> {
    let ranks = comm.size();
    let argument = |what: String| CommError::Argument { what };
    if known.len() != ranks as usize {
        return Err(argument(format!("{} lengths for {ranks} ranks", known.len())));
    }
    let row: Vec<u8> = known.iter().flat_map(|length| length.to_le_bytes()).collect();
    let (carrier, name) = match collective.family() {
        Collective::Alltoall => (Collective::Allgather, "bruck"),
        _ => (Collective::Bcast, "binomial"),
    };
    let root = if carrier == Collective::Bcast { root } else { 0 };
    let shape = Shape::new(carrier, ranks, row.len() as u64).with_root(root);
    let (algorithm, params) = find(carrier, name).map_err(|refusal| argument(refusal.0))?;
    let schedule = algorithm.schedule(&shape, &params).map_err(|refusal| argument(refusal.0))?;
    let mut tmp = vec![0; schedule.tmp_len(comm.rank()) as usize];
    let mut all = vec![0; shape.out_len(comm.rank()) as usize];
    if carrier == Collective::Bcast {
        all.copy_from_slice(&row);
    }
    Exec::new(comm, &*schedule, Buffers::new(&row, &mut all, &mut tmp), None, 0)?.run()?;

    // Each chunk has eight bytes by construction.
    let lengths: Vec<u64> =
        all.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().expect("eight"))).collect();
    let overflow = || argument("the blocks overflow the address space".into());
    if carrier == Collective::Bcast {
        return Blocks::of_lengths(&lengths).map(Layout::Blocks).ok_or_else(overflow);
    }
    let length = |source: Rank, to: Rank| lengths[source as usize * ranks as usize + to as usize];
    Matrix::of_lengths(ranks, length).map(Layout::Matrix).ok_or_else(overflow)
}
