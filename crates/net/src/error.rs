//! Why ranks could not be started, connected or brought to their end, and what is known of the
//! cause.

use std::fmt;

use laneway_core::Rank;

/// Every rank has connections to all others.
pub const MOST_RANKS: u32 = 1024;

/// How the process of a rank ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Death {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Death::Code(code) => write!(f, "exited with code {code}"),
            Death::Signal(libc::SIGKILL) => write!(f, "killed by signal 9 (SIGKILL)"),
            Death::Signal(signal) => write!(f, "killed by signal {signal}"),
        }
    }
}

/// Why a run could not begin or go on; the message of an error says what its fields are.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RanksError {
    /// A number of ranks that cannot be served.
    Ranks { asked: u32 },
    /// A number of connections a pair that cannot be.
    Connections { asked: usize },
    /// One connection, or one path, cannot be spread.
    Spread { what: String },
    /// A text that is not a list of hosts.
    Hosts { text: String, why: String },
    /// The file of hosts holds something else.
    Hostfile { file: String, why: String },
    /// A file of hosts cannot be read.
    HostfileUnread { file: String, why: String },
    /// More ranks than the hosts have slots.
    Slots { asked: u32, slots: u32 },
    /// The process that should become a rank could not be started.
    Spawn { rank: Rank, program: String, error: String },
    /// The process of a rank ended before it was one.
    NotStarted { rank: Rank, host: String, how: Death },
    /// A rank is there and says why it cannot take part.
    Refused { rank: Rank, host: String, error: Box<RanksError> },
    /// A rank did not come as far as this in time.
    Late { rank: Rank, host: String, seconds: u64, what: &'static str },
    /// The hosts have no networks in common, in the same order.
    Networks { one: (String, String), other: (String, String) },
    /// Two hosts have one and the same address.
    SameAddress { address: String, hosts: [String; 2] },
    /// A rank died, and took the run with it.
    RankDied { rank: Rank, host: String, how: Death },
    /// The launcher said something that this version does not understand.
    Launcher { what: String },
    /// An interface that is to be a path and cannot be.
    Device { device: String, why: String },
    /// A rank did not answer over any path.
    NoAnswer { rank: Rank, host: String, addresses: String, seconds: u64 },
    /// The operating system said no.
    System { what: String, error: String },
}

impl RanksError {
    pub(crate) fn system(what: impl Into<String>, error: impl fmt::Display) -> RanksError {
        RanksError::System { what: what.into(), error: error.to_string() }
    }

    /// The cause, as far as it is known; the message says what failed.
    pub fn cause(&self) -> String {
        match self {
            RanksError::Ranks { .. } => "every rank has a connection to each of the others".into(),
            RanksError::Connections { .. } => {
                "messages use them in turn, and a few are sufficient".into()
            }
            RanksError::Spread { .. } => {
                "the connections of a pair start on different paths".into()
            }
            RanksError::Hosts { why, .. }
            | RanksError::Hostfile { why, .. }
            | RanksError::HostfileUnread { why, .. }
            | RanksError::Device { why, .. } => why.clone(),
            RanksError::Slots { slots, .. } => format!("the hosts have slots for {slots} ranks"),
            RanksError::Spawn { error, .. } | RanksError::System { error, .. } => error.clone(),
            RanksError::NotStarted { .. } => {
                "the error of its shell, or of the program that starts it, is printed above".into()
            }
            RanksError::Refused { error, .. } => error.cause(),
            RanksError::Late { .. } => {
                "the host does not answer, asks for a password, or is overloaded".into()
            }
            RanksError::Networks { one, other } => {
                format!("{} has {}, and {} has {}", one.0, one.1, other.0, other.1)
            }
            RanksError::SameAddress { .. } => {
                "a container bridge, or a misconfigured interface: it reaches no other host".into()
            }
            RanksError::RankDied { how: Death::Signal(libc::SIGKILL), .. } => {
                "the process was killed, possibly by the kernel's out-of-memory killer".into()
            }
            RanksError::RankDied { .. } => {
                "the rank ended before the others did; its own error, if any, is printed above"
                    .into()
            }
            RanksError::Launcher { .. } => {
                "the launcher is another version of this program, or no launcher".into()
            }
            RanksError::NoAnswer { addresses, .. } => {
                format!("nothing came back from {addresses}: a firewall, or no route to it")
            }
        }
    }
}

impl fmt::Display for RanksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RanksError::Ranks { asked } => {
                write!(f, "{asked} ranks; 1 to {MOST_RANKS} are possible")
            }
            RanksError::Connections { asked } => {
                let most = crate::MOST_CONNECTIONS;
                write!(f, "{asked} connections per pair of ranks; 1 to {most} are possible")
            }
            RanksError::Spread { what } => write!(f, "{what} cannot be spread over paths"),
            RanksError::Hosts { text, .. } => write!(f, "`{text}` is not a list of hosts"),
            RanksError::Hostfile { file, .. } => write!(f, "the hostfile {file} cannot be used"),
            RanksError::HostfileUnread { file, .. } => {
                write!(f, "the hostfile {file} cannot be read")
            }
            RanksError::Slots { asked, .. } => write!(f, "no room for {asked} ranks"),
            RanksError::Spawn { rank, program, .. } => {
                write!(f, "rank {rank} could not be started by {program}")
            }
            RanksError::NotStarted { rank, host, how } => {
                write!(f, "rank {rank} could not be started on {host}: {how}")
            }
            RanksError::Refused { rank, host, error } => {
                write!(f, "rank {rank} on {host}: {error}")
            }
            RanksError::Late { rank, host, seconds, what } => {
                write!(f, "rank {rank} on {host} did not {what} within {seconds} s")
            }
            RanksError::Networks { .. } => {
                write!(f, "it is ambiguous which interfaces connect the hosts")
            }
            RanksError::SameAddress { address, hosts: [one, other] } => {
                write!(f, "{one} and {other} both have the address {address}")
            }
            RanksError::RankDied { rank, host, how } => {
                write!(f, "rank {rank} on {host} died: {how}")
            }
            RanksError::Launcher { what } => write!(f, "the launcher's {what} is invalid"),
            RanksError::Device { device, .. } => write!(f, "{device} cannot be a path"),
            RanksError::NoAnswer { rank, host, seconds, .. } => {
                write!(f, "rank {rank} on {host} did not answer within {seconds} s")
            }
            RanksError::System { what, .. } => write!(f, "cannot {what}"),
        }
    }
}

impl std::error::Error for RanksError {}
