//! Errors of finding and opening an MPI library, and their messages.

use std::fmt;
use std::path::PathBuf;

use crate::launcher::SMPI_SIZE;

/// What went wrong between the wish for an MPI and its first message; the message of an error says
/// what its fields are.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MpiError {
    /// No launcher started this process; `because` says what its environment shows.
    NotLaunched { because: String },
    /// A launcher started this process as one task of several, and passed nothing to it by which
    /// an MPI could join them.
    NotJoined { task: Option<u32>, tasks: Option<u32>, because: String },
    /// A library was asked for by name and is not there; `asked_by` says how.
    Missing { path: PathBuf, asked_by: &'static str },
    /// No MPI library in any of these folders.
    NotFound { looked_in: Vec<PathBuf> },
    /// The launcher's own installation has no MPI library.
    LauncherWithoutLibrary { launcher: String, looked_in: Vec<PathBuf> },
    /// The file is not a shared library, or only the front of one.
    NotALibrary { file: PathBuf, why: String },
    /// The file is for another kind of machine.
    OtherArchitecture { file: PathBuf, built_for: String, needed: &'static str },
    /// The system's loader refused the file, in its own words.
    Refused { file: PathBuf, text: String },
    /// A library that lacks what every MPI exports.
    NotMpi { file: PathBuf, symbol: String },
    /// An MPI whose constants are not known here.
    UnknownFlavour { file: PathBuf, version: String },
    /// `LANEWAY_MPI_FLAVOUR` names a flavour that this library cannot be, or none at all.
    WrongFlavour { file: PathBuf, asked: String, why: String },
    /// `variable` names a thread level that MPI does not have.
    NoThreadLevel { asked: String, variable: &'static str },
    /// The library did not behave as its flavour says.
    SelfTest { file: PathBuf, flavour: &'static str, what: String },
    /// MPI could not start.
    Start { call: &'static str, text: String },
    /// The library does not understand the launcher, so that every rank is alone; `ranks` is how
    /// many there are, as far as the launcher says.
    Alone { launcher: String, ranks: Option<u32>, file: PathBuf },
    /// A simulator was asked for, as the library of this file or by the marks of its launcher,
    /// outside a simulation.
    NotSimulated { file: Option<PathBuf> },
    /// MPI was started in this process before, which it allows once.
    StartedBefore,
    /// A caller's communicator was to be adopted, and no MPI is in this process.
    NotLoaded,
    /// A caller's communicator was to be adopted before MPI's start or after its end.
    NotRunning,
    /// A caller's communicator was to be adopted in a simulation.
    Simulated,
    /// Something was given up, and MPI did not end it in time; its memory may not be used again.
    GivenUp { what: String, seconds: u64 },
    /// What a caller gave is not a usable communicator.
    NoCommunicator { why: String },
}

impl fmt::Display for MpiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MpiError::NotLaunched { .. } => f.write_str("started without an MPI launcher"),
            MpiError::NotJoined { task, tasks, .. } => {
                let task = task.map_or(String::new(), |task| format!(" {task}"));
                let tasks = tasks.map_or("several".into(), |tasks| tasks.to_string());
                write!(f, "this process is task{task} of {tasks}, and no MPI can join them")
            }
            MpiError::Missing { path, .. } => write!(f, "no MPI library at {}", path.display()),
            MpiError::NotFound { .. } => f.write_str("no MPI library was found"),
            MpiError::LauncherWithoutLibrary { launcher, .. } => {
                write!(f, "the installation of {launcher} has no MPI library")
            }
            MpiError::NotALibrary { file, .. } => {
                write!(f, "{} is not a shared library", file.display())
            }
            MpiError::OtherArchitecture { file, .. } => {
                write!(f, "{} is a library for another machine", file.display())
            }
            MpiError::Refused { file, .. } => write!(f, "{} cannot be opened", file.display()),
            MpiError::NotMpi { file, .. } => write!(f, "{} is not an MPI library", file.display()),
            MpiError::UnknownFlavour { file, .. } => {
                write!(f, "{} is an MPI of an unknown kind", file.display())
            }
            MpiError::WrongFlavour { file, asked, .. } => {
                write!(f, "{} is not an MPI library of the flavour '{asked}'", file.display())
            }
            MpiError::NoThreadLevel { asked, .. } => write!(f, "no thread level '{asked}'"),
            MpiError::SelfTest { file, flavour, .. } => {
                write!(f, "{} does not behave as {flavour} should", file.display())
            }
            MpiError::Start { call, .. } => write!(f, "{call} failed"),
            MpiError::Alone { launcher, ranks: Some(ranks), .. } => {
                write!(f, "{launcher} started {ranks} ranks, but the MPI library sees only one")
            }
            MpiError::Alone { launcher, ranks: None, .. } => {
                write!(f, "{launcher} started this rank, but the MPI library sees no other")
            }
            MpiError::NotSimulated { .. } => f.write_str("this process is not a simulation"),
            MpiError::StartedBefore => f.write_str("MPI was started in this process before"),
            MpiError::NotLoaded => f.write_str("no MPI library is in this process"),
            MpiError::NotRunning => f.write_str("MPI is not running in this process"),
            MpiError::Simulated => f.write_str("this process is a simulation"),
            MpiError::GivenUp { what, seconds } => {
                write!(f, "{what} was given up and is still under way after {seconds} s")
            }
            MpiError::NoCommunicator { .. } => f.write_str("no communicator to work with"),
        }
    }
}

impl std::error::Error for MpiError {}

impl MpiError {
    /// The cause, as far as it is known; the message says what failed.
    pub fn cause(&self) -> String {
        match self {
            MpiError::NotLaunched { because } | MpiError::NotJoined { because, .. } => {
                because.clone()
            }
            MpiError::NotFound { looked_in }
            | MpiError::LauncherWithoutLibrary { looked_in, .. } => {
                let folders: Vec<_> = looked_in.iter().map(|p| p.display().to_string()).collect();
                format!("looked in {}", folders.join(", "))
            }
            MpiError::Refused { text, .. } | MpiError::Start { text, .. } => text.clone(),
            MpiError::UnknownFlavour { version, .. } => format!("it calls itself: {version}"),
            MpiError::WrongFlavour { why, .. } => why.clone(),
            MpiError::NoThreadLevel { variable, .. } => {
                format!("{variable} is single, funneled, serialized or multiple")
            }
            MpiError::SelfTest { what, .. } => what.clone(),
            MpiError::Alone { file, .. } => {
                format!("{} does not understand this launcher", file.display())
            }
            MpiError::Missing { asked_by, .. } => format!("asked for by {asked_by}"),
            MpiError::NotALibrary { why, .. } => why.clone(),
            MpiError::OtherArchitecture { built_for, needed, .. } => {
                format!("it is built for {built_for}, not for {needed}")
            }
            MpiError::NotMpi { symbol, .. } => format!("it has no {symbol}"),
            MpiError::NotSimulated { file: Some(file) } => {
                format!("{} is SimGrid, whose MPI works under smpirun alone", file.display())
            }
            MpiError::NotSimulated { file: None } => {
                format!("{SMPI_SIZE} is set as by smpirun, but SimGrid is not here")
            }
            MpiError::StartedBefore => "a process can start MPI once".into(),
            MpiError::NotLoaded => "the program is linked to none, or statically".into(),
            MpiError::NotRunning => "it is not started yet, or it has ended".into(),
            MpiError::Simulated => {
                "its ranks are one process, and share what is kept with a communicator".into()
            }
            MpiError::GivenUp { .. } => {
                "its memory goes back to its owner, and MPI may still use it".into()
            }
            MpiError::NoCommunicator { why } => why.clone(),
        }
    }
}
