//! Collectives over several sites: the fastest schedule for a call, what the multi-lane paper's
//! cost model says, and what no algorithm can beat. Internal to laneway: it may change in any
//! version, and programs use the crate `laneway`.
//!
//! [`Sites`] chooses by simulating candidates, [`Calls`] does so for many calls and makes rows,
//! [`Simulated`] makes rows for algorithms that the caller chose.
//! [`model`] predicts the paper's algorithm from a few numbers, as printed and as corrected.
//! [`bound`] reads a platform's layout and gives the least time of a scatter or gather on it, with
//! the place that limits it. [`found`] reads what was measured between sites, and writes it as a
//! platform, as rows and as sentences. [`Placed`] makes the calls of a communicator by what is
//! chosen for them. This crate must never know a backend or a clock.
//!
//! Begin with [`Sites`], then [`bound`], then `network.rs`.
//!
//! ```
//! use laneway_core::{Collective, Shape};
//! use laneway_sim::platform::Platform;
//! use laneway_sites::Sites;
//!
//! let platform = Platform::read("two-sites:4x4").expect("a platform");
//! let sites = Sites::one_each(&platform);
//! let shape = Shape::new(Collective::Scatter, sites.placement().ranks(), 1 << 20);
//! let choice = sites.choose(&shape).expect("a choice");
//! let bound = choice.bound.expect("a bound").time;
//! assert!(choice.best.time >= bound && choice.best.time < 1.1 * bound);
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod bound;
mod calls;
mod choose;
mod fit;
pub mod found;
pub mod model;

mod linear;
mod load;
mod maxflow;
mod network;
mod placed;
mod rates;
mod search;
mod simulated;
mod testbed;

pub use calls::{Calls, Choices, LaneTimes, Lanes, LanesError, Unsearched};
pub use choose::{Candidate, Choice, ChoiceError, Sites};
pub use placed::{Chosen, PlaceError, Placed};
pub use simulated::{NotSimulated, Run, Simulated, Times};
pub use testbed::{NotTwoSites, Sharing};
