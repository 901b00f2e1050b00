//! What can go wrong between connections and the system.

use std::fmt;
use std::io;
use std::net::IpAddr;

use laneway_path::Refusal;

use crate::driver::kind::PathKind;
use crate::driver::seal::Security;

/// Why something could not be done, in a message that says what its fields are; what was there
/// before goes on.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetError {
    /// A call to the system failed.
    System { what: String, why: String },
    /// No port of a range is free at an address.
    NoPort { address: IpAddr, first: u16, last: u16 },
    /// A connection has 1 to 8 paths.
    Paths { count: usize },
    /// Something that names no path, or one that is named already.
    PathName { text: String, why: String },
    /// Only loopback addresses are served without a secret.
    NoSecret { address: IpAddr },
    /// A secret of too few bytes.
    ShortSecret { bytes: usize },
    /// The secret's file cannot be read.
    SecretFile { path: String, why: String },
    /// Other users can read the secret, or own it.
    OpenSecret { path: String, mode: u32, own: bool },
    /// A kind of security that is not one.
    Security { name: String },
    /// A kind of paths that is not one.
    PathKind { name: String },
    /// The peer did not answer in time, or does not know the secret.
    NoAnswer { peer: String, seconds: u64 },
    /// There is no such connection, or not any more.
    UnknownConnection { number: u32 },
    /// All numbers of connections are in use.
    TooManyConnections,
    /// The folder of control sockets cannot be used.
    ControlFolder { folder: String, why: String },
    /// A process does not answer at its control socket.
    NoControl { pid: u32, why: String },
    /// A process refuses what was asked at its control socket.
    ControlRefused { pid: u32, why: String },
    /// A device of libibverbs cannot be used, or not so.
    Device { why: String },
    /// An address of a peer that cannot be one, or not one for this connection.
    Peer { why: &'static str },
    /// A message is longer than the device carries.
    Message { bytes: usize, most: usize },
    /// The connection refused, and goes on as before.
    Refused(Refusal),
}

impl NetError {
    pub(crate) fn system(what: impl Into<String>, error: io::Error) -> NetError {
        NetError::System { what: what.into(), why: error.to_string() }
    }
}

impl From<Refusal> for NetError {
    fn from(refusal: Refusal) -> NetError {
        NetError::Refused(refusal)
    }
}

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetError::System { what, why } => write!(f, "{what}: {why}"),
            NetError::NoPort { address, first, last } => {
                write!(f, "no port from {first} to {last} is free at {address}")
            }
            NetError::Paths { count } => write!(f, "{count} paths; 1 to 8 are possible"),
            NetError::PathName { text, why } => write!(f, "`{text}` cannot be a path: {why}"),
            NetError::NoSecret { address } => {
                write!(f, "without a secret only loopback addresses are served, not {address}")
            }
            NetError::ShortSecret { bytes } => {
                let least = crate::driver::secret::LEAST_BYTES;
                write!(f, "a secret of {bytes} bytes; it needs {least} at least")
            }
            NetError::SecretFile { path, why } => write!(f, "the secret's file {path}: {why}"),
            NetError::OpenSecret { path, own: false, .. } => {
                write!(f, "the secret's file {path} belongs to another user")
            }
            NetError::OpenSecret { path, mode, .. } => {
                write!(f, "others can read the secret's file {path}: mode {mode:03o}, not 600")
            }
            NetError::Security { name } => {
                let names = Security::ALL.map(Security::name).join(", ");
                write!(f, "{} is \"{name}\", not one of {names}", Security::VARIABLE)
            }
            NetError::PathKind { name } => {
                let names = PathKind::ALL.map(PathKind::name).join(", ");
                write!(f, "{} is \"{name}\", not one of {names}", PathKind::VARIABLE)
            }
            NetError::NoAnswer { peer, seconds } => {
                write!(
                    f,
                    "{peer} did not answer within {seconds} s, or has another secret, version or \
                     {}",
                    Security::VARIABLE
                )
            }
            NetError::UnknownConnection { number } => write!(f, "no connection {number}"),
            NetError::TooManyConnections => write!(f, "too many connections"),
            NetError::ControlFolder { folder, why } => {
                write!(f, "the folder of control sockets {folder}: {why}")
            }
            NetError::NoControl { pid, why } => write!(f, "process {pid} does not answer: {why}"),
            NetError::ControlRefused { pid, why } => write!(f, "process {pid} refuses: {why}"),
            NetError::Device { why } => f.write_str(why),
            NetError::Peer { why } => write!(f, "the peer's address: {why}"),
            NetError::Message { bytes, most } => {
                write!(f, "a message of {bytes} bytes; the device carries {most} at most")
            }
            NetError::Refused(refusal) => write!(f, "{refusal}"),
        }
    }
}

impl std::error::Error for NetError {}
