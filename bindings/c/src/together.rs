//! Ranks agree: what one of them refuses all refuse, so that none is left waiting for it.

use laneway_core::{Comm, CommError};
use laneway_measure::talk::{broadcast, gather};

use crate::failure::{Exit, Failure};

/// A communicator that could not go on.
pub fn broken(error: CommError) -> Failure {
    Failure::environment(
        "the ranks cannot communicate",
        error.to_string(),
        "a small MPI program of your own under the same launcher",
    )
}

/// What MPI itself refused, or failed in.
pub fn mpi_failed(error: CommError) -> Failure {
    let try_this = "the arguments that the MPI function of that name takes";
    match error {
        CommError::Argument { what } => Failure::usage("an invalid handle", what, try_this),
        error => Failure::environment("MPI failed in this call", error.to_string(), try_this),
    }
}

/// Collective: `own` where every rank has one and all have the same `mark`; else a failure on
/// every rank, its own where it has one.
pub fn agree<T>(comm: &dyn Comm, own: Result<T, Failure>, mark: u64) -> Result<T, Failure> {
    let exit = own.as_ref().err().map_or(Exit::Done, |failure| failure.exit);
    // A double holds half of a mark exactly.
    let words = [f64::from(exit as u8), (mark >> 32) as f64, (mark & 0xffff_ffff) as f64];
    let all = gather(comm, &words).map_err(broken)?;
    // Rank 0 alone has these, and tells the first that it finds.
    let failed = all.chunks(3).position(|other| other[0] != 0.0);
    let differs = all.chunks(3).position(|other| other[1..] != words[1..]);
    let mut verdict = match (failed, differs) {
        (Some(rank), _) => [all[3 * rank], rank as f64],
        (None, Some(rank)) => [DIFFERS, rank as f64],
        (None, None) => [0.0; 2],
    };
    broadcast(comm, &mut verdict).map_err(broken)?;
    let (own, [code, rank]) = (own?, verdict);
    if code == 0.0 {
        return Ok(own);
    }
    if code == DIFFERS {
        let what = "the arguments differ between ranks";
        let cause = format!("the arguments of rank {rank} are not those of rank 0");
        return Err(Failure::usage(what, cause, "the same arguments on every rank"));
    }
    let exits = [Exit::Gate, Exit::Usage, Exit::Environment, Exit::Precision];
    let exit = exits.into_iter().find(|&exit| f64::from(exit as u8) == code);
    Err(Failure::new(
        exit.unwrap_or(Exit::Environment),
        format!("rank {rank} could not continue"),
        "what failed there ends the call on every rank",
        format!("laneway_last_error() of rank {rank}"),
    ))
}

/// No exit code.
const DIFFERS: f64 = -1.0;

/// A mark of some words, in which each counts (FNV-1a).
pub fn mark_of(words: impl IntoIterator<Item = u64>) -> u64 {
    let bytes = words.into_iter().flat_map(u64::to_le_bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |mark, byte| {
        (mark ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_distinguish_arguments() {
        assert_eq!(mark_of([1, 2]), mark_of([1, 2]));
        assert_ne!(mark_of([1, 2]), mark_of([2, 1]));
        assert_ne!(mark_of([0]), mark_of([0, 0]));
    }
}
