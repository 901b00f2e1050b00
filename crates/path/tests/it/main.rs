//! Connections in virtual time, and their states.

mod congestion;
mod lap;
mod simulation;
mod states;
