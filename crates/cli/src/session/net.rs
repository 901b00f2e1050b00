//! `--backend net`: ranks over connections that migrate, on this host or on those that the command
//! line, a file or Slurm names.

use clap::builder::FalseyValueParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use laneway_backend::{HostSource, Network};
use laneway_connections::{PathKind, Security};
use laneway_net::{MOST_CONNECTIONS, Starter};

use crate::advice;
use crate::failure::Failure;

const HEADING: &str = "Ranks over the network (--backend net)";

/// The arguments that only this backend has.
pub fn args() -> Vec<Arg> {
    let connections = 1..=MOST_CONNECTIONS as u64;
    vec![
        Arg::new("hosts").long("hosts").env("LANEWAY_HOSTS").value_name("A,B:4").help(
            "Hosts of the ranks, and how many each takes [default: Slurm's allocation, else this \
             host]",
        ),
        Arg::new("hostfile")
            .long("hostfile")
            .env("LANEWAY_HOSTFILE")
            .value_name("FILE")
            .help("The same from a file: a line `node1 slots=4` for each host"),
        Arg::new("paths").long("paths").env("LANEWAY_PATHS").value_name("DEV,DEV").help(
            "Devices that are paths, the same on every host, eth0/2 a second path through one; as \
             --backend net:DEV,DEV [default: all that can be]",
        ),
        Arg::new("starter")
            .long("starter")
            .env("LANEWAY_STARTER")
            .value_name("S")
            .value_parser(Starter::NAMES)
            .default_value("ssh")
            .help("What starts ranks on other hosts; LANEWAY_SSH names another ssh"),
        Arg::new("connections")
            .long("connections")
            .env("LANEWAY_CONNECTIONS")
            .value_name("N")
            .value_parser(value_parser!(u64).range(connections))
            .default_value("1")
            .help(
                "Connections of each pair of ranks; messages go over them in turn. \
                 LANEWAY_SECURITY says how they are protected: encrypt, authenticate (default) or \
                 trust; LANEWAY_PATH_KIND what carries their data: datagram (default) or stream",
            ),
        Arg::new("spread")
            .long("spread")
            .env("LANEWAY_SPREAD")
            .action(ArgAction::SetTrue)
            .value_parser(FalseyValueParser::new())
            .help("Lets a pair's connections begin with different paths, so that all carry load"),
    ]
    .into_iter()
    .map(|arg| arg.help_heading(HEADING))
    .collect()
}

/// Refuses what only this backend has, where another one was chosen.
pub fn refuse_args(matches: &ArgMatches) -> Result<(), Failure> {
    let typed = |name: &&str| matches.value_source(name) == Some(ValueSource::CommandLine);
    let names = ["hosts", "hostfile", "paths", "starter", "connections", "spread"];
    match names.iter().find(|name| typed(name)) {
        None => Ok(()),
        Some(name) => Err(Failure::usage(
            format!("--{name} is for ranks over the network"),
            "the other backends find their ranks by themselves",
            match *name {
                "spread" => "--backend net --connections 2 --spread".into(),
                name => format!("--backend net --{name} …"),
            },
        )),
    }
}

/// Where the hosts are named: what was typed comes before what the environment says.
fn hosts(matches: &ArgMatches) -> Result<HostSource, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let typed = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    let list = text("hosts").map(HostSource::List);
    let file = text("hostfile").map(|file| HostSource::File(file.into()));
    if typed("hosts") && typed("hostfile") {
        let what = "--hosts and --hostfile name two lists of hosts";
        return Err(Failure::usage(what, "one of the two names them", "--hosts node1,node2:4"));
    }
    let named = if typed("hostfile") { file } else { list.or(file) };
    Ok(named.unwrap_or_else(HostSource::surrounding))
}

/// What the command line chose; `detail` is what follows `net:`.
pub fn network(matches: &ArgMatches, detail: Option<&str>) -> Result<Network, Failure> {
    let paths = matches.get_one::<String>("paths").map(String::as_str);
    let typed = matches.value_source("paths") == Some(ValueSource::CommandLine);
    if let (true, Some(detail), Some(paths)) = (typed, detail, paths) {
        let what = format!("paths are {detail} by --backend, and {paths} by --paths");
        return Err(Failure::usage(what, "one of the two names them", "--backend net"));
    }
    // Ranks read it: a word that is not one is refused before they start.
    Security::from_env().map_err(advice::path::failure)?;
    PathKind::from_env().map_err(advice::path::failure)?;
    let devices = detail.or(paths).map(|text| text.split(',').map(str::to_string).collect());
    let starter = matches.get_one::<String>("starter").and_then(|word| word.parse().ok());
    let mut network = Network::default();
    network.hosts = hosts(matches)?;
    network.devices = devices.unwrap_or_default();
    network.starter = starter.unwrap_or_default();
    network.connections = matches.get_one::<u64>("connections").map_or(1, |count| *count as usize);
    network.spread = matches.get_flag("spread");
    Ok(network)
}
