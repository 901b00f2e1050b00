//! Point-to-two, which models of heterogeneous clusters need: one rank sends M to each of two
//! others and has an empty answer of both. Nothing but a closure over disjoint triples.

use laneway_core::CommError;

use super::DATA;
use super::disjoint::{Estimate, Lab, Members};
use super::plan::Plan;

/// One repetition: seconds at the leader, from its first send to the second answer.
pub fn point_to_two_once(members: &Members, message: &mut [u8]) -> Result<f64, CommError> {
    let (comm, begun) = (members.comm, members.now());
    if members.leads() {
        for &other in &members.ranks[1..] {
            comm.send(other, DATA, message)?;
        }
        for &other in &members.ranks[1..] {
            comm.recv(Some(other), Some(DATA), &mut [])?;
        }
    } else {
        comm.recv(Some(members.ranks[0]), Some(DATA), message)?;
        comm.send(members.ranks[0], DATA, &[])?;
    }
    Ok(members.now() - begun)
}

/// Collective: what each triple of the plan takes, on rank 0; [`Plan::triples`] has all of them.
pub fn point_to_two(
    lab: &Lab,
    plan: &Plan,
    bytes: usize,
) -> Result<Option<Vec<Estimate>>, CommError> {
    if plan.subsets().any(|subset| subset.len() != 3) {
        let what = "point-to-two is an experiment of three ranks".to_string();
        return Err(CommError::Argument { what });
    }
    let mut message = vec![1; bytes];
    lab.run(plan, |members| point_to_two_once(members, &mut message))
}
