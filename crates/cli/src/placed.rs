//! How the command learns where the ranks of a run are: see [`laneway_sites::Placed`].

use clap::{Arg, ArgMatches};
use laneway_core::Failure;
use laneway_sites::PlaceError;

use crate::session::RankError;

pub use laneway_sites::Placed;

pub fn arg() -> Arg {
    Arg::new("sites")
        .long("sites")
        .value_name("P")
        .env("LANEWAY_SITES")
        .help("The platform that says where hosts are [default: of --backend sim:P; a lab's own]")
}

/// The platform that was named for the hosts of a run.
pub fn from_args(matches: &ArgMatches) -> Option<String> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let simulated = || text("backend").and_then(|backend| backend.strip_prefix("sim:"));
    text("sites").filter(|name| !name.is_empty()).or_else(simulated).map(str::to_string)
}

/// What a rank ends with where places cannot be found.
pub fn refused(error: PlaceError) -> RankError {
    match error {
        PlaceError::Refused(failure) => RankError::Failure(failure),
        PlaceError::UnknownHost { host, platform } => {
            let what = format!("the site of host `{host}` is unknown");
            let cause = format!("{platform} has no host of that name");
            let try_this = "a platform of `laneway sites measure -o FILE` on these hosts";
            RankError::Failure(Failure::usage(what, cause, try_this))
        }
        PlaceError::Comm(error) => RankError::Comm(error),
        other => {
            let (what, cause) = ("the places of the ranks are unknown", other.to_string());
            RankError::Failure(Failure::environment(what, cause, "another platform"))
        }
    }
}
