//! What becomes of a rank that SimGrid ends in the middle of a call, because of a deadlock or
//! a failed host: an error and exit code 3.
//!
//! SimGrid ends a rank by an exception of C++. Rust does not let it through and panics; the end of
//! the process would then be an abort, with an unhelpful message.

use std::io::Write;
use std::panic::PanicHookInfo;

use laneway_cli::failure::{Exit, Failure};

/// What Rust says of an exception that comes from outside.
const FOREIGN: &str = "panic in a function that cannot unwind";

/// Makes every panic of this rank end the process: all ranks are in it, and none could go on.
pub fn tell_and_leave() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic: &PanicHookInfo<'_>| {
        if panic.payload().downcast_ref::<&str>() == Some(&FOREIGN) {
            let what = "SimGrid ended a rank during a call";
            let cause = "no rank can continue, or the host of this one failed";
            let failure = Failure::environment(what, cause, "SimGrid's own error, printed above");
            let _ = writeln!(std::io::stderr(), "{failure}");
        } else {
            usual(panic);
        }
        // SAFETY: the process ends here, without the handlers that would wait for the simulator
        // from within it.
        unsafe { libc::_exit(Exit::Environment as i32) }
    }));
}
