//! Connections in virtual time, and their states.

mod lap;
mod simulation;
mod states;
