//! What happens to connections, in the same words for every driver.

use laneway_path::{Event, PathId};

/// A connection, by the number of its queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u32);

/// What happened to a connection, with the label or the path that it is about.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// It was opened from here, and the peer has accepted.
    Connected,
    /// The peer has opened it, and calls itself so.
    Accepted { label: u64 },
    /// The peer did not answer, or has another secret.
    NoAnswer,
    /// The peer has closed it.
    Closed,
    /// A port of libibverbs that one of its paths begins at came up or went down.
    Path { path: PathId, is_up: bool },
    /// An event of the connection itself.
    Event(Event),
}

/// What happened, and to which connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notice {
    /// The connection.
    pub connection: ConnectionId,
    /// What happened to it.
    pub what: What,
}

/// The first byte of the packet that closes a connection; its number follows, then a tag.
pub(crate) const CLOSE: u8 = 0x45;
