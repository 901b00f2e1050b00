//! One repetition of what [`LogP`](super::LogP) is made of: overheads and gap, as it says there.

use laneway_core::CommError;

use super::DATA;
use super::disjoint::Members;
use crate::cache::Buffers;

/// Messages in the shorter train.
pub(super) const TRAIN: u32 = 16;

pub(super) fn send_overhead(members: &Members, buffers: &mut Buffers) -> Result<f64, CommError> {
    let (comm, other) = (members.comm, members.partner()?);
    let (message, _) = buffers.advance();
    if !members.leads() {
        comm.recv(Some(other), Some(DATA), message)?;
        comm.send(other, DATA, &[])?;
        return Ok(0.0);
    }
    let begun = members.now();
    comm.send(other, DATA, message)?;
    let kept = members.now() - begun;
    comm.recv(Some(other), Some(DATA), &mut [])?;
    Ok(kept)
}

pub(super) fn receive_overhead(members: &Members, buffers: &mut Buffers) -> Result<f64, CommError> {
    let (comm, other) = (members.comm, members.partner()?);
    if !members.leads() {
        for _ in 0..2 {
            let (message, _) = buffers.advance();
            comm.recv(Some(other), Some(DATA), &mut [])?;
            comm.send(other, DATA, message)?;
        }
        return Ok(0.0);
    }
    let (message, _) = buffers.advance();
    let begun = members.now();
    comm.send(other, DATA, &[])?;
    comm.recv(Some(other), Some(DATA), message)?;
    let round_trip = members.now() - begun;
    let (message, _) = buffers.advance();
    comm.send(other, DATA, &[])?;
    comm.clock().sleep_until(members.now() + 2.0 * round_trip);
    let begun = members.now();
    comm.recv(Some(other), Some(DATA), message)?;
    Ok(members.now() - begun)
}

pub(super) fn gap(members: &Members, buffers: &mut Buffers) -> Result<f64, CommError> {
    let short = train(members, buffers, TRAIN)?;
    let long = train(members, buffers, 2 * TRAIN)?;
    Ok((long - short) / f64::from(TRAIN))
}

/// Messages one behind the other, and one answer.
fn train(members: &Members, buffers: &mut Buffers, count: u32) -> Result<f64, CommError> {
    let (comm, other) = (members.comm, members.partner()?);
    let begun = members.now();
    for _ in 0..count {
        let (message, _) = buffers.advance();
        if members.leads() {
            comm.send(other, DATA, message)?;
        } else {
            comm.recv(Some(other), Some(DATA), message)?;
        }
    }
    if members.leads() {
        comm.recv(Some(other), Some(DATA), &mut [])?;
    } else {
        comm.send(other, DATA, &[])?;
    }
    Ok(members.now() - begun)
}
