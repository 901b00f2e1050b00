//! Connections in virtual time, and their states.

mod simulation;
mod states;
