//! `--backend net`: ranks over connections that migrate, on this host or on those that the command
//! line, a file or Slurm names.

use std::path::Path;

use clap::builder::FalseyValueParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use laneway_core::{Exit, Failure};
use laneway_ranks::{
    Host, Launch, MOST_CONNECTIONS, MOST_RANKS, RanksError, Starter, parse_hosts, read_hostfile,
};
use laneway_topo::node_list;

use crate::output;

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
            .help("Connections of each pair of ranks; messages go over them in turn"),
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

/// Where the hosts are named.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    List(String),
    File(String),
    /// Slurm's list of nodes, and the tasks of each.
    Slurm {
        nodes: String,
        tasks: String,
    },
    Nobody,
}

impl Source {
    /// What was typed comes before what the environment says.
    fn of(matches: &ArgMatches) -> Source {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let typed = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
        let list = text("hosts").map(Source::List);
        let file = text("hostfile").map(Source::File);
        let named = if typed("hostfile") && !typed("hosts") { file } else { list.or(file) };
        let variable = |name: &str| std::env::var(name).ok();
        let slurm = || {
            let nodes = variable("SLURM_JOB_NODELIST")?;
            let tasks = variable("SLURM_TASKS_PER_NODE").unwrap_or_default();
            Some(Source::Slurm { nodes, tasks })
        };
        named.or_else(slurm).unwrap_or(Source::Nobody)
    }

    fn hosts(&self) -> Result<Vec<Host>, Failure> {
        let hosts = match self {
            Source::Nobody => Ok(Vec::new()),
            Source::List(text) => parse_hosts(text),
            Source::File(file) => read_hostfile(Path::new(file)),
            Source::Slurm { nodes, tasks } => {
                of_slurm(nodes, tasks).map_err(|why| RanksError::Hosts { text: nodes.clone(), why })
            }
        };
        hosts.map_err(RanksError::into_failure)
    }
}

/// The nodes of an allocation: `node[1-3]` with the tasks `2(x2),1`.
fn of_slurm(nodes: &str, tasks: &str) -> Result<Vec<Host>, String> {
    let names = node_list::expand(nodes, MOST_RANKS as usize).map_err(|error| error.to_string())?;
    let mut slots = Vec::new();
    for part in tasks.split(',').filter(|part| !part.is_empty()) {
        let (count, times) = match part.split_once("(x") {
            Some((count, times)) => (count, times.trim_end_matches(')')),
            None => (part, "1"),
        };
        let number = |text: &str| {
            let number = text.parse::<u32>().ok().filter(|number| *number <= MOST_RANKS);
            number.ok_or_else(|| format!("SLURM_TASKS_PER_NODE is {tasks:?}"))
        };
        let (count, times) = (number(count)?, number(times)?);
        slots.extend(std::iter::repeat_n(count, times as usize));
    }
    let slots = slots.into_iter().chain(std::iter::repeat(1));
    names.iter().zip(slots).map(|(name, slots)| Host::new(name, slots)).collect()
}

/// What the command line chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Net {
    source: Source,
    devices: Vec<String>,
    starter: Starter,
    connections: usize,
    spread: bool,
}

impl Net {
    /// `detail` is what follows `net:`.
    pub fn from(matches: &ArgMatches, detail: Option<&str>) -> Result<Net, Failure> {
        let paths = matches.get_one::<String>("paths").map(String::as_str);
        let typed = matches.value_source("paths") == Some(ValueSource::CommandLine);
        if let (true, Some(detail), Some(paths)) = (typed, detail, paths) {
            let what = format!("paths are {detail} by --backend, and {paths} by --paths");
            return Err(Failure::usage(what, "one of the two names them", "--backend net"));
        }
        let devices = detail.or(paths).map(|text| text.split(',').map(str::to_string).collect());
        let starter = matches.get_one::<String>("starter").and_then(|word| word.parse().ok());
        let connections = matches.get_one::<u64>("connections").map_or(1, |count| *count as usize);
        Ok(Net {
            source: Source::of(matches),
            devices: devices.unwrap_or_default(),
            starter: starter.unwrap_or_default(),
            connections,
            spread: matches.get_flag("spread"),
        })
    }

    /// Starts the ranks and waits for them: as many as asked for, as the hosts take, or as is usual
    /// on this host.
    pub fn launch(&self, ranks: Option<u32>, usual: impl FnOnce() -> u32) -> Result<i32, Failure> {
        output::ensure_open()?;
        let hosts = self.source.hosts()?;
        let slots = hosts.iter().fold(0u32, |sum, host| sum.saturating_add(host.slots));
        let ranks = match ranks {
            Some(ranks) => ranks,
            None if hosts.is_empty() => usual(),
            None => slots,
        };
        let limit = laneway_local::wait_limit().map_err(|error| error.into_failure())?;
        let (devices, starter) = (self.devices.clone(), self.starter);
        let (connections, spread) = (self.connections, self.spread);
        let launch = Launch { ranks, hosts, devices, starter, connections, spread, limit };
        launch.run().map_err(RanksError::into_failure)
    }
}

/// A rank that Slurm, or an MPI, has started cannot start others.
pub fn refuse_launched() -> Result<(), Failure> {
    match laneway_mpi::launched() {
        None => Ok(()),
        Some(_) => {
            let cause = "a launcher started several processes, and each would start all ranks";
            let again = "the same command without the launcher";
            Err(Failure::new(Exit::Usage, "one launcher is enough", cause, again))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allocation_of_slurm_is_a_list_of_hosts() {
        let shown = |nodes, tasks| {
            let hosts = of_slurm(nodes, tasks).expect("an allocation");
            let words: Vec<String> =
                hosts.iter().map(|host| format!("{}:{}", host.name, host.slots)).collect();
            words.join(" ")
        };
        assert_eq!(shown("n[1-3],login", "2(x2),4"), "n1:2 n2:2 n3:4 login:1");
        assert_eq!(shown("n7", ""), "n7:1");
        for (nodes, tasks) in [("n[1-", "1"), ("n[1-2]", "x"), ("n1", "0"), ("n1", "99999999")] {
            assert!(of_slurm(nodes, tasks).is_err(), "{nodes} {tasks}");
        }
    }
}
