//! All launches of a point are timed by one method: the first launch finds out whether ranks can
//! begin at agreed instants, and the others use its result.

use crate::timing::StartTime;

/// What distinguishes a point from the others of a run.
pub fn point_key(op: &str, algorithm: &str, form: &str, ranks: u32, size: u64) -> String {
    format!("{op}/{algorithm}/{form}/{ranks}/{size}")
}

/// Points whose ranks missed their starts in the first launch; empty if that is not known yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decided(pub Option<Vec<String>>);

impl Decided {
    /// The default method for a point.
    pub fn timing(&self, key: &str) -> StartTime {
        match &self.0 {
            None => StartTime::default(),
            Some(fallen) => StartTime::decided(!fallen.iter().any(|point| point == key)),
        }
    }
}
