//! A timer that ends short sleeps.
//!
//! To set a timer of its own for every sleep is dear where it rings before the system's next tick,
//! and most of all in virtual machines. Most sleeps end by a packet, and the next one may last a
//! little longer: so a timer that rings too early is left as it is, and the waiter sleeps again.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use laneway_path::Nanos;

use crate::error::NetError;

pub(crate) struct Alarm {
    fd: OwnedFd,
    /// When it rings; in the past where it does not.
    at: Nanos,
}

impl Alarm {
    pub fn new() -> Result<Alarm, NetError> {
        let flags = libc::TFD_NONBLOCK | libc::TFD_CLOEXEC;
        // SAFETY: plain numbers; the result is checked.
        let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) };
        if fd < 0 {
            return Err(NetError::system("timerfd_create", io::Error::last_os_error()));
        }
        // SAFETY: the descriptor was just made and has no other owner.
        Ok(Alarm { fd: unsafe { OwnedFd::from_raw_fd(fd) }, at: 0 })
    }

    /// Can be read when it has rung.
    pub fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Rings at this time, or before.
    pub fn set(&mut self, now: Nanos, at: Nanos) {
        if (now + 1..=at).contains(&self.at) {
            return;
        }
        let none = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let time = libc::timespec {
            tv_sec: (at / 1_000_000_000) as libc::time_t,
            tv_nsec: (at % 1_000_000_000) as libc::c_long,
        };
        let time = libc::itimerspec { it_interval: none, it_value: time };
        // SAFETY: the time is ours, and the old one is not asked for.
        unsafe {
            let absolute = libc::TFD_TIMER_ABSTIME;
            libc::timerfd_settime(self.fd(), absolute, &raw const time, std::ptr::null_mut())
        };
        self.at = at;
    }

    /// It has rung.
    pub fn silence(&mut self) {
        let mut rung = 0u64;
        // SAFETY: a timer gives eight bytes, or nothing.
        unsafe { libc::read(self.fd(), (&raw mut rung).cast(), 8) };
        self.at = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::clock::now;
    use crate::system::readiness::{poll, readable};
    use std::time::Duration;

    #[test]
    fn it_rings_in_time_and_is_set_anew_only_to_ring_earlier() {
        let mut alarm = Alarm::new().expect("a timer");
        let begun = now();
        let ms = 1_000_000;
        alarm.set(begun, begun + 2000 * ms);
        alarm.set(begun, begun + 5 * ms);
        alarm.set(begun, begun + 3000 * ms);
        assert_eq!(alarm.at, begun + 5 * ms);
        poll(&mut [readable(alarm.fd())], Duration::from_secs(1));
        let took = now() - begun;
        assert!((5 * ms..900 * ms).contains(&took), "{took}");
        alarm.silence();
        poll(&mut [readable(alarm.fd())], Duration::from_millis(5));
        assert!(now() - begun >= took + 5 * ms, "it rings once");
        // One that has passed rings at once.
        alarm.set(now(), begun);
        poll(&mut [readable(alarm.fd())], Duration::from_secs(1));
        assert!(now() - begun < 990 * ms);
    }
}
