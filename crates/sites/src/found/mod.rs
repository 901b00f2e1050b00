//! What measured rates say of sites: limits, lanes by the multi-lane paper's model, a platform.
//!
//! `loads.rs` has what each measured row asks of cards, connections and ways; `cards.rs` finds the
//! cards of hosts, `costs.rs` what processors add, `shared.rs` what hosts share, and `limits.rs` is
//! the result. `lanes.rs` puts the figures into the cost model, `platform.rs` writes them as a
//! platform, `findings.rs` as rows and sentences, and `doubts.rs` flags choices that depend on what
//! was not measured.

mod cards;
mod costs;
mod doubts;
mod findings;
mod lanes;
mod limits;
mod loads;
mod platform;
mod shared;

pub use doubts::doubts;
pub use findings::{Findings, brief_rows};
pub use lanes::{Lanes, helpers, lanes, order};
pub use limits::{HostLimits, Limits, WayLimits, limits};
pub use platform::platform_text;
