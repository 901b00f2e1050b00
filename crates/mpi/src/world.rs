//! MPI between its start and its end in this process.

use std::cell::Cell;
use std::time::Duration;

use laneway_core::CommError;

use crate::calls::Mpi;
use crate::clock::MpiClock;
use crate::found::Found;
use crate::launcher::Launcher;
use crate::threads::ThreadLevel;

/// How a run ends that cannot go on.
pub(crate) const EXIT_ENVIRONMENT: i32 = 3;

/// MPI between its start and its end; every communicator holds one share of it.
pub(crate) struct World {
    pub mpi: Mpi,
    pub found: Found,
    pub launcher: Launcher,
    /// The requested level; `None` if the surrounding program requested it.
    pub threads_asked: Option<ThreadLevel>,
    /// What the library gives.
    pub threads: ThreadLevel,
    pub clock: MpiClock,
    /// Set when transfers were given up, after which the end of MPI could wait for ever.
    pub abandoned: Cell<bool>,
    /// The program around us started MPI, and ends it.
    pub lent: bool,
    pub ended: Cell<bool>,
    /// How long a wait may last; `None` for as long as the library lets it.
    pub wait_limit: Cell<Option<Duration>>,
}

impl World {
    /// Ends MPI; a second call does nothing.
    pub fn end(&self) -> Result<(), CommError> {
        if self.ended.replace(true) || self.lent {
            return Ok(());
        }
        if self.abandoned.get() || std::thread::panicking() {
            self.abort(EXIT_ENVIRONMENT);
        }
        // SAFETY: MPI was started by `init`, as it is not lent, and `ended` makes this its one end.
        self.mpi.check("MPI_Finalize", unsafe { (self.mpi.tables.functions.finalize)() })
    }

    pub fn has_ended(&self) -> bool {
        self.ended.get()
    }

    pub fn abort(&self, code: i32) -> ! {
        if self.mpi.flavour.simulator.is_some() {
            // All ranks are this one process. MPI_Abort would unwind their stacks with an exception
            // of C++, which must not pass through Rust, and lose the code; exit handlers would wait
            // for the simulator from within it.
            // SAFETY: the process ends here; nothing is buffered that was meant to be seen.
            unsafe { libc::_exit(code) }
        }
        // SAFETY: MPI may be ended in this way at any time between its start and its end.
        unsafe { (self.mpi.tables.functions.abort)(self.mpi.flavour.comm_world, code) };
        std::process::exit(code)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // An error could not be reported any more.
        let _ = self.end();
    }
}
