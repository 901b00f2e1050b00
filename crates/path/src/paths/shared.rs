//! What connections can know from each other of a path to the same host.
//!
//! Each of thousands of connections that send nothing would probe its alternate path. It is enough
//! that one does: the others take its word, for as long as they send nothing. That a path is dead
//! is never taken from another connection.

use super::Paths;
use super::liveness::Liveness;
use crate::{Nanos, PathId};

/// What a connection has seen of a path.
#[derive(Clone, Copy, Debug)]
pub struct Evidence {
    life: Liveness,
    /// When the path was probed last, if it is watched.
    asked_at: Option<Nanos>,
}

impl Paths {
    /// What was seen of a path.
    pub fn evidence(&self, path: PathId) -> Option<Evidence> {
        let life = *self.get(path)?.liveness();
        let watch = self.alternate.watch().filter(|_| self.alternate.armed() == Some(path));
        Some(Evidence { life, asked_at: watch.map(|watch| watch.asked_at()) })
    }

    /// The armed path, if it is due to be probed and nothing else is going on.
    pub fn idle_probe(&self, now: Nanos) -> Option<PathId> {
        let rests = !self.is_suspected() && !self.is_diverted();
        self.alternate.armed().filter(|_| rests && self.has_due_probe(now, false))
    }

    /// Takes the word of another connection for the armed path, instead of probing it; false if
    /// that knows nothing new.
    pub fn take_word(&mut self, now: Nanos, evidence: &Evidence) -> bool {
        let Some(path) = self.alternate.armed() else { return false };
        let route = &mut self.routes[usize::from(path.0)];
        route.take_word(&evidence.life);
        self.alternate.take_word(now, route.liveness(), evidence.asked_at)
    }
}
