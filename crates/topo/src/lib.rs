//! Fabrics: what is plugged into what, how messages find their way, and which of them meet.
//!
//! A [`Wiring`] says what is at the end of every port, a [`Routing`] by which port a switch sends
//! to a host. A topology of [`topologies`] is both, by formula; a [`Fabric`] is a list of cables
//! and a [`Table`] a forwarding table. [`conflicts`] counts which messages of an order share a
//! link, [`prove()`] proves a table, [`apart()`] compares its paths, [`alternates()`] chooses two
//! of them, [`engines`] make a table, [`reroute()`] and [`repair()`] answer failures, [`job`] plans
//! for a part of the hosts, and [`formats`] are files of fabric software.

pub mod agents;
pub mod alternates;
pub mod apart;
pub mod change;
pub mod conflicts;
pub mod cost;
pub mod differ;
pub mod engines;
pub mod fabric;
mod follow;
pub mod formats;
pub mod graph;
pub mod job;
pub mod links;
pub mod map;
pub mod node_list;
pub mod order;
pub mod prove;
pub mod recognise;
pub mod repair;
pub mod reroute;
pub mod routing;
pub mod sample;
pub mod symmetry;
pub mod table;
mod threads;
pub mod topologies;
mod waits;
mod ways;
pub mod wiring;

pub use alternates::{Alternates, alternates};
pub use apart::{Apart, apart};
pub use conflicts::{Counter, Tally};
pub use fabric::{Fabric, Part};
pub use links::Links;
pub use prove::{Agents, Proof, prove, prove_agents};
pub use recognise::{Recognised, recognise};
pub use repair::{Loss, Repaired, lost, repair};
pub use reroute::reroute;
pub use routing::{Hop, Routing};
pub use table::Table;
pub use topologies::{KINDS, Topology, topology};
pub use wiring::{End, Host, Port, Switch, Wiring};
