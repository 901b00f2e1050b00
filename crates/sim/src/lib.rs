//! Simulated clusters: schedules and programs in virtual time, exactly and repeatably. Public API,
//! with the crate `laneway`, which passes on what most programs need.
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
//!
//! ```
//! use laneway_coll::find;
//! use laneway_core::{Collective, Shape};
//! use laneway_sim::platform::Platform;
//! use laneway_sim::simulate;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let platform = Platform::read("cluster:8,rate=1Gbit,latency=50us")?;
//! let shape = Shape::new(Collective::Bcast, 8, 1 << 20);
//! let (algorithm, params) = find(Collective::Bcast, "binomial").expect("an algorithm");
//! let schedule = algorithm.schedule(&shape, &params).expect("one that serves the shape");
//! let outcome = simulate(&platform, &*schedule, None)?;
//! assert_eq!(outcome.messages, 7);
//! // 1 MiB takes a card 8.389 ms. Along the longest chain the ranks send 3, 2 and 1 of them at
//! // once, which share the sender's card: 6 * 8.389 ms, and three latencies.
//! assert_eq!(format!("{:.3} ms", outcome.finish * 1e3), "50.482 ms");
//! # Ok(())
//! # }
//! ```

#![warn(missing_docs)]

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
pub use schedule::{Effort, Outcome, Simulation, simulate};
