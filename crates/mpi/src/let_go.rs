//! Abandoned requests. Their memory may be reused only when the library is done with it: so they
//! are waited for all the same, and where one does not end, the run does.

use std::time::{Duration, Instant};

use crate::error::MpiError;
use crate::guard::last_words;
use crate::status::Status;
use crate::world::{EXIT_ENVIRONMENT, World};

/// Until a request that was given up ends the run.
const PATIENCE: Duration = Duration::from_secs(5);

/// Returns when the library touches the request's memory no more. After [`PATIENCE`] it ends the
/// run with a sentence about `what`: a return would give memory away that others still write to.
///
/// # Safety
/// The request is live or null.
pub(crate) unsafe fn let_go(world: &World, request: *mut u8, what: &str) {
    let until = Instant::now() + PATIENCE;
    loop {
        let (mut status, mut complete) = (Status::filled(0), 0i32);
        // SAFETY: the caller vouches for the request; the results go to words of our own.
        let code = unsafe {
            (world.mpi.tables.functions.test)(request, &mut complete, status.as_mut_ptr())
        };
        // A request that fails is over as well.
        if code != 0 || complete != 0 {
            return;
        }
        if Instant::now() > until {
            let seconds = PATIENCE.as_secs();
            let error = MpiError::GivenUp { what: what.into(), seconds };
            eprint!("{}", last_words(&error));
            // Some launchers lose what was said right before the end.
            std::thread::sleep(Duration::from_millis(300));
            world.abort(EXIT_ENVIRONMENT);
        }
        std::thread::yield_now();
    }
}
