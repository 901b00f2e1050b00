//! Drives connections of `laneway-path` over UDP: one socket for each path, bound to its interface,
//! with segmentation and receive offload, and a tag of the job's secret on every packet.

#[cfg(not(target_os = "linux"))]
compile_error!("the driver needs Linux: devices that sockets are bound to, and UDP segmentation");

pub mod advice;
pub mod carrier;
pub mod control;
pub mod drill;
pub mod interfaces;
pub mod offload;
pub mod verbs;

mod address;
mod clock;
mod end;
mod endpoint;
mod error;
mod ethtool;
mod handshake;
mod netlink;
mod secret;
mod service;
mod socket;
mod wire;

pub use carrier::{Carrier, Change};
pub use clock::now;
pub use end::Setup;
pub use endpoint::{
    ConnectionId, Dropped, Endpoint, LocalPath, Notice, Options, What, wait_for_any,
};
pub use error::NetError;
pub use interfaces::{Interface, InterfaceError};
pub use secret::Secret;
pub use service::Service;
pub use wire::Traffic;
