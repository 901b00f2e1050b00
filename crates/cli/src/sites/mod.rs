//! `laneway sites`: collectives over several sites, chosen by simulation and held to their bound.

mod choose;
mod lanes;
mod measure;
mod measured;

use clap::{Arg, ArgMatches, Command, value_parser};
use laneway_core::{Collective, Exit, Failure};
use laneway_sim::network::Network;
use laneway_sim::platform::Platform;
use laneway_sites::{ChoiceError, Sites};

use crate::output::{self, Output};
use crate::words;

pub fn command() -> Command {
    Command::new("sites")
        .about("Chooses the fastest algorithm over several sites, and tells what nothing can beat")
        .after_help(
            "Every algorithm is simulated on the platform, the promising ones with many settings; \
             `bound_us` is what no scatter or gather can beat (max-flow, latency). With \
             --lanes, the multi-lane paper's algorithm for each number of lanes, beside its cost \
             model.\n\n\
             Examples:\n  \
             laneway sites --platform two-sites:32x32 --op scatter,gather --sizes 16K,256K,4M\n  \
             laneway sites --platform two-sites:16x16 --op bcast,allreduce --sizes 1M --all\n  \
             laneway sites --platform sites:32,16,8,uplink=10Gbit --sizes 1M --root 40 --all\n  \
             laneway sites --platform two-sites:32x32 --sizes 4M --lanes 1:32\n  \
             mpirun -n 16 laneway sites measure -o found.toml    then --platform found.toml",
        )
        .arg(
            Arg::new("platform")
                .long("platform")
                .value_name("P")
                .default_value("two-sites:32x32")
                .help("A TOML file, or a generator: two-sites:8x8, sites:32,16,8, …"),
        )
        .arg(
            Arg::new("op")
                .long("op")
                .value_name("OP,OP")
                .value_delimiter(',')
                .default_value("scatter")
                .help("The operations"),
        )
        .arg(
            Arg::new("sizes")
                .long("sizes")
                .value_name("S,T")
                .value_delimiter(',')
                .default_value("1K,16K,256K,4M")
                .help("Bytes of a rank's block, or of the vector"),
        )
        .arg(
            Arg::new("root")
                .long("root")
                .value_name("R")
                .value_parser(value_parser!(u32))
                .default_value("0"),
        )
        .arg(
            Arg::new("lanes")
                .long("lanes")
                .value_name("A:B")
                .conflicts_with("all")
                .help("A row for each number of lanes of the multi-lane paper's algorithm"),
        )
        .arg(
            Arg::new("all")
                .long("all")
                .action(clap::ArgAction::SetTrue)
                .help("A row for each algorithm, with the best setting that was found"),
        )
        .args(output::args())
        .args_conflicts_with_subcommands(true)
        .subcommand(measure::command())
}

/// What the command line asked for, checked.
struct Plan {
    platform: Platform,
    operations: Vec<Collective>,
    sizes: Vec<u64>,
    root: u32,
}

impl Plan {
    fn from(matches: &ArgMatches) -> Result<Plan, Failure> {
        let texts = |name: &str| matches.get_many::<String>(name).unwrap_or_default();
        let spec = matches.get_one::<String>("platform").map_or("", String::as_str);
        let platform = Platform::read(spec).map_err(|error| error.into_failure())?;
        let operations = texts("op")
            .map(|name| words::collective("sites --op", name))
            .collect::<Result<_, _>>()?;
        let sizes = texts("sizes").map(|text| words::size(text)).collect::<Result<_, _>>()?;
        let root = matches.get_one::<u32>("root").copied().unwrap_or(0);
        let hosts = platform.hosts();
        if root >= hosts {
            let cause = format!("the ranks are 0 to {}", hosts - 1);
            return Err(Failure::usage(format!("no root {root}"), cause, "--root 0"));
        }
        if Sites::one_each(&platform).placement().sites() < 2 {
            let cause = format!("all hosts of {spec} are at one site");
            let what = "nothing lies between sites here";
            return Err(Failure::usage(what, cause, "--platform two-sites:32x32, or laneway sim"));
        }
        Ok(Plan { platform, operations, sizes, root })
    }
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    if let Some(("measure", matches)) = matches.subcommand() {
        return measure::run(matches);
    }
    let output = Output::from(matches)?;
    let plan = Plan::from(matches)?;
    let document = match matches.get_one::<String>("lanes") {
        Some(range) => lanes::document(&plan, range)?,
        None => choose::document(&plan, matches.get_flag("all"))?,
    };
    output.write(&document, None)?;
    Ok(Exit::Done)
}

fn failure(error: ChoiceError) -> Failure {
    let what = "no schedule can be chosen";
    Failure::usage(what, error.to_string(), "laneway sim, which tells what each algorithm does")
}
