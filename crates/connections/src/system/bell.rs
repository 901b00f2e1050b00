//! What ends the sleep of another thread.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::error::NetError;
use crate::system::readiness::readable;

pub(crate) struct Bell(OwnedFd);

impl Bell {
    pub fn new() -> Result<Bell, NetError> {
        // SAFETY: plain numbers; the result is checked, and has no other owner.
        unsafe {
            let fd = libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC);
            if fd < 0 {
                return Err(NetError::system("eventfd", std::io::Error::last_os_error()));
            }
            Ok(Bell(OwnedFd::from_raw_fd(fd)))
        }
    }

    pub fn descriptor(&self) -> libc::pollfd {
        readable(self.0.as_raw_fd())
    }

    pub fn ring(&self) {
        let one = 1u64;
        // SAFETY: an eventfd takes eight bytes. One that is full rings already.
        unsafe { libc::write(self.0.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    /// It has been heard.
    pub fn silence(&self) {
        let mut rung = 0u64;
        // SAFETY: an eventfd gives eight bytes, or nothing.
        unsafe { libc::read(self.0.as_raw_fd(), (&raw mut rung).cast(), 8) };
    }
}
