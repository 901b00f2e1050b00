//! Experiments between ranks that find what a network has: messages of pairs and patterns, damaged
//! hosts and links, sites with their rates.
//!
//! They stand on the engine, which is the rest of this crate (clocks, timing, stopping rules,
//! points and sweeps), and the engine does not know them: a test of the house holds that.

pub mod p2p;
pub mod pairs;
pub mod sites;
