//! One thread at a time with the communicators of a program: what is kept with them has no lock.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::MpiError;

static TAKEN: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Turns of this thread, which may work with one communicator while it works with another.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// While it lives, other threads are refused; it stays in its thread.
pub(crate) struct Turn(PhantomData<*const ()>);

impl Turn {
    pub fn take() -> Result<Turn, MpiError> {
        let depth = DEPTH.get();
        if depth == 0 && TAKEN.swap(true, Ordering::Acquire) {
            let why = "another thread of this process works with one at this moment".into();
            return Err(MpiError::NoCommunicator { why });
        }
        DEPTH.set(depth + 1);
        Ok(Turn(PhantomData))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let depth = DEPTH.get() - 1;
        DEPTH.set(depth);
        if depth == 0 {
            TAKEN.store(false, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_thread_is_refused_until_the_first_is_done() {
        let from_another = || std::thread::scope(|s| s.spawn(|| Turn::take().is_ok()).join());
        let first = Turn::take().expect("no other thread is here");
        let within = Turn::take().expect("the same thread");
        assert!(matches!(from_another(), Ok(false)));
        drop(within);
        assert!(matches!(from_another(), Ok(false)));
        drop(first);
        assert!(matches!(from_another(), Ok(true)));
    }
}
