//! The experiments of four papers, done again on this toolkit: their tables and figures as data,
//! what the papers claim beside what came of it here, and whether the claim holds.
//!
//! | module | paper | runs |
//! |---|---|---|
//! | [`mpiblib`] | timing methods of collective benchmarks | on a simulated cluster |
//! | [`fullmesh`] | the multi-layer full mesh and its all-to-all | on counted cables |
//! | [`multilane`] | multi-lane scatter and gather between two sites | simulated, and in a lab |
//! | [`path_migration`] | automatic path migration over queue pairs | in a lab, with root |
//!
//! Each module has a [`Paper`] that says what there is, and a function `reproduce` that returns the
//! wanted [`Part`]s. It must never know arguments, the screen or exit codes. Begin with [`Part`],
//! then the module of a paper.
//!
//! ```
//! use laneway_papers::{PaperError, draw, fullmesh};
//!
//! fn main() -> Result<(), PaperError> {
//!     let parts = fullmesh::reproduce(&["table-1", "figure-10"], &())?;
//!     for part in &parts {
//!         assert!(part.holds(), "{}", part.text());
//!     }
//!     // The claims of a table, and the curves of a figure.
//!     assert_eq!(parts[0].claims[0].what(), "fat-tree-2, p = 8: nodes");
//!     assert_eq!(parts[1].curves[2].points.last(), Some(&(64, 33_792.0)));
//!     assert!(draw(&parts[1]).starts_with("<svg"));
//!     Ok(())
//! }
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod fullmesh;
pub mod mpiblib;
pub mod multilane;
pub mod path_migration;

mod drawing;
mod error;
mod paper;
mod part;
mod text;

pub use drawing::draw;
pub use error::PaperError;
pub use paper::Paper;
pub use part::{Axes, Claim, Curve, Drawn, Part};

/// Every paper.
pub static PAPERS: [&Paper; 4] =
    [&mpiblib::PAPER, &fullmesh::PAPER, &multilane::PAPER, &path_migration::PAPER];
