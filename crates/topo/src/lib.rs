//! Fabrics: what is plugged into what, how messages find their way, and which of them meet. Public
//! API, with the crate `laneway`, which passes on what most programs need.
//!
//! It must never know a command line, a clock or a socket: it reads files where it is given their
//! names, and gives the same answer every time. Results are values with a `row`, errors are
//! [`Error`].
//!
//! Begin with [`Machine`]: a fabric by its name or from a file, whole or damaged, with its
//! forwarding.
//!
//! ```
//! use laneway_topo::schedule::Named;
//! use laneway_topo::{Machine, check, count};
//!
//! // A cable fails: the forwarding takes detours, and the all-to-all is repaired.
//! let machine = Machine::named("mlfm:d=4")?.fail(&["link:vertex-0-0/5"], 1)?.route(None)?;
//! let checked = check(&machine);
//! assert!(checked.holds() && checked.unreached() == 0);
//! let repaired = count(&machine, &Named::new(&machine, "repaired", 1)?)?;
//! assert_eq!(repaired.tally.worst(), 1);
//! # Ok::<(), laneway_topo::Error>(())
//! ```
//!
//! Below it a [`Wiring`] says what is at the end of every port, a [`Routing`] by which port a
//! switch sends to a host. A topology of [`topologies`] is both, by formula; a [`Fabric`] is a list
//! of cables and a [`Table`] a forwarding table. [`conflicts`] counts which messages of an order
//! share a link, [`prove()`] proves a table, [`path_diversity()`] compares its paths,
//! [`alternates()`]
//! chooses two of them, [`engines`] make a table, [`reroute()`] and [`repair()`] answer failures,
//! [`job`] plans for a part of the hosts, and [`formats`] are files of fabric software. Above it
//! stand [`check()`], [`count()`], [`permutations`], [`budget`], [`install`], [`export`], [`watch`]
//! and [`jobs`].

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod addresses;
pub mod agents;
pub mod alltoall;
pub mod alternates;
pub mod apart;
pub mod budget;
pub mod change;
pub mod check;
pub mod conflicts;
pub mod cost;
pub mod differ;
pub mod engines;
pub mod error;
pub mod explain;
pub mod export;
pub mod fabric;
pub mod failures;
mod follow;
pub mod formats;
pub mod graph;
pub mod install;
pub mod job;
pub mod jobs;
pub mod links;
pub mod machine;
pub mod map;
pub mod order;
pub mod permutations;
pub mod prove;
pub mod recognise;
pub mod repair;
pub mod reroute;
pub mod routing;
pub mod sample;
pub mod schedule;
pub mod symmetry;
pub mod table;
mod threads;
pub mod topologies;
mod waits;
pub mod watch;
mod ways;
pub mod wiring;

pub use laneway_core::node_list;

pub use alltoall::{Counted, count};
pub use alternates::{Alternates, alternates};
pub use apart::{PathDiversity, path_diversity};
pub use check::{Checked, check};
pub use conflicts::{Counter, Tally};
pub use error::{Error, ErrorKind};
pub use fabric::{Fabric, Part};
pub use links::Links;
pub use machine::Machine;
pub use prove::{Agents, Proof, prove, prove_agents, prove_observed};
pub use recognise::{Recognised, recognise};
pub use repair::{Loss, Repaired, lost, repair};
pub use reroute::reroute;
pub use routing::{Hop, Routing};
pub use table::Table;
pub use topologies::{KINDS, Topology, topology};
pub use watch::{Rerouted, Watch};
pub use wiring::{End, Host, Port, Switch, Wiring};
