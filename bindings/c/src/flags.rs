//! What is to be known of the points of a thread's last measurement.

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};

use crate::failure::Failure;
use crate::last_error::answer;

/// The flags of each point, in the order of the points.
pub type Flags = Vec<CString>;

thread_local! {
    static LAST: RefCell<Flags> = RefCell::default();
}

/// Does the work of one call that measures, and keeps the flags that it gives. They are handed over
/// at the end, since a function that is measured may measure something itself.
pub fn measured(work: impl FnOnce(&mut Flags) -> Result<(), Failure>) -> c_int {
    let mut flags = Flags::new();
    let code = answer(|| work(&mut flags));
    // A thread that is ending reads them no more.
    let _ = LAST.try_with(|last| last.replace(flags));
    code
}

pub fn text(point: c_int) -> *const c_char {
    let at = usize::try_from(point).unwrap_or(usize::MAX);
    let kept = LAST.try_with(|last| last.borrow().get(at).map(|flags| flags.as_ptr()));
    kept.ok().flatten().unwrap_or(c"".as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Exit;
    use std::ffi::CStr;

    fn said(point: c_int) -> String {
        // SAFETY: the text is this thread's, and nothing is called before it is copied.
        unsafe { CStr::from_ptr(text(point)) }.to_string_lossy().into_owned()
    }

    #[test]
    fn flags_are_those_of_the_last_measurement() {
        let code = measured(|outer| {
            // What was measured measures something itself.
            measured(|inner| {
                inner.extend([c"single".into(), c"no time".into()]);
                Ok(())
            });
            assert_eq!(said(1), "no time");
            outer.push(c"start missed".into());
            Ok(())
        });
        assert_eq!(code, Exit::Done as c_int);
        assert_eq!((said(0), said(1)), ("start missed".into(), String::new()));
        assert_eq!((said(-1), said(c_int::MAX)), (String::new(), String::new()));
        assert_eq!(measured(|_| panic!("on purpose")), Exit::Environment as c_int);
        assert_eq!(said(0), "");
    }
}
