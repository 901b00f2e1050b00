//! How the threads of a process may call MPI, and what is asked for.

use crate::error::MpiError;
use crate::flavour::Flavour;

/// Names the level to ask for.
const VARIABLE: &str = "LANEWAY_MPI_THREADS";

/// How the threads of a process may call MPI, from the least to the most.
///
/// Nothing here calls MPI from a second thread: the command's watchdog sleeps, reads a counter and
/// may end the process. So the least is asked for, which is the fastest where a library guards its
/// calls from the next level on, as Open MPI 4 does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThreadLevel {
    /// Only one thread exists.
    #[default]
    Single,
    /// Only the thread that started MPI calls it.
    Funneled,
    /// Any thread calls it, one at a time.
    Serialized,
    /// Any threads call it at once.
    Multiple,
}

impl ThreadLevel {
    /// All of them, from the least to the most.
    pub const ALL: [ThreadLevel; 4] = [
        ThreadLevel::Single,
        ThreadLevel::Funneled,
        ThreadLevel::Serialized,
        ThreadLevel::Multiple,
    ];

    /// What `LANEWAY_MPI_THREADS` asks for; `single` where it is not set.
    pub fn asked() -> Result<ThreadLevel, MpiError> {
        let Some(word) = std::env::var_os(VARIABLE) else { return Ok(ThreadLevel::default()) };
        ThreadLevel::parse(&word.to_string_lossy())
    }

    fn parse(word: &str) -> Result<ThreadLevel, MpiError> {
        if word.is_empty() {
            return Ok(ThreadLevel::default());
        }
        let named = ThreadLevel::ALL.into_iter().find(|level| level.name() == word);
        named.ok_or_else(|| MpiError::NoThreadLevel { asked: word.into(), variable: VARIABLE })
    }

    /// The level that a library answered.
    pub(crate) fn of(flavour: &Flavour, provided: i32) -> ThreadLevel {
        let level = flavour.threads.iter().position(|&level| level == provided);
        ThreadLevel::ALL[level.unwrap_or(0)]
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            ThreadLevel::Single => "single",
            ThreadLevel::Funneled => "funneled",
            ThreadLevel::Serialized => "serialized",
            ThreadLevel::Multiple => "multiple",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_read_and_nonsense_is_refused() {
        for level in ThreadLevel::ALL {
            assert_eq!(ThreadLevel::parse(level.name()), Ok(level));
        }
        assert_eq!(ThreadLevel::parse(""), Ok(ThreadLevel::Single));
        for nonsense in ["Single", "MPI_THREAD_SINGLE", "0", " ", "multiple "] {
            let error = ThreadLevel::parse(nonsense).expect_err(nonsense);
            let said = format!("{error}: {}", error.cause());
            assert!(said.contains(&format!("'{nonsense}'")) && said.contains(VARIABLE), "{said}");
        }
    }
}
