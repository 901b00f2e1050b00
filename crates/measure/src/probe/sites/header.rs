//! Bytes that the network adds to every message: many short ones of one pair, which take as long as
//! their bytes and those that are added, where these are what takes the time.

use std::cell::Cell;

use laneway_core::{Comm, CommError, Progress, Slot};
use laneway_stats::median;

use super::flows::Flow;
use crate::talk::{DATA, WORD, broadcast_from};

/// Messages at once, against one.
const MANY: usize = 32;
/// Bytes of a message; the times of three sizes lie on a line where bytes take the time.
const SIZES: [usize; 3] = [1, 513, 1025];
/// As far as noise allows.
const ON_LINE: f64 = 0.1;
/// Repetitions; fewer in virtual time, which has no noise.
const REPS: usize = 9;
const VIRTUAL_REPS: usize = 1;
/// Bytes determine the time of a message that takes this many times what processors take.
const ABOVE_COSTS: f64 = 1.5;
/// No header has more bytes.
const MOST: f64 = 9000.0;

/// Collective: bytes that are added to each message of a flow, on every rank; `None` if something
/// else determines the time of short messages. A processor takes `cost` seconds for a message.
pub(super) fn header_bytes(
    comm: &dyn Comm,
    flow: Flow,
    cost: f64,
    alive: &dyn Fn(),
) -> Result<Option<u32>, CommError> {
    let reps = if comm.clock().is_virtual() { VIRTUAL_REPS } else { REPS };
    let mut times = Vec::new();
    for count in [1, MANY] {
        for size in SIZES {
            let mut all = Vec::new();
            for _ in 0..reps {
                alive();
                all.push(match comm.rank() {
                    rank if rank == flow.from => send(comm, flow, count, size)?,
                    rank if rank == flow.to => receive(comm, flow, count, size).map(|()| 0.0)?,
                    _ => 0.0,
                });
            }
            times.push(median(&all).unwrap_or(0.0));
        }
    }
    broadcast_from(comm, flow.from, &mut times)?;
    let (one, many) = times.split_at(SIZES.len());
    Ok(added(one, many, cost))
}

/// Sends as many messages at once to a receiver that is ready; the seconds until it has all.
fn send(comm: &dyn Comm, flow: Flow, count: usize, size: usize) -> Result<f64, CommError> {
    let data = vec![1u8; size];
    let (mut queue, mut done, mut pending) = (comm.queue(), Vec::new(), 0);
    comm.recv(Some(flow.to), Some(WORD), &mut [])?;
    let begun = comm.clock().now();
    for slot in 0..count {
        let slot = slot as Slot;
        // SAFETY: the data is borrowed, and so unchanged, until the queue is empty.
        let progress = unsafe { queue.send(slot, flow.to, DATA, data.as_ptr(), data.len()) }?;
        pending += usize::from(progress != Progress::Done);
    }
    while done.len() < pending {
        queue.wait(&mut done)?;
    }
    comm.recv(Some(flow.to), Some(WORD), &mut [])?;
    Ok(comm.clock().now() - begun)
}

/// Takes the messages to one place again and again, as they are not read, and says when all are
/// there.
fn receive(comm: &dyn Comm, flow: Flow, count: usize, size: usize) -> Result<(), CommError> {
    let mut room = vec![0u8; size];
    let into = Cell::from_mut(&mut room[..]).as_slice_of_cells();
    let (mut queue, mut done, mut pending) = (comm.queue(), Vec::new(), 0);
    for slot in 0..count {
        let place = into.as_ptr().cast_mut().cast();
        // SAFETY: the cells are borrowed until this function returns, and may be written to; they
        // are not read.
        let progress = unsafe { queue.recv(slot as Slot, flow.from, DATA, place, into.len()) }?;
        pending += usize::from(progress != Progress::Done);
    }
    comm.send(flow.from, WORD, &[])?;
    while done.len() < pending {
        queue.wait(&mut done)?;
    }
    comm.send(flow.from, WORD, &[])
}

/// What is added, from the seconds of one message and of many, of all sizes.
fn added(one: &[f64], many: &[f64], cost: f64) -> Option<u32> {
    let more: Vec<f64> = one.iter().zip(many).map(|(one, many)| many - one).collect();
    let [first, second, third] = more[..] else { return None };
    let step = |a: usize, b: usize| (SIZES[b] - SIZES[a]) as f64;
    let slopes = [(second - first) / step(0, 1), (third - second) / step(1, 2)];
    let slope = (slopes[0] + slopes[1]) / 2.0;
    let is_line = slope > 0.0 && (slopes[0] - slopes[1]).abs() <= ON_LINE * slope;
    let each = first / (MANY - 1) as f64;
    if !is_line || each < ABOVE_COSTS * cost {
        return None;
    }
    let added = first / slope - SIZES[0] as f64;
    (added < MOST).then_some(added.max(0.0).round() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times over a network that adds bytes, with a latency and a rate.
    fn times(count: usize, header: f64, least: f64) -> Vec<f64> {
        let each = |size: &usize| ((*size as f64 + header) / 1e6).max(least);
        SIZES.iter().map(|size| 5e-3 + count as f64 * each(size)).collect()
    }

    #[test]
    fn bytes_show_where_they_take_the_time() {
        for header in [0.0, 16.0, 40.0, 1500.0] {
            let all = [1, MANY].map(|count| times(count, header, 0.0));
            let found = added(&all[0], &all[1], 0.0).expect("bytes take the time");
            assert_eq!(f64::from(found), header);
        }
        // Processors take as long for 1 byte as for 513, and a message shorter than they take.
        let all = [1, MANY].map(|count| times(count, 16.0, 6e-4));
        assert_eq!(added(&all[0], &all[1], 0.0), None);
        let all = [1, MANY].map(|count| times(count, 16.0, 0.0));
        assert_eq!(added(&all[0], &all[1], 20e-6), None);
    }
}
