//! Ranks over connections that migrate: on this host, or on those that a list, a file or Slurm
//! names.

use std::path::{Path, PathBuf};

use laneway_core::node_list;
use laneway_net::{Host, Launch, MOST_RANKS, RanksError, Starter, parse_hosts, read_hostfile};

use crate::error::{Alone, BackendError};

/// Where the hosts of ranks are named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HostSource {
    /// `node1,node2:4`: each with how many ranks it takes.
    List(String),
    /// A file with a line `node1 slots=4` for each.
    File(PathBuf),
    /// Slurm's list of nodes, and the tasks of each.
    Slurm {
        /// `node[1-3]`.
        nodes: String,
        /// `2(x2),1`.
        tasks: String,
    },
    /// All ranks are on this host.
    #[default]
    Here,
}

impl HostSource {
    /// The allocation of Slurm that this process runs in, or else this host.
    pub fn surrounding() -> HostSource {
        let variable = |name: &str| std::env::var(name).ok();
        match variable("SLURM_JOB_NODELIST") {
            Some(nodes) => {
                let tasks = variable("SLURM_TASKS_PER_NODE").unwrap_or_default();
                HostSource::Slurm { nodes, tasks }
            }
            None => HostSource::Here,
        }
    }

    fn hosts(&self) -> Result<Vec<Host>, RanksError> {
        match self {
            HostSource::Here => Ok(Vec::new()),
            HostSource::List(text) => parse_hosts(text),
            HostSource::File(file) => read_hostfile(Path::new(file)),
            HostSource::Slurm { nodes, tasks } => {
                of_slurm(nodes, tasks).map_err(|why| RanksError::Hosts { text: nodes.clone(), why })
            }
        }
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

/// How ranks are started and connected over the network.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Network {
    /// Where the hosts are named.
    pub hosts: HostSource,
    /// Devices that are paths, the same on every host; none for all that can be.
    pub devices: Vec<String>,
    /// What starts ranks on other hosts.
    pub starter: Starter,
    /// Connections of each pair of ranks; messages go over them in turn.
    pub connections: usize,
    /// Whether a pair's connections begin with different paths.
    pub spread: bool,
}

impl Default for Network {
    fn default() -> Network {
        Network {
            hosts: HostSource::surrounding(),
            devices: Vec::new(),
            starter: Starter::default(),
            connections: 1,
            spread: false,
        }
    }
}

impl Network {
    /// Starts the ranks and waits for them: as many as asked for, as the hosts take, or as is usual
    /// on this host.
    pub(crate) fn launch(
        &self,
        ranks: Option<u32>,
        usual: impl FnOnce() -> u32,
    ) -> Result<i32, BackendError> {
        refuse_srun_alone(self.starter)?;
        let hosts = self.hosts.hosts()?;
        let slots = hosts.iter().fold(0u32, |sum, host| sum.saturating_add(host.slots));
        let ranks = match ranks {
            Some(ranks) => ranks,
            None if hosts.is_empty() => usual(),
            None => slots,
        };
        let limit = laneway_local::wait_limit()?;
        let (devices, starter) = (self.devices.clone(), self.starter);
        let (connections, spread) = (self.connections, self.spread);
        let launch = Launch { ranks, hosts, devices, starter, connections, spread, limit };
        Ok(launch.run()?)
    }
}

/// Outside an allocation srun would ask for one of its own for each rank, or wait for it.
fn refuse_srun_alone(starter: Starter) -> Result<(), BackendError> {
    let allocated = ["SLURM_JOB_ID", "SLURM_JOBID"].iter().any(|n| std::env::var_os(n).is_some());
    if starter != Starter::Srun || allocated {
        return Ok(());
    }
    Err(BackendError::NoAllocation)
}

/// A rank that Slurm, or an MPI, has started cannot start others.
pub(crate) fn refuse_launched() -> Result<(), BackendError> {
    match laneway_mpi::launched() {
        None => Ok(()),
        Some(_) => Err(BackendError::Launched(Alone::Net)),
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
