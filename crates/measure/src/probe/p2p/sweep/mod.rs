//! Patterns of messages over sizes and pairs in one run.
//!
//! A [`PatternSweep`] says what is measured, on which ranks and how; [`PatternSweep::run`] does it
//! on a communicator, in an order that is shuffled by a seed, adds sizes where a curve bends, and
//! gives the [`Figures`] on rank 0.
//!
//! ```
//! use laneway_measure::p2p::Pattern;
//! use laneway_measure::p2p::sweep::PatternSweep;
//! use laneway_sim::{Program, platform::Platform};
//!
//! let sweep = PatternSweep::new(vec![Pattern::Latency.into()], vec![8, 1 << 20]);
//! let platform = Platform::read("cluster:2").expect("a platform");
//! let ended = Program::new(&platform, 2).run(|comm| sweep.run(comm, &())).expect("it ends");
//! let figures = ended.results.into_iter().next().expect("rank 0").expect("it is measured");
//! let figures = figures.expect("rank 0 knows");
//! // 50 us of latency, and 1 Gbit/s.
//! let times: Vec<f64> = figures.iter().filter_map(|figure| figure.time()).collect();
//! assert!((times[0] - 50e-6).abs() < 1e-6 && (times[1] - 8.44e-3).abs() < 1e-4, "{times:?}");
//! ```

mod copies;
mod error;
mod experiment;
mod figure;
mod layers;
mod notes;
mod options;
mod ranks;
mod run;

pub use copies::copies;
pub use error::{PatternError, Refusal};
pub use experiment::Experiment;
pub use figure::{Figure, brief};
pub use layers::{FIGURES, Layer, side_by_side};
pub use options::{MOST_WINDOW, PatternSweep};
pub use ranks::Ranks;
pub use run::{Done, Figures, Next, Observer};
