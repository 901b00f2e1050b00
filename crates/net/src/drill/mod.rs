//! Traffic for drills: messages there and back between two ends, what stood still meanwhile, and
//! whether each came once and in order.
//!
//! Every end has a second connection over a path that nothing touches. Where both stand still the
//! machine was busy; where only the first one does, its path was the reason.

mod client;
mod server;
mod trace;

pub use client::{Client, Outcome};
pub use server::{Served, serve};
pub use trace::{Checked, Trace};

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use laneway_path::{Connection, MigrationState, PathId};

/// What a drill sees of an end while it runs.
#[derive(Default)]
pub struct State {
    primary: AtomicU8,
    armed: AtomicBool,
    stop: AtomicBool,
}

impl State {
    pub fn primary(&self) -> PathId {
        PathId(self.primary.load(Ordering::Acquire))
    }

    pub fn is_armed(&self) -> bool {
        self.armed.load(Ordering::Acquire)
    }

    /// The end stops when its next message has come.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    fn update(&self, connection: &Connection) {
        self.primary.store(connection.primary().0, Ordering::Release);
        self.armed.store(connection.migration() == MigrationState::Armed, Ordering::Release);
    }
}

/// The label of the connection that faults strike, and of the other one.
pub const MAIN: u64 = 1;
pub const CONTROL: u64 = 2;
/// Messages of the control connection.
const CONTROL_BYTES: usize = 64;
/// A message begins with its number.
pub const LEAST_BYTES: usize = 8;
