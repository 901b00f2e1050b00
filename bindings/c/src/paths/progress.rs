//! The progress engine: moves what can be moved, rests until something can, tells what happened.

use std::ffi::c_int;
use std::time::Duration;

use super::held::{find, refuse_in_callback};
use super::{Event, Paths};
use crate::arguments::refused;
use crate::last_error::{Coded, answer_coded};

/// Moves what can be moved, and does not wait. Without a thread a program calls this, or
/// laneway_paths_wait, often: everything happens there.
#[unsafe(no_mangle)]
pub extern "C" fn laneway_paths_progress(paths: *mut Paths) -> c_int {
    answer_coded(|| {
        find(paths)?.with(|endpoint| endpoint.progress());
        Ok(())
    })
}

/// Waits until something may have happened, for a number of milliseconds at most. It may return
/// early without an event: ask laneway_paths_next_event. With a thread, others may call anything
/// meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn laneway_paths_wait(paths: *mut Paths, limit_ms: c_int) -> c_int {
    answer_coded(|| {
        refuse_in_callback()?;
        find(paths)?.wait(limit(limit_ms)?);
        Ok(())
    })
}

/// The next event is written to `*event`; its kind is LANEWAY_EVENT_NONE if there
/// is nothing. A message is put into its buffer here. It does not wait, and moves nothing.
///
/// # Safety
/// `event` has room for one, and buffers that were posted are still there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_paths_next_event(paths: *mut Paths, event: *mut Event) -> c_int {
    answer_coded(|| {
        let held = find(paths)?;
        if event.is_null() {
            return Err(refused("an argument is missing", "event is NULL", "its address").into());
        }
        let next = held.taken().next_event().unwrap_or_else(Event::none);
        // SAFETY: it is not null; as the caller promises.
        unsafe { event.write(next) };
        Ok(())
    })
}

/// Milliseconds of C.
pub fn limit(milliseconds: c_int) -> Result<Duration, Coded> {
    let limit = u64::try_from(milliseconds).map(Duration::from_millis);
    let cause = format!("{milliseconds} ms");
    Ok(limit.map_err(|_| refused("invalid time limit", cause, "0 or more: every wait ends"))?)
}
