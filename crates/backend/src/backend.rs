//! A backend by its name, and a part that runs on each of its ranks.

use std::fmt;
use std::path::PathBuf;

use laneway_core::error::nearest;
use laneway_core::units::counted;
use laneway_core::{Comm, CommError, Exit, Failure};
use laneway_local::{Launch, LocalError, MOST_RANKS, Transport};
use laneway_measure::cores::Cores;
use laneway_measure::{Crowd, crowded};
use laneway_mpi::MpiError;
use laneway_sim::platform::{Fault, GENERATORS, Platform, PlatformError};
use laneway_sim::{Program, SimError};

use crate::handshake;
use crate::hosts::{self, Network};
use crate::part::{Part, RankError, conclude, end_run};

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
        Cores::here().usable().clamp(least, MOST_RANKS)
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
    /// A rank cannot go on. What it returns, or the end of the run, follows.
    Failed(Failure),
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::UsualRanks(ranks) => write!(f, "{} on this machine", counted(*ranks, "rank")),
            Notice::Crowded { crowd, .. } => write!(f, "{crowd}"),
            Notice::Interrupted { signal } => write!(f, "interrupted by signal {signal}"),
            Notice::Failed(failure) => write!(f, "{failure}"),
        }
    }
}

/// How a run ended on this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// As its parts said.
    Exit(Exit),
    /// The ranks that this process started ended with another code: 128 and a signal's number, as
    /// shells count, if that interrupted them. A program ends with this code.
    Code(i32),
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
pub fn open(name: &str) -> Result<Backend, Failure> {
    let (kind, detail) = match name.split_once(':') {
        Some((kind, detail)) => (kind, Some(detail)),
        None => (name, None),
    };
    let kind = match (kind, detail) {
        ("local", None) => Kind::Local(Transport::default()),
        ("local", Some(transport)) => {
            Kind::Local(transport.parse().map_err(LocalError::into_failure)?)
        }
        ("net", devices) => {
            let devices = devices.map(|text| text.split(',').map(str::to_string).collect());
            Kind::Net(Network { devices: devices.unwrap_or_default(), ..Network::default() })
        }
        ("mpi", library) => Kind::Mpi(library.map(PathBuf::from)),
        ("sim", Some(platform)) => Kind::Sim(platform.to_string()),
        _ => {
            let cause = "the backends are local[:shm|unix|tcp], net[:DEV,DEV], mpi[:LIBRARY] and \
                         sim:PLATFORM";
            let what = format!("unknown backend `{name}`");
            return Err(Failure::usage(what, cause, similar(name)));
        }
    };
    Ok(Backend::of(kind))
}

/// The backend that an unknown name may stand for.
fn similar(name: &str) -> String {
    let word = name.split([':', ',']).next().unwrap_or(name);
    if word.parse::<Transport>().is_ok() {
        return format!("local:{word}");
    }
    if GENERATORS.iter().any(|generator| generator.name == word) {
        return format!("sim:{name}");
    }
    let known = ["local", "net", "mpi", "sim"];
    match nearest(word, known) {
        Some("local") => "local:shm".into(),
        Some("sim") => "sim:cluster:16".into(),
        Some(near) => near.into(),
        None => "local:shm, mpi, or sim:cluster:16".into(),
    }
}

/// Whether this process was started as a rank by laneway itself.
pub fn is_rank() -> bool {
    laneway_local::is_rank() || laneway_ranks::is_rank()
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

    /// Runs a part on every rank. This process becomes one of the ranks, starts them and waits for
    /// them, or is all of them.
    pub fn run(&self, part: Part) -> Result<Outcome, Failure> {
        if let Some(comm) = laneway_local::attach().map_err(LocalError::into_failure)? {
            return Ok(Outcome::Exit(self.perform(&comm, part)));
        }
        let attached = laneway_ranks::attach().map_err(laneway_ranks::RanksError::into_failure)?;
        if let Some(comm) = attached {
            return Ok(Outcome::Exit(self.perform_apart(&comm, part)));
        }
        if !matches!(self.kind, Kind::Local(_)) {
            laneway_mpi::refuse_unjoined_task()?;
        }
        match &self.kind {
            Kind::Mpi(library) => self.run_mpi(library.clone(), part).map(Outcome::Exit),
            Kind::Sim(platform) => self.simulate(platform, part),
            Kind::Net(network) => {
                refuse_in_simulation("the net backend starts real processes")?;
                hosts::refuse_launched()?;
                network.launch(self.ranks, || self.usual_ranks()).map(|code| self.ended(code))
            }
            Kind::Usual if laneway_mpi::launched().is_some() => {
                self.run_mpi(None, part).map(Outcome::Exit)
            }
            Kind::Local(transport) => self.launch(*transport),
            Kind::Usual => self.launch(Transport::default()),
        }
    }

    /// What one rank does of a run, from its beginning to its end.
    fn perform(&self, comm: &dyn Comm, part: Part) -> Exit {
        if let Err(error) = laneway_local::wait_limit() {
            return conclude(comm, Err(error.into_failure().into()), self.notify);
        }
        let warned = match self.purpose {
            Purpose::Measuring => self.warn_of_crowd(comm),
            Purpose::Checking => Ok(()),
        };
        let done = warned.map_err(RankError::from).and_then(|()| part(comm));
        conclude(comm, done, self.notify)
    }

    /// Collective: rank 0 says so where more ranks than cores are on a host.
    fn warn_of_crowd(&self, comm: &dyn Comm) -> Result<(), CommError> {
        if let Some(crowd) = crowded(comm)?.filter(|_| comm.rank() == 0) {
            (self.notify)(&Notice::Crowded { crowd, ranks: comm.size() });
        }
        Ok(())
    }

    /// Ranks of several hosts first see that all of them run the same program.
    fn perform_apart(&self, comm: &dyn Comm, part: Part) -> Exit {
        if comm.clock().is_global() {
            return self.perform(comm, part);
        }
        match handshake::same_program(comm) {
            Ok(None) => self.perform(comm, part),
            Ok(Some(failure)) => conclude(comm, Err(failure.into()), self.notify),
            Err(error) => end_run(comm, error, self.notify),
        }
    }

    /// All ranks are coroutines of this process, in virtual time.
    fn simulate(&self, spec: &str, part: Part) -> Result<Outcome, Failure> {
        if laneway_mpi::launched().is_some() {
            let what = "a simulation needs no launcher";
            let cause = "a launcher started several processes, and each would simulate all ranks";
            return Err(Failure::usage(what, cause, "the same command without the launcher"));
        }
        let platform = Platform::read(spec).map_err(no_platform)?;
        let hosts = platform.hosts();
        let most = hosts.min(MOST_RANKS);
        let ranks = self.ranks.unwrap_or(hosts);
        if ranks > most {
            let what = format!("cannot simulate {ranks} ranks");
            let cause = format!(
                "{spec} has {}, and programs run on at most {MOST_RANKS}: here {most}",
                counted(hosts, "host")
            );
            let schedules = format!("{most} ranks; a schedule alone is simulated on more");
            return Err(Failure::usage(what, cause, schedules));
        }
        let ended = Program::new(&platform, ranks).run(|comm| self.perform(comm, part));
        match ended {
            // Rank 0 has the failures that all ranks know.
            Ok(ended) => Ok(Outcome::Exit(ended.results.into_iter().next().unwrap_or(Exit::Done))),
            Err(SimError::Aborted { code }) => Ok(outcome_of(code)),
            Err(error) => {
                let what = "the simulated ranks cannot continue";
                Err(Failure::environment(what, error.to_string(), "another backend, or report it"))
            }
        }
    }

    fn usual_ranks(&self) -> u32 {
        let ranks = self.purpose.usual_ranks();
        (self.notify)(&Notice::UsualRanks(ranks));
        ranks
    }

    fn launch(&self, transport: Transport) -> Result<Outcome, Failure> {
        refuse_in_simulation("the local backend starts real processes")?;
        let ranks = self.ranks.unwrap_or_else(|| self.usual_ranks());
        let code = Launch { ranks, transport, limit: None }.run();
        code.map(|code| self.ended(code)).map_err(LocalError::into_failure)
    }

    /// The exit of the ranks that this process had started.
    fn ended(&self, code: i32) -> Outcome {
        if code > SIGNALLED {
            (self.notify)(&Notice::Interrupted { signal: code - SIGNALLED });
        }
        outcome_of(code)
    }

    fn run_mpi(&self, library: Option<PathBuf>, part: Part) -> Result<Exit, Failure> {
        let world = laneway_mpi::init(library.as_deref()).map_err(MpiError::into_failure)?;
        let size = world.size();
        let differs = handshake::same_program(&world).unwrap_or_else(|error| {
            end_run(&world, error, self.notify);
        });
        let too_few = || {
            let ranks = self.ranks.filter(|ranks| *ranks > size)?;
            let cause = format!("the launcher started {size}");
            let more = format!("mpirun -n {ranks} …");
            Some(Failure::usage(format!("cannot use {ranks} ranks"), cause, more))
        };
        if let Some(failure) = differs.or_else(too_few) {
            return Ok(conclude(&world, Err(failure.into()), self.notify));
        }
        let Some(ranks) = self.ranks.filter(|&ranks| ranks < size) else {
            return Ok(self.perform(&world, part));
        };
        let chosen = (world.rank() < ranks).then_some(0);
        // The communicator ends before the world that it was split from.
        let first_ranks = world.split(chosen, world.rank());
        match first_ranks {
            Ok(Some(comm)) => Ok(self.perform(&*comm, part)),
            Ok(None) => Ok(Exit::Done),
            Err(error) => end_run(&world, error, self.notify),
        }
    }
}

fn refuse_in_simulation(cause: &str) -> Result<(), Failure> {
    if !laneway_mpi::is_simulated() {
        return Ok(());
    }
    let what = "a simulated rank cannot start processes";
    let cause = format!("{cause}, and this process is a simulation");
    Err(Failure::usage(what, cause, "the backend mpi, or the same program without smpirun"))
}

/// Codes above this stand for signals.
const SIGNALLED: i32 = 128;

/// What an exit code means.
fn outcome_of(code: i32) -> Outcome {
    let all = [Exit::Done, Exit::Gate, Exit::Usage, Exit::Environment, Exit::Precision];
    let exit = all.into_iter().find(|exit| *exit as i32 == code);
    exit.map_or(Outcome::Code(code), Outcome::Exit)
}

/// What to try instead of a platform that is none is a backend.
fn no_platform(error: PlatformError) -> Failure {
    let is_unknown =
        matches!(error.fault, Fault::Unknown | Fault::Missing | Fault::Syntax | Fault::Size);
    let mut failure = error.into_failure();
    if is_unknown {
        failure.try_this.insert_str(0, "sim:");
    }
    failure
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
            let failure = open(typed).map(|_| ()).expect_err("no such backend");
            assert_eq!(failure.try_this, advised, "{typed}");
            assert!(open(advised).is_ok(), "{advised}");
        }
    }
}
