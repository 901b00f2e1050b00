//! Connections in virtual time, and their states.

mod congestion;
mod hostile;
mod lap;
mod simulation;
mod states;
