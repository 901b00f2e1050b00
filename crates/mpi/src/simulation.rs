//! Whether this process is a simulation: SimGrid's smpirun runs every rank as a part of one process
//! that holds the simulator already, so there is nothing to search and nothing to open.

use std::ffi::CString;
use std::path::PathBuf;

use crate::flavour::smpi::MARK;
use crate::launcher::{self, SMPI_SIZE};
use crate::library::file_of;

/// Whether this process is a simulated cluster: its ranks share the process and its one thread,
/// time is virtual, and a rank ends by returning.
pub fn is_simulated() -> bool {
    simulator().is_some()
}

/// The file of the simulator that this process is a part of.
pub fn simulator() -> Option<PathBuf> {
    launcher::of_process(SMPI_SIZE)?;
    let mark = CString::new(MARK).ok()?;
    // SAFETY: the name is a C string; the answer is only looked at.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, mark.as_ptr()) };
    if address.is_null() {
        return None;
    }
    file_of(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_the_simulator_is_none() {
        assert!(!is_simulated());
    }
}
