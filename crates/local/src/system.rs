//! The few calls of the system that the standard library lacks, each behind a safe face.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use laneway_core::CommError;

use crate::error::LocalError;

/// The last error of this thread, as a backend reports it.
pub(crate) fn comm_error(what: impl Into<String>) -> CommError {
    CommError::System { what: what.into(), error: io::Error::last_os_error().to_string() }
}

/// The last error of this thread, as a launcher reports it.
pub(crate) fn local_error(what: impl Into<String>) -> LocalError {
    LocalError::System { what: what.into(), error: io::Error::last_os_error().to_string() }
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
    // SAFETY: the descriptor was just opened and belongs to nobody else.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    // Past the limit of a file's size (ulimit -f) the system sends a signal that would end us
    // without a word; ignored, it is an error like any other.
    // SAFETY: plain calls; the action of before is put back.
    let code = unsafe {
        let before = libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        let code = libc::ftruncate(fd.as_raw_fd(), len as libc::off_t);
        let error = last_errno();
        libc::signal(libc::SIGXFSZ, before);
        if code == 0 { 0 } else { error }
    };
    if code != 0 {
        return Err(LocalError::System {
            what: format!("create {} MiB of shared memory", len.div_ceil(1 << 20)),
            error: io::Error::from_raw_os_error(code).to_string(),
        });
    }
    Ok(fd)
}

/// Random bytes that no other user of the machine can guess.
pub(crate) fn random_token() -> Result<[u8; 16], LocalError> {
    let mut token = [0u8; 16];
    // SAFETY: the buffer is valid for its length.
    let got = unsafe { libc::getrandom(token.as_mut_ptr().cast(), token.len(), 0) };
    if got == token.len() as isize { Ok(token) } else { Err(local_error("read random bytes")) }
}

/// The cores that this process may run on.
pub(crate) struct Cores(libc::cpu_set_t);

impl Cores {
    pub fn available() -> Cores {
        // SAFETY: an all-zero cpu_set_t is an empty set; the call writes at most its size.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            // It fails where the machine has more cores than fit the set; the set stays empty.
            libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set);
            Cores(set)
        }
    }

    pub fn count(&self) -> u32 {
        // SAFETY: the set is initialised.
        match unsafe { libc::CPU_COUNT(&self.0) } {
            count @ 1.. => count as u32,
            _ => std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
        }
    }

    /// Keeps this process on one core, the `number`th of the set; false where that is refused.
    pub fn bind(&self, number: u32) -> bool {
        let all = 0..libc::CPU_SETSIZE as usize;
        // SAFETY: the set is initialised, and the numbers are within its size.
        let mut members = all.filter(|&core| unsafe { libc::CPU_ISSET(core, &self.0) });
        let Some(core) = members.nth(number as usize) else { return false };
        // SAFETY: as in `available`.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(core, &mut set);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) == 0
        }
    }
}

pub(crate) fn hostname() -> String {
    let mut name = [0u8; 256];
    // SAFETY: the buffer is valid for its length; the last byte stays zero.
    let code = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    if code != 0 || end == 0 {
        return "localhost".into();
    }
    String::from_utf8_lossy(&name[..end]).into_owned()
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
