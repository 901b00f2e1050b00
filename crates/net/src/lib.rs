//! Drives connections of `laneway-path` over UDP: one socket for each path, bound to its interface,
//! with segmentation and receive offload, and a tag of the job's secret on every packet. The same
//! interface, [`Driver`], over libibverbs is in [`verbs`], and in virtual time in [`simulated`].

#[cfg(not(target_os = "linux"))]
compile_error!("the driver needs Linux: devices that sockets are bound to, and UDP segmentation");

pub mod advice;
pub mod carrier;
pub mod drill;
pub mod driver;
pub mod interfaces;
pub mod offload;
pub mod simulated;
pub mod verbs;

mod address;
mod clock;
mod end;
mod endpoint;
mod error;
mod ethtool;
mod handshake;
mod managed;
mod netlink;
mod secret;
mod service;
mod socket;
mod wire;

pub use carrier::{Carrier, Change};
pub use clock::now;
pub use driver::{Driver, Status};
pub use end::Setup;
pub use endpoint::{
    ConnectionId, Dropped, Endpoint, LocalPath, Notice, Options, What, wait_for_any,
};
pub use error::NetError;
pub use interfaces::{Interface, InterfaceError};
pub use secret::Secret;
pub use service::Service;
