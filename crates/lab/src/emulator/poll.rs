//! Waiting for packets and commands, with timeouts in nanoseconds.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Waits for any of some descriptors, to the nanosecond.
pub(super) struct Poll {
    epoll: OwnedFd,
}

impl Poll {
    pub fn new() -> io::Result<Poll> {
        // SAFETY: the call takes a number alone.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if epoll < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is open, and has no other owner.
        Ok(Poll { epoll: unsafe { OwnedFd::from_raw_fd(epoll) } })
    }

    /// Watches a descriptor, under the index at which `wait` marks it.
    pub fn add(&self, descriptor: i32, index: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: index };
        let (epoll, add) = (self.epoll.as_raw_fd(), libc::EPOLL_CTL_ADD);
        // SAFETY: the event lives longer than the call.
        match unsafe { libc::epoll_ctl(epoll, add, descriptor, &mut event) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub fn remove(&self, descriptor: i32) -> io::Result<()> {
        let (epoll, delete) = (self.epoll.as_raw_fd(), libc::EPOLL_CTL_DEL);
        // SAFETY: no event is passed, and none is read.
        match unsafe { libc::epoll_ctl(epoll, delete, descriptor, std::ptr::null_mut()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Waits until one is ready or the time is over, and marks those that are ready.
    pub fn wait(&self, timeout_ns: Option<u64>, is_ready: &mut [bool]) -> io::Result<()> {
        const EVENTS: usize = 64;
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
        let timeout = timeout_ns.map(|ns| libc::timespec {
            tv_sec: (ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (ns % 1_000_000_000) as libc::c_long,
        });
        let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: events and timeout live longer than the call, the number of events is that of
        // the array, and no signal mask is passed.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                events.as_mut_ptr(),
                EVENTS,
                timeout,
                std::ptr::null::<libc::sigset_t>(),
                0_usize,
            )
        };
        if count < 0 {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::Interrupted => Ok(()),
                _ => Err(error),
            };
        }
        for event in &events[..count as usize] {
            is_ready[event.u64 as usize] = true;
        }
        Ok(())
    }
}
