//! Point-to-point experiments: between two ranks, three, or any that do not meet the others.
//!
//! `plan.rs` lays experiments out in rounds whose subsets of ranks are disjoint, and `disjoint.rs`
//! does any closure on each subset until the rule is content. All else is such a closure: round
//! trips as in the MPIBlib paper, point-to-two, the usual patterns (`pattern.rs`), the parameters
//! of LogGP and PLogP, and the survey of all pairs that names slow nodes.
//!
//! Begin with [`Lab::run`], then [`round_trips`], then [`Pattern`].

mod blame;
mod deal;
mod disjoint;
mod figure;
mod judge;
mod kinds;
mod logp;
mod overheads;
mod overlap;
mod pattern;
mod plan;
mod point_to_two;
mod roundtrip;
mod survey;
pub mod sweep;
mod transfers;
mod usual;
mod verdict;
mod words;

pub use crate::cache::{Buffers, COLD_BYTES, Cache, Places, memcpy};
pub use deal::Deal;
pub use disjoint::{Estimate, Lab, Members};
pub use judge::verdict;
pub use kinds::sites_by_latency;
pub use logp::{LogP, logp};
pub use overlap::overlap;
pub use pattern::{Pattern, Work, window};
pub use plan::Plan;
pub use point_to_two::{point_to_two, point_to_two_once};
pub use roundtrip::{RoundTrips, round_trip, round_trips};
pub use survey::{Latencies, Look, Pair, Prober, Sizes, survey};
pub use verdict::{
    BANDWIDTH, Direction, LATENCY, LeastRate, Limits, Mark, Marks, Node, Scope, SlowNode, SlowPair,
    Verdict,
};
pub use words::name;

use crate::talk::{DATA, WORD};
