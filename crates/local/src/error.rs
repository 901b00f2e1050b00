//! Why a local run could not begin or go on, and what is known of the cause.

use std::fmt;

use laneway_core::Rank;

/// More ranks than this would need more processes and memory than one machine gives with sense.
pub const MOST_RANKS: u32 = 1024;

/// How a process ended, from the status that the system keeps for its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Death {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl Death {
    pub(crate) fn of(status: i32) -> Death {
        if libc::WIFSIGNALED(status) {
            Death::Signal(libc::WTERMSIG(status))
        } else {
            Death::Code(libc::WEXITSTATUS(status))
        }
    }
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Death::Code(code) => write!(f, "exited with code {code}"),
            Death::Signal(signal) => match signal_name(signal) {
                Some(name) => write!(f, "killed by signal {signal} ({name})"),
                None => write!(f, "killed by signal {signal}"),
            },
        }
    }
}

fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGSYS => "SIGSYS",
        _ => return None,
    })
}

/// Why ranks could not be started, connected or brought to their end; the message of an error says
/// what its fields are.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LocalError {
    /// A number of ranks that one machine cannot serve.
    Ranks { asked: u32 },
    /// Not a transport.
    Transport { word: String },
    /// An environment variable that holds something else than it should.
    Variable { name: &'static str, value: String, expected: &'static str },
    /// A rank died, and took the run with it.
    RankDied { rank: Rank, how: Death },
    /// A rank ended well while others still waited for it, and they gave up.
    RankLeft { rank: Rank },
    /// A rank could not be started.
    Spawn { rank: Rank, error: String },
    /// The operating system said no.
    System { what: String, error: String },
}

impl LocalError {
    pub(crate) fn system(what: impl Into<String>, error: impl fmt::Display) -> LocalError {
        LocalError::System { what: what.into(), error: error.to_string() }
    }

    /// The cause, as far as it is known; the message says what failed.
    pub fn cause(&self) -> String {
        match self {
            LocalError::Ranks { .. } => {
                "each rank is a process with a ring of memory for every other rank".into()
            }
            LocalError::Transport { .. } => {
                "the local backend has the transports shm, unix and tcp".into()
            }
            LocalError::Variable { name, expected, .. } => format!("{name} holds {expected}"),
            LocalError::RankDied { how: Death::Signal(libc::SIGKILL), .. } => {
                "the process was killed, possibly by the kernel's out-of-memory killer".into()
            }
            LocalError::RankDied { .. } => {
                "the rank ended before the others did; its own error, if any, is printed above"
                    .into()
            }
            LocalError::RankLeft { .. } => {
                "it exited with code 0 while others waited for a message from it or to it".into()
            }
            LocalError::Spawn { error, .. } | LocalError::System { error, .. } => error.clone(),
        }
    }
}

impl fmt::Display for LocalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LocalError::Ranks { asked } => {
                write!(f, "{asked} ranks on one machine; 1 to {MOST_RANKS} are possible")
            }
            LocalError::Transport { word } => write!(f, "unknown local transport `{word}`"),
            LocalError::Variable { name, value, .. } => write!(f, "{name} is {value:?}"),
            LocalError::RankDied { rank, how } => write!(f, "rank {rank} died: {how}"),
            LocalError::RankLeft { rank } => write!(f, "rank {rank} left before the others"),
            LocalError::Spawn { rank, .. } => write!(f, "rank {rank} could not be started"),
            LocalError::System { what, .. } => write!(f, "cannot {what}"),
        }
    }
}

impl std::error::Error for LocalError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_death_reads_as_a_person_would_say_it() {
        assert_eq!(Death::of(9).to_string(), "killed by signal 9 (SIGKILL)");
        assert_eq!(Death::of(101 << 8).to_string(), "exited with code 101");
        assert_eq!(Death::of(40).to_string(), "killed by signal 40");
    }

    #[test]
    fn an_error_says_what_failed_and_why() {
        let died = LocalError::RankDied { rank: 3, how: Death::Signal(9) };
        assert_eq!(died.to_string(), "rank 3 died: killed by signal 9 (SIGKILL)");
        assert!(died.cause().contains("out-of-memory"), "{}", died.cause());
    }
}
