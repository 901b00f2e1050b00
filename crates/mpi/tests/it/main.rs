//! Real MPI libraries, good and bad.

mod bad_libraries;
mod given_up;
mod launchers;
mod mpis;
mod process;
