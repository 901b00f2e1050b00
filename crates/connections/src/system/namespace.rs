//! The network namespace of a socket: others are made there, whatever namespace the program has
//! moved to since.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;

/// Asks a socket for its network namespace.
const SIOCGSKNS: libc::c_ulong = 0x894c;

pub(crate) struct Namespace {
    fd: OwnedFd,
    inode: u64,
}

impl Namespace {
    /// That of a socket; `None` where the system does not say, as it does for privileged programs
    /// only: others cannot have moved.
    pub fn of(socket: RawFd) -> Option<Namespace> {
        // SAFETY: the call has no argument; the result is checked.
        let fd = unsafe { libc::ioctl(socket, SIOCGSKNS as _) };
        if fd < 0 {
            return None;
        }
        // SAFETY: the descriptor was just made and has no other owner.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let inode = fs::metadata(format!("/proc/self/fd/{}", fd.as_raw_fd())).ok()?.ino();
        Some(Namespace { fd, inode })
    }

    /// Does something there.
    pub fn inside<T>(&self, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let own = fs::File::open("/proc/thread-self/ns/net")?;
        if own.metadata()?.ino() == self.inode {
            return work();
        }
        enter(self.fd.as_raw_fd())?;
        let done = work();
        enter(own.as_raw_fd())?;
        done
    }
}

/// Moves this thread.
fn enter(namespace: RawFd) -> io::Result<()> {
    // SAFETY: the call moves the thread that makes it, and nothing else.
    let moved = unsafe { libc::setns(namespace, libc::CLONE_NEWNET) };
    if moved == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
