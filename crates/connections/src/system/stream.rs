//! TCP connections of one path: bound to its address and its device, never blocking, and reset
//! where they are given up, so that nothing is left of them.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use laneway_path::StreamState;

use super::address::RawAddress;
use super::socket::{bind_to_device, set_option};

/// Connections that wait to be accepted.
const BACKLOG: i32 = 1024;
/// Bytes that wait in the kernel before they are sent for the first time, at most: what a path that
/// dies takes with it.
const NOT_SENT: i32 = 512 << 10;

/// Where others connect to.
pub struct Listener {
    fd: OwnedFd,
}

/// One connection, or one that begins.
pub struct Stream {
    fd: OwnedFd,
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn socket(address: SocketAddr, device: Option<&str>) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: plain numbers; the result is checked.
    let fd = check(unsafe { libc::socket(family, kind, 0) })?;
    // SAFETY: the descriptor was just made and has no other owner.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    if let Some(device) = device {
        bind_to_device(fd.as_raw_fd(), device)?;
    }
    Ok(fd)
}

fn bind(fd: RawFd, address: SocketAddr) -> io::Result<()> {
    let raw = RawAddress::new(address);
    // SAFETY: the address is as long as it says.
    check(unsafe { libc::bind(fd, raw.as_ptr(), raw.len()) }).map(|_| ())
}

impl Listener {
    /// At an address and its port.
    pub fn open(address: SocketAddr, device: Option<&str>) -> io::Result<Listener> {
        let fd = socket(address, device)?;
        // Connections that were closed a moment ago do not keep the port.
        set_option(fd.as_raw_fd(), libc::SOL_SOCKET, libc::SO_REUSEADDR, 1)?;
        bind(fd.as_raw_fd(), address)?;
        // SAFETY: plain numbers.
        check(unsafe { libc::listen(fd.as_raw_fd(), BACKLOG) })?;
        Ok(Listener { fd })
    }

    pub fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// A connection that a peer has begun; `None` if there is none.
    pub fn accept(&self) -> Option<(Stream, SocketAddr)> {
        let mut from = RawAddress::empty();
        let mut len = from.len();
        let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: the storage has as many bytes as `len` says.
        let fd = unsafe { libc::accept4(self.fd(), from.as_mut_ptr(), &raw mut len, flags) };
        let fd = check(fd).ok()?;
        // SAFETY: the descriptor was just made and has no other owner.
        let stream = Stream { fd: unsafe { OwnedFd::from_raw_fd(fd) } };
        stream.set_options().ok()?;
        Some((stream, from.get()?))
    }
}

impl Stream {
    /// One that is connected to nothing, for a path that begins at this address.
    pub fn new(local: SocketAddr, device: Option<&str>) -> io::Result<Stream> {
        let stream = Stream { fd: socket(local, device)? };
        stream.set_options()?;
        Ok(stream)
    }

    fn set_options(&self) -> io::Result<()> {
        set_option(self.fd(), libc::IPPROTO_TCP, libc::TCP_NODELAY, 1)?;
        set_option(self.fd(), libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, NOT_SENT)?;
        let linger = libc::linger { l_onoff: 1, l_linger: 0 };
        let bytes = mem::size_of::<libc::linger>() as libc::socklen_t;
        let (level, option) = (libc::SOL_SOCKET, libc::SO_LINGER);
        // SAFETY: the structure has as many bytes as are said.
        let done = unsafe {
            libc::setsockopt(self.fd(), level, option, (&raw const linger).cast(), bytes)
        };
        check(done).map(|_| ())
    }

    /// Begins to connect, from any port of an address.
    pub fn connect(&self, local: SocketAddr, peer: SocketAddr) -> io::Result<()> {
        if !local.ip().is_unspecified() {
            // The port is chosen when the peer is known: thousands may share one.
            set_option(self.fd(), libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)?;
            bind(self.fd(), SocketAddr::new(local.ip(), 0))?;
        }
        let raw = RawAddress::new(peer);
        // SAFETY: the address is as long as it says.
        let begun = check(unsafe { libc::connect(self.fd(), raw.as_ptr(), raw.len()) });
        match begun {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
            _ => Ok(()),
        }
    }

    pub fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Whether it has connected; an error if it cannot.
    pub fn is_connected(&self) -> io::Result<bool> {
        let mut error: i32 = 0;
        let mut len = mem::size_of::<i32>() as libc::socklen_t;
        let (level, option) = (libc::SOL_SOCKET, libc::SO_ERROR);
        // SAFETY: the call writes one number to the place that it is given.
        check(unsafe {
            libc::getsockopt(self.fd(), level, option, (&raw mut error).cast(), &raw mut len)
        })?;
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error));
        }
        let mut peer = RawAddress::empty();
        let mut len = peer.len();
        // SAFETY: the storage has as many bytes as `len` says.
        Ok(unsafe { libc::getpeername(self.fd(), peer.as_mut_ptr(), &raw mut len) } == 0)
    }

    /// Has the kernel report arrivals when at least this number of bytes is there.
    pub fn wake_at(&self, bytes: usize) {
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        // Without it the program is woken more often.
        _ = set_option(self.fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes);
    }

    /// Gives bytes to the kernel: how many it took, perhaps none.
    pub fn send(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        // SAFETY: all bytes zero is a valid value of this plain structure.
        let mut message: libc::msghdr = unsafe { mem::zeroed() };
        // A slice for input and output is laid out as an iovec; the call only reads it.
        message.msg_iov = pieces.as_ptr().cast_mut().cast();
        message.msg_iovlen = pieces.len() as _;
        loop {
            let flags = libc::MSG_NOSIGNAL;
            let sent = match pieces {
                // For one piece, the shorter call.
                // SAFETY: the piece is as long as it says, and lives.
                [one] => unsafe { libc::send(self.fd(), one.as_ptr().cast(), one.len(), flags) },
                // SAFETY: the pieces are as long as the message says, and live.
                _ => unsafe { libc::sendmsg(self.fd(), &raw const message, flags) },
            };
            if let Ok(sent) = usize::try_from(sent) {
                return Ok(sent);
            }
            match io::Error::last_os_error() {
                error if error.raw_os_error() == Some(libc::EINTR) => {}
                error if error.raw_os_error() == Some(libc::EAGAIN) => return Ok(0),
                error => return Err(error),
            }
        }
    }

    /// Takes bytes that have arrived, into these pieces in turn; `None` where there are none. The
    /// end of the stream is an error.
    pub fn receive(&self, pieces: &mut [IoSliceMut<'_>]) -> io::Result<Option<usize>> {
        loop {
            let count = pieces.len().min(1024) as i32;
            let got = match pieces {
                // For one piece, the shorter call.
                // SAFETY: the piece is as long as it says, and lives.
                [one] => unsafe { libc::recv(self.fd(), one.as_mut_ptr().cast(), one.len(), 0) },
                // SAFETY: the pieces are laid out as iovecs, and live.
                _ => unsafe { libc::readv(self.fd(), pieces.as_mut_ptr().cast(), count) },
            };
            match usize::try_from(got) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => return Ok(Some(bytes)),
                Err(_) => match io::Error::last_os_error() {
                    error if error.raw_os_error() == Some(libc::EINTR) => {}
                    error if error.raw_os_error() == Some(libc::EAGAIN) => return Ok(None),
                    error => return Err(error),
                },
            }
        }
    }

    /// What the kernel says of it; nothing where it says less.
    pub fn state(&self) -> StreamState {
        // The beginning of struct tcp_info, to its data_segs_out.
        let mut info = [0_u8; 160];
        let mut len = info.len() as libc::socklen_t;
        // SAFETY: the call writes at most the number of bytes that it is given.
        let done = unsafe {
            let place = info.as_mut_ptr().cast();
            libc::getsockopt(self.fd(), libc::IPPROTO_TCP, libc::TCP_INFO, place, &raw mut len)
        };
        if done != 0 {
            return StreamState::default();
        }
        let word =
            |at: usize| u32::from_ne_bytes([info[at], info[at + 1], info[at + 2], info[at + 3]]);
        let long = |at: usize| {
            let (low, high) = (u64::from(word(at)), u64::from(word(at + 4)));
            if cfg!(target_endian = "big") { low << 32 | high } else { high << 32 | low }
        };
        StreamState {
            acknowledged: long(120),
            holds_bytes: word(24) > 0 || word(144) > 0,
            segments: u64::from(word(156)),
            retransmitted: u64::from(word(100)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn wait<T>(mut what: impl FnMut() -> Option<T>) -> T {
        for _ in 0..10_000 {
            if let Some(found) = what() {
                return found;
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        panic!("nothing within a second");
    }

    fn pair(at: &str) -> (Stream, Stream) {
        let any: SocketAddr = at.parse().expect("an address");
        // A free port.
        let udp = std::net::UdpSocket::bind(any).expect("a socket");
        let to = udp.local_addr().expect("an address");
        let listener = Listener::open(to, Some("lo")).expect("a free port");
        let here = Stream::new(any, Some("lo")).expect("a socket");
        here.connect(any, to).expect("it begins");
        let (there, from) = wait(|| listener.accept());
        assert_eq!(from.ip(), any.ip());
        assert!(wait(|| here.is_connected().expect("no error").then_some(true)));
        (here, there)
    }

    #[test]
    fn bytes_arrive_in_order_and_the_kernel_says_what_is_under_way() {
        for at in ["127.0.0.1:0", "[::1]:0"] {
            let (here, there) = pair(at);
            assert_eq!(here.send(&[IoSlice::new(b"ab"), IoSlice::new(b"cde")]).expect("sent"), 5);
            let (mut first, mut rest) = ([0; 3], [0; 10]);
            let got = wait(|| {
                let mut pieces = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut rest)];
                there.receive(&mut pieces).expect("open")
            });
            assert_eq!((got, &first, &rest[..2]), (5, b"abc", &b"de"[..]));
            assert_eq!(there.receive(&mut [IoSliceMut::new(&mut rest)]).expect("open"), None);
            // One byte for the handshake of TCP.
            let state = wait(|| Some(here.state()).filter(|state| !state.holds_bytes));
            assert!((5..=6).contains(&state.acknowledged), "{state:?}");
            assert_eq!((state.segments, state.retransmitted), (1, 0));
        }
    }

    #[test]
    fn a_full_stream_takes_no_more_and_one_that_is_dropped_is_reset() {
        let (here, there) = pair("127.0.0.1:0");
        let megabyte = vec![7; 1 << 20];
        let mut taken = 0;
        while let Ok(some) = here.send(&[IoSlice::new(&megabyte)])
            && some > 0
        {
            taken += some;
        }
        assert!(taken > 0 && here.state().holds_bytes);
        drop(there);
        wait(|| here.send(&[IoSlice::new(b"x")]).err());
        let nowhere = Stream::new("127.0.0.1:0".parse().expect("an address"), None);
        let nowhere = nowhere.expect("a socket");
        let closed: SocketAddr = "127.0.0.1:9".parse().expect("an address");
        _ = nowhere.connect("127.0.0.1:0".parse().expect("an address"), closed);
        wait(|| nowhere.is_connected().err());
    }
}
