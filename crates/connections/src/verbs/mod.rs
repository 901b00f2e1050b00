//! Connections over libibverbs, which is opened where there is one: **untested on hardware**.
//!
//! No InfiniBand device was at hand. What is tested: every layout and constant against the real
//! header, and the drivers against a library that stands in for libibverbs and its devices.
//!
//! Where all paths are InfiniBand ports of one device, the device itself migrates ([`open`] gives a
//! driver that loads alternate paths into its reliable queue pairs). Linux refuses alternate paths
//! on RoCE, and no device reaches another device's ports: there, connections of `laneway-path`
//! migrate in software, with a queue pair for datagrams in place of each UDP socket.
//!
//! Begin with [`Addressed`]; `ffi.rs` has what is C, `queue_pair.rs` the transitions, `hardware.rs`
//! and `software.rs` the two drivers.

mod address;
mod device;
mod devices;
mod ffi;
mod hardware;
#[cfg(test)]
mod layouts;
mod library;
mod local;
mod memory;
mod pair;
mod queue_pair;
mod software;
mod wire;

pub use address::{Address, Kind, PathAddress};
pub use devices::{Device, Port, devices};
pub use library::NoDevices;

use laneway_path::AckTimeout;
use laneway_path::wire::MOST_PATHS;

use crate::driver::Driver;
use crate::driver::notice::ConnectionId;
use crate::driver::secret::Secret;
use crate::driver::setup::Setup;
use crate::error::NetError;
use local::Local;

/// This end of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerbsPath {
    /// As libibverbs names it.
    pub device: String,
    /// The device's port, from 1.
    pub port: u8,
    /// Which of a port's several addresses: each may have a route of its own (LMC).
    pub path_bits: u8,
    /// Where the port's address lies in its table of GIDs; of use on RoCE.
    pub gid_index: u8,
}

/// What a driver is opened with.
#[derive(Clone, Debug)]
pub struct VerbsOptions {
    /// In place of libibverbs: a library that has its functions.
    pub library: Option<String>,
    /// Both ends have them in the same order.
    pub paths: Vec<VerbsPath>,
    /// For migration in software, whose packets carry a tag. A device's own have none.
    pub secret: Secret,
    /// How connections are set up.
    pub setup: Setup,
}

impl VerbsOptions {
    /// Keeps an alternate path armed; a device finds a dead path in about half a second.
    pub fn usual(paths: Vec<VerbsPath>) -> VerbsOptions {
        let ack_timeout = AckTimeout::new(14).unwrap_or(AckTimeout::NEVER);
        let setup = Setup { ack_timeout, ..Setup::usual() };
        VerbsOptions { library: None, paths, secret: Secret::none(), setup }
    }
}

/// A driver whose connections are made of addresses that the program exchanges.
///
/// Both ends prepare, hand each other their addresses, and connect.
pub trait Addressed: Driver {
    /// A connection that has no peer yet, and where it is. Receives may be posted.
    fn prepare(&mut self) -> Result<(ConnectionId, Address), NetError>;

    /// Connects it with its peer; `What::Connected` reports that this end is ready.
    fn connect(&mut self, connection: ConnectionId, peer: &Address) -> Result<(), NetError>;
}

/// Opens the devices of these paths: for migration by the device where it can, else in software.
pub fn open(options: VerbsOptions) -> Result<Box<dyn Addressed + Send>, NetError> {
    let VerbsOptions { library, paths, secret, setup } = options;
    if !(1..=MOST_PATHS).contains(&paths.len()) || usize::from(setup.primary.0) >= paths.len() {
        return Err(NetError::Paths { count: paths.len() });
    }
    if setup.spread {
        let why = "both ends name the first path of a connection here: `primary`, not `spread`";
        return Err(NetError::Device { why: why.into() });
    }
    let locals = Local::open_all(library.as_deref(), &paths)?;
    let of_one_device = paths.iter().all(|path| path.device == paths[0].device);
    Ok(match of_one_device && locals.iter().all(|local| !local.is_ethernet) {
        true => Box::new(hardware::Hardware::new(locals, setup)?),
        false => Box::new(software::Software::new(locals, secret, setup)?),
    })
}
