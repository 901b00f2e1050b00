//! The experiments of four papers, done again on this toolkit: their tables and figures as data,
//! what the papers claim beside what came of it here, and whether the claim holds. Internal to
//! laneway: it may change in any version, and programs use the crate `laneway`.
//!
//! | module | paper | runs |
//! |---|---|---|
//! | [`mpiblib`] | timing methods of collective benchmarks | on a simulated cluster |
//! | [`fullmesh`] | the multi-layer full mesh and its all-to-all | on counted cables |
//! | [`multilane`] | multi-lane scatter and gather between two sites | simulated, and in a lab |
//! | [`path_migration`] | automatic path migration over queue pairs | in a lab, or over loopback |
//!
//! Each module has a [`Paper`] that says what there is, and a function `reproduce` that returns the
//! [`Part`]s that a [`Request`] asks for. A [`Claim`] is one sentence or figure of a paper with a
//! [`Bound`] that comes from it; a [`Judgement`] adds the verdicts of a call up. All this must
//! never know arguments, the screen or exit codes. Begin with [`Claim`], then the module of a
//! paper.
//!
//! ```
//! use laneway_papers::{Judgement, Outcome, PaperError, Reproduced, Request, draw, fullmesh};
//!
//! fn main() -> Result<(), PaperError> {
//!     let parts = fullmesh::reproduce(&Request::of(&["table-1", "figure-10"]), &())?;
//!     // The claims of a table, and the curves of a figure.
//!     assert_eq!(parts[0].claims[0].what(), "fat-tree-2, p = 8: nodes");
//!     assert_eq!(parts[1].curves[2].points.last(), Some(&(64, 33_792.0)));
//!     assert!(draw(&parts[1]).starts_with("<svg"));
//!     let all = [Reproduced { paper: &fullmesh::PAPER, parts }];
//!     assert_eq!(Judgement::of(&all).outcome(true), Outcome::Done);
//!     Ok(())
//! }
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod fullmesh;
pub mod mpiblib;
pub mod multilane;
pub mod path_migration;

mod claim;
mod drawing;
mod error;
mod judge;
mod paper;
mod part;
mod request;
mod text;

pub use claim::{Bound, Claim, Difference, Printed, Verdict};
pub use drawing::draw;
pub use error::PaperError;
pub use judge::{Judgement, Outcome, Reproduced, document};
pub use paper::Paper;
pub use part::{Axes, Curve, Drawn, How, Part};
pub use request::Request;

/// Every paper.
pub static PAPERS: [&Paper; 4] =
    [&mpiblib::PAPER, &fullmesh::PAPER, &multilane::PAPER, &path_migration::PAPER];
