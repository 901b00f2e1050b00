//! Ctrl-C ends what a lab's command does, after it has put things right.

use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_signal: libc::c_int) {
    STOP.store(true, Ordering::Release);
}

/// Becomes true with one of these signals, which end nothing by themselves from now on.
pub fn on_signal(signals: &[libc::c_int]) -> &'static AtomicBool {
    for signal in signals {
        let handler = note as extern "C" fn(libc::c_int);
        // SAFETY: the handler stores into a static and does nothing else.
        unsafe { libc::signal(*signal, handler as libc::sighandler_t) };
    }
    &STOP
}
