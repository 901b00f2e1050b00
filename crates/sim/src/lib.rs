//! Simulated clusters: schedules in virtual time, exactly and repeatably.
//!
//! It must never know a real clock, a socket or another backend, and iterates over nothing
//! unordered: the same platform and schedule give the same digits on any machine. A [`platform`]
//! says what there is; it is seen by the engine as a [`Network`] of resources and routes; [`flow`]
//! shares the resources among the messages under way; [`schedule`] runs a collective on it by
//! events alone, and sees the engine as a [`Carrier`], which a packet-level one could be as well.
//!
//! Begin with [`network`], then [`flow`], then [`schedule`].

#![forbid(unsafe_code)]

pub mod carrier;
pub mod flow;
pub mod network;
pub mod platform;
pub mod schedule;

pub use carrier::{Carrier, MessageId};
pub use flow::{Fairness, Flows};
pub use network::{HostCost, HostId, Network, Resource, ResourceId, Route};
pub use schedule::{Delivery, Observer, Outcome, SimError, Simulation, Stuck, simulate};
