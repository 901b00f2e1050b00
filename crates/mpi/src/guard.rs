//! Turns a crash of the self-test into a message and exit code 3: where a table of constants does
//! not fit the library, the first call with a wrong handle may end in a signal.

use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::error::MpiError;

static TEXT: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

const SIGNALS: [c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGABRT];
const EXIT_CODE: c_int = 3;

static LAST_WORDS: OnceLock<fn(&MpiError) -> String> = OnceLock::new();

/// Sets the text of an error that ends this process: a crash of the self-test, or what was given
/// up and cannot be ended. A second call has no effect. Without it the text is the error and its
/// cause.
pub fn set_last_words(words: fn(&MpiError) -> String) {
    let _ = LAST_WORDS.set(words);
}

pub(crate) fn last_words(error: &MpiError) -> String {
    match LAST_WORDS.get() {
        Some(words) => words(error),
        None => format!("error: {error}\ncause: {}\n", error.cause()),
    }
}

extern "C" fn tell_and_leave(_signal: c_int) {
    let (text, length) = (TEXT.load(Ordering::Acquire), LENGTH.load(Ordering::Acquire));
    // SAFETY: `write` and `_exit` may be called from a signal handler; the text was leaked by
    // `guarded`, so it is there for good, and an empty pair writes nothing.
    unsafe {
        libc::write(libc::STDERR_FILENO, text.cast_const().cast(), length);
        libc::_exit(EXIT_CODE);
    }
}

/// Runs `work`; if it ends in a signal, writes `text` to stderr and leaves with exit code 3.
pub fn guarded<T>(text: String, work: impl FnOnce() -> T) -> T {
    let text = text.into_bytes().leak();
    TEXT.store(text.as_mut_ptr(), Ordering::Release);
    LENGTH.store(text.len(), Ordering::Release);
    let mut before = Vec::with_capacity(SIGNALS.len());
    for signal in SIGNALS {
        // SAFETY: both structures are plain data for which zero is a value; the handler has the
        // signature that the flags ask for.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let mut old: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = tell_and_leave as extern "C" fn(c_int) as usize;
            if libc::sigaction(signal, &action, &mut old) == 0 {
                before.push((signal, old));
            }
        }
    }
    let result = work();
    for (signal, old) in &before {
        // SAFETY: `old` is what the system said was there before.
        unsafe { libc::sigaction(*signal, old, std::ptr::null_mut()) };
    }
    result
}
