//! The signals that a launcher answers: blocked while it runs, so that none is lost, and waited
//! for.

use std::io;
use std::time::Duration;

/// Signals that end a run.
pub const ENDING: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Blocks the signals that end a run, and those of children that ended, until it is dropped, in the
/// thread that made it. Threads that are started in between leave them alone.
pub struct Signals {
    awaited: Awaited,
    before: Mask,
}

/// Those of them that can be waited for, in any thread.
#[derive(Clone, Copy)]
pub struct Awaited(libc::sigset_t);

/// The signals that a process blocked before, which those that it starts get back.
#[derive(Clone, Copy)]
pub struct Mask(pub(crate) libc::sigset_t);

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
    /// Blocks them from now on.
    pub fn block() -> io::Result<Signals> {
        // SAFETY: the sets are initialised by sigemptyset before they are read, and a signal set
        // of zeros may be overwritten.
        unsafe {
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
            match libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut before) {
                0 => Ok(Signals { awaited: Awaited(set), before: Mask(before) }),
                error => Err(io::Error::from_raw_os_error(error)),
            }
        }
    }

    /// What was blocked before.
    pub fn before(&self) -> Mask {
        self.before
    }

    /// What can be waited for.
    pub fn awaited(&self) -> Awaited {
        self.awaited
    }
}

impl Awaited {
    /// The next signal, if one comes in time.
    pub fn next(&self, limit: Duration) -> Option<i32> {
        let time = libc::timespec {
            tv_sec: limit.as_secs() as libc::time_t,
            tv_nsec: limit.subsec_nanos().into(),
        };
        // SAFETY: set and time live through the call; the details of the signal are not asked for.
        let signal = unsafe { libc::sigtimedwait(&self.0, std::ptr::null_mut(), &time) };
        (signal > 0).then_some(signal)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: the mask was given to us by the system.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before.0, std::ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_blocked(signal: i32) -> bool {
        // SAFETY: a set of zeros may be overwritten, and no new mask is given.
        unsafe {
            let mut mask: libc::sigset_t = std::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut mask);
            libc::sigismember(&mask, signal) == 1
        }
    }

    #[test]
    fn a_blocked_signal_waits_until_it_is_asked_for() {
        let signals = Signals::block().expect("blocked");
        // SAFETY: the signal is blocked in this thread, to which alone it is sent.
        unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGTERM) };
        assert_eq!(signals.awaited().next(Duration::from_secs(5)), Some(libc::SIGTERM));
        assert_eq!(signals.awaited().next(Duration::ZERO), None);
        assert!(ENDING.iter().any(|&signal| is_blocked(signal)));
        drop(signals);
        assert!(!ENDING.iter().any(|&signal| is_blocked(signal)));
    }
}
