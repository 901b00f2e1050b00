//! Drills for connections that migrate between paths: two hosts of a lab with two paths between
//! them, messages there and back, faults on the path in use, and the distribution of the stalls
//! that the messages saw. Internal to laneway: it may change in any version, and programs use the
//! crate `laneway`.
//!
//! It must never know arguments, words of a command or exit codes, and nothing of collectives:
//! traffic is that of [`laneway_connections::drill`], hosts and faults are those of
//! [`laneway_lab`]. Begin with [`Stage`], which is the two hosts, then [`Round`], which is one
//! experiment on them, and [`judge()`], which makes figures of what was seen. [`observe`] is for
//! traffic with another machine, where the paths are broken by other means.
//!
//! A drill needs root, as a lab does. The program itself guards the lab in a second process, which
//! removes it whatever becomes of the first: [`laneway_lab::serve`] is called at the beginning.
//!
//! ```no_run
//! use laneway_drill::{DrillError, Kind, Round, Stage, StageOptions, judge};
//! use laneway_stats::SplitMix64;
//!
//! fn main() -> Result<(), DrillError> {
//!     if let Some(done) = laneway_lab::serve() {
//!         return Ok(done?);
//!     }
//!     let stage = Stage::build(&StageOptions { rate: "10Gbit".into(), ..Default::default() })?;
//!     let round = Round { kind: Kind::CarrierSender, faults: 20, ..Default::default() };
//!     let seen = stage.run(&round, &mut SplitMix64::new(1), |done| eprintln!("{done}/20"))?;
//!     let verdict = judge(&round, &seen);
//!     println!("{:?} ms at most, {} messages lost", verdict.stall_max_ms, verdict.lost);
//!     stage.remove()
//! }
//! ```
//!
//! What a fault is in the lab's words can be asked without root:
//!
//! ```
//! use laneway_drill::Kind;
//! use laneway_stats::SplitMix64;
//!
//! let kind = Kind::by_name("drop").expect("a kind of fault");
//! let steps = kind.steps("n0", "n1", 1, 0.4, &mut SplitMix64::new(1));
//! assert_eq!(steps[0].fault, "drop n0:eth1");
//! assert!((0.1..=0.4).contains(&steps[0].lasts));
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod disturb;
mod error;
mod judge;
mod kinds;
mod remote;
mod stage;

pub use error::DrillError;
pub use judge::{Verdict, judge};
pub use kinds::{FaultStep, Kind};
pub use laneway_connections::drill::Load;
pub use remote::{Observed, observe};
pub use stage::{Round, Seen, Stage, StageOptions, Struck};
