//! The inventory of network interfaces: what the kernel lists and offers, carriers and queues of
//! devices, and advice on which interfaces can be paths.

pub mod advice;
pub mod carrier;
pub mod interfaces;
pub mod offload;

pub(crate) mod path_name;
pub(crate) mod queue;

mod ethtool;
mod netlink;
