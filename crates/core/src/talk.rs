//! Control messages among ranks, over binomial trees: broadcast from rank 0, gather at rank 0, and
//! agreement on the first objection.
//!
//! Everything here is collective: all ranks of the communicator call it, in the same order.

use crate::encode::Encode;
use crate::{Comm, CommError, Rank, Tag};

/// The tag of broadcasts.
pub const BROADCAST: Tag = 1;
/// The tag of gathers.
pub const GATHER: Tag = 2;

/// The parent of a rank in a binomial tree over all ranks; `None` for rank 0.
pub fn parent(rank: Rank) -> Option<Rank> {
    (rank > 0).then(|| rank - (1 << rank.trailing_zeros()))
}

/// The children of a rank in the tree, the nearest first.
pub fn children(rank: Rank, ranks: u32) -> impl DoubleEndedIterator<Item = Rank> {
    let distances = if rank == 0 { u32::BITS } else { rank.trailing_zeros() };
    let reach = (0..distances).map(move |bit| rank.checked_add(1 << bit));
    reach.flatten().filter(move |child| *child < ranks)
}

/// Collective: broadcasts the bytes of rank `root`; all ranks know the length.
pub fn broadcast_exact(comm: &dyn Comm, root: Rank, bytes: &mut [u8]) -> Result<(), CommError> {
    let ranks = comm.size();
    // The tree is that of rank 0, turned round.
    let own = (comm.rank() + ranks - root) % ranks;
    let turned = |place: Rank| (place + root) % ranks;
    if let Some(parent) = parent(own) {
        comm.recv(Some(turned(parent)), Some(BROADCAST), bytes)?;
    }
    children(own, ranks).rev().try_for_each(|child| comm.send(turned(child), BROADCAST, bytes))
}

/// Collective: gathers the bytes of all ranks in rank order at rank 0; the other ranks get nothing.
/// Every rank gives the same length.
pub fn gather_exact(comm: &dyn Comm, own: &[u8]) -> Result<Vec<u8>, CommError> {
    let (rank, ranks) = (comm.rank(), comm.size());
    let mut all = own.to_vec();
    for child in children(rank, ranks) {
        // The ranks below a child are as many as lie between it and the next.
        let subtree = (1u32 << child.trailing_zeros()).min(ranks - child);
        let mut bytes = vec![0; own.len() * subtree as usize];
        comm.recv(Some(child), Some(GATHER), &mut bytes)?;
        all.extend(bytes);
    }
    match parent(rank) {
        None => Ok(all),
        Some(parent) => {
            comm.send(parent, GATHER, &all)?;
            Ok(Vec::new())
        }
    }
}

/// Collective: broadcasts a number of rank 0.
fn broadcast_number(comm: &dyn Comm, number: u64) -> Result<u64, CommError> {
    let mut bytes = number.to_le_bytes();
    broadcast_exact(comm, 0, &mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Collective: broadcasts the bytes of rank 0; those of the other ranks are ignored.
pub fn broadcast(comm: &dyn Comm, own: &[u8]) -> Result<Vec<u8>, CommError> {
    let length = broadcast_number(comm, own.len() as u64)? as usize;
    let mut bytes = if comm.rank() == 0 { own.to_vec() } else { vec![0; length] };
    if length > 0 {
        broadcast_exact(comm, 0, &mut bytes)?;
    }
    Ok(bytes)
}

/// Collective: broadcasts the value of rank 0. On every rank it has the same length in bytes, as
/// values without lists have.
pub fn broadcast_value<T: Encode>(comm: &dyn Comm, own: &T) -> Result<T, CommError> {
    let mut bytes = own.to_bytes();
    broadcast_exact(comm, 0, &mut bytes)?;
    T::decode(&mut &bytes[..]).ok_or_else(undecodable)
}

/// Collective: gathers the values of all ranks in rank order at rank 0; the other ranks get
/// nothing. On every rank they have the same length in bytes.
pub fn gather_values<T: Encode>(comm: &dyn Comm, own: &T) -> Result<Vec<T>, CommError> {
    let bytes = gather_exact(comm, &own.to_bytes())?;
    let mut rest = &bytes[..];
    let count = if comm.rank() == 0 { comm.size() } else { 0 };
    (0..count).map(|_| T::decode(&mut rest).ok_or_else(undecodable)).collect()
}

/// Collective: the same for values of any length, in a second message.
pub fn gather_any_values<T: Encode>(comm: &dyn Comm, own: &T) -> Result<Vec<T>, CommError> {
    let all = gather(comm, &own.to_bytes())?;
    all.iter().map(|bytes| T::decode(&mut &bytes[..]).ok_or_else(undecodable)).collect()
}

/// Ranks of one program disagree on a type.
fn undecodable() -> CommError {
    CommError::Argument { what: "another rank sent a value of another type".into() }
}

/// Collective: broadcasts the text of rank 0.
pub fn broadcast_text(comm: &dyn Comm, own: &str) -> Result<String, CommError> {
    let bytes = broadcast(comm, own.as_bytes())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Collective: gathers the bytes of each rank, of any length, at rank 0; the other ranks get
/// nothing.
pub fn gather(comm: &dyn Comm, own: &[u8]) -> Result<Vec<Vec<u8>>, CommError> {
    let lengths = gather_exact(comm, &(own.len() as u64).to_le_bytes())?;
    let lengths: Vec<usize> = lengths
        .as_chunks::<8>()
        .0
        .iter()
        .map(|length| u64::from_le_bytes(*length) as usize)
        .collect();
    let longest = broadcast_number(comm, lengths.iter().copied().max().unwrap_or(0) as u64)?;
    if longest == 0 {
        return Ok(vec![Vec::new(); lengths.len()]);
    }
    let mut padded = own.to_vec();
    padded.resize(longest as usize, 0);
    let all = gather_exact(comm, &padded)?;
    let cut = |(bytes, length): (&[u8], &usize)| bytes[..*length].to_vec();
    Ok(all.chunks(longest as usize).zip(&lengths).map(cut).collect())
}

/// Collective: broadcasts the objection of the lowest rank that has one.
pub fn objection(comm: &dyn Comm, own: Option<String>) -> Result<Option<String>, CommError> {
    let own = own.unwrap_or_default().into_bytes();
    let lengths = gather_exact(comm, &(own.len() as u64).to_le_bytes())?;
    let lengths = lengths.as_chunks::<8>().0.iter().map(|length| u64::from_le_bytes(*length));
    let first = lengths.zip(0u64..).find(|(length, _)| *length > 0);
    let (length, rank) = first.unwrap_or((0, 0));
    let mut words = [0; 16];
    words[..8].copy_from_slice(&length.to_le_bytes());
    words[8..].copy_from_slice(&rank.to_le_bytes());
    broadcast_exact(comm, 0, &mut words)?;
    let [length, rank] =
        [&words[..8], &words[8..]].map(|word| word.try_into().map_or(0, u64::from_le_bytes));
    if length == 0 {
        return Ok(None);
    }
    let mine = u64::from(comm.rank()) == rank;
    let mut text = if mine { own } else { vec![0; length as usize] };
    broadcast_exact(comm, rank as Rank, &mut text)?;
    Ok(Some(String::from_utf8_lossy(&text).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_reaches_every_rank_once() {
        for ranks in 1..70 {
            let mut seen = vec![0; ranks as usize];
            for rank in 0..ranks {
                for child in children(rank, ranks) {
                    seen[child as usize] += 1;
                    assert_eq!(parent(child), Some(rank));
                }
            }
            assert_eq!(seen[0], 0);
            assert!(seen[1..].iter().all(|&times| times == 1), "{ranks}: {seen:?}");
        }
    }
}
