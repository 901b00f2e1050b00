//! What each host's processor adds to a message: the time of many short sends that no receiver
//! waits for, and of as many receives of messages that are there already.

use laneway_core::{Comm, CommError, Progress, Slot};
use laneway_stats::median;

use super::flows::Flow;
use crate::talk::{DATA, WORD, broadcast, gather};

/// Messages of one look, few enough for what systems keep for a receiver.
const MESSAGES: usize = 16;
/// Bytes of the longer ones, if the eager limit allows, and the fewest that show what a byte costs.
const LONGER: usize = 4 << 10;
const LEAST: usize = 512;
/// Looks; fewer in virtual time, which has no noise.
const LOOKS: usize = 9;
const VIRTUAL_LOOKS: usize = 1;
/// Seconds until messages that have left are there.
const ARRIVED_SECONDS: f64 = 2e-3;

/// Seconds that a host's processor adds to a message.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Costs {
    /// For each that it sends.
    pub per_send: f64,
    /// For each that it receives.
    pub per_receive: f64,
    /// For each byte that it sends; none where messages do not leave at once.
    pub per_byte_sent: Option<f64>,
    /// For each byte that it receives.
    pub per_byte_received: Option<f64>,
}

/// Collective: the costs of the hosts of these ranks, at least two, on every rank. All even ones
/// send to their neighbours at once, then all odd ones. Messages are there after the latency, and
/// what they take at the slowest rate.
pub(super) fn costs(
    comm: &dyn Comm,
    ranks: &[u32],
    eager_bytes: usize,
    [latest, slowest]: [f64; 2],
    alive: &dyn Fn(),
) -> Result<Vec<Costs>, CommError> {
    let looks = if comm.clock().is_virtual() { VIRTUAL_LOOKS } else { LOOKS };
    let longer = LONGER.min(eager_bytes);
    let sizes = [0, longer];
    let travel = ARRIVED_SECONDS + latest + (MESSAGES * longer) as f64 / slowest;
    // Of this rank: sends of both sizes, then receives.
    let mut own = [0.0; 4];
    for first in [0, 1] {
        for (place, size) in sizes.into_iter().enumerate() {
            let mut times = Vec::new();
            for _ in 0..looks {
                alive();
                for flow in neighbours(ranks, first) {
                    times.extend(look(comm, flow, size, travel)?);
                }
            }
            let Some(time) = median(&times) else { continue };
            let is_sender = neighbours(ranks, first).iter().any(|flow| flow.from == comm.rank());
            own[if is_sender { place } else { 2 + place }] = time / MESSAGES as f64;
        }
    }
    let all = gather(comm, &own)?;
    let mut numbers: Vec<f64> = match comm.rank() {
        0 => ranks.iter().flat_map(|rank| &all[4 * *rank as usize..][..4]).copied().collect(),
        _ => vec![0.0; 4 * ranks.len()],
    };
    broadcast(comm, &mut numbers)?;
    let per_byte = |one: f64, other: f64| {
        (longer >= LEAST).then(|| (other - one).max(0.0) / longer.max(1) as f64)
    };
    let costs = |own: &[f64]| Costs {
        per_send: own[0],
        per_receive: own[2],
        per_byte_sent: per_byte(own[0], own[1]),
        per_byte_received: per_byte(own[2], own[3]),
    };
    Ok(numbers.chunks(4).map(costs).collect())
}

/// Who sends to whom: each rank from the first on to the next, the last of an odd number to the one
/// before, which may receive from two.
fn neighbours(ranks: &[u32], first: usize) -> Vec<Flow> {
    let count = ranks.len();
    let flow = |place: usize| match (first, place + 1 < count) {
        (0, true) => Some(Flow { from: ranks[place], to: ranks[place + 1] }),
        (0, false) => (place > 0).then(|| Flow { from: ranks[place], to: ranks[place - 1] }),
        (_, true) => Some(Flow { from: ranks[place + 1], to: ranks[place] }),
        (_, false) => (place > 0).then(|| Flow { from: ranks[place - 1], to: ranks[place] }),
    };
    (0..count).step_by(2).filter_map(flow).collect()
}

/// Seconds of all messages of one flow, at each of its ends; none elsewhere.
fn look(comm: &dyn Comm, flow: Flow, size: usize, travel: f64) -> Result<Option<f64>, CommError> {
    let clock = comm.clock();
    if comm.rank() == flow.from {
        let data = vec![1u8; size];
        let (mut queue, mut done) = (comm.queue(), Vec::new());
        let begun = clock.now();
        let mut pending = 0;
        for slot in 0..MESSAGES {
            // SAFETY: the data is borrowed, and so unchanged, until the queue is empty.
            let progress =
                unsafe { queue.send(slot as Slot, flow.to, DATA, data.as_ptr(), data.len()) }?;
            pending += usize::from(progress != Progress::Done);
        }
        while done.len() < pending {
            queue.wait(&mut done)?;
        }
        let time = clock.now() - begun;
        comm.send(flow.to, WORD, &[])?;
        // The receiver is through.
        comm.recv(Some(flow.to), Some(WORD), &mut [])?;
        return Ok(Some(time));
    }
    if comm.rank() != flow.to {
        return Ok(None);
    }
    let mut room = vec![0u8; size];
    comm.recv(Some(flow.from), Some(WORD), &mut [])?;
    clock.sleep_until(clock.now() + travel);
    let begun = clock.now();
    for _ in 0..MESSAGES {
        comm.recv(Some(flow.from), Some(DATA), &mut room)?;
    }
    let time = clock.now() - begun;
    comm.send(flow.from, WORD, &[])?;
    Ok(Some(time))
}
