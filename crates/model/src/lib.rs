//! Communication performance models: Hockney, LogGP, PLogP and the heterogeneous LMO model.
//! Internal to laneway: it may change in any version, and programs use the crate `laneway`.
//!
//! A model is estimated over any [`Comm`](laneway_core::Comm) by experiments on disjoint pairs and
//! triples ([`estimate()`]), fitted with an interval for every parameter ([`fit`]), saved and
//! loaded ([`Fitted::save`], [`Fitted::load`]), asked what any schedule takes
//! ([`Fitted::predict`]), and written as a platform for the simulator ([`platform_text`]). It times
//! nothing itself: that is `laneway-measure`. It executes nothing itself: a model is a network for
//! the engine of `laneway-sim`, so that one executor reads schedules for all. It must never know a
//! backend, nor read a clock other than that of its communicator.
//!
//! Begin with [`estimate()`], then [`Lmo`], then `read.rs`.
//!
//! ```
//! use laneway_coll::find;
//! use laneway_core::{Collective, Shape};
//! use laneway_model::{ModelKind, Request, estimate, fit};
//! use laneway_sim::{Program, platform::Platform, simulate};
//!
//! let platform = Platform::read("cluster:4,send=5us,receive=4us,per-byte=1ns").expect("hosts");
//! let ended = Program::new(&platform, 4)
//!     .run(|comm| estimate(comm, &Request::default()))
//!     .expect("it ends");
//! let experiments = ended.results[0].clone().expect("no error").expect("rank 0 knows");
//! let fitted = fit(&experiments, ModelKind::Lmo).expect("a model");
//!
//! let shape = Shape::new(Collective::Scatter, 4, 10_000);
//! let (algorithm, params) = find(Collective::Scatter, "binomial").expect("an algorithm");
//! let schedule = algorithm.schedule(&shape, &params).expect("a schedule");
//! let predicted = fitted.predict(&*schedule).expect("the model holds");
//! let truth = simulate(&platform, &*schedule, None).expect("it runs").finish;
//! assert!((predicted.seconds / truth - 1.0).abs() < 0.01);
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod alike;
mod brief;
mod calls;
mod carrier;
mod closed;
mod compare;
mod copied;
mod error;
mod estimate;
mod experiments;
mod file;
mod follow;
mod hockney;
mod line;
mod lmo;
mod loggp;
mod meter;
mod model;
mod network;
mod others;
mod parameter;
mod placed;
mod platform;
mod plogp;
mod ports;
mod probe;
mod quality;
mod read;
mod rows;
mod sweep;

pub use alike::Alike;
pub use brief::Brief;
pub use calls::{Call, Choice, Crossover, Row, crossovers, predict_all, predict_some};
pub use closed::closed_form;
pub use compare::{Cell, Compared, Comparison, compare, time_calls};
pub use error::ModelError;
pub use estimate::{Request, estimate, estimate_observed};
pub use experiments::{ALL_EAGER, Cost, Experiments, Kind, Timed};
pub use file::share;
pub use follow::{Double, Overtake};
pub use hockney::{Hockney, Lines};
pub use line::Line;
pub use lmo::{Host, Lmo, OverheadFactor, Pair, SizeFactor};
pub use loggp::LogGp;
pub use meter::Meter;
pub use model::{Fitted, Model, ModelKind, checks, fit};
pub use parameter::{End, Parameter};
pub use placed::needs_placement;
pub use platform::platform_text;
pub use plogp::{PLogP, Step};
pub use probe::{Direction, Echo, Fan, Shift};
pub use quality::{Check, Quality};
pub use read::{Prediction, Range};
pub use sweep::{Escalation, Leap, Sweep, sweep};
