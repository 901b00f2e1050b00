//! Control messages among ranks, over binomial trees: broadcast from rank 0, gather at rank 0, and
//! agreement on the first objection.
//!
//! Everything here is collective: all ranks of the communicator call it, in the same order.

use crate::{Comm, CommError, Rank, Tag};

/// The tag of what is announced.
pub const ANNOUNCE: Tag = 1;
/// The tag of what is collected.
pub const COLLECT: Tag = 2;

/// The rank above this one in a binomial tree over all ranks; none for rank 0.
pub fn above(rank: Rank) -> Option<Rank> {
    (rank > 0).then(|| rank - (1 << rank.trailing_zeros()))
}

/// The ranks below one in the tree, the nearest first.
pub fn below(rank: Rank, ranks: u32) -> impl DoubleEndedIterator<Item = Rank> {
    let distances = if rank == 0 { u32::BITS } else { rank.trailing_zeros() };
    let reach = (0..distances).map(move |bit| rank.checked_add(1 << bit));
    reach.flatten().filter(move |child| *child < ranks)
}

/// Collective: the bytes of rank `root`, on every rank, where all know how many there are.
pub fn announce_exact(comm: &dyn Comm, root: Rank, bytes: &mut [u8]) -> Result<(), CommError> {
    let ranks = comm.size();
    // The tree is that of rank 0, turned round.
    let own = (comm.rank() + ranks - root) % ranks;
    let turned = |place: Rank| (place + root) % ranks;
    if let Some(parent) = above(own) {
        comm.recv(Some(turned(parent)), Some(ANNOUNCE), bytes)?;
    }
    below(own, ranks).rev().try_for_each(|child| comm.send(turned(child), ANNOUNCE, bytes))
}

/// Collective: the bytes of every rank, rank after rank, on rank 0; nothing elsewhere. Every rank
/// gives as many.
pub fn collect_exact(comm: &dyn Comm, own: &[u8]) -> Result<Vec<u8>, CommError> {
    let (rank, ranks) = (comm.rank(), comm.size());
    let mut all = own.to_vec();
    for child in below(rank, ranks) {
        // The ranks below a child are as many as lie between it and the next.
        let subtree = (1u32 << child.trailing_zeros()).min(ranks - child);
        let mut bytes = vec![0; own.len() * subtree as usize];
        comm.recv(Some(child), Some(COLLECT), &mut bytes)?;
        all.extend(bytes);
    }
    match above(rank) {
        None => Ok(all),
        Some(parent) => {
            comm.send(parent, COLLECT, &all)?;
            Ok(Vec::new())
        }
    }
}

/// Collective: a number of rank 0, on every rank.
fn announce_number(comm: &dyn Comm, number: u64) -> Result<u64, CommError> {
    let mut bytes = number.to_le_bytes();
    announce_exact(comm, 0, &mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Collective: what rank 0 says, on every rank; the others' words do not count.
pub fn announce(comm: &dyn Comm, own: &[u8]) -> Result<Vec<u8>, CommError> {
    let length = announce_number(comm, own.len() as u64)? as usize;
    let mut bytes = if comm.rank() == 0 { own.to_vec() } else { vec![0; length] };
    if length > 0 {
        announce_exact(comm, 0, &mut bytes)?;
    }
    Ok(bytes)
}

/// Collective: the text of rank 0, on every rank.
pub fn announce_text(comm: &dyn Comm, own: &str) -> Result<String, CommError> {
    let bytes = announce(comm, own.as_bytes())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Collective: what each rank has to say, by rank, at rank 0; nothing elsewhere.
pub fn collect(comm: &dyn Comm, own: &[u8]) -> Result<Vec<Vec<u8>>, CommError> {
    let lengths = collect_exact(comm, &(own.len() as u64).to_le_bytes())?;
    let lengths: Vec<usize> = lengths
        .as_chunks::<8>()
        .0
        .iter()
        .map(|length| u64::from_le_bytes(*length) as usize)
        .collect();
    let longest = announce_number(comm, lengths.iter().copied().max().unwrap_or(0) as u64)?;
    if longest == 0 {
        return Ok(vec![Vec::new(); lengths.len()]);
    }
    let mut padded = own.to_vec();
    padded.resize(longest as usize, 0);
    let all = collect_exact(comm, &padded)?;
    let cut = |(bytes, length): (&[u8], &usize)| bytes[..*length].to_vec();
    Ok(all.chunks(longest as usize).zip(&lengths).map(cut).collect())
}

/// Collective: the objection of the lowest rank that has one, on every rank.
pub fn objection(comm: &dyn Comm, own: Option<String>) -> Result<Option<String>, CommError> {
    let own = own.unwrap_or_default().into_bytes();
    let lengths = collect_exact(comm, &(own.len() as u64).to_le_bytes())?;
    let lengths = lengths.as_chunks::<8>().0.iter().map(|length| u64::from_le_bytes(*length));
    let first = lengths.zip(0u64..).find(|(length, _)| *length > 0);
    let (length, rank) = first.unwrap_or((0, 0));
    let mut words = [0; 16];
    words[..8].copy_from_slice(&length.to_le_bytes());
    words[8..].copy_from_slice(&rank.to_le_bytes());
    announce_exact(comm, 0, &mut words)?;
    let [length, rank] =
        [&words[..8], &words[8..]].map(|word| word.try_into().map_or(0, u64::from_le_bytes));
    if length == 0 {
        return Ok(None);
    }
    let mine = u64::from(comm.rank()) == rank;
    let mut text = if mine { own } else { vec![0; length as usize] };
    announce_exact(comm, rank as Rank, &mut text)?;
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
                for child in below(rank, ranks) {
                    seen[child as usize] += 1;
                    assert_eq!(above(child), Some(rank));
                }
            }
            assert_eq!(seen[0], 0);
            assert!(seen[1..].iter().all(|&times| times == 1), "{ranks}: {seen:?}");
        }
    }
}
