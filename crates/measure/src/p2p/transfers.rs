//! Several transfers at once, and something to do meanwhile.

use laneway_core::{Comm, CommError, Progress, Rank, Slot};

use super::DATA;

/// Starts the receives, then the sends, does `meanwhile`, and waits until all are over.
pub(super) fn together(
    comm: &dyn Comm,
    sends: &[(Rank, &[u8])],
    receives: &mut [(Rank, &mut [u8])],
    meanwhile: impl FnOnce(),
) -> Result<(), CommError> {
    let mut queue = comm.queue();
    let mut pending = 0;
    for (slot, (from, into)) in receives.iter_mut().enumerate() {
        // SAFETY: the buffer is borrowed until this function returns; nobody touches it before the
        // queue has said that all is over, or is dropped with an error.
        let progress =
            unsafe { queue.recv(slot as Slot, *from, DATA, into.as_mut_ptr(), into.len()) }?;
        pending += usize::from(progress == Progress::Pending);
    }
    for (number, (to, data)) in sends.iter().enumerate() {
        let slot = (receives.len() + number) as Slot;
        // SAFETY: as above; the data is shared, so it does not change.
        let progress = unsafe { queue.send(slot, *to, DATA, data.as_ptr(), data.len()) }?;
        pending += usize::from(progress == Progress::Pending);
    }
    meanwhile();
    let mut done = Vec::new();
    while pending > 0 {
        queue.wait(&mut done)?;
        pending -= done.len();
        done.clear();
    }
    Ok(())
}

/// As many stretches of `size` bytes, one after the other, all from one rank.
pub(super) fn stretches(
    from: Rank,
    bytes: &mut [u8],
    size: usize,
    count: usize,
) -> Vec<(Rank, &mut [u8])> {
    let mut rest = bytes;
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        let (stretch, after) = rest.split_at_mut(size.min(rest.len()));
        all.push((from, stretch));
        rest = after;
    }
    all
}
