//! How long a message may be to leave before its receiver asks for it.

use laneway_core::{Comm, CommError, Progress};

use super::flows::Flow;
use crate::talk::{DATA, WORD, announce_from};

/// Powers of two that are tried.
const POWERS: std::ops::RangeInclusive<u32> = 3..=22;
/// The longest of them: where it leaves at once, so does whatever tells a rate.
pub const LONGEST_TRIED: usize = 1 << *POWERS.end();
/// Steps between two powers.
const STEPS: u32 = 3;
/// So many looks at a send before it counts as one that waits.
const LOOKS: u32 = 20;

/// Collective: the longest message, as far as was tried, whose send is over while the receiver has
/// not asked for it; on every rank. A send may take `patience(bytes)` seconds.
pub fn eager_bytes(
    comm: &dyn Comm,
    flow: Flow,
    patience: &dyn Fn(usize) -> f64,
) -> Result<usize, CommError> {
    let mut room = Vec::new();
    let mut leaves = |bytes: usize| -> Result<bool, CommError> {
        room.resize(bytes, 1);
        let mut word = [0.0];
        if comm.rank() == flow.from {
            word[0] = f64::from(u8::from(send(comm, flow, &room, patience(bytes))?));
        } else if comm.rank() == flow.to {
            comm.recv(Some(flow.from), Some(WORD), &mut [])?;
            comm.recv(Some(flow.from), Some(DATA), &mut room)?;
        }
        announce_from(comm, flow.from, &mut word)?;
        Ok(word[0] == 1.0)
    };
    // The powers below `first` leave at once, those from `end` on wait.
    let (mut first, mut end) = (*POWERS.start(), *POWERS.end() + 1);
    while first < end {
        let middle = (first + end) / 2;
        match leaves(1 << middle)? {
            true => first = middle + 1,
            false => end = middle,
        }
    }
    if first == *POWERS.start() {
        return Ok(0);
    }
    let mut longest = 1 << (first - 1);
    if first <= *POWERS.end() {
        let mut step = longest / 2;
        for _ in 0..STEPS {
            if leaves(longest + step)? {
                longest += step;
            }
            step /= 2;
        }
    }
    Ok(longest)
}

/// Whether a send is over before the receiver is told to receive.
fn send(comm: &dyn Comm, flow: Flow, data: &[u8], patience: f64) -> Result<bool, CommError> {
    let mut queue = comm.queue();
    // SAFETY: the data is borrowed, and so unchanged, until this function returns.
    let progress = unsafe { queue.send(0, flow.to, DATA, data.as_ptr(), data.len()) }?;
    let mut done = Vec::new();
    let mut over = progress == Progress::Done;
    for _ in 0..LOOKS {
        if over {
            break;
        }
        let clock = comm.clock();
        clock.sleep_until(clock.now() + patience / f64::from(LOOKS));
        queue.test(&mut done)?;
        over = !done.is_empty();
    }
    comm.send(flow.to, WORD, &[])?;
    while !over && done.is_empty() {
        queue.wait(&mut done)?;
    }
    Ok(over)
}
