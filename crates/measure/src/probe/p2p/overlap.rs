//! How much of a communication computing can hide: post, work, wait.

use std::hint::black_box;

use laneway_core::{Clock, CommError};

use super::DATA;
use super::disjoint::Members;
use super::transfers::Transfers;
use crate::cache::Buffers;

/// One repetition: a round trip alone, then one with as much computing between its start and its
/// wait. 1 where all of it was hidden, 0 where the two took as long as one after the other; not a
/// number where the clock saw nothing that could be hidden. The other rank only answers.
pub fn overlap(members: &Members, buffers: &mut Buffers) -> Result<f64, CommError> {
    let (comm, other) = (members.comm, members.partner()?);
    if !members.leads() {
        for _ in 0..2 {
            let (out, into) = buffers.advance();
            comm.recv(Some(other), Some(DATA), into)?;
            comm.send(other, DATA, out)?;
        }
        return Ok(0.0);
    }
    let mut trip = |meanwhile: &mut dyn FnMut()| {
        let (out, into) = buffers.advance();
        let size = out.len();
        let transfers =
            Transfers::default().sending(other, out, size, 1).receiving(other, into, size, 1);
        let begun = members.now();
        transfers.run(comm, meanwhile)?;
        Ok(members.now() - begun)
    };
    let alone = trip(&mut || ())?;
    let mut computed = 0.0;
    let both = trip(&mut || {
        let begun = members.now();
        compute(comm.clock(), begun + alone);
        computed = members.now() - begun;
    })?;
    let hideable = f64::min(alone, computed);
    Ok(if hideable > 0.0 { (alone + computed - both) / hideable } else { f64::NAN })
}

/// Keeps the processor busy until an instant. On a virtual clock computing takes no time, so there
/// it is a sleep.
fn compute(clock: &dyn Clock, until: f64) {
    if clock.is_virtual() {
        return clock.sleep_until(until);
    }
    let mut state = 1.0f64;
    while clock.now() < until {
        for _ in 0..20 {
            state = black_box(state * 1.000_000_1 + 1e-9);
        }
    }
}
