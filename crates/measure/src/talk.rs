//! Broadcast and gather of numbers among the ranks of a measurement, by [`laneway_core::talk`]:
//! both ends know how many there are, so each costs one message an edge of a tree.

use laneway_core::talk::{BROADCAST, GATHER, broadcast_exact, children, gather_exact, parent};
use laneway_core::{Comm, CommError, Rank, Tag};

/// All tags of this crate, each different from those of [`laneway_core::talk`]: a measurement
/// has a communicator for all of it.
pub(crate) const CLOCK: Tag = 3;
pub(crate) const START: Tag = 4;
pub(crate) const CONFIRM: Tag = 5;
pub(crate) const TASK: Tag = 6;
pub(crate) const DELIVER: Tag = 7;
/// Of point-to-point experiments: what the members of a subset agree on, and what is measured.
pub(crate) const WORD: Tag = 8;
pub(crate) const DATA: Tag = 9;
/// Of a message that only says that something is over.
pub(crate) const OVER: Tag = 10;
/// Of messages of one pair that may take different connections: this and those above.
pub(crate) const CHANNEL: Tag = 64;

pub(crate) fn bytes_of(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

pub(crate) fn numbers_of(bytes: &[u8]) -> Vec<f64> {
    let number = |bytes: &[u8]| bytes.try_into().map_or(f64::NAN, f64::from_le_bytes);
    bytes.chunks(8).map(number).collect()
}

/// Collective: broadcasts numbers of rank 0.
pub fn broadcast(comm: &dyn Comm, numbers: &mut [f64]) -> Result<(), CommError> {
    broadcast_from(comm, 0, numbers)
}

/// Collective: the same for ranks of which some have nothing else to do for long. They sleep and
/// look now and then, as receiving would keep a core busy that the others may need.
pub(crate) fn broadcast_to_idle(comm: &dyn Comm, numbers: &mut [f64]) -> Result<(), CommError> {
    if let Some(parent) = parent(comm.rank()) {
        sleep_until_message(comm, parent, BROADCAST)?;
    }
    broadcast(comm, numbers)
}

/// Collective: what [`gather`] does, with such ranks.
pub(crate) fn gather_at_idle(comm: &dyn Comm, own: &[f64]) -> Result<Vec<f64>, CommError> {
    for child in children(comm.rank(), comm.size()) {
        sleep_until_message(comm, child, GATHER)?;
    }
    gather(comm, own)
}

/// Seconds between two polls.
const POLL_SECONDS: f64 = 1e-3;

/// Returns when such a message is there; in virtual time at once, as it disturbs no rank.
fn sleep_until_message(comm: &dyn Comm, from: Rank, tag: Tag) -> Result<(), CommError> {
    let clock = comm.clock();
    while !clock.is_virtual() && comm.probe(Some(from), Some(tag), false)?.is_none() {
        clock.sleep_until(clock.now() + POLL_SECONDS);
    }
    Ok(())
}

/// Collective: broadcasts numbers of one rank.
pub(crate) fn broadcast_from(
    comm: &dyn Comm,
    root: Rank,
    numbers: &mut [f64],
) -> Result<(), CommError> {
    let mut bytes = bytes_of(numbers);
    broadcast_exact(comm, root, &mut bytes)?;
    numbers.copy_from_slice(&numbers_of(&bytes));
    Ok(())
}

/// Collective: gathers the numbers of all ranks in rank order at rank 0; the other ranks get
/// nothing. Every rank gives as many.
pub fn gather(comm: &dyn Comm, own: &[f64]) -> Result<Vec<f64>, CommError> {
    Ok(numbers_of(&gather_exact(comm, &bytes_of(own))?))
}

/// Collective: the ranks from `count` on wait until rank 0, which was busy with those below, comes
/// here. Receiving would keep a core busy that the others may need, so on a real machine they sleep
/// and look now and then; `alive` is called each time.
pub(crate) fn wait_for_busy(
    comm: &dyn Comm,
    count: u32,
    alive: &dyn Fn(),
) -> Result<(), CommError> {
    if comm.rank() == 0 {
        return (count..comm.size()).try_for_each(|other| comm.send(other, OVER, &[]));
    }
    if comm.rank() < count {
        return Ok(());
    }
    let clock = comm.clock();
    while !clock.is_virtual() && comm.probe(Some(0), Some(OVER), false)?.is_none() {
        alive();
        clock.sleep_until(clock.now() + 5.0 * POLL_SECONDS);
    }
    comm.recv(Some(0), Some(OVER), &mut []).map(|_| ())
}

/// Collective: synchronises all ranks.
pub(crate) fn synchronise(comm: &dyn Comm) -> Result<(), CommError> {
    gather(comm, &[])?;
    broadcast(comm, &mut [])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tag_has_one_meaning() {
        let talk = [BROADCAST, GATHER, CLOCK, START, CONFIRM, TASK, DELIVER, WORD, DATA, OVER];
        let mut tags = talk.to_vec();
        tags.sort_unstable();
        assert!(tags.windows(2).all(|two| two[0] < two[1]), "{tags:?}");
    }
}
