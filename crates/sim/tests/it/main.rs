//! The simulator and its platforms.

mod congestion;
mod engine;
mod platform;
