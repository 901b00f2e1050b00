//! What measured rates say of sites: limits, lanes by the multi-lane paper's model, a platform.
//!
//! `limits.rs` tells cards, connections and shared ways from each other, `lanes.rs` puts the
//! figures into the cost model, `platform.rs` writes them as a platform, and `findings.rs` as rows
//! and sentences.

mod findings;
mod lanes;
mod limits;
mod platform;

pub use findings::{Findings, brief_rows};
pub use lanes::{Lanes, helpers, lanes, order};
pub use limits::{HostLimits, Limits, WayLimits, limits};
pub use platform::platform_text;
