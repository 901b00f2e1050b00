//! What only this backend asks of the system: memory without a name, open files, and its errors.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use laneway_core::CommError;
use laneway_processes::random_bytes;

use crate::error::LocalError;

/// The last error of this thread, as a backend reports it.
pub(crate) fn comm_error(what: impl Into<String>) -> CommError {
    CommError::System { what: what.into(), error: io::Error::last_os_error().to_string() }
}

/// The last error of this thread, as a launcher reports it.
pub(crate) fn local_error(what: impl Into<String>) -> LocalError {
    LocalError::system(what, io::Error::last_os_error())
}

pub(crate) fn last_errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Memory with a file descriptor and no name: nothing is left when its last process has gone.
pub(crate) fn anonymous_file(len: usize) -> Result<OwnedFd, LocalError> {
    // SAFETY: the name is a C string; the call keeps nothing of it.
    let fd = unsafe { libc::memfd_create(c"laneway".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(local_error("create shared memory"));
    }
    // SAFETY: the descriptor was just opened and has no other owner.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    // Past the limit of a file's size (ulimit -f) the system sends a signal that would end us
    // silently; ignored, it is an error like any other.
    // SAFETY: plain calls; the action of before is put back.
    let code = unsafe {
        let before = libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        let code = libc::ftruncate(fd.as_raw_fd(), len as libc::off_t);
        let error = last_errno();
        libc::signal(libc::SIGXFSZ, before);
        if code == 0 { 0 } else { error }
    };
    if code != 0 {
        let what = format!("create {} MiB of shared memory", len.div_ceil(1 << 20));
        return Err(LocalError::system(what, io::Error::from_raw_os_error(code)));
    }
    Ok(fd)
}

/// Random bytes that no other user of the machine can guess.
pub(crate) fn random_token() -> Result<[u8; 16], LocalError> {
    random_bytes().map_err(|error| LocalError::system("read random bytes", error))
}

/// Raises the soft limit of open files to `wanted`, or as far as the hard limit allows. Connections
/// are opened when they are needed, so a run may do with less; where it cannot, an error names the
/// limit.
pub(crate) fn raise_open_files(wanted: u64) -> Result<(), LocalError> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is valid for the call's duration.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return Err(local_error("read the limit of open files"));
    }
    let wanted = wanted.min(limit.rlim_max);
    if limit.rlim_cur >= wanted {
        return Ok(());
    }
    limit.rlim_cur = wanted;
    // SAFETY: as above.
    match unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) } {
        0 => Ok(()),
        _ => Err(local_error(format!("raise the limit of open files to {wanted}"))),
    }
}
