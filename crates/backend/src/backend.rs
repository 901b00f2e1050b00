//! A backend by its name, and a part that runs on each of its ranks.

use std::fmt;
use std::path::PathBuf;

use laneway_core::error::nearest;
use laneway_core::units::counted;
use laneway_core::{Comm, CommError};
use laneway_local::{Launch, MOST_RANKS, Transport};
use laneway_processes::GrantedCores;
use laneway_processes::{Crowd, crowded};
use laneway_sim::platform::{GENERATORS, Platform};
use laneway_sim::{Program, SimError};

use crate::error::{Alone, BackendError};
use crate::handshake;
use crate::hosts::{self, Network};
use crate::part::{Fatal, Part, RankError, conclude, end_run};

/// What the ranks of a run are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// Their times are the result: more ranks than cores on a host give a notice.
    Measuring,
    /// They do something right or wrong, however long it takes.
    #[default]
    Checking,
}

impl Purpose {
    /// The default number of ranks on this machine: one for each core, and as many as it takes
    /// to have a message, or a tree with branches.
    fn usual_ranks(self) -> u32 {
        let least = match self {
            Purpose::Measuring => 2,
            Purpose::Checking => 4,
        };
        GrantedCores::here().usable().clamp(least, MOST_RANKS)
    }
}

/// A notice for the user about a run, which is not a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// The number of ranks was not given: this number is started on this machine.
    UsualRanks(u32),
    /// More ranks than cores on a host.
    Crowded {
        /// Where, and by how much.
        crowd: Crowd,
        /// Of the run.
        ranks: u32,
    },
    /// A signal has ended the ranks.
    Interrupted {
        /// Its number.
        signal: i32,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::UsualRanks(ranks) => write!(f, "{} on this machine", counted(*ranks, "rank")),
            Notice::Crowded { crowd, .. } => write!(f, "{crowd}"),
            Notice::Interrupted { signal } => write!(f, "interrupted by signal {signal}"),
        }
    }
}

/// What carries the messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Kind {
    /// The MPI that started this process, or else processes of this machine.
    #[default]
    Usual,
    Local(Transport),
    /// Connections that migrate.
    Net(Network),
    Mpi(Option<PathBuf>),
    /// A platform by its name.
    Sim(String),
}

/// Where the ranks of a run come from.
#[derive(Clone, Debug)]
pub struct Backend {
    kind: Kind,
    ranks: Option<u32>,
    purpose: Purpose,
    notify: fn(&Notice),
}

impl Default for Backend {
    /// The MPI that started this process, or else processes of this machine.
    fn default() -> Backend {
        Backend::of(Kind::Usual)
    }
}

/// The backend of a name: `local`, `local:shm`, `local:unix`, `local:tcp`, `net`, `net:eth0,eth1`,
/// `mpi`, `mpi:LIBRARY`, or `sim:PLATFORM`. Nothing is started yet.
pub fn open(name: &str) -> Result<Backend, BackendError> {
    let (kind, detail) = match name.split_once(':') {
        Some((kind, detail)) => (kind, Some(detail)),
        None => (name, None),
    };
    let kind = match (kind, detail) {
        ("local", None) => Kind::Local(Transport::default()),
        ("local", Some(transport)) => Kind::Local(transport.parse()?),
        ("net", devices) => {
            let devices = devices.map(|text| text.split(',').map(str::to_string).collect());
            Kind::Net(Network { devices: devices.unwrap_or_default(), ..Network::default() })
        }
        ("mpi", library) => Kind::Mpi(library.map(PathBuf::from)),
        ("sim", Some(platform)) => Kind::Sim(platform.to_string()),
        _ => {
            return Err(BackendError::Unknown { name: name.into(), similar: similar(name) });
        }
    };
    Ok(Backend::of(kind))
}

/// The backend that an unknown name may stand for.
fn similar(name: &str) -> Option<String> {
    let word = name.split([':', ',']).next().unwrap_or(name);
    if word.parse::<Transport>().is_ok() {
        return Some(format!("local:{word}"));
    }
    if GENERATORS.iter().any(|generator| generator.name == word) {
        return Some(format!("sim:{name}"));
    }
    let known = ["local", "net", "mpi", "sim"];
    Some(match nearest(word, known)? {
        "local" => "local:shm".into(),
        "sim" => "sim:cluster:16".into(),
        near => near.into(),
    })
}

/// Whether this process was started as a rank by laneway itself.
pub fn is_rank() -> bool {
    laneway_local::is_rank() || laneway_net::is_rank()
}

impl Backend {
    fn of(kind: Kind) -> Backend {
        Backend { kind, ranks: None, purpose: Purpose::default(), notify: |_| () }
    }

    /// Processes of this machine over a transport.
    pub fn local(transport: Transport) -> Backend {
        Backend::of(Kind::Local(transport))
    }

    /// Ranks over connections that migrate.
    pub fn over_network(network: Network) -> Backend {
        Backend::of(Kind::Net(network))
    }

    /// With this number of ranks: of a launcher or a simulated cluster, the first ones.
    pub fn with_ranks(self, ranks: u32) -> Backend {
        Backend { ranks: Some(ranks), ..self }
    }

    /// For parts with this purpose.
    pub fn with_purpose(self, purpose: Purpose) -> Backend {
        Backend { purpose, ..self }
    }

    /// With something that is called for notices; without it, they are lost.
    pub fn with_notices(self, notify: fn(&Notice)) -> Backend {
        Backend { notify, ..self }
    }

    /// How many ranks were asked for.
    pub fn ranks(&self) -> Option<u32> {
        self.ranks
    }

    /// The MPI library that was named.
    pub fn mpi_library(&self) -> Option<PathBuf> {
        match &self.kind {
            Kind::Mpi(library) => library.clone(),
            _ => None,
        }
    }

    /// Whether ranks go over connections that migrate.
    pub fn is_net(&self) -> bool {
        matches!(self.kind, Kind::Net(_))
    }

    /// Whether this process is one of several, or was asked to start several.
    pub fn has_ranks(&self) -> bool {
        let started = laneway_mpi::launched().is_some() || is_rank();
        let chosen = matches!(self.kind, Kind::Local(_) | Kind::Net(_) | Kind::Sim(_));
        started || self.ranks.is_some() || chosen
    }

    /// Whether [`Backend::run`] would start processes and wait for them.
    pub fn starts_processes(&self) -> bool {
        let launched = || laneway_mpi::launched().is_some();
        !is_rank()
            && match self.kind {
                Kind::Local(_) | Kind::Net(_) => true,
                Kind::Usual => !launched(),
                Kind::Mpi(_) | Kind::Sim(_) => false,
            }
    }

    /// Runs a part on every rank, and gives the exit code of this process. It becomes one of the
    /// ranks, starts them and waits for them, or is all of them. Codes above 128 are signals that
    /// have ended the ranks, as shells count.
    pub fn run<E: Fatal>(&self, part: Part<E>) -> Result<u8, BackendError> {
        if let Some(comm) = laneway_local::attach()? {
            return Ok(self.perform(&comm, part));
        }
        if let Some(comm) = laneway_net::attach()? {
            return Ok(self.perform_apart(&comm, part));
        }
        if !matches!(self.kind, Kind::Local(_)) {
            laneway_mpi::refuse_unjoined_task()?;
        }
        match &self.kind {
            Kind::Mpi(library) => self.run_mpi(library.clone(), part),
            Kind::Sim(platform) => self.simulate(platform, part),
            Kind::Net(network) => {
                refuse_in_simulation("net")?;
                hosts::refuse_launched()?;
                network.launch(self.ranks, || self.usual_ranks()).map(|code| self.ended(code))
            }
            Kind::Usual if laneway_mpi::launched().is_some() => self.run_mpi(None, part),
            Kind::Local(transport) => self.launch(*transport),
            Kind::Usual => self.launch(Transport::default()),
        }
    }

    /// What one rank does of a run, from its beginning to its end.
    fn perform<E: Fatal>(&self, comm: &dyn Comm, part: Part<E>) -> u8 {
        if let Err(error) = laneway_local::wait_limit() {
            let error = E::from(error.into());
            return conclude(comm, Err(RankError::Failure(error)));
        }
        let warned = match self.purpose {
            Purpose::Measuring => self.warn_of_crowd(comm),
            Purpose::Checking => Ok(()),
        };
        let done = warned.map_err(RankError::from).and_then(|()| part(comm));
        conclude(comm, done)
    }

    /// Collective: rank 0 says so where more ranks than cores are on a host.
    fn warn_of_crowd(&self, comm: &dyn Comm) -> Result<(), CommError> {
        if let Some(crowd) = crowded(comm)?.filter(|_| comm.rank() == 0) {
            (self.notify)(&Notice::Crowded { crowd, ranks: comm.size() });
        }
        Ok(())
    }

    /// Ranks of several hosts first see that all of them run the same program.
    fn perform_apart<E: Fatal>(&self, comm: &dyn Comm, part: Part<E>) -> u8 {
        if comm.clock().is_global() {
            return self.perform(comm, part);
        }
        match handshake::same_program(comm) {
            Ok(None) => self.perform(comm, part),
            Ok(Some(error)) => conclude(comm, Err(RankError::Failure(E::from(error)))),
            Err(error) => end_run::<E>(comm, error),
        }
    }

    /// All ranks are coroutines of this process, in virtual time.
    fn simulate<E: Fatal>(&self, spec: &str, part: Part<E>) -> Result<u8, BackendError> {
        if laneway_mpi::launched().is_some() {
            return Err(BackendError::Launched(Alone::Simulation));
        }
        let platform = Platform::read(spec)?;
        let hosts = platform.hosts();
        let ranks = self.ranks.unwrap_or(hosts);
        if ranks > hosts.min(MOST_RANKS) {
            let platform = spec.to_string();
            return Err(BackendError::TooManyRanks { asked: ranks, platform, hosts });
        }
        let ended = Program::new(&platform, ranks).run(|comm| self.perform(comm, part));
        match ended {
            // Rank 0 has the failures that all ranks know.
            Ok(ended) => Ok(ended.results.into_iter().next().unwrap_or(0)),
            Err(SimError::Aborted { code }) => Ok(exit_code(code)),
            Err(error) => Err(BackendError::Simulation(error)),
        }
    }

    fn usual_ranks(&self) -> u32 {
        let ranks = self.purpose.usual_ranks();
        (self.notify)(&Notice::UsualRanks(ranks));
        ranks
    }

    fn launch(&self, transport: Transport) -> Result<u8, BackendError> {
        refuse_in_simulation("local")?;
        let ranks = self.ranks.unwrap_or_else(|| self.usual_ranks());
        let code = Launch { ranks, transport, limit: None }.run()?;
        Ok(self.ended(code))
    }

    /// The exit code of the ranks that this process had started.
    fn ended(&self, code: i32) -> u8 {
        if code > SIGNALLED {
            (self.notify)(&Notice::Interrupted { signal: code - SIGNALLED });
        }
        exit_code(code)
    }

    fn run_mpi<E: Fatal>(
        &self,
        library: Option<PathBuf>,
        part: Part<E>,
    ) -> Result<u8, BackendError> {
        let world = laneway_mpi::init(library.as_deref())?;
        let started = world.size();
        let differs = handshake::same_program(&world).unwrap_or_else(|error| {
            end_run::<E>(&world, error);
        });
        let too_few = || {
            let asked = self.ranks.filter(|ranks| *ranks > started)?;
            Some(BackendError::TooFewRanks { asked, started })
        };
        if let Some(error) = differs.or_else(too_few) {
            return Ok(conclude(&world, Err(RankError::Failure(E::from(error)))));
        }
        let Some(ranks) = self.ranks.filter(|&ranks| ranks < started) else {
            return Ok(self.perform(&world, part));
        };
        let chosen = (world.rank() < ranks).then_some(0);
        // The communicator ends before the world that it was split from.
        let first_ranks = world.split(chosen, world.rank());
        match first_ranks {
            Ok(Some(comm)) => Ok(self.perform(&*comm, part)),
            Ok(None) => Ok(0),
            Err(error) => end_run::<E>(&world, error),
        }
    }
}

fn refuse_in_simulation(backend: &'static str) -> Result<(), BackendError> {
    if !laneway_mpi::is_simulated() {
        return Ok(());
    }
    Err(BackendError::Simulated(backend))
}

/// Codes above this stand for signals.
const SIGNALLED: i32 = 128;

/// What a process passes on of a number: the lowest byte, as the system does.
fn exit_code(code: i32) -> u8 {
    code as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_backend_is_answered_with_a_known_one() {
        for (typed, advised) in [
            ("lcoal", "local:shm"),
            ("shm", "local:shm"),
            ("sim", "sim:cluster:16"),
            ("two-sites:4x4", "sim:two-sites:4x4"),
            ("mpj", "mpi"),
        ] {
            let error = open(typed).map(|_| ()).expect_err("no such backend");
            let BackendError::Unknown { similar, .. } = error else { panic!("{error}") };
            assert_eq!(similar.as_deref(), Some(advised), "{typed}");
            assert!(open(advised).is_ok(), "{advised}");
        }
    }
}
