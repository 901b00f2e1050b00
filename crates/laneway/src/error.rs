//! Why a call of this crate failed: one kind of error for each part that can fail.

use std::fmt;

use laneway_connections::NetError;
use laneway_core::CommError;
use laneway_local::LocalError;
use laneway_measure::pairs::SurveyError;
use laneway_model::ModelError;
use laneway_mpi::MpiError;
use laneway_net::RanksError;
use laneway_report::ReadError;
use laneway_sim::SimError;
use laneway_sim::platform::PlatformError;
use laneway_sites::ChoiceError;

/// What the calls of this crate return.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed. The error of the part that failed is inside, and is its
/// [`source`](std::error::Error::source).
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The process is not a rank: neither [`launch`](crate::launch) nor a launcher started it.
    NotARank,
    /// A rank, or a process of a launcher, cannot start ranks.
    IsARank,
    /// The ranks use different versions of this crate.
    Versions(String),
    /// The ranks that were started ended with this exit code.
    Ended(i32),
    /// A stopping rule, or an option, that cannot be followed.
    Rule(String),
    /// A value that a rank sent is not of the expected type.
    Value(String),
    /// No algorithm of that name, or it does not serve the call.
    Algorithm(String),
    /// A schedule that is wrong.
    Schedule(laneway_coll::Fault),
    /// A communicator could not go on.
    Comm(CommError),
    /// Ranks of this machine could not be started, or one of them died.
    Local(LocalError),
    /// Ranks on several hosts could not be started, or one of them died.
    Hosts(RanksError),
    /// No MPI library, or it cannot be used.
    Mpi(MpiError),
    /// A platform that cannot be read.
    Platform(PlatformError),
    /// A simulation that cannot end.
    Simulation(SimError),
    /// No choice for a call.
    Choice(ChoiceError),
    /// No model, or no prediction.
    Model(ModelError),
    /// A survey of pairs that could not be made.
    Survey(SurveyError),
    /// A fabric that cannot be read, or a request that it cannot serve.
    Fabric(laneway_topo::Error),
    /// A connection that could not be opened, or is broken.
    Connection(NetError),
    /// Nothing arrived on a connection within this number of seconds.
    Silent(f64),
    /// The peer has closed its end of a connection, or the connection failed.
    Closed,
    /// A run that cannot be read.
    Run(ReadError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotARank => f.write_str("this process is not a rank: no launcher started it"),
            Error::IsARank => f.write_str("this process is a rank, and cannot start ranks"),
            Error::Versions(what) => write!(f, "the ranks use different versions: {what}"),
            Error::Ended(code) => write!(f, "the ranks ended with exit code {code}"),
            Error::Rule(why) | Error::Value(why) | Error::Algorithm(why) => f.write_str(why),
            Error::Schedule(fault) => fault.fmt(f),
            Error::Comm(error) => error.fmt(f),
            Error::Local(error) => error.fmt(f),
            Error::Hosts(error) => error.fmt(f),
            Error::Mpi(error) => error.fmt(f),
            Error::Platform(error) => error.fmt(f),
            Error::Simulation(error) => error.fmt(f),
            Error::Choice(error) => error.fmt(f),
            Error::Model(error) => error.fmt(f),
            Error::Survey(error) => error.fmt(f),
            Error::Fabric(error) => error.fmt(f),
            Error::Connection(error) => error.fmt(f),
            Error::Silent(seconds) => write!(f, "no message arrived within {seconds} s"),
            Error::Closed => f.write_str("the connection is closed"),
            Error::Run(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(match self {
            Error::Schedule(fault) => fault,
            Error::Comm(error) => error,
            Error::Local(error) => error,
            Error::Hosts(error) => error,
            Error::Mpi(error) => error,
            Error::Platform(error) => error,
            Error::Simulation(error) => error,
            Error::Choice(error) => error,
            Error::Model(error) => error,
            Error::Survey(error) => error,
            Error::Fabric(error) => error,
            Error::Connection(error) => error,
            Error::Run(error) => error,
            _ => return None,
        })
    }
}

macro_rules! wrap {
    ($($variant:ident($inner:ty),)*) => {
        $(
            impl From<$inner> for Error {
                fn from(error: $inner) -> Error {
                    Error::$variant(error)
                }
            }
        )*
    };
}

wrap! {
    Schedule(laneway_coll::Fault),
    Comm(CommError),
    Local(LocalError),
    Hosts(RanksError),
    Mpi(MpiError),
    Platform(PlatformError),
    Simulation(SimError),
    Choice(ChoiceError),
    Model(ModelError),
    Survey(SurveyError),
    Fabric(laneway_topo::Error),
    Connection(NetError),
    Run(ReadError),
}

impl From<laneway_coll::Refusal> for Error {
    fn from(refusal: laneway_coll::Refusal) -> Error {
        Error::Algorithm(refusal.0)
    }
}
