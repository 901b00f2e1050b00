//! What carries the data of a connection: datagrams, or a stream of the kernel on each path.

use crate::error::NetError;

/// What carries the data of a connection. The end that opens it chooses, the other one follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathKind {
    /// UDP packets: the lowest latency, and each packet takes its own way.
    #[default]
    Datagram,
    /// One TCP connection for each path: the most bytes for the processor's time.
    Stream,
}

impl PathKind {
    /// All kinds.
    pub const ALL: [PathKind; 2] = [PathKind::Datagram, PathKind::Stream];

    /// The variable of the environment that chooses one.
    pub const VARIABLE: &str = "LANEWAY_PATH_KIND";

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            PathKind::Datagram => "datagram",
            PathKind::Stream => "stream",
        }
    }

    /// By its name.
    pub fn by_name(name: &str) -> Option<PathKind> {
        PathKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What the environment says, or the usual one.
    pub fn from_env() -> Result<PathKind, NetError> {
        match std::env::var_os(PathKind::VARIABLE) {
            None => Ok(PathKind::default()),
            Some(name) => {
                let known = name.to_str().and_then(PathKind::by_name);
                known.ok_or(NetError::PathKind { name: name.to_string_lossy().into_owned() })
            }
        }
    }

    /// As handshakes carry it.
    pub(crate) fn code(self) -> u8 {
        match self {
            PathKind::Datagram => 0,
            PathKind::Stream => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_again() {
        for kind in PathKind::ALL {
            assert_eq!(PathKind::by_name(kind.name()), Some(kind));
        }
        assert_eq!(PathKind::by_name("tcp"), None);
    }
}
