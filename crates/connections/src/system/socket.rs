//! The socket of one path: bound to its address and its device, never fragmenting, with
//! segmentation when many packets leave at once and the reverse when they arrive.

use std::ffi::CString;
use std::io::{self, IoSlice};
use std::mem;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use crate::error::NetError;
use crate::system::address::RawAddress;

/// The longest that one call sends or receives.
pub const MOST_BYTES: usize = 65_507;
/// Packets of one call, at most; older kernels take no more.
pub const MOST_SEGMENTS: usize = 64;
/// As much as the system gives without privilege, up to this.
const BUFFER_BYTES: i32 = 8 << 20;
/// Consecutive errors that a receive passes over: each is of one sent packet, reported once.
const MOST_ERRORS: usize = 64;

pub struct Socket {
    fd: OwnedFd,
    address: SocketAddr,
    /// Whether the system cuts what it is given into packets.
    segments: bool,
    /// Whether it has one peer and no other.
    is_connected: bool,
}

/// What arrived in one call: packets of `segment` bytes, the last perhaps shorter.
pub struct Arrival {
    pub from: SocketAddr,
    pub bytes: usize,
    pub segment: usize,
    /// When, by the clock that people set; the kernel's word, whenever it was asked for.
    pub at: Option<libc::timespec>,
    /// Whether the packets were marked on their way, because of congestion.
    pub marked: bool,
}

/// What became of packets that were to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The system took them, or lost them; which one is not known.
    Taken,
    /// There is no room now: try again.
    Full,
}

/// The bits of an IP header that say whether routers may mark a packet, and whether one did.
const MAY_BE_MARKED: i32 = 2;
const MARKED: u8 = 3;

/// Room for control messages, aligned for them.
#[repr(C, align(8))]
struct Control([u8; 128]);

/// Sets an option of a socket that is a number.
pub(crate) fn set_option(fd: RawFd, level: i32, option: i32, value: i32) -> io::Result<()> {
    let bytes = mem::size_of::<i32>() as libc::socklen_t;
    // SAFETY: the value has as many bytes as are said.
    let done = unsafe { libc::setsockopt(fd, level, option, (&raw const value).cast(), bytes) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Binds a socket to a device: packets leave and arrive by it, and no other.
pub(crate) fn bind_to_device(fd: RawFd, device: &str) -> io::Result<()> {
    let bytes = device.len() as libc::socklen_t;
    let name = CString::new(device).unwrap_or_default();
    let option = libc::SO_BINDTODEVICE;
    // SAFETY: the name has as many bytes as are said.
    let done =
        unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, option, name.as_ptr().cast(), bytes) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

impl Socket {
    /// At an address, bound to a device where one is named; at the first free port of the range,
    /// or any if it is 0 to 0.
    pub fn open(
        address: SocketAddr,
        last_port: u16,
        device: Option<&str>,
    ) -> Result<Socket, NetError> {
        let mut socket = Socket::new(address, device)?;
        let (ip, first_port) = (address.ip(), address.port());
        for port in first_port..=last_port.max(first_port) {
            match socket.bind(SocketAddr::new(ip, port)) {
                Ok(()) => {
                    socket.address = socket.own_address()?;
                    return Ok(socket);
                }
                Err(error) if error.raw_os_error() == Some(libc::EADDRINUSE) => {}
                Err(error) => return Err(NetError::system(format!("bind to {ip}"), error)),
            }
        }
        Err(NetError::NoPort { address: ip, first: first_port, last: last_port })
    }

    /// One more that is at no address yet.
    pub fn another(&self, device: Option<&str>) -> Result<Socket, NetError> {
        Socket::new(self.address, device)
    }

    /// Takes another to this address, for one peer alone. What comes from there comes to it.
    pub fn beside(&self, mut socket: Socket, peer: SocketAddr) -> Result<Socket, NetError> {
        // Only while it is bound: otherwise any socket could share the address.
        let share = |yes: i32| {
            [self, &socket].iter().try_for_each(|socket| {
                let failed = |error| NetError::system("SO_REUSEADDR", error);
                socket.set(libc::SOL_SOCKET, libc::SO_REUSEADDR, yes).map_err(failed)
            })
        };
        share(1)?;
        let bound = socket.bind(self.address);
        share(0)?;
        bound
            .map_err(|error| NetError::system(format!("bind to {} again", self.address), error))?;
        let raw = RawAddress::new(peer);
        // SAFETY: the address is as long as it says.
        if unsafe { libc::connect(socket.fd.as_raw_fd(), raw.as_ptr(), raw.len()) } != 0 {
            let error = io::Error::last_os_error();
            return Err(NetError::system(format!("connect to {peer}"), error));
        }
        socket.is_connected = true;
        Ok(socket)
    }

    fn new(address: SocketAddr, device: Option<&str>) -> Result<Socket, NetError> {
        let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
        let kind = libc::SOCK_DGRAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: plain numbers; the result is checked.
        let fd = unsafe { libc::socket(family, kind, 0) };
        if fd < 0 {
            return Err(NetError::system("socket", io::Error::last_os_error()));
        }
        // SAFETY: the descriptor was just made and has no other owner.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let mut socket = Socket { fd, address, segments: true, is_connected: false };
        if let Some(device) = device {
            socket.bind_to_device(device)?;
        }
        socket.set_options(family)?;
        Ok(socket)
    }

    fn bind(&self, address: SocketAddr) -> io::Result<()> {
        let raw = RawAddress::new(address);
        // SAFETY: the address is as long as it says.
        let bound = unsafe { libc::bind(self.fd.as_raw_fd(), raw.as_ptr(), raw.len()) };
        if bound == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    fn bind_to_device(&self, device: &str) -> Result<(), NetError> {
        let bound = bind_to_device(self.fd.as_raw_fd(), device);
        bound.map_err(|error| NetError::system(format!("bind to device {device}"), error))
    }

    fn set_options(&mut self, family: i32) -> Result<(), NetError> {
        let probe = if family == libc::AF_INET {
            (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE)
        } else {
            (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_PROBE)
        };
        // Packets are never cut on their way: one that is too long is lost, and that is seen.
        self.set(probe.0, probe.1, probe.2).map_err(|e| NetError::system("IP_MTU_DISCOVER", e))?;
        // A process that paused must not take its own pause for a slow path.
        _ = self.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1);
        // Routers may mark packets instead of losing them, and the marks are seen.
        let marks = if family == libc::AF_INET {
            (libc::IPPROTO_IP, libc::IP_TOS, libc::IP_RECVTOS)
        } else {
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS, libc::IPV6_RECVTCLASS)
        };
        if self.set(marks.0, marks.2, 1).is_ok() {
            _ = self.set(marks.0, marks.1, MAY_BE_MARKED);
        }
        // Where the kernel is older, packets come and go one by one.
        _ = self.set(libc::SOL_UDP, libc::UDP_GRO, 1);
        self.segments = self.set(libc::SOL_UDP, libc::UDP_SEGMENT, 0).is_ok();
        for (force, plain) in
            [(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)]
        {
            if self.set(libc::SOL_SOCKET, force, BUFFER_BYTES).is_err() {
                // The system gives what it gives to every process.
                _ = self.set(libc::SOL_SOCKET, plain, BUFFER_BYTES);
            }
        }
        Ok(())
    }

    fn set(&self, level: i32, option: i32, value: i32) -> io::Result<()> {
        set_option(self.fd.as_raw_fd(), level, option, value)
    }

    fn own_address(&self) -> Result<SocketAddr, NetError> {
        let mut raw = RawAddress::empty();
        let mut len = raw.len();
        // SAFETY: the storage has as many bytes as `len` says.
        let done =
            unsafe { libc::getsockname(self.fd.as_raw_fd(), raw.as_mut_ptr(), &raw mut len) };
        let address = if done == 0 { raw.get() } else { None };
        address.ok_or_else(|| NetError::system("getsockname", io::Error::last_os_error()))
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Whether something that was sent has not left this machine: it waits in the device's queue.
    pub fn holds_packets(&self) -> bool {
        let mut bytes: i32 = 0;
        // SAFETY: the call writes one number to the place that it is given.
        let done = unsafe { libc::ioctl(self.fd(), libc::TIOCOUTQ, &raw mut bytes) };
        done == 0 && bytes > 0
    }

    /// How many packets may be given to one call.
    pub fn most_segments(&self) -> usize {
        if self.segments { MOST_SEGMENTS } else { 1 }
    }

    /// Sends packets of `segment` bytes that lie in these pieces, the last perhaps shorter.
    pub fn send(&mut self, to: &RawAddress, pieces: &[IoSlice<'_>], segment: usize) -> Sent {
        let bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
        let mut control = Control([0; 128]);
        // SAFETY: all bytes zero is a valid value of this plain structure.
        let mut message: libc::msghdr = unsafe { mem::zeroed() };
        if !self.is_connected {
            message.msg_name = to.as_ptr().cast_mut().cast();
            message.msg_namelen = to.len();
        }
        // A slice for input and output is laid out as an iovec; the call only reads it.
        message.msg_iov = pieces.as_ptr().cast_mut().cast();
        message.msg_iovlen = pieces.len() as _;
        if bytes > segment {
            message.msg_control = (&raw mut control).cast();
            // SAFETY: the control buffer is longer than one message with two bytes, and aligned.
            unsafe {
                message.msg_controllen = libc::CMSG_SPACE(2) as _;
                let first = libc::CMSG_FIRSTHDR(&raw const message);
                (*first).cmsg_level = libc::SOL_UDP;
                (*first).cmsg_type = libc::UDP_SEGMENT;
                (*first).cmsg_len = libc::CMSG_LEN(2) as _;
                libc::CMSG_DATA(first).cast::<u16>().write_unaligned(segment as u16);
            }
        }
        let mut reported = !self.is_connected;
        loop {
            // SAFETY: name, pieces and control are as long as the message says, and live.
            let sent = unsafe { libc::sendmsg(self.fd.as_raw_fd(), &raw const message, 0) };
            if sent >= 0 {
                return Sent::Taken;
            }
            match io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => {}
                Some(libc::EAGAIN) => return Sent::Full,
                // A device that cannot cut packets: they are lost once, and go alone from now on.
                Some(libc::EIO) => {
                    self.segments = false;
                    return Sent::Taken;
                }
                // The error of an earlier packet is reported once, instead of sending this one.
                Some(libc::ECONNREFUSED | libc::EHOSTUNREACH | libc::ENETUNREACH) if !reported => {
                    reported = true;
                }
                // A path that is down, a packet too long, a full queue: lost, as on the way.
                _ => return Sent::Taken,
            }
        }
    }

    /// Takes what has arrived; `None` if nothing has.
    pub fn receive(&mut self, into: &mut [u8]) -> Option<Arrival> {
        let mut from = RawAddress::empty();
        let mut control = Control([0; 128]);
        let mut piece = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
        // SAFETY: all bytes zero is a valid value of this plain structure.
        let mut message: libc::msghdr = unsafe { mem::zeroed() };
        message.msg_name = from.as_mut_ptr().cast();
        message.msg_namelen = from.len();
        message.msg_iov = &raw mut piece;
        message.msg_iovlen = 1;
        for _ in 0..MOST_ERRORS {
            message.msg_control = (&raw mut control).cast();
            message.msg_controllen = mem::size_of::<Control>() as _;
            // SAFETY: name, piece and control are as long as the message says, and live.
            let got = unsafe { libc::recvmsg(self.fd.as_raw_fd(), &raw mut message, 0) };
            if got >= 0 {
                let bytes = got as usize;
                let mut arrival = Arrival {
                    from: from.get()?,
                    bytes,
                    segment: bytes.max(1),
                    at: None,
                    marked: false,
                };
                arrival.read(&message);
                return Some(arrival);
            }
            if io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN) {
                return None;
            }
        }
        None
    }
}

impl Arrival {
    /// What the kernel says beside the packets: their length where several came at once, and when.
    fn read(&mut self, message: &libc::msghdr) {
        // SAFETY: the kernel wrote the control messages that the header describes, each as long as
        // its kind says.
        unsafe {
            let mut at = libc::CMSG_FIRSTHDR(message);
            while !at.is_null() {
                match ((*at).cmsg_level, (*at).cmsg_type) {
                    (libc::SOL_UDP, libc::UDP_GRO) => {
                        let segment = libc::CMSG_DATA(at).cast::<i32>().read_unaligned();
                        self.segment = usize::try_from(segment).unwrap_or(self.bytes).max(1);
                    }
                    // A number of one byte or four, all of which are zero but the lowest.
                    (libc::IPPROTO_IP, libc::IP_TOS) | (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                        let bytes = (*at).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
                        let class = libc::CMSG_DATA(at);
                        self.marked = (0..bytes).any(|k| class.add(k).read() & MARKED == MARKED);
                    }
                    (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                        self.at =
                            Some(libc::CMSG_DATA(at).cast::<libc::timespec>().read_unaligned());
                    }
                    _ => {}
                }
                at = libc::CMSG_NXTHDR(message, at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(socket: &mut Socket, into: &mut [u8]) -> Arrival {
        for _ in 0..10_000 {
            if let Some(arrival) = socket.receive(into) {
                return arrival;
            }
            std::thread::sleep(std::time::Duration::from_micros(100));
        }
        panic!("nothing arrived within a second");
    }

    #[test]
    fn packets_of_one_call_arrive_with_their_borders() {
        for local in ["127.0.0.1:0", "[::1]:0"] {
            let local: SocketAddr = local.parse().expect("an address");
            let mut a = Socket::open(local, 0, None).expect("a socket");
            let mut b = Socket::open(local, 0, Some("lo")).expect("a socket");
            let to = RawAddress::new(b.address());
            let bytes: Vec<u8> = (0..2500u32).map(|i| i as u8).collect();
            // Three packets in four pieces, the last one short.
            let pieces = [&bytes[..10], &bytes[10..1500], &bytes[1500..]].map(IoSlice::new);
            assert_eq!(a.send(&to, &pieces, 1000), Sent::Taken);
            let (mut got, mut buffer) = (Vec::new(), vec![0; MOST_BYTES]);
            while got.len() < bytes.len() {
                let arrival = wait(&mut b, &mut buffer);
                assert_eq!(arrival.from, a.address());
                assert!(arrival.segment == 1000 || got.len() + arrival.bytes == bytes.len());
                got.extend_from_slice(&buffer[..arrival.bytes]);
            }
            assert_eq!(got, bytes);
            assert!(b.receive(&mut buffer).is_none());
        }
    }

    #[test]
    fn marks_of_congestion_are_seen() {
        for (local, level, class) in [
            ("127.0.0.1:0", libc::IPPROTO_IP, libc::IP_TOS),
            ("[::1]:0", libc::IPPROTO_IPV6, libc::IPV6_TCLASS),
        ] {
            let local: SocketAddr = local.parse().expect("an address");
            let open = || Socket::open(local, 0, None).expect("a socket");
            let (mut a, mut b) = (open(), open());
            let (to, mut buffer) = (RawAddress::new(b.address()), vec![0; MOST_BYTES]);
            for (bits, marked) in [(MAY_BE_MARKED, false), (i32::from(MARKED), true)] {
                a.set(level, class, bits).expect("an option");
                assert_eq!(a.send(&to, &[IoSlice::new(b"x")], 1), Sent::Taken);
                assert_eq!(wait(&mut b, &mut buffer).marked, marked, "{local} {bits}");
            }
        }
    }

    #[test]
    fn a_peer_with_a_socket_of_its_own_is_heard_there_and_others_where_they_were() {
        for local in ["127.0.0.1:0", "[::1]:0"] {
            let local: SocketAddr = local.parse().expect("an address");
            let open = || Socket::open(local, 0, Some("lo")).expect("a socket");
            let (mut all, mut peer, mut stranger) = (open(), open(), open());
            let another = all.another(Some("lo")).expect("a socket");
            let mut own = all.beside(another, peer.address()).expect("one more");
            assert_eq!(own.address(), all.address());
            let (to, back) = (RawAddress::new(all.address()), RawAddress::new(peer.address()));
            let mut buffer = vec![0; MOST_BYTES];
            assert_eq!(peer.send(&to, &[IoSlice::new(b"peer")], 4), Sent::Taken);
            assert_eq!(stranger.send(&to, &[IoSlice::new(b"stranger")], 8), Sent::Taken);
            assert_eq!(wait(&mut own, &mut buffer).from, peer.address());
            assert_eq!(wait(&mut all, &mut buffer).from, stranger.address());
            assert_eq!(own.send(&back, &[IoSlice::new(b"x")], 1), Sent::Taken);
            assert_eq!(wait(&mut peer, &mut buffer).from, all.address());
            assert!(own.receive(&mut buffer).is_none() && all.receive(&mut buffer).is_none());
            // No other socket gets the address, not even one that would share it.
            let other = Socket::new(all.address(), None).expect("a socket");
            other.set(libc::SOL_SOCKET, libc::SO_REUSEADDR, 1).expect("an option");
            assert!(other.bind(all.address()).is_err());
            // A peer that has gone is reported, and what is sent after that is sent.
            let gone = peer.address();
            drop(peer);
            assert_eq!(own.send(&back, &[IoSlice::new(b"x")], 1), Sent::Taken);
            let mut again = Socket::open(gone, gone.port(), Some("lo")).expect("the port is free");
            assert_eq!(own.send(&back, &[IoSlice::new(b"y")], 1), Sent::Taken);
            assert_eq!(wait(&mut again, &mut buffer).bytes, 1);
        }
    }

    #[test]
    fn a_range_of_ports_is_tried_and_strange_devices_are_named() {
        let any: SocketAddr = "127.0.0.1:0".parse().expect("an address");
        let first = Socket::open(any, 0, None).expect("a socket");
        let taken = first.address();
        let error = Socket::open(taken, taken.port(), None).err();
        let (address, port) = (taken.ip(), taken.port());
        assert_eq!(error, Some(NetError::NoPort { address, first: port, last: port }));
        if let Some(last) = port.checked_add(50) {
            let next = Socket::open(taken, last, None).expect("one of fifty is free");
            assert!((port + 1..=last).contains(&next.address().port()));
        }
        let error = Socket::open(any, 0, Some("no-such-dev")).err().expect("unknown device");
        assert!(error.to_string().starts_with("bind to device no-such-dev"), "{error}");
        let other: SocketAddr = "192.0.2.1:0".parse().expect("an address");
        assert!(Socket::open(other, 0, None).is_err(), "not an address of this machine");
    }
}
