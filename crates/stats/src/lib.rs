//! The statistics of measurement: what a list of samples says, and how sure one may be of it.
//! Internal to laneway: it may change in any version, and programs use the crate `laneway`.
//!
//! Times of a busy machine have long tails, modes and ties, so the median leads, and an estimate
//! does not travel without its interval. It must never know what was measured, nor by which clock:
//! everything here is a pure function of numbers, and what is random depends on a seed alone.
//!
//! A list that is empty, too short for the question, or not all finite numbers is answered `None`;
//! no list is answered with "not a number". A parameter named `sorted` is a list in rising order,
//! as [`sorted`] makes it.
//!
//! Begin with [`summary`], then [`interval`], then [`sequential`].
//!
//! ```
//! use laneway_stats::{median, median_interval, sorted};
//!
//! let times = sorted(&[5.1, 4.9, 5.0, 9.7, 5.2, 5.0, 4.8, 5.1]);
//! let interval = median_interval(&times, 0.95).expect("enough samples");
//! assert!(interval.holds(median(&times).expect("some samples")));
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod bootstrap;
pub mod compare;
pub mod dependence;
pub mod distribution;
pub mod histogram;
pub mod interval;
pub mod line;
pub mod outlier;
pub mod random;
pub mod sequential;
pub mod stationary;
pub mod student;
pub mod summary;

mod beta;
mod rank;

pub use bootstrap::bootstrap;
pub use compare::{RankTest, hodges_lehmann, mann_whitney, ratio_interval};
pub use dependence::{dependent_interval, design_effect};
pub use histogram::Histogram;
pub use interval::{Interval, mean_interval, median_interval, quantile_interval};
pub use line::Line;
pub use outlier::outliers;
pub use random::SplitMix64;
pub use sequential::{enough, next_look, sequential_interval};
pub use stationary::warm_up;
pub use student::student_error;
pub use summary::{Summary, median, quantile, sorted};
