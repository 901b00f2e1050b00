//! What connections of one driver can know from each other.

use super::Connection;
use crate::paths::Evidence;
use crate::{Nanos, PathId};

impl Connection {
    /// What this connection has seen of a path, for others over the same path to the same host.
    pub fn evidence(&self, path: PathId) -> Option<Evidence> {
        self.paths.evidence(path)
    }

    /// The alternate path, where a probe of it is due only because time has passed: the word of
    /// another connection spares it.
    pub fn idle_probe(&self, now: Nanos) -> Option<PathId> {
        let idle = self.state().receives() && self.sender.is_idle();
        self.paths.idle_probe(now).filter(|_| idle)
    }

    /// Takes the word of another connection for the alternate path; false if that knows nothing
    /// new, and the path is to be probed.
    pub fn take_word(&mut self, now: Nanos, evidence: &Evidence) -> bool {
        self.paths.take_word(now, evidence)
    }
}
