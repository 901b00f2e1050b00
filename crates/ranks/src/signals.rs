//! A thread that tells the launcher of signals, which hears of its ranks at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use laneway_processes::{Mask, Signals};

use crate::error::RanksError;

/// How often the thread looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(50);

pub(crate) struct Told {
    /// Lets them through again when the thread has ended.
    signals: Signals,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Told {
    /// Blocks the signals that a launcher answers, and tells of each that comes.
    pub fn start(mut tell: impl FnMut(i32) + Send + 'static) -> Result<Told, RanksError> {
        let signals =
            Signals::block().map_err(|error| RanksError::system("block signals", error))?;
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, awaited) = (stop.clone(), signals.awaited());
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Acquire) {
                if let Some(signal) = awaited.next(LOOK) {
                    tell(signal);
                }
            }
        });
        Ok(Told { signals, stop, thread: Some(thread) })
    }

    /// The mask of before, which ranks get back.
    pub fn before(&self) -> Mask {
        self.signals.before()
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has said so.
            _ = thread.join();
        }
    }
}
