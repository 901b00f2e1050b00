//! Advice on sites: where ranks are, and what is measured of them.

use laneway_measure::sites::SitesError;
use laneway_sites::{ChoiceError, LanesError, PlaceError};

use super::platform;
use crate::failure::{Exit, Failure};
use crate::session::RankError;

/// What a rank ends with where places cannot be found.
pub fn place_error(error: PlaceError) -> RankError {
    match error {
        PlaceError::Platform(error) => RankError::Failure(platform("--sites ", &error)),
        PlaceError::Call { why } => {
            let what = "no schedule for this call";
            RankError::Failure(Failure::usage(what, why, "another root or size"))
        }
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

/// What a rank ends with where sites cannot be measured.
pub fn unmeasured(error: SitesError) -> RankError {
    let cause = error.to_string();
    match error {
        SitesError::Comm(error) => error.into(),
        SitesError::OneSite { .. } => {
            let try_this = "hosts of several sites, or --sites FILE.toml with their sites";
            Failure::usage("all hosts are at one site", cause, try_this).into()
        }
        SitesError::Torn { .. } => {
            let what = "latencies do not show which hosts are a site";
            let try_this = "--sites FILE.toml with the sites, or --anyway for likely ones";
            Failure::new(Exit::Precision, what, cause, try_this).into()
        }
        SitesError::TooShort { least, .. } => {
            let try_this = format!("--message {least}, or without");
            Failure::usage("the message is too short", cause, try_this).into()
        }
        _ => {
            let try_this = "laneway sites measure --help";
            Failure::environment("the sites cannot be measured", cause, try_this).into()
        }
    }
}

/// Why lanes are not possible, for a person.
pub fn no_lanes(error: LanesError, range: &str) -> Failure {
    let cause = error.to_string();
    match error {
        LanesError::NotTwoSites(_) => {
            let try_this = "--platform two-sites:32x32, or without --lanes";
            Failure::usage("lanes need a platform of two sites", cause, try_this)
        }
        LanesError::Range { most } => {
            let cause = format!("the smaller site has {most} hosts, and a lane takes one of each");
            Failure::usage(
                format!("{range} lanes are not possible"),
                cause,
                format!("--lanes 1:{most}"),
            )
        }
        LanesError::Operation(_) => {
            let try_this = format!("laneway sites scatter,gather --lanes {range}");
            Failure::usage("only scatter and gather have lanes", cause, try_this)
        }
        LanesError::Choice(error) => no_choice(error),
        _ => Failure::usage(
            "the cost model does not cover this platform",
            cause,
            "--platform two-sites:32x32",
        ),
    }
}

/// Why no schedule is chosen, for a person.
pub fn no_choice(error: ChoiceError) -> Failure {
    let what = "no schedule can be chosen";
    Failure::usage(what, error.to_string(), "laneway sim OP, to simulate each algorithm")
}
