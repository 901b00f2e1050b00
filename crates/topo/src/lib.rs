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
//! use laneway_topo::traffic::schedule::Named;
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
//! of cables and a [`Table`] a forwarding table. [`traffic`] counts which messages of an order
//! share a link and repairs orders, [`proof`] proves a table, [`routing`] makes tables, detours and
//! alternate paths, [`jobs`] plans for a part of the hosts, [`cost`] for budgets, [`files`] are
//! those of fabric software, and [`operations`] are on running fabrics.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cost;
mod error;
pub mod files;
pub mod jobs;
pub mod machine;
pub mod operations;
pub mod proof;
pub mod routing;
mod threads;
pub mod topologies;
pub mod traffic;
pub mod wiring;

pub use laneway_core::node_list;

pub use error::{Error, ErrorKind};
pub use machine::Machine;
pub use machine::recognise::{Recognised, recognise};
pub use operations::watch::{Rerouted, Watch};
pub use proof::check::{Checked, check};
pub use proof::prove::{Agents, Proof, prove, prove_agents, prove_observed};
pub use routing::alternates::{Alternates, alternates};
pub use routing::apart::{PathDiversity, path_diversity};
pub use routing::reroute::reroute;
pub use routing::table::Table;
pub use routing::{Hop, Routing};
pub use topologies::{KINDS, Topology, topology};
pub use traffic::alltoall::{Counted, count};
pub use traffic::conflicts::{Counter, Tally};
pub use traffic::repair::{Loss, Repaired, lost, repair};
pub use wiring::fabric::{Fabric, Part};
pub use wiring::links::Links;
pub use wiring::{End, Host, Port, Switch, Wiring};
