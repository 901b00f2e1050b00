//! The command under SimGrid.

mod common;
mod exported;
mod simulation;
