//! How far long work is, told to whoever wants to show it.
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

/// Is told how far long work is. Threads may share the work.
pub trait Observer: Send + Sync {
    /// So many of so many steps are done of a stage, which begins with 0; `what` says which it is.
    fn progress(&self, done: u64, all: u64, what: &str);
}

/// Nobody wants to know.
impl Observer for () {
    fn progress(&self, _done: u64, _all: u64, _what: &str) {}
}

/// A stage is told about so many times, however many steps it has.
const TOLD: u64 = 256;

/// A part of long work, with a known number of steps.
pub struct Stage<'a> {
    observer: &'a dyn Observer,
    what: &'static str,
    all: u64,
    done: AtomicU64,
}

impl<'a> Stage<'a> {
    /// Begins a stage of so many steps; of none there is nothing to tell.
    pub fn new(observer: &'a dyn Observer, what: &'static str, all: u64) -> Stage<'a> {
        if all > 0 {
            observer.progress(0, all, what);
        }
        Stage { observer, what, all, done: AtomicU64::new(0) }
    }

    /// One more step is done.
    pub fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let part = |done: u64| done * TOLD / self.all.max(1);
        if self.all <= TOLD || part(done) != part(done - 1) {
            self.observer.progress(done, self.all, self.what);
        }
    }

    /// The items, each of which is a step that is done when the next one is asked for.
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
            self.0.lock().expect("nobody panics").push(done);
        }
    }

    #[test]
    fn a_long_stage_is_told_about_rarely_and_to_its_end() {
        for all in [1, 7, 256, 257, 100_000] {
            let seen = Seen::default();
            Stage::new(&seen, "counting", all).over(0..all).for_each(drop);
            let told = seen.0.into_inner().expect("nobody panics");
            assert!(told.len() as u64 <= TOLD.min(all) + 1, "{all}: {}", told.len());
            assert_eq!((told.first(), told.last()), (Some(&0), Some(&all)));
            assert!(told.windows(2).all(|two| two[0] < two[1]), "{all}");
        }
    }
}
