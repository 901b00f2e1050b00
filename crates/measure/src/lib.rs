//! Times operations: several methods, one clock for all ranks, stopping rules, an interval with
//! every figure. Internal to laneway: it may change in any version, and programs use the crate
//! `laneway`.
//!
//! It is generic over [`Comm`](laneway_core::Comm) and must never know a backend: the same code
//! runs over MPI, on processes of this machine and in virtual time. What is timed is an
//! [`Operation`]: a schedule of the registry, the library's own collective, or any closure. A
//! [`Timing`] method takes batches of samples, a [`Rule`] says when there are enough, and
//! [`measure`] puts them together as a [`Point`].
//!
//! Begin with [`measure`], then [`timing`], then [`clock`].
//!
//! A collective, here on four simulated hosts; rank 0 knows the point:
//!
//! ```
//! use laneway_coll::find;
//! use laneway_core::{Collective as Kind, Comm, CommError, Shape};
//! use laneway_measure::operation::Answerer;
//! use laneway_measure::timing::StartTime;
//! use laneway_measure::{Collective, GlobalClock, Procedure, Rule, Stage, measure};
//! use laneway_sim::{Program, platform::Platform};
//!
//! fn program(comm: &dyn Comm) -> Result<Option<[f64; 3]>, CommError> {
//!     let shape = Shape::new(Kind::Bcast, comm.size(), 1000);
//!     let (algorithm, params) = find(Kind::Bcast, "linear").expect("an algorithm");
//!     let mut bcast = Collective::new(comm, &shape, Answerer::Ours(algorithm, params))
//!         .expect("it serves this shape");
//!     assert_eq!(bcast.validate()?, None);
//!     // A communicator of our own, so that no message meets one of the operation.
//!     let own = comm.dup()?;
//!     let clock = GlobalClock::new(&*own, Procedure::default());
//!     let mut stage = Stage::new(&*own, clock);
//!     let mut timing = StartTime::default();
//!     let point = measure(&mut stage, &mut timing, &mut bcast.ready()?, &Rule::default())?;
//!     Ok(point.and_then(|point| {
//!         let interval = point.interval?;
//!         Some([interval.low, point.estimate, interval.high])
//!     }))
//! }
//!
//! let platform = Platform::read("cluster:4").expect("a platform");
//! let ended = Program::new(&platform, 4).run(program).expect("it ends");
//! let [low, time, high] = ended.results[0].clone().expect("no error").expect("an interval");
//! // 50 us of latency, and 8 us for each of three messages that leave by one card.
//! assert!(low <= time && time <= high && (time - 74e-6).abs() < 1e-6, "{time}");
//! ```
//!
//! Any closure is an operation. Here each rank sends to the next in a ring, with the rule of
//! the MPIBlib paper: 5 to 100 repetitions, until the error is at most 5 %:
//!
//! ```
//! use laneway_core::{Comm, CommError};
//! use laneway_measure::timing::Maximum;
//! use laneway_measure::{GlobalClock, Procedure, Rule, Stage, measure};
//! use laneway_sim::{Program, platform::Platform};
//!
//! fn program(comm: &dyn Comm) -> Result<Option<(f64, Option<f64>)>, CommError> {
//!     let (rank, ranks) = (comm.rank(), comm.size());
//!     let mut ring = || {
//!         comm.send((rank + 1) % ranks, 7, &[1; 100])?;
//!         comm.recv(Some((rank + ranks - 1) % ranks), Some(7), &mut [0; 100])?;
//!         Ok::<(), CommError>(())
//!     };
//!     let own = comm.dup()?;
//!     let clock = GlobalClock::new(&*own, Procedure::default());
//!     let mut stage = Stage::new(&*own, clock);
//!     let rule = Rule::paper(5, 100, 0.05);
//!     let point = measure(&mut stage, &mut Maximum, &mut ring, &rule)?;
//!     Ok(point.map(|point| (point.estimate, point.error)))
//! }
//!
//! let platform = Platform::read("cluster:4").expect("a platform");
//! let ended = Program::new(&platform, 4).run(program).expect("it ends");
//! let (time, error) = ended.results[0].clone().expect("no error").expect("rank 0 knows");
//! assert!(time > 50e-6 && error <= Some(0.05), "{time} {error:?}");
//! ```
//!
//! Round trips between all pairs, those without a common rank at the same time:
//!
//! ```
//! use laneway_measure::Rule;
//! use laneway_measure::p2p::{Lab, round_trips};
//! use laneway_sim::{Program, platform::Platform};
//!
//! let platform = Platform::read("cluster:4").expect("a platform");
//! let ended = Program::new(&platform, 4)
//!     .run(|comm| round_trips(&Lab::new(comm, Rule::default()), 4000, 0, true))
//!     .expect("it ends");
//! let found = ended.results[0].clone().expect("no error").expect("rank 0 knows");
//! assert_eq!(found.pairs, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
//! // 50 us of latency each way, and 32 us for the bytes.
//! assert!(found.estimates.iter().all(|time| (time - 132e-6).abs() < 1e-6));
//! ```

#![warn(missing_docs)]

mod cache;
pub mod clock;
pub mod flags;
pub mod isolation;
pub mod operation;
pub mod overlap;
pub mod pace;
pub mod point;
pub mod probe;
pub mod repeat;
pub mod sizes;
mod spread;
pub mod sweep;
pub mod talk;
pub mod timing;
pub mod truth;

pub use clock::{GlobalClock, Procedure};
pub use isolation::Isolation;
pub use operation::{Collective, Operation};
pub use overlap::overlap;
pub use pace::Pace;
pub use point::{Measuring, Point, measure, truth};
pub use probe::{p2p, pairs, sites};
pub use repeat::Rule;
pub use timing::{Batch, Method, Stage, Timing};
pub use truth::{Starts, TrueTimes, true_times};

/// Why an observer could not keep what it was given: an error of the program.
pub type SaveError = Box<dyn std::error::Error + Send + Sync>;
