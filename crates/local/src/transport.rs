//! The three ways in which ranks of one machine can be connected, and their words.

use std::fmt;
use std::str::FromStr;

use crate::error::LocalError;

/// How the ranks of one machine are connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// Rings in shared memory, and copies straight from process to process for long messages.
    #[default]
    Memory,
    /// Unix sockets without a file.
    Unix,
    /// TCP over the loopback interface.
    Tcp,
}

impl Transport {
    /// All of them, the usual one first.
    pub const ALL: [Transport; 3] = [Transport::Memory, Transport::Unix, Transport::Tcp];

    /// The word for it, as in `local:shm`.
    pub fn name(self) -> &'static str {
        match self {
            Transport::Memory => "shm",
            Transport::Unix => "unix",
            Transport::Tcp => "tcp",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Transport {
    type Err = LocalError;

    fn from_str(word: &str) -> Result<Transport, LocalError> {
        Transport::ALL
            .into_iter()
            .find(|transport| transport.name() == word)
            .ok_or_else(|| LocalError::Transport { word: word.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_back() {
        for transport in Transport::ALL {
            assert_eq!(transport.name().parse(), Ok(transport));
        }
        assert!("smoke".parse::<Transport>().is_err());
    }
}
