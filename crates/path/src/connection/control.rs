//! Packets that are due whatever the windows say: probes, their answers, requests to load a path.

use std::collections::VecDeque;

use crate::wire::Body;
use crate::{Nanos, PathId};

/// The largest number that wait; more are as good as lost on their way.
const MOST: usize = 64;

/// A packet that is due.
pub(super) struct Control {
    pub path: PathId,
    pub body: Body<'static>,
    /// When it became due.
    pub since: Nanos,
}

#[derive(Default)]
pub(super) struct ControlQueue {
    waiting: VecDeque<Control>,
}

impl ControlQueue {
    pub fn push(&mut self, since: Nanos, path: PathId, body: Body<'static>) {
        if self.waiting.len() < MOST {
            self.waiting.push_back(Control { path, body, since });
        }
    }

    pub fn pop(&mut self) -> Option<Control> {
        self.waiting.pop_front()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether an answer to a probe waits.
    pub fn has_answer(&self) -> bool {
        self.waiting.iter().any(|control| matches!(control.body, Body::Answer { .. }))
    }

    pub fn clear(&mut self) {
        self.waiting.clear();
    }
}
