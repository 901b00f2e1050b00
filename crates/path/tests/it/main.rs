//! Connections in virtual time, and their states.

mod congestion;
mod simulation;
mod states;
