//! How the command learns where the ranks of a run are: see [`laneway_sites::Placed`].

use clap::{Arg, ArgMatches};

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
