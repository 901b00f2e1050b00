//! Why a run could not begin or go on.

use std::fmt;

use laneway_core::units::counted;
use laneway_core::{CommError, Rank};
use laneway_local::{LocalError, MOST_RANKS};
use laneway_mpi::MpiError;
use laneway_net::RanksError;
use laneway_sim::SimError;
use laneway_sim::platform::PlatformError;

/// Why a run could not begin or go on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum BackendError {
    /// No backend has this name.
    Unknown {
        /// As it was given.
        name: String,
        /// The name of a backend that may have been meant.
        similar: Option<String>,
    },
    /// Processes of this machine.
    Local(LocalError),
    /// Ranks over the network.
    Ranks(RanksError),
    /// An MPI library, or its launcher.
    Mpi(MpiError),
    /// The platform of a simulation.
    Platform(PlatformError),
    /// A launcher started several processes, each of which would be all ranks.
    Launched(Alone),
    /// The ranks would be real processes, started by a process that is simulated.
    Simulated(&'static str),
    /// More ranks than can be simulated.
    TooManyRanks {
        /// The number of ranks that was asked for.
        asked: u32,
        /// The name of the platform.
        platform: String,
        /// The number of its hosts.
        hosts: u32,
    },
    /// More ranks than a launcher started.
    TooFewRanks {
        /// The number of ranks that was asked for.
        asked: u32,
        /// The number of ranks that there are.
        started: u32,
    },
    /// `srun` was to start ranks outside an allocation of Slurm.
    NoAllocation,
    /// The ranks run different programs.
    Versions {
        /// What two of them are.
        cause: String,
    },
    /// The simulator stopped the ranks.
    Simulation(SimError),
    /// A rank has lost the others.
    Comm {
        /// The rank that reports it.
        rank: Rank,
        /// The error of its communicator.
        error: CommError,
    },
    /// A rank has waited for too long.
    Stalled {
        /// The rank that reports it.
        rank: Rank,
        /// The time without progress.
        seconds: u64,
    },
}

/// What needs no launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Alone {
    /// A simulation of all ranks.
    Simulation,
    /// A launcher of ranks over the network.
    Net,
}

impl BackendError {
    /// The cause, as far as it is known; the message says what failed.
    pub fn cause(&self) -> String {
        match self {
            BackendError::Unknown { .. } => {
                "the backends are local[:shm|unix|tcp], net[:DEV,DEV], \
                                             mpi[:LIBRARY] and sim:PLATFORM"
                    .into()
            }
            BackendError::Local(error) => error.cause(),
            BackendError::Ranks(error) => error.cause(),
            BackendError::Mpi(error) => error.cause(),
            BackendError::Platform(error) => error.cause(),
            BackendError::Launched(alone) => {
                let does = match alone {
                    Alone::Simulation => "simulate",
                    Alone::Net => "start",
                };
                format!("a launcher started several processes, and each would {does} all ranks")
            }
            BackendError::Simulated(backend) => format!(
                "the {backend} backend starts real processes, and this process is a simulation"
            ),
            BackendError::TooManyRanks { platform, hosts, .. } => format!(
                "{platform} has {}, and programs run on at most {MOST_RANKS}: here {}",
                counted(*hosts, "host"),
                hosts.min(&MOST_RANKS)
            ),
            BackendError::TooFewRanks { started, .. } => format!("the launcher started {started}"),
            BackendError::NoAllocation => "this process is in none: SLURM_JOB_ID is not set".into(),
            BackendError::Versions { cause } => cause.clone(),
            BackendError::Simulation(error) => error.to_string(),
            BackendError::Comm { error, .. } => error.to_string(),
            BackendError::Stalled { .. } => {
                "a message did not arrive, or a process is stopped".into()
            }
        }
    }
}

impl fmt::Display for BackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BackendError::Unknown { name, .. } => write!(f, "unknown backend `{name}`"),
            BackendError::Local(error) => error.fmt(f),
            BackendError::Ranks(error) => error.fmt(f),
            BackendError::Mpi(error) => error.fmt(f),
            BackendError::Platform(error) => error.fmt(f),
            BackendError::Launched(Alone::Simulation) => {
                f.write_str("a simulation needs no launcher")
            }
            BackendError::Launched(Alone::Net) => f.write_str("the net backend needs no launcher"),
            BackendError::Simulated(_) => f.write_str("a simulated rank cannot start processes"),
            BackendError::TooManyRanks { asked, .. } => write!(f, "cannot simulate {asked} ranks"),
            BackendError::TooFewRanks { asked, .. } => write!(f, "cannot use {asked} ranks"),
            BackendError::NoAllocation => {
                f.write_str("srun starts ranks within an allocation of Slurm alone")
            }
            BackendError::Versions { .. } => {
                f.write_str("the ranks run different versions of laneway")
            }
            BackendError::Simulation(_) => f.write_str("the simulated ranks cannot continue"),
            BackendError::Comm { rank, .. } => write!(f, "rank {rank} cannot continue"),
            BackendError::Stalled { rank, seconds } => {
                write!(f, "rank {rank} has waited for {seconds} s")
            }
        }
    }
}

impl std::error::Error for BackendError {}

impl From<LocalError> for BackendError {
    fn from(error: LocalError) -> BackendError {
        BackendError::Local(error)
    }
}

impl From<RanksError> for BackendError {
    fn from(error: RanksError) -> BackendError {
        BackendError::Ranks(error)
    }
}

impl From<MpiError> for BackendError {
    fn from(error: MpiError) -> BackendError {
        BackendError::Mpi(error)
    }
}

impl From<PlatformError> for BackendError {
    fn from(error: PlatformError) -> BackendError {
        BackendError::Platform(error)
    }
}
