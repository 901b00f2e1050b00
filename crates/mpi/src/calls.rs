//! What every call to an MPI library needs: its functions and constants, and its errors in words.

use std::cell::Cell;

use laneway_core::CommError;

use crate::flavour::{Family, Flavour, Handle};
use crate::found::Found;
use crate::functions::Tables;

/// A library's functions and constants: all that a call needs.
pub(crate) struct Mpi {
    pub tables: Tables,
    pub flavour: Flavour,
    /// The error handler that lets a failed call return; 0 where our own is still to be made.
    pub errors_return: Cell<Handle>,
}

/// Intel MPI 2021.19 accepts MPI_ERRORS_RETURN in its standard ABI and then ends the run all the
/// same; a handler that does nothing works there. (MPICH 5, in turn, takes an error for settled
/// once a user's handler has seen it, so MPI_ERRORS_RETURN it is everywhere else.)
pub(crate) fn ignores_errors_return(found: &Found) -> bool {
    found.family == Family::Standard && found.version.starts_with("Intel(R) MPI")
}

/// Errors are the caller's business: the call that failed returns its code.
extern "C" fn leave_it_to_the_caller(_comm: *mut Handle, _code: *mut i32) {}

impl Mpi {
    /// Makes errors on `comm` return.
    pub fn return_errors(&self, comm: Handle) -> Result<(), CommError> {
        let f = &self.tables.functions;
        let mut handler = self.errors_return.get();
        // SAFETY: the handler is a function for good, and its handle goes to a word of our own. C
        // calls it with further arguments, which no calling convention of a target that builds
        // here lets it trip over.
        unsafe {
            if handler == 0 {
                let code = (f.comm_create_errhandler)(leave_it_to_the_caller, &mut handler);
                self.check("MPI_Comm_create_errhandler", code)?;
                self.errors_return.set(handler);
            }
            self.check("MPI_Comm_set_errhandler", (f.comm_set_errhandler)(comm, handler))
        }
    }

    #[inline]
    pub fn check(&self, call: &'static str, code: i32) -> Result<(), CommError> {
        if code == 0 { Ok(()) } else { Err(self.error(call, code)) }
    }

    /// An error code of MPI with its class and MPI's own words.
    #[cold]
    pub fn error(&self, call: &'static str, code: i32) -> CommError {
        let text = self.error_text(code);
        CommError::Library { call, class: self.error_class(code), text }
    }

    pub fn error_class(&self, code: i32) -> i32 {
        let mut class = code;
        // SAFETY: the one argument that is written to is a word of our own.
        unsafe { (self.tables.functions.error_class)(code, &mut class) };
        class
    }

    pub fn error_text(&self, code: i32) -> String {
        // The longest declared MPI_MAX_ERROR_STRING is 512.
        let (mut text, mut length) = ([0u8; 2048], 0i32);
        // SAFETY: the buffer is longer than any text, and zeros stand behind what is written.
        unsafe { (self.tables.functions.error_string)(code, text.as_mut_ptr(), &mut length) };
        let text = String::from_utf8_lossy(&text);
        let text = text.trim_end_matches('\0');
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// A predefined attribute; `None` where the library does not have it.
    pub fn attribute(&self, comm: Handle, key: i32) -> Result<Option<i64>, CommError> {
        let (mut value, mut has) = (std::ptr::null::<i32>(), 0i32);
        // SAFETY: both results go to words of our own.
        let code =
            unsafe { (self.tables.functions.comm_get_attr)(comm, key, &mut value, &mut has) };
        self.check("MPI_Comm_get_attr", code)?;
        if has == 0 || value.is_null() {
            return Ok(None);
        }
        // SAFETY: for a predefined key the standard makes the value the address of an int.
        Ok(Some(i64::from(unsafe { *value })))
    }
}
