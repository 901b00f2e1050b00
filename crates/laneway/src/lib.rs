//! The jobs of laneway for programs, one call each: measure, simulate, choose, prove, connect.
//!
#![doc = include_str!("../README.md")]
//!
//! # Index
//!
//! | to | call |
//! |---|---|
//! | run ranks in this process, in virtual time | [`simulate`], [`simulate_schedule`] |
//! | be a rank of `mpirun`, `srun` or [`launch`] | [`join`], [`is_rank`], [`World`] |
//! | start a program as ranks | [`launch`], [`Launch`], [`Ended`] |
//! | exchange values | [`gather`], [`broadcast`], and the messages of [`Comm`] |
//! | measure a closure, or a collective call | [`measure`], [`measure_call`], [`Rule`], [`Point`] |
//! | measure every algorithm of a call | [`measure_all`] |
//! | find the slow host of a cluster | [`Survey`], [`Findings`] |
//! | choose the fastest algorithm for a call | [`choose`], [`Choice`] |
//! | perform a call by any algorithm | [`find`], [`perform`], [`chosen_schedule`] |
//! | fit a model, and ask it what calls take | [`fit`], [`predict`], [`Fitted`] |
//! | prove a schedule or a fabric's forwarding | [`prove`], [`prove_fabric`] |
//! | count the conflicts of an all-to-all | [`Machine`], [`count`], [`MachineOrder`] |
//! | compare two runs | [`compare`], [`read_run`] |
//! | have connections that survive a dead path | [`connect`], [`connect_to`], [`listen`] |
//! | write an algorithm, a platform, a fabric | [`Schedule`], [`Platform`], [`Fabric`] |
//!
//! A closure that runs on simulated ranks borrows what it likes, here a list of sizes:
//!
//! ```
//! use laneway::{Collective, MeasureOptions, Platform, Shape, measure_call, simulate};
//!
//! let (platform, sizes) = (Platform::read("cluster:4")?, [8, 1 << 20]);
//! let times = simulate(&platform, 4, |comm| -> laneway::Result<Vec<f64>> {
//!     let mut times = Vec::new();
//!     for size in sizes {
//!         let shape = Shape::new(Collective::Bcast, comm.size(), size);
//!         let point = measure_call(comm, &shape, "binomial", &MeasureOptions::default())?;
//!         times.extend(point.map(|point| point.estimate));
//!     }
//!     Ok(times)
//! })?;
//! assert!(times.into_iter().next().is_some_and(|own| own.is_ok_and(|own| own[0] < own[1])));
//! # Ok::<(), laneway::Error>(())
//! ```
//!
//! Every call returns [`Result`], whose [`Error`] says which part failed. Options that may grow are
//! `#[non_exhaustive]` and have a `Default` and `with_…` methods.
//!
//! # What is stable
//!
//! This crate, and the crates whose items it passes on: `laneway-core` (schedules, executor,
//! communicators), `laneway-coll` (algorithms and proofs), `laneway-sim` (platforms and the
//! simulator), `laneway-topo` (fabrics) and `laneway-path` (connections). They are used by
//! themselves where more of them is needed than stands here. All other crates named `laneway-…`
//! are internal, and may change in any version.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod choosing;
mod connecting;
mod error;
mod launch;
mod measuring;
mod models;
mod performing;
mod proving;
mod simulate;
mod values;
mod world;

pub use choosing::{ChooseOptions, choose, choose_with, chosen_schedule};
pub use connecting::{ConnectOptions, Connection, Listener, connect, connect_to, listen};
pub use error::{Error, Result};
pub use launch::{Ended, Launch, launch};
pub use measuring::{MeasureOptions, measure, measure_all, measure_call, measure_with};
pub use models::{FitOptions, Predicted, fit, fit_with, predict};
pub use performing::perform;
pub use proving::{prove, prove_fabric};
pub use simulate::{simulate, simulate_schedule};
pub use values::{Exchange, broadcast, gather};
pub use world::{Backend, World, is_rank, join};

pub use laneway_coll::{
    Algorithm, Fault as ScheduleFault, Parameter, Params, Proof, Refusal, algorithms, find,
};
pub use laneway_connections::{LocalPath, NetError, Secret, Setup};
pub use laneway_core::{
    Blocks, Buffers, Clock, Collective, Combine, Comm, CommError, DataType, Exec, Message,
    Placement, Queue, Rank, ReduceOp, Reduction, Round, Row, Schedule, Shape, Span, Step, Tag,
    USER_TAGS, Value,
};
pub use laneway_local::{LocalError, Transport};
pub use laneway_measure::pairs::{Findings, Gate, Survey, SurveyError};
pub use laneway_measure::repeat::Aim;
pub use laneway_measure::{Method, Point, Procedure, Rule};
pub use laneway_model::{Fitted, Model, ModelError, ModelKind, Range, Request};
pub use laneway_mpi::MpiError;
pub use laneway_net::{RanksError, Starter};
pub use laneway_path::{AckTimeout, Event, PathId, Policy};
pub use laneway_report::compare::{Comparison, Rule as CompareRule, Verdict, compare};
pub use laneway_report::{ReadError, Run, read as read_run};
pub use laneway_sim::platform::{Platform, PlatformError};
pub use laneway_sim::{Outcome, SimError, Simulation};
pub use laneway_sites::{Candidate, Choice, ChoiceError};
pub use laneway_stats::Interval;
pub use laneway_topo::traffic::schedule::Named as MachineOrder;
pub use laneway_topo::{
    Checked, Counted, Error as FabricError, Fabric, Machine, Table, Topology, Wiring, count,
};
