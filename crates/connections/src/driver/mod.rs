//! The interface of connections that migrate, common to all drivers.
//!
//! How connections begin is each driver's own: over UDP by addresses of sockets and a secret, over
//! libibverbs by addresses that the program exchanges. From then on all drivers are alike, and
//! refuse the same things.

pub(crate) mod kind;
pub(crate) mod managed;
pub(crate) mod notice;
pub(crate) mod seal;
pub(crate) mod secret;
pub(crate) mod setup;
pub(crate) mod turns;

use std::time::Duration;

use laneway_path::{Connection, MigrationState, PathId, QpState};

use crate::error::NetError;
use notice::{ConnectionId, Notice};

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The state of its queue pair.
    pub state: QpState,
    /// What becomes of its alternate path.
    pub migration: MigrationState,
    /// The path in use.
    pub primary: PathId,
    /// The alternate path, where there is one.
    pub alternate: Option<PathId>,
}

impl From<&Connection> for Status {
    fn from(connection: &Connection) -> Status {
        Status {
            state: connection.state(),
            migration: connection.migration(),
            primary: connection.primary(),
            alternate: connection.alternate(),
        }
    }
}

/// Carries connections. Nothing happens by itself: [`Driver::progress`] moves what can be moved,
/// [`Driver::wait`] rests until something can.
pub trait Driver {
    /// What carries them, in words.
    fn describe(&self) -> String;

    /// Sends a message; `Event::Sent` reports its arrival, and gives it back.
    fn send(&mut self, to: ConnectionId, id: u64, message: Vec<u8>) -> Result<(), NetError>;

    /// Takes a buffer for one message, as long as its capacity at most; `Event::Received` gives it
    /// back with the message in it.
    fn post_receive(&mut self, of: ConnectionId, id: u64, buffer: Vec<u8>) -> Result<(), NetError>;

    /// Alternate path specification, for each of these.
    fn specify(&mut self, of: &[ConnectionId], path: PathId) -> Result<(), NetError>;

    /// Path loading request, for each of these; `Event::Armed` reports its completion.
    fn load(&mut self, of: &[ConnectionId]) -> Result<(), NetError>;

    /// Path migration, for each of these; refused where one is not armed.
    fn migrate(&mut self, of: &[ConnectionId]) -> Result<(), NetError>;

    /// What a connection is doing.
    fn status(&self, of: ConnectionId) -> Result<Status, NetError>;

    /// Moves what can be moved; false where nothing did.
    fn progress(&mut self) -> bool;

    /// Rests until something can be done, for so long at most, and does it; false where nothing
    /// was.
    fn wait(&mut self, limit: Duration) -> bool;

    /// The next thing that happened.
    fn poll(&mut self) -> Option<Notice>;

    /// Ends a connection; what was not delivered is lost.
    fn close(&mut self, connection: ConnectionId) -> Result<(), NetError>;
}
