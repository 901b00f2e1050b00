//! Advice on simulations of schedules.

use laneway_sim::{RecordError, SimError};
use laneway_sites::NotSimulated;

use crate::failure::Failure;

/// What the screen shows of a run that has no outcome; `what` is what it was for.
pub fn unsimulated_run(what: &str, error: NotSimulated) -> Failure {
    match error {
        NotSimulated::Failed { algorithm, error } => unsimulated(algorithm, error),
        why => Failure::usage(what, why.to_string(), "laneway info algorithms"),
    }
}

/// Why an algorithm cannot be simulated, for a person.
pub fn unsimulated(algorithm: &str, error: SimError) -> Failure {
    let what = format!("{algorithm} cannot be simulated");
    let try_this = match error {
        SimError::Partition { .. } => "`until = \"2s\"` in the [[event]] that takes the link down",
        _ => "report this with the command line",
    };
    Failure::environment(what, error.to_string(), try_this)
}

/// Why nothing is recorded, for a person.
pub fn unrecorded(algorithm: &str, error: RecordError) -> Failure {
    let cause = error.to_string();
    match error {
        RecordError::Sim(error) => unsimulated(algorithm, error),
        RecordError::TooShort { usual, .. } => {
            let try_this = format!("--every {:.0}us", (usual * 1e6).ceil());
            Failure::usage("the intervals are too short", cause, try_this)
        }
        _ => Failure::usage("nothing to record", cause, "--ranks 2 --sizes 64K"),
    }
}
