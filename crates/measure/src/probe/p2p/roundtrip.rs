//! Round trips between all pairs of ranks, as in the MPIBlib paper: M1 out and M2 back.

use laneway_core::{CommError, Rank};

use super::DATA;
use super::disjoint::{Lab, Members};
use super::plan::Plan;

/// paper: mpiblib 3: three arrays with a value for each pair i < j, by i and then j.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RoundTrips {
    /// The lower rank first.
    pub pairs: Vec<(Rank, Rank)>,
    /// Seconds there and back.
    pub estimates: Vec<f64>,
    /// Repetitions of each.
    pub reps: Vec<u32>,
    /// `None` if there are too few repetitions.
    pub errors: Vec<Option<f64>>,
}

/// One round trip between two members: `out` there and `back` home; seconds at the
/// leader, and nothing of interest at the other.
pub fn round_trip(members: &Members, out: &mut [u8], back: &mut [u8]) -> Result<f64, CommError> {
    let (comm, other) = (members.comm, members.partner()?);
    let begun = members.now();
    if members.leads() {
        comm.send(other, DATA, out)?;
        comm.recv(Some(other), Some(DATA), back)?;
    } else {
        comm.recv(Some(other), Some(DATA), out)?;
        comm.send(other, DATA, back)?;
    }
    Ok(members.now() - begun)
}

/// Collective: the round trips of all pairs, on rank 0. In parallel those of one round are done at
/// the same time, which is right where a switch keeps them apart; else all others wait.
pub fn round_trips(
    lab: &Lab,
    out_bytes: usize,
    back_bytes: usize,
    parallel: bool,
) -> Result<Option<RoundTrips>, CommError> {
    let plan = Plan::pairs(lab.comm.size());
    let plan = if parallel { plan } else { plan.one_by_one() };
    let (mut out, mut back) = (vec![1; out_bytes], vec![1; back_bytes]);
    let found = lab.run(&plan, |members| round_trip(members, &mut out, &mut back))?;
    Ok(found.map(|estimates| {
        let mut rows: Vec<_> = plan.subsets().zip(estimates).collect();
        rows.sort_by_key(|(pair, _)| *pair);
        let mut all = RoundTrips::default();
        for (pair, estimate) in rows {
            all.pairs.push((pair[0], pair[1]));
            all.estimates.push(estimate.value);
            all.reps.push(estimate.reps);
            all.errors.push(estimate.error);
        }
        all
    }))
}
