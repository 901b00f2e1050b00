//! Small talk between the ranks of a measurement, over trees: numbers that rank 0 announces, and
//! numbers that it collects. Both ends know how many there are, so each costs one message an edge.

use laneway_core::{Comm, CommError, Rank, Tag};

/// All tags of this crate, each different: whoever measures has a communicator for all of it.
pub(crate) const ANNOUNCE: Tag = 1;
pub(crate) const COLLECT: Tag = 2;
pub(crate) const CLOCK: Tag = 3;
pub(crate) const START: Tag = 4;
pub(crate) const CONFIRM: Tag = 5;
pub(crate) const TASK: Tag = 6;
pub(crate) const DELIVER: Tag = 7;
/// Of point-to-point experiments: what the members of a subset agree on, and what is measured.
pub(crate) const WORD: Tag = 8;
pub(crate) const DATA: Tag = 9;

pub(crate) fn bytes_of(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

pub(crate) fn numbers_of(bytes: &[u8]) -> Vec<f64> {
    let number = |bytes: &[u8]| bytes.try_into().map_or(f64::NAN, f64::from_le_bytes);
    bytes.chunks(8).map(number).collect()
}

/// Collective: the text of rank 0, on every rank.
pub fn told(comm: &dyn Comm, text: &str) -> Result<String, CommError> {
    let mut length = [text.len() as f64];
    announce(comm, &mut length)?;
    let mut bytes: Vec<f64> = text.bytes().map(f64::from).collect();
    bytes.resize(length[0] as usize, 0.0);
    if !bytes.is_empty() {
        announce(comm, &mut bytes)?;
    }
    let bytes: Vec<u8> = bytes.into_iter().map(|byte| byte as u8).collect();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Above this rank in a binomial tree over all ranks, and the distance to it; none for rank 0.
fn above(rank: Rank) -> Option<(Rank, u32)> {
    (rank > 0).then(|| {
        let distance = 1 << rank.trailing_zeros();
        (rank - distance, distance)
    })
}

/// Below a rank in the tree, the nearest first.
fn below(rank: Rank, ranks: u32) -> impl DoubleEndedIterator<Item = Rank> {
    let distances = if rank == 0 { u32::BITS } else { rank.trailing_zeros() };
    let reach = (0..distances).map(move |bit| rank.checked_add(1 << bit));
    reach.flatten().filter(move |child| *child < ranks)
}

/// Collective: what rank 0 says, on every rank.
pub fn announce(comm: &dyn Comm, numbers: &mut [f64]) -> Result<(), CommError> {
    announce_from(comm, 0, numbers)
}

/// Collective: the same for ranks of which some have nothing else to do for long. They sleep and
/// look now and then, as receiving would keep a core busy that the others may need.
pub(crate) fn announce_to_idle(comm: &dyn Comm, numbers: &mut [f64]) -> Result<(), CommError> {
    if let Some((parent, _)) = above(comm.rank()) {
        nap_until(comm, parent, ANNOUNCE)?;
    }
    announce(comm, numbers)
}

/// Collective: what [`collect`] does, with such ranks.
pub(crate) fn collect_at_idle(comm: &dyn Comm, own: &[f64]) -> Result<Vec<f64>, CommError> {
    for child in below(comm.rank(), comm.size()) {
        nap_until(comm, child, COLLECT)?;
    }
    collect(comm, own)
}

/// Seconds between two looks.
const NAP: f64 = 1e-3;

/// Returns when such a message is there; in virtual time at once, as nobody is disturbed.
fn nap_until(comm: &dyn Comm, from: Rank, tag: Tag) -> Result<(), CommError> {
    let clock = comm.clock();
    while !clock.is_virtual() && comm.probe(Some(from), Some(tag), false)?.is_none() {
        clock.sleep_until(clock.now() + NAP);
    }
    Ok(())
}

/// Collective: what one rank says, on every rank.
pub(crate) fn announce_from(
    comm: &dyn Comm,
    root: Rank,
    numbers: &mut [f64],
) -> Result<(), CommError> {
    let ranks = comm.size();
    // The tree is that of rank 0, turned round.
    let own = (comm.rank() + ranks - root) % ranks;
    let turned = |place: Rank| (place + root) % ranks;
    if let Some((parent, _)) = above(own) {
        let mut bytes = vec![0; 8 * numbers.len()];
        comm.recv(Some(turned(parent)), Some(ANNOUNCE), &mut bytes)?;
        numbers.copy_from_slice(&numbers_of(&bytes));
    }
    let bytes = bytes_of(numbers);
    for child in below(own, ranks).rev() {
        comm.send(turned(child), ANNOUNCE, &bytes)?;
    }
    Ok(())
}

/// Collective: the numbers of every rank, rank after rank, on rank 0; nothing elsewhere. Every rank
/// gives as many.
pub fn collect(comm: &dyn Comm, own: &[f64]) -> Result<Vec<f64>, CommError> {
    let (rank, ranks) = (comm.rank(), comm.size());
    let mut all = own.to_vec();
    for child in below(rank, ranks) {
        // The ranks below a child are as many as lie between it and the next.
        let subtree = (1u32 << child.trailing_zeros()).min(ranks - child);
        let mut bytes = vec![0; 8 * own.len() * subtree as usize];
        comm.recv(Some(child), Some(COLLECT), &mut bytes)?;
        all.extend(numbers_of(&bytes));
    }
    match above(rank) {
        None => Ok(all),
        Some((parent, _)) => {
            comm.send(parent, COLLECT, &bytes_of(&all))?;
            Ok(Vec::new())
        }
    }
}

/// Collective: nobody goes on before all have come.
pub(crate) fn meet(comm: &dyn Comm) -> Result<(), CommError> {
    collect(comm, &[])?;
    announce(comm, &mut [])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tag_has_one_meaning() {
        let mut tags = vec![ANNOUNCE, COLLECT, CLOCK, START, CONFIRM, TASK, DELIVER, WORD, DATA];
        tags.sort_unstable();
        assert!(tags.windows(2).all(|two| two[0] < two[1]), "{tags:?}");
    }

    #[test]
    fn the_tree_reaches_every_rank_once() {
        for ranks in 1..70 {
            let mut seen = vec![0; ranks as usize];
            for rank in 0..ranks {
                for child in below(rank, ranks) {
                    seen[child as usize] += 1;
                    assert_eq!(above(child).map(|(parent, _)| parent), Some(rank));
                }
            }
            assert_eq!(seen[0], 0);
            assert!(seen[1..].iter().all(|&times| times == 1), "{ranks}: {seen:?}");
        }
    }
}
