//! Every pair of ranks, and which host or link is slow.
//!
//! A [`Survey`] says what is measured and what counts as slow. [`Survey::run`] measures the
//! latencies of all pairs, finds the sites if they are unknown, measures the bandwidths round
//! by round, looks a second time at pairs that seem slow, and gives the [`Findings`] on rank 0: the
//! pairs, the verdict, its sentences, and rows of pairs, nodes and suspects.
//!
//! ```
//! use laneway_measure::pairs::Survey;
//! use laneway_sim::{Program, platform::Platform};
//!
//! let platform = Platform::read("cluster:4").expect("a platform");
//! let ended = Program::new(&platform, 4)
//!     .run(|comm| Survey::new().run(comm, &()))
//!     .expect("it ends");
//! let findings = ended.results.into_iter().next().expect("rank 0").expect("it is measured");
//! let findings = findings.expect("rank 0 knows");
//! assert_eq!(findings.pairs.len(), 6);
//! assert!(findings.is_healthy(), "{:?}", findings.sentences());
//! ```

mod course;
mod error;
mod findings;
mod found;
mod rows;
mod sample;
mod sites;
mod survey;
mod suspects;

pub use course::{Observer, Unfinished};
pub use error::{Refusal, SurveyError};
pub use findings::{Coverage, Findings, Rounds};
pub use sample::{LEAST_PARTNERS, PARTNERS, Sample};
pub use sites::Sites;
pub use survey::{Gate, LEAST_BYTES, Survey};
