//! How long a message may be to leave before its receiver asks for it.

use laneway_core::{Comm, CommError, Progress};

use super::flows::Flow;
use crate::talk::{DATA, WORD, broadcast_from};

/// Powers of two that are tried.
const POWERS: std::ops::RangeInclusive<u32> = 3..=22;
/// The longest of them: where it leaves at once, so does whatever tells a rate.
pub const LONGEST_TRIED: usize = 1 << *POWERS.end();
/// Steps between two powers.
const STEPS: u32 = 3;
/// The number of looks at a send before it counts as one that waits.
const LOOKS: u32 = 20;

/// The number of sends of a size that have to wait before it counts as one that waits.
const TRIES: u32 = 4;
/// A later try has this many seconds more, times 4 for each further one: a process that is kept
/// from running is back by then.
const LONGER_S: f64 = 1e-3;

/// Collective: the longest message, as far as was tried, whose send is over while the receiver has
/// not asked for it; on every rank. A send may take `patience(bytes)` seconds at first.
pub fn eager_bytes(
    comm: &dyn Comm,
    flow: Flow,
    patience: &dyn Fn(usize) -> f64,
) -> Result<usize, CommError> {
    let mut room = Vec::new();
    // In virtual time every process runs when it can.
    let tries = if comm.clock().is_virtual() { 1 } else { TRIES };
    longest(tries, &mut |bytes, attempt| {
        room.resize(bytes, 1);
        let mut word = [0.0];
        if comm.rank() == flow.from {
            let more = if attempt == 0 { 0.0 } else { LONGER_S };
            let patience = (patience(bytes) + more) * f64::from(4u32.pow(attempt));
            word[0] = f64::from(u8::from(send(comm, flow, &room, patience)?));
        } else if comm.rank() == flow.to {
            comm.recv(Some(flow.from), Some(WORD), &mut [])?;
            comm.recv(Some(flow.from), Some(DATA), &mut room)?;
        }
        broadcast_from(comm, flow.from, &mut word)?;
        Ok(word[0] == 1.0)
    })
}

/// The longest size that leaves at once, by a search over powers of two and then between two of
/// them. `leaves(bytes, attempt)` tries a size once. A send that is over proves that its size
/// leaves at once; one that waits may have been kept by something else, so a size counts as waiting
/// only if every one of its tries waits, each with more patience than the one before.
fn longest(
    tries: u32,
    leaves: &mut dyn FnMut(usize, u32) -> Result<bool, CommError>,
) -> Result<usize, CommError> {
    let mut leaves = |bytes: usize| -> Result<bool, CommError> {
        for attempt in 0..tries {
            if leaves(bytes, attempt)? {
                return Ok(true);
            }
        }
        Ok(false)
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

/// Whether a send is over before the receiver is asked to receive.
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

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_stats::SplitMix64;

    /// Of sends that leave at once every third is kept from it for a while, as on a busy machine.
    #[test]
    fn a_send_that_something_else_keeps_does_not_move_the_limit() {
        let mut draws = SplitMix64::new(1);
        for limit in [100, 480, 3840, 65_536, LONGEST_TRIED] {
            let mut wrong = 0;
            for _ in 0..100 {
                let found = longest(TRIES, &mut |bytes, attempt| {
                    // With more patience fewer of them are still kept.
                    let kept = draws.uniform() < 0.3 / f64::from(4u32.pow(attempt));
                    Ok(bytes <= limit && !kept)
                });
                let found = found.expect("no rank fails");
                assert!(found <= limit, "{found} waits");
                wrong += u32::from(found < limit * 7 / 8);
            }
            assert!(wrong <= 1, "{limit}: {wrong} of 100 searches ended too low");
        }
        assert_eq!(longest(TRIES, &mut |_, _| Ok(false)).expect("no rank fails"), 0);
    }
}
