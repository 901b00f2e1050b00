//! Simulated clusters: schedules and programs in virtual time, exactly and repeatably.
//!
//! It must never know a real clock, a socket or another backend, and iterates over nothing
//! unordered: the same platform and schedule give the same digits on any machine. A [`platform`]
//! says what there is; it is seen by the engine as a [`Network`] of resources and routes; [`flow`]
//! shares the resources among the messages under way, and is seen as a [`Carrier`], which a
//! packet-level engine could be as well; `cluster` lets messages meet their receives and takes the
//! hosts' time. On it [`schedule`] runs a collective by events alone, and [`program`] whatever is
//! written against `Comm`.
//!
//! Begin with [`network`], then [`flow`], then [`schedule`].

pub mod carrier;
mod cluster;
mod congestion;
pub mod error;
pub mod flow;
mod instant;
mod links;
pub mod network;
pub mod platform;
pub mod program;
pub mod record;
pub mod schedule;

pub use carrier::{Carrier, MessageId};
pub use cluster::{Delivery, Observer};
pub use congestion::Congestion;
pub use error::{SimError, Stuck};
pub use flow::Flows;
pub use links::{LinkLoad, LinkRecord, RecordError, record_links};
pub use network::{
    Background, Change, Fairness, HostClock, HostCost, HostId, Network, Overflow, Resource,
    ResourceId, Route, Traffic,
};
pub use program::{Ended, Program};
pub use record::{Direction, Intervals, Recorder, directions};
pub use schedule::{Outcome, Simulation, simulate};
