//! Measurements against known truths.

mod accuracy;
mod crowd;
mod p2p;
mod p2p_damage;
mod p2p_sweep;
mod p2p_verdict;
mod pairs;
mod root;
mod skewed;
mod truth;
