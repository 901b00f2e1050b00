//! How a call ends: with an exit code, and with words that stay until the thread's next call.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::failure::{Exit, Failure};

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// A failure with a code of the library, which has more of them than the command.
pub struct Coded {
    pub code: c_int,
    pub failure: Failure,
}

impl From<Failure> for Coded {
    fn from(failure: Failure) -> Coded {
        Coded { code: failure.exit as c_int, failure }
    }
}

/// Does the work of one call, and keeps its failure.
pub fn answer(work: impl FnOnce() -> Result<(), Failure>) -> c_int {
    answer_coded(|| Ok(work()?))
}

/// The same for work that has codes of its own.
pub fn answer_coded(work: impl FnOnce() -> Result<(), Coded>) -> c_int {
    let end = catch_unwind(AssertUnwindSafe(work));
    let failed = end.unwrap_or_else(|panic| Err(inside(&*panic).into())).err();
    let text = failed.as_ref().map_or(String::new(), |failed| failed.failure.to_string());
    // A thread that is ending reads it no more.
    let _ = LAST.try_with(|last| last.replace(CString::new(text).unwrap_or_default()));
    failed.map_or(Exit::Done as c_int, |failed| failed.code)
}

pub fn text() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

fn inside(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    let cause = text.unwrap_or("no message");
    Failure::environment("laneway failed inside", cause, "report it with the call that you made")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn said() -> String {
        // SAFETY: the text is this thread's, and nothing is called before it is copied.
        unsafe { CStr::from_ptr(text()) }.to_string_lossy().into_owned()
    }

    #[test]
    fn a_panic_becomes_an_answer_and_words_go_with_the_next_call() {
        assert_eq!(answer(|| panic!("on purpose {}", 7)), Exit::Environment as c_int);
        assert!(said().contains("cause: on purpose 7"), "{}", said());
        let refused = || Err(Failure::usage("this", "because", "that"));
        assert_eq!(answer(refused), Exit::Usage as c_int);
        assert_eq!(said(), "error: this\ncause: because\ntry:   that");
        assert_eq!(answer(|| Ok(())), Exit::Done as c_int);
        assert_eq!(said(), "");
    }
}
