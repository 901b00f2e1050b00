//! A limit to every wait, also inside an MPI library that has none of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use laneway_backend::{BackendError, Fatal};
use laneway_core::Comm;

use crate::failure::Failure;

/// Seconds without any progress after which a run is given up. A session has refused nonsense.
fn limit_seconds() -> u64 {
    let seconds = laneway_local::wait_limit().map(|limit| limit.as_secs_f64().ceil() as u64);
    seconds.unwrap_or(u64::MAX / 2)
}

/// Ends the process when nothing was reported for too long. A simulated rank is not watched, and
/// need not be: the simulator detects deadlocks.
pub struct Watchdog(Arc<AtomicU64>);

impl Watchdog {
    /// Watches over a rank; [`Watchdog::alive`] must be called now and then.
    pub fn new(comm: &dyn Comm) -> Watchdog {
        let beats = Arc::new(AtomicU64::new(0));
        if comm.clock().is_virtual() {
            return Watchdog(beats);
        }
        let rank = comm.rank();
        let watched = Arc::downgrade(&beats);
        thread::spawn(move || {
            let (mut last, mut idle) = (0, 0);
            // The thread ends with the watchdog.
            while let Some(beats) = watched.upgrade() {
                let now = beats.load(Ordering::Relaxed);
                drop(beats);
                (idle, last) = if now == last { (idle + 1, now) } else { (0, now) };
                // A little later than the backends' own limit, whose errors say more.
                if idle > limit_seconds() + 5 {
                    let failure = Failure::from(BackendError::Stalled { rank, seconds: idle });
                    failure.show();
                    std::process::exit(failure.code().into());
                }
                thread::sleep(Duration::from_secs(1));
            }
        });
        Watchdog(beats)
    }

    /// Says that this rank goes on.
    pub fn alive(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
