//! A thread that forwards signals to the launcher, which waits for its ranks at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use laneway_processes::{Mask, Signals};

use crate::error::RanksError;

/// How often the thread looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(50);

pub(crate) struct SignalListener {
    /// Lets them through again when the thread has ended.
    signals: Signals,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl SignalListener {
    /// Blocks the signals that a launcher answers, and calls `on_signal` for each that comes.
    pub fn start(
        mut on_signal: impl FnMut(i32) + Send + 'static,
    ) -> Result<SignalListener, RanksError> {
        let signals =
            Signals::block().map_err(|error| RanksError::system("block signals", error))?;
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, awaited) = (stop.clone(), signals.awaited());
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Acquire) {
                if let Some(signal) = awaited.next(LOOK) {
                    on_signal(signal);
                }
            }
        });
        Ok(SignalListener { signals, stop, thread: Some(thread) })
    }

    /// The mask of before, which ranks get back.
    pub fn before(&self) -> Mask {
        self.signals.before()
    }
}

impl Drop for SignalListener {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has said so.
            _ = thread.join();
        }
    }
}
