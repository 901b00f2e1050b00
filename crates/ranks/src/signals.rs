//! The signals that a launcher answers: blocked while it runs so that none is lost, and told by a
//! thread of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::error::RanksError;
use crate::system::last_error;

/// Signals that end a run.
pub(crate) const ENDING: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// How often the thread looks whether it is still wanted.
const LOOK: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 50_000_000 };

pub(crate) struct Signals {
    before: libc::sigset_t,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Whether this process was started with a signal ignored, as nohup does.
fn is_ignored(signal: i32) -> bool {
    // SAFETY: an all-zero sigaction may be overwritten; no new action is given.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

impl Signals {
    /// Threads that are started after this leave these signals alone.
    pub fn block(mut tell: impl FnMut(i32) + Send + 'static) -> Result<Signals, RanksError> {
        // SAFETY: the sets are initialised by sigemptyset before they are read, and a signal set
        // of zeros may be overwritten.
        let (set, before) = unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, libc::SIGCHLD);
            for signal in ENDING {
                if signal != libc::SIGHUP || !is_ignored(signal) {
                    libc::sigaddset(&mut set, signal);
                }
            }
            // A parent that ignores the ends of its children would have left us without statuses.
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            if libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut before) != 0 {
                return Err(last_error("block signals"));
            }
            (set, before)
        };
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Acquire) {
                // SAFETY: set and time live through the call; details are not asked for.
                let signal = unsafe { libc::sigtimedwait(&set, std::ptr::null_mut(), &LOOK) };
                if signal > 0 {
                    tell(signal);
                }
            }
        });
        Ok(Signals { before, stop, thread: Some(thread) })
    }

    /// The mask of before, which ranks get back.
    pub fn before(&self) -> libc::sigset_t {
        self.before
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has said so.
            _ = thread.join();
        }
        // SAFETY: the mask was given to us by the system.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut()) };
    }
}
