//! Which descriptors have something to say: one call, however many there are.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::NetError;

/// The number of events taken in one call; the others have their turn in the next.
const MOST: usize = 16;

pub(crate) struct Readiness {
    fd: OwnedFd,
    apart: Mutex<Option<Apart>>,
}

/// A descriptor that the waiter polls itself.
struct Apart {
    fd: RawFd,
    key: u64,
    /// Whether room to send is reported.
    room: bool,
}

/// The events of one call; only storage between calls.
pub(crate) struct Ready {
    events: [libc::epoll_event; MOST],
    count: usize,
}

impl Ready {
    pub fn new() -> Ready {
        Ready { events: [libc::epoll_event { events: 0, u64: 0 }; MOST], count: 0 }
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// The key of a descriptor that can be read, or has an error; `None` if it only has room.
    pub fn readable(&self, number: usize) -> Option<u64> {
        let event = self.events[..self.count].get(number)?;
        let readable = event.events & !(libc::EPOLLOUT as u32) != 0;
        readable.then_some(event.u64)
    }
}

impl Readiness {
    pub fn new() -> Result<Readiness, NetError> {
        // SAFETY: a plain number; the result is checked.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(NetError::system("epoll_create1", io::Error::last_os_error()));
        }
        // SAFETY: the descriptor was just made and has no other owner.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Readiness { fd, apart: Mutex::new(None) })
    }

    fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Watches a descriptor until it is closed.
    pub fn add(&self, fd: RawFd, key: u64) -> Result<(), NetError> {
        self.control(libc::EPOLL_CTL_ADD, fd, key, libc::EPOLLIN)
            .map_err(|error| NetError::system("epoll_ctl", error))
    }

    /// Whether room to send is of interest as well.
    pub fn watch_room(&self, fd: RawFd, key: u64, wanted: bool) {
        let mut apart = self.apart();
        let reads = match &mut *apart {
            Some(apart) if apart.fd == fd => {
                apart.room = wanted;
                false
            }
            _ => true,
        };
        self.select(fd, key, reads, wanted);
    }

    /// Arrivals by this descriptor are no longer reported: the waiter polls it itself. Two
    /// descriptors that report one packet wake a sleeper twice, which costs a microsecond.
    pub fn keep_apart(&self, fd: RawFd, key: u64, room: bool) {
        self.rejoin();
        self.select(fd, key, false, room);
        *self.apart() = Some(Apart { fd, key, room });
    }

    /// Arrivals by this descriptor are not reported until [`Readiness::watch_room`] is called.
    pub fn pause(&self, fd: RawFd, key: u64, room: bool) {
        if self.apart().as_ref().is_some_and(|apart| apart.fd == fd) {
            self.rejoin();
        }
        self.select(fd, key, false, room);
    }

    /// Reports the separate descriptor's arrivals again.
    pub fn rejoin(&self) {
        if let Some(Apart { fd, key, room }) = self.apart().take() {
            self.select(fd, key, true, room);
        }
    }

    fn apart(&self) -> MutexGuard<'_, Option<Apart>> {
        self.apart.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets which events of a descriptor are reported from now on.
    fn select(&self, fd: RawFd, key: u64, reads: bool, room: bool) {
        let reads = if reads { libc::EPOLLIN } else { 0 };
        let room = if room { libc::EPOLLOUT } else { 0 };
        // It was added before, and that needs no memory: without it, the next sender tries.
        _ = self.control(libc::EPOLL_CTL_MOD, fd, key, reads | room);
    }

    fn control(&self, what: i32, fd: RawFd, key: u64, events: i32) -> io::Result<()> {
        let mut event = libc::epoll_event { events: events as u32, u64: key };
        // SAFETY: the event is ours and is only read.
        let done = unsafe { libc::epoll_ctl(self.fd(), what, fd, &raw mut event) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Which of them are ready now.
    pub fn look(&self, ready: &mut Ready) {
        // SAFETY: there is room for as many events as are said.
        let got = unsafe { libc::epoll_wait(self.fd(), ready.events.as_mut_ptr(), MOST as i32, 0) };
        ready.count = usize::try_from(got).unwrap_or(0);
    }

    /// For a call that waits: can be read where one of them is ready.
    pub fn descriptor(&self) -> libc::pollfd {
        readable(self.fd())
    }
}

/// What [`poll`] is asked of a descriptor.
pub(crate) fn readable(fd: RawFd) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}

/// Waits for one of these, for so long at most.
pub(crate) fn poll(descriptors: &mut [libc::pollfd], limit: Duration) {
    let time = libc::timespec {
        tv_sec: limit.as_secs().min(i64::MAX as u64) as libc::time_t,
        tv_nsec: limit.subsec_nanos().into(),
    };
    let count = descriptors.len() as libc::nfds_t;
    // SAFETY: there are as many descriptors as are said, and the time is ours. An interrupted call
    // is as good as one that found something: the caller polls.
    unsafe { libc::ppoll(descriptors.as_mut_ptr(), count, &raw const time, std::ptr::null()) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::time::Instant;

    #[test]
    fn only_readable_descriptors_are_reported() {
        let readiness = Readiness::new().expect("a descriptor");
        let sockets: Vec<UdpSocket> =
            (0..40).map(|_| UdpSocket::bind("127.0.0.1:0").expect("a socket")).collect();
        for (key, socket) in sockets.iter().enumerate() {
            readiness.add(socket.as_raw_fd(), key as u64).expect("room");
        }
        let mut ready = Ready::new();
        let mut wait = |limit: Duration| {
            poll(&mut [readiness.descriptor()], limit);
            readiness.look(&mut ready);
            (ready.len(), ready.readable(0), ready.readable(1))
        };
        let (begun, soon, late) =
            (Instant::now(), Duration::from_millis(5), Duration::from_secs(5));
        assert_eq!(wait(soon), (0, None, None));
        assert!(begun.elapsed() >= soon);
        let to = sockets[7].local_addr().expect("an address");
        sockets[3].send_to(b"x", to).expect("sent");
        assert_eq!(wait(late), (1, Some(7), None));
        // Room is reported where it is requested, and is nothing to read.
        readiness.watch_room(sockets[5].as_raw_fd(), 5, true);
        let mut buffer = [0; 8];
        sockets[7].recv(&mut buffer).expect("received");
        assert_eq!(wait(late), (1, None, None));
    }

    #[test]
    fn a_descriptor_kept_apart_reports_only_its_room() {
        let readiness = Readiness::new().expect("a descriptor");
        let sockets: Vec<UdpSocket> =
            (0..2).map(|_| UdpSocket::bind("127.0.0.1:0").expect("a socket")).collect();
        for (key, socket) in sockets.iter().enumerate() {
            readiness.add(socket.as_raw_fd(), key as u64).expect("room");
        }
        let mut ready = Ready::new();
        let mut reported = || {
            readiness.look(&mut ready);
            (ready.len(), ready.readable(0))
        };
        let fd = sockets[0].as_raw_fd();
        let to = sockets[0].local_addr().expect("an address");
        readiness.keep_apart(fd, 0, false);
        sockets[1].send_to(b"x", to).expect("sent");
        assert_eq!(reported(), (0, None), "not of what arrives");
        readiness.watch_room(fd, 0, true);
        assert_eq!(reported(), (1, None), "of its room");
        readiness.rejoin();
        assert_eq!(reported(), (1, Some(0)), "of both again");
        readiness.watch_room(fd, 0, false);
        // Another one takes its place, and the first is reported once more.
        readiness.keep_apart(fd, 0, false);
        readiness.keep_apart(sockets[1].as_raw_fd(), 1, false);
        assert_eq!(reported(), (1, Some(0)));
    }
}
