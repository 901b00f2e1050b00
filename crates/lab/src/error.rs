//! What can go wrong with a lab, with what a person needs to act.

use std::fmt;
use std::io;

/// What can go wrong with a lab; the message of an error says what its fields are.
#[allow(missing_docs)]
#[derive(Debug)]
#[non_exhaustive]
pub enum LabError {
    /// Namespaces need root here.
    NotRoot,
    /// A name that cannot be one.
    Name(String),
    /// A lab of this name stands, or is just being built.
    Stands(String),
    /// No lab of this name stands.
    Absent(String),
    /// The platform has something that cannot be built.
    Unbuildable(String),
    /// `ip` or `tc` refused.
    Tool { command: String, said: String },
    /// The system refused something.
    System { what: String, error: io::Error },
    /// A command that does not start on a host.
    Start { program: String, error: io::Error },
    /// A link that is not what the plan says.
    Probe(String),
    /// A fault or timetable that makes no sense.
    Fault(String),
    /// A program that was to guard a lab does not call [`serve`](crate::serve) first.
    NotServed { program: String },
    /// Two programs, or two processes of one that was replaced, use different versions.
    Version { own: String, other: String },
}

impl LabError {
    /// What the system refused, and its words.
    pub fn system(what: impl Into<String>, error: io::Error) -> LabError {
        LabError::System { what: what.into(), error }
    }
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LabError::NotRoot => f.write_str("a lab needs root: it makes network namespaces"),
            LabError::Name(why) => f.write_str(why),
            LabError::Stands(name) => write!(f, "lab {name} already exists"),
            LabError::Absent(name) => write!(f, "lab {name} does not exist"),
            LabError::Unbuildable(what) => write!(f, "this cannot be built: {what}"),
            LabError::Tool { command, said } => write!(f, "{command}: {said}"),
            LabError::System { what, error } => write!(f, "{what}: {error}"),
            LabError::Start { program, error } => {
                write!(f, "cannot run `{program}` on a host of the lab: {error}")
            }
            LabError::Probe(what) => f.write_str(what),
            LabError::Fault(what) => f.write_str(what),
            LabError::NotServed { program } => {
                write!(f, "{program} does not call laneway_lab::serve at its beginning")
            }
            LabError::Version { own, other } => {
                write!(f, "this is laneway-lab {own}, and the other process of the lab is {other}")
            }
        }
    }
}

impl std::error::Error for LabError {}
