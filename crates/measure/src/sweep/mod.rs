//! Many points in one run: operations, algorithms, forms, numbers of ranks and sizes.
//!
//! All points are visited in turns, in an order that is shuffled anew each time, so that they share
//! the machine's good and bad spells. A [`Sweep`] says what is measured and how; [`Sweep::run`]
//! does it on a communicator, checks every answer before it is timed, and gives the points on rank
//! 0.
//!
//! ```
//! use laneway_core::Collective;
//! use laneway_measure::sweep::{Choice, Sweep};
//! use laneway_sim::{Program, platform::Platform};
//!
//! let mut sweep = Sweep::new(vec![Collective::Bcast], vec![8, 1 << 20]);
//! sweep.choices = vec![Choice::All];
//! sweep.race = true;
//! let platform = Platform::read("cluster:4").expect("a platform");
//! let ended = Program::new(&platform, 4)
//!     .run(|comm| sweep.run(comm, None, &()))
//!     .expect("it ends");
//! let swept = ended.results.into_iter().next().expect("rank 0").expect("it is measured");
//! let time = |algorithm: &str| {
//!     let mut points = swept.points.iter();
//!     let found = points.find(|m| m.case.answerer.name() == algorithm && m.case.size == 8);
//!     found.map(|measured| measured.point.estimate).expect("it was measured")
//! };
//! assert!(time("binomial") < time("pipeline"));
//! ```

mod bends;
mod bounds;
mod decided;
mod error;
mod need;
mod plan;
mod row;
mod run;
mod skew;

pub use bends::{STRAIGHT, next_size};
pub use bounds::{Bounded, Reading, reading};
pub use decided::{Decided, point_key};
pub use error::{Refusal, SweepError};
pub use plan::{Assume, Case, Choice, Placer, Sweep};
pub use row::brief;
pub use run::{Done, Measured, Observer, Swept};
pub use skew::{MOST_OFFSET, Skew};
