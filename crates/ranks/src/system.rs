//! The few calls of the system that the standard library lacks, each behind a safe face.

use std::io;

use crate::error::RanksError;

/// The last error of this thread, as a launcher reports it.
pub(crate) fn last_error(what: impl Into<String>) -> RanksError {
    RanksError::System { what: what.into(), error: io::Error::last_os_error().to_string() }
}

/// The name of this host.
pub(crate) fn hostname() -> String {
    let mut name = [0u8; 256];
    // SAFETY: the buffer is valid for its length; the last byte stays zero.
    let code = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    match code == 0 && end > 0 {
        true => String::from_utf8_lossy(&name[..end]).into_owned(),
        false => "localhost".into(),
    }
}

/// What processes have in common that reach each other over loopback: one kernel, and one network
/// namespace of it.
pub(crate) fn machine() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let network = std::fs::read_link("/proc/self/ns/net").unwrap_or_default();
    format!("{}/{}", boot.trim(), network.display()).replace(char::is_whitespace, "")
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

    pub fn count(&self) -> usize {
        // SAFETY: the set is initialised.
        match unsafe { libc::CPU_COUNT(&self.0) } {
            count @ 1.. => count as usize,
            _ => std::thread::available_parallelism().map_or(1, |cores| cores.get()),
        }
    }

    /// Keeps the calling thread on one core, the `number`th of the set; false where that is
    /// refused. Left alone, the system puts a rank that it wakes beside the one that woke it, and
    /// on a busy machine both then share that core for good.
    pub fn bind(&self, number: usize) -> bool {
        let all = 0..libc::CPU_SETSIZE as usize;
        // SAFETY: the set is initialised, and the numbers are within its size.
        let mut members = all.filter(|&core| unsafe { libc::CPU_ISSET(core, &self.0) });
        let Some(core) = members.nth(number) else { return false };
        // SAFETY: as in `available`.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(core, &mut set);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) == 0
        }
    }
}

/// Bytes that nobody can guess, as hexadecimal digits.
pub(crate) fn random_digits() -> Result<String, RanksError> {
    let mut bytes = [0u8; 32];
    // SAFETY: the buffer is valid for its length.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    match got == bytes.len() as isize {
        true => Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        false => Err(last_error("read random bytes")),
    }
}

/// Waits with a time limit end when they should, not up to 50 us later.
pub(crate) fn lessen_timer_slack() {
    // SAFETY: plain call on this thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1000, 0, 0, 0) };
}
