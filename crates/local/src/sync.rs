//! What the shared memory stands on: the machine's atomics and the system's futex; or loom's, where
//! a test walks through every order in which two sides can meet (`memory/model.rs`).

#[cfg(all(test, loom))]
pub(crate) use self::modelled::*;
#[cfg(not(all(test, loom)))]
pub(crate) use self::real::*;

#[cfg(not(all(test, loom)))]
mod real {
    use std::ops::Range;
    pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
    use std::time::Duration;

    /// The system's list of those who sleep on a word.
    pub(crate) struct Futex;

    impl Futex {
        /// Sleeps while `word` holds `value`, until woken or for `limit` at most.
        pub fn wait(&self, word: &AtomicU32, value: u32, limit: Duration) {
            let time = libc::timespec {
                tv_sec: limit.as_secs() as libc::time_t,
                tv_nsec: limit.subsec_nanos().into(),
            };
            // SAFETY: the word is valid and the time lives through the call. Every result (woken,
            // changed before, interrupted, time over) means the same to the caller: look again.
            unsafe {
                libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, &time);
            }
        }

        /// Wakes the process that sleeps on `word`, if one does.
        pub fn wake(&self, word: &AtomicU32) {
            // SAFETY: the word is valid; the call reads nothing through it.
            unsafe {
                libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1);
            }
        }
    }

    /// Memory that two sides share without atomics: visible to a model only.
    pub(crate) struct Watch;

    impl Watch {
        #[inline(always)]
        pub fn read(&self) {}

        #[inline(always)]
        pub fn write(&self) {}
    }

    /// A watch for each line of a stretch of memory.
    #[derive(Clone, Copy)]
    pub(crate) struct Watches;

    impl Watches {
        pub fn none() -> Watches {
            Watches
        }

        #[inline(always)]
        pub fn read(self, _lines: Range<usize>) {}

        #[inline(always)]
        pub fn write(self, _lines: Range<usize>) {}
    }
}

#[cfg(all(test, loom))]
mod modelled {
    use std::ops::Range;
    use std::time::Duration;

    use loom::cell::UnsafeCell;
    pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
    use loom::sync::{Condvar, Mutex};

    /// Looks at the word and falls asleep in one step, as the system does; never wakes by itself.
    pub(crate) struct Futex {
        sleepers: Mutex<()>,
        woken: Condvar,
    }

    impl Futex {
        pub fn new() -> Futex {
            Futex { sleepers: Mutex::new(()), woken: Condvar::new() }
        }

        pub fn wait(&self, word: &AtomicU32, value: u32, _limit: Duration) {
            let sleepers = self.sleepers.lock().expect("no side of a model panics and goes on");
            if word.load(Ordering::Relaxed) == value {
                drop(self.woken.wait(sleepers).expect("as above"));
            }
        }

        pub fn wake(&self, _word: &AtomicU32) {
            let sleepers = self.sleepers.lock().expect("no side of a model panics and goes on");
            self.woken.notify_one();
            drop(sleepers);
        }
    }

    /// Fails a model in which a read or a write of the memory is not ordered after all before it.
    pub(crate) struct Watch(UnsafeCell<()>);

    impl Watch {
        pub fn new() -> Watch {
            Watch(UnsafeCell::new(()))
        }

        pub fn read(&self) {
            self.0.with(|_| ());
        }

        pub fn write(&self) {
            self.0.with_mut(|_| ());
        }
    }

    #[derive(Clone, Copy)]
    pub(crate) struct Watches(*const [Watch]);

    impl Watches {
        pub fn none() -> Watches {
            Watches(&[])
        }

        /// Those of a model, which outlive what uses them.
        pub fn of(watches: &[Watch]) -> Watches {
            Watches(watches)
        }

        pub fn read(self, lines: Range<usize>) {
            // SAFETY: they live, as `of` demands.
            unsafe { &(&*self.0)[lines] }.iter().for_each(Watch::read);
        }

        pub fn write(self, lines: Range<usize>) {
            // SAFETY: as above.
            unsafe { &(&*self.0)[lines] }.iter().for_each(Watch::write);
        }
    }
}
