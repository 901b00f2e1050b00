//! Threads that enter a network namespace.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::thread;

/// Moves the calling thread, and no other, into the network namespace of a file such as
/// `/run/netns/NAME`.
pub fn enter_namespace(file: &Path) -> io::Result<()> {
    let file = File::open(file)?;
    // SAFETY: the descriptor is open, and the call touches no memory of ours.
    match unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Runs `work` on a thread of its own inside a network namespace, and waits for it.
pub fn run_in_namespace<T: Send>(
    file: &Path,
    work: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    thread::scope(|scope| {
        let running = scope.spawn(|| {
            enter_namespace(file)?;
            work()
        });
        running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
