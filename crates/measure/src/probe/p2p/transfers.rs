//! Several transfers at once, and something to do meanwhile.

use std::cell::Cell;

use laneway_core::{Comm, CommError, Progress, Rank, Slot};

use super::DATA;

/// Transfers that begin together. What is received may come to one place again and again, as the
/// benchmarks of the field have it: it is not read.
#[derive(Default)]
pub(super) struct Transfers<'b> {
    receives: Vec<(Rank, &'b [Cell<u8>])>,
    sends: Vec<(Rank, &'b [u8])>,
}

impl<'b> Transfers<'b> {
    /// A number of messages of `size` bytes to a rank, each from a stretch of its own where there
    /// is room for all.
    pub fn sending(mut self, to: Rank, from: &'b [u8], size: usize, count: usize) -> Transfers<'b> {
        self.sends.extend(stretches(from, size, count).map(|stretch| (to, stretch)));
        self
    }

    /// As many from a rank.
    pub fn receiving(
        mut self,
        from: Rank,
        into: &'b mut [u8],
        size: usize,
        count: usize,
    ) -> Transfers<'b> {
        let into = Cell::from_mut(into).as_slice_of_cells();
        self.receives.extend(stretches(into, size, count).map(|stretch| (from, stretch)));
        self
    }

    /// Starts the receives, then the sends, does `meanwhile`, and waits until all are over.
    pub fn run(&self, comm: &dyn Comm, meanwhile: impl FnOnce()) -> Result<(), CommError> {
        let mut queue = comm.queue();
        let mut pending = 0;
        for (slot, (from, into)) in self.receives.iter().enumerate() {
            let place = into.as_ptr().cast_mut().cast();
            // SAFETY: the cells are borrowed until this function returns, and may be written to;
            // they are not read before the queue has said that all is over, or is dropped.
            let progress = unsafe { queue.recv(slot as Slot, *from, DATA, place, into.len()) }?;
            pending += usize::from(progress == Progress::Pending);
        }
        for (number, (to, data)) in self.sends.iter().enumerate() {
            let slot = (self.receives.len() + number) as Slot;
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
}

/// Stretches one after the other where they all fit, else the first again and again.
fn stretches<T>(bytes: &[T], size: usize, count: usize) -> impl Iterator<Item = &[T]> {
    let step = if size.saturating_mul(count) <= bytes.len() { size } else { 0 };
    let size = size.min(bytes.len());
    (0..count).map(move |number| &bytes[number * step..number * step + size])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_places_of_their_own_where_there_is_room() {
        let places = |room: usize, size: usize| -> Vec<(usize, usize)> {
            let bytes = vec![0u8; room];
            let at = |stretch: &[u8]| stretch.as_ptr() as usize - bytes.as_ptr() as usize;
            stretches(&bytes, size, 3).map(|stretch| (at(stretch), stretch.len())).collect()
        };
        assert_eq!(places(12, 4), [(0, 4), (4, 4), (8, 4)]);
        assert_eq!(places(4, 4), [(0, 4); 3]);
        assert_eq!(places(0, 0), [(0, 0); 3]);
    }
}
