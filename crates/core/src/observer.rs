//! Progress reporting for long operations.
//!
//! ```
//! use std::sync::Mutex;
//!
//! use laneway_core::{Observer, Stage};
//!
//! struct Seen(Mutex<Vec<String>>);
//!
//! impl Observer for Seen {
//!     fn progress(&self, done: u64, all: u64, what: &str) {
//!         self.0.lock().expect("one thread").push(format!("{what}: {done} of {all}"));
//!     }
//! }
//!
//! let seen = Seen(Mutex::default());
//! let sum: u64 = Stage::new(&seen, "adding", 2).over([3, 4]).sum();
//! assert_eq!(sum, 7);
//! let seen = seen.0.into_inner().expect("one thread");
//! assert_eq!(seen, ["adding: 0 of 2", "adding: 1 of 2", "adding: 2 of 2"]);
//! ```

use std::sync::atomic::{AtomicU64, Ordering};

/// Receives progress reports. Several threads may call it at once.
pub trait Observer: Send + Sync {
    /// Reports that `done` of `all` steps of the stage `what` are complete; `done` starts at 0.
    fn progress(&self, done: u64, all: u64, what: &str);
}

/// Ignores all reports.
impl Observer for () {
    fn progress(&self, _done: u64, _all: u64, _what: &str) {}
}

/// The largest number of reports per stage, however many steps it has.
const MOST_REPORTS: u64 = 256;

/// A stage of a long operation, with a known number of steps.
pub struct Stage<'a> {
    observer: &'a dyn Observer,
    what: &'static str,
    all: u64,
    done: AtomicU64,
}

impl<'a> Stage<'a> {
    /// Begins a stage of `all` steps; a stage without steps reports nothing.
    pub fn new(observer: &'a dyn Observer, what: &'static str, all: u64) -> Stage<'a> {
        if all > 0 {
            observer.progress(0, all, what);
        }
        Stage { observer, what, all, done: AtomicU64::new(0) }
    }

    /// Reports one more completed step.
    pub fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let part = |done: u64| done * MOST_REPORTS / self.all.max(1);
        if self.all <= MOST_REPORTS || part(done) != part(done - 1) {
            self.observer.progress(done, self.all, self.what);
        }
    }

    /// Iterates over items, one step each; a step is complete when the next item is requested.
    pub fn over<I: IntoIterator>(self, items: I) -> impl Iterator<Item = I::Item> {
        let mut items = items.into_iter();
        let mut is_begun = false;
        std::iter::from_fn(move || {
            if std::mem::replace(&mut is_begun, true) {
                self.step();
            }
            items.next()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Seen(Mutex<Vec<u64>>);

    impl Observer for Seen {
        fn progress(&self, done: u64, all: u64, _what: &str) {
            assert!(done <= all);
            self.0.lock().expect("the lock is not poisoned").push(done);
        }
    }

    #[test]
    fn a_long_stage_reports_rarely_and_to_its_end() {
        for all in [1, 7, 256, 257, 100_000] {
            let seen = Seen::default();
            Stage::new(&seen, "counting", all).over(0..all).for_each(drop);
            let reports = seen.0.into_inner().expect("the lock is not poisoned");
            assert!(reports.len() as u64 <= MOST_REPORTS.min(all) + 1, "{all}: {}", reports.len());
            assert_eq!((reports.first(), reports.last()), (Some(&0), Some(&all)));
            assert!(reports.windows(2).all(|two| two[0] < two[1]), "{all}");
        }
    }
}
