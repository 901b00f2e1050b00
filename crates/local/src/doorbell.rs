//! A word on the board by which others wake a rank that sleeps.

use std::time::Duration;

use crate::sync::{AtomicU32, Futex, Ordering, fence};

/// Zeroed memory is a doorbell that is not armed.
#[repr(C)]
pub(crate) struct Doorbell {
    /// 1 while its owner sleeps, or is about to: a rank with news sets it to 0 and wakes it.
    word: AtomicU32,
    futex: Futex,
}

impl Doorbell {
    /// From now on news end the next sleep; the owner looks once more before it.
    pub fn arm(&self) {
        // Exchanges here and in `disarm` follow whatever `ring` wrote; loom takes a plain write for
        // one that might come before it, and finds orders that no machine has.
        self.word.swap(1, Ordering::Relaxed);
        // The other half stands in `ring`.
        fence(Ordering::SeqCst);
    }

    pub fn disarm(&self) {
        self.word.swap(0, Ordering::Relaxed);
    }

    /// Wakes the owner if it sleeps. What it shall see was stored before.
    #[inline]
    pub fn ring(&self) {
        // The other half stands in `arm`: either the sleeper sees the news when it looks once more,
        // or we see its 1.
        fence(Ordering::SeqCst);
        if self.word.load(Ordering::Relaxed) == 1 && self.word.swap(0, Ordering::Relaxed) == 1 {
            self.futex.wake(&self.word);
        }
    }

    /// Sleeps until the bell rings, or has rung since it was armed, or for `limit` at most.
    pub fn sleep(&self, limit: Duration) {
        self.futex.wait(&self.word, 1, limit);
    }

    #[cfg(all(test, loom))]
    pub fn new() -> Doorbell {
        Doorbell { word: AtomicU32::new(0), futex: Futex::new() }
    }
}
