//! Starts a program as several ranks.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use laneway_local::Transport;
use laneway_net::Starter;
use laneway_processes::{Cores, Program};

use crate::error::{Error, Result};
use crate::world::is_rank;

/// How long a wait of a rank may go without news, unless another limit is set.
const WAIT_LIMIT: Duration = Duration::from_secs(120);

/// Signals are codes above this.
const SIGNALLED: i32 = 128;

/// A program, and how it is started as ranks.
///
/// Ranks are processes: each runs the whole program and calls [`join`](crate::join). A closure, a
/// variable or an open file of the process that launches does not reach them; arguments,
/// environment and files do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Launch {
    program: Program,
    ranks: Option<u32>,
    transport: Transport,
    hosts: Option<String>,
    devices: Vec<String>,
    starter: Starter,
    wait_limit: Duration,
}

impl Launch {
    fn of(program: Program) -> Launch {
        Launch {
            program,
            ranks: None,
            transport: Transport::default(),
            hosts: None,
            devices: Vec::new(),
            starter: Starter::default(),
            wait_limit: WAIT_LIMIT,
        }
    }

    /// A program that calls [`join`](crate::join), by its file or by a name that the search path
    /// finds.
    pub fn program(path: impl Into<PathBuf>) -> Launch {
        Launch::of(Program::named(path))
    }

    /// This program again, with the same arguments. It must ask [`is_rank`] before it launches: all
    /// of `main` runs in every rank.
    pub fn this_program() -> Launch {
        Launch::of(Program::this())
    }

    /// Adds an argument of the program.
    pub fn arg(mut self, argument: impl Into<OsString>) -> Launch {
        self.program.arg(argument);
        self
    }

    /// Adds arguments of the program.
    pub fn args<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Launch {
        arguments.into_iter().for_each(|argument| self.program.arg(argument));
        self
    }

    /// Sets a variable of the program's environment.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Launch {
        self.program.env(name, value);
        self
    }

    /// The number of ranks; without it one for each core, at least two.
    pub fn ranks(self, ranks: u32) -> Launch {
        Launch { ranks: Some(ranks), ..self }
    }

    /// What carries messages between ranks of this machine: shared memory unless something else is
    /// set.
    pub fn transport(self, transport: Transport) -> Launch {
        Launch { transport, ..self }
    }

    /// Starts ranks on hosts, over connections that outlive their path: `node1,node2:4`. Every host
    /// has the program in the same place.
    pub fn hosts(self, hosts: impl Into<String>) -> Launch {
        Launch { hosts: Some(hosts.into()), ..self }
    }

    /// The network devices that are the paths of those connections, the same on every host;
    /// without them, all that can be.
    pub fn devices<D: Into<String>>(self, devices: impl IntoIterator<Item = D>) -> Launch {
        Launch { devices: devices.into_iter().map(Into::into).collect(), ..self }
    }

    /// What starts ranks on other hosts: ssh unless something else is set.
    pub fn starter(self, starter: Starter) -> Launch {
        Launch { starter, ..self }
    }

    /// How long a wait of a rank may go without news, before it fails with
    /// [`CommError::TimedOut`](crate::CommError::TimedOut): two minutes unless it is set.
    pub fn wait_limit(self, limit: Duration) -> Launch {
        Launch { wait_limit: limit, ..self }
    }

    fn run(&self) -> Result<i32> {
        let limit = self.wait_limit;
        let usual = || Cores::available().count().max(2);
        let Some(hosts) = &self.hosts else {
            let (ranks, transport) = (self.ranks.unwrap_or_else(usual), self.transport);
            let launch = laneway_local::Launch { ranks, transport, limit: Some(limit) };
            return Ok(launch.run_program(&self.program)?);
        };
        let hosts = laneway_net::parse_hosts(hosts)?;
        let slots = hosts.iter().fold(0u32, |sum, host| sum.saturating_add(host.slots));
        let launch = laneway_net::Launch {
            ranks: self.ranks.unwrap_or(slots),
            hosts,
            devices: self.devices.clone(),
            starter: self.starter,
            connections: 1,
            spread: false,
            limit,
        };
        Ok(launch.run_program(&self.program)?)
    }
}

/// How the ranks of a launch ended, all of them in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// The exit code of the run: that of rank 0 where ranks differ, or of the one that aborted.
    pub code: i32,
    /// The signal to this process by which the run was interrupted.
    pub signal: Option<i32>,
}

impl Ended {
    /// Whether all ranks ended with code 0.
    pub fn is_success(&self) -> bool {
        self.code == 0
    }

    /// An error unless all ranks ended with code 0.
    pub fn ok(self) -> Result<()> {
        if self.is_success() { Ok(()) } else { Err(Error::Ended(self.code)) }
    }
}

/// Starts a program as ranks, and waits until all have ended. A rank that dies ends the others, and
/// is the error. When this process ends, however it does, so do the ranks.
///
/// Meant for the main thread of a program that has no other: it takes the signals that end a run,
/// such as Ctrl-C. It is refused in a rank.
pub fn launch(launch: Launch) -> Result<Ended> {
    if is_rank() {
        return Err(Error::IsARank);
    }
    // One task of several, none of which knows of the others.
    laneway_mpi::refuse_unjoined_task()?;
    let code = launch.run()?;
    Ok(Ended { code, signal: (code > SIGNALLED).then_some(code - SIGNALLED) })
}
