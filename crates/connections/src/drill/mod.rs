//! Traffic for drills: messages there and back between two ends, what stood still meanwhile, and
//! whether each came once and in order.
//!
//! Every end has one connection more, over a path that nothing touches. Where it stands still too,
//! the machine was busy; where it does not, a path was the reason.

mod client;
mod server;
mod trace;

pub use client::{Client, Load, Outcome};
pub use server::{Served, serve};
pub use trace::{Checked, Trace};

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use laneway_path::wire::MOST_PATHS;
use laneway_path::{Connection, MigrationState, PathId};

/// How many connections have each path as their primary one.
pub type Carried = [u8; MOST_PATHS];

/// What a drill sees of an end while it runs.
#[derive(Default)]
pub struct State {
    /// A [`Carried`], a byte a path.
    carried: AtomicU64,
    armed: AtomicBool,
    stop: AtomicBool,
}

impl State {
    /// How many connections each path carries.
    pub fn carried(&self) -> Carried {
        self.carried.load(Ordering::Acquire).to_le_bytes()
    }

    /// The path that most connections use, the first of several.
    pub fn primary(&self) -> PathId {
        let carried = self.carried();
        let most = carried.iter().max();
        let first = carried.iter().position(|count| Some(count) == most);
        PathId(first.unwrap_or(0) as u8)
    }

    /// Whether every connection has an alternate path that can take over.
    pub fn is_armed(&self) -> bool {
        self.armed.load(Ordering::Acquire)
    }

    /// The end stops when its next messages have come.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    fn update<'a>(&self, connections: impl Iterator<Item = &'a Connection>) {
        let (mut carried, mut armed) = (Carried::default(), true);
        for connection in connections {
            let count = &mut carried[usize::from(connection.primary().0) % MOST_PATHS];
            *count = count.saturating_add(1);
            armed &= connection.migration() == MigrationState::Armed;
        }
        let any = carried != Carried::default();
        self.carried.store(u64::from_le_bytes(carried), Ordering::Release);
        self.armed.store(armed && any, Ordering::Release);
    }
}

/// The label of the connections that faults strike, and of the other one.
pub const MAIN: u64 = 1;
/// The label of the connection that no fault strikes.
pub const CONTROL: u64 = 2;
/// Messages of the control connection.
const CONTROL_BYTES: usize = 64;
/// A message begins with its number.
pub const LEAST_BYTES: usize = 8;
