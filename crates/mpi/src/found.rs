//! What is known of a library that was chosen.

use std::path::PathBuf;

use crate::flavour::Family;

/// An MPI library as it was found, without MPI being started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// Where it is.
    pub file: PathBuf,
    /// Why this file and no other.
    pub why: String,
    /// Which MPI it is.
    pub family: Family,
    /// The first line of the library's own text.
    pub version: String,
    /// The version of the MPI standard that it claims.
    pub standard: (i32, i32),
    /// Whether it has the functions of MPI-4 that take counts of 64 bits.
    pub large_counts: bool,
}
