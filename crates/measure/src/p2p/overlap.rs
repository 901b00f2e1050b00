//! How much of a communication computing can hide: post, work, wait.

use std::hint::black_box;

use laneway_core::{Clock, CommError};

use super::DATA;
use super::disjoint::Members;
use super::transfers::together;

/// One repetition: a round trip alone, then one with as much computing between its start and its
/// wait. 1 where all of it was hidden, 0 where the two took as long as one after the other. The
/// other rank does nothing but answer.
pub fn overlap(members: &Members, out: &mut [u8], into: &mut [u8]) -> Result<f64, CommError> {
    let other = members.partner()?;
    if !members.leads() {
        for _ in 0..2 {
            members.comm.recv(Some(other), Some(DATA), into)?;
            members.comm.send(other, DATA, out)?;
        }
        return Ok(0.0);
    }
    let begun = members.now();
    together(members.comm, &[(other, out)], &mut [(other, into)], || ())?;
    let alone = members.now() - begun;
    let mut computed = 0.0;
    let begun = members.now();
    together(members.comm, &[(other, out)], &mut [(other, into)], || {
        let begun = members.now();
        compute(members.comm.clock(), begun + alone);
        computed = members.now() - begun;
    })?;
    let both = members.now() - begun;
    let hideable = f64::min(alone, computed);
    Ok(if hideable > 0.0 { (alone + computed - both) / hideable } else { 0.0 })
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
