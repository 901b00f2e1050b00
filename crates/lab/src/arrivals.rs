//! When the packets of a connection arrive, as the kernel of the receiving host stamps them: what a
//! link carries in a short time cannot be seen from a process that may have to wait for its turn.

use std::ffi::CString;
use std::io::{self, Read, Write};
use std::mem::{size_of, zeroed};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::thread;

use crate::error::LabError;
use crate::name::{LabName, card};
use crate::plan::Host;
use crate::system::within;

/// What may wait to be read: every packet of a burst.
const BUFFER: libc::c_int = 64 << 20;
/// As much of a packet as has all its headers.
const HEADERS: usize = 128;
const ETHERNET_HEADER: usize = 14;
const TCP: u8 = 6;

/// A packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Arrival {
    /// Seconds.
    at: f64,
    /// Bytes on the cable.
    bytes: usize,
}

/// Reads what arrives at a card of a host.
#[derive(Debug)]
pub struct Arrivals {
    socket: OwnedFd,
}

impl Arrivals {
    /// Of a host's card of this path, from now on.
    pub fn new(lab: &LabName, host: &Host, path: usize) -> Result<Arrivals, LabError> {
        let failed = |error| LabError::system(format!("reading packets of {}", host.name), error);
        let name = CString::new(card(path)).map_err(|error| failed(error.into()))?;
        let socket = within(&lab.host(&host.name), || open(&name))?.map_err(failed)?;
        Ok(Arrivals { socket })
    }

    /// Sends bytes through a connection at once, from its first end to its second, which is on this
    /// host. Returns the bytes a second, with headers, between the first arrival and the last;
    /// infinite where all arrived as one packet.
    pub fn rate_of_burst(
        &self,
        ends: &mut (TcpStream, TcpStream),
        bytes: usize,
    ) -> io::Result<f64> {
        let (from, to) = (ends.0.local_addr()?.port(), ends.1.local_addr()?.port());
        while read_packet(&self.socket)?.is_some() {}
        thread::scope(|scope| {
            let (one, other) = (&mut ends.0, &mut ends.1);
            let sender = scope.spawn(move || one.write_all(&vec![7; bytes]));
            other.read_exact(&mut vec![0; bytes])?;
            sender.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })?;
        let mut arrivals = Vec::new();
        while let Some(packet) = read_packet(&self.socket)? {
            arrivals.extend(packet.arrival_of(from, to));
        }
        Ok(rate(&arrivals))
    }
}

/// Bytes after the first arrival over the time that they took.
fn rate(arrivals: &[Arrival]) -> f64 {
    let [first, others @ .., last] = arrivals else { return f64::INFINITY };
    let bytes: usize = others.iter().map(|arrival| arrival.bytes).sum();
    (bytes + last.bytes) as f64 / (last.at - first.at)
}

/// The head of a packet, its length without Ethernet's header, and when it arrived.
struct Packet {
    head: [u8; HEADERS],
    length: usize,
    at: f64,
}

impl Packet {
    /// If it carries data from this port of TCP to that one.
    fn arrival_of(&self, from: u16, to: u16) -> Option<Arrival> {
        let ip = usize::from(self.head[0] & 15) * 4;
        let tcp = &self.head[ip..];
        let port = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
        let headers = ip + usize::from(tcp[12] >> 4) * 4;
        let is_ours = self.head[9] == TCP && (port(0), port(2)) == (from, to);
        let (at, bytes) = (self.at, self.length + ETHERNET_HEADER);
        (is_ours && self.length > headers).then_some(Arrival { at, bytes })
    }
}

fn check(code: libc::c_int) -> io::Result<libc::c_int> {
    if code < 0 { Err(io::Error::last_os_error()) } else { Ok(code) }
}

/// A socket that gets a copy of every IPv4 packet of a device, with its time.
fn open(device: &CString) -> io::Result<OwnedFd> {
    let protocol = (libc::ETH_P_IP as u16).to_be();
    let length = |size: usize| size as libc::socklen_t;
    // SAFETY: the descriptor is new and ours; the other calls read values that live on this stack,
    // with their sizes, and a string that ends with a zero byte.
    unsafe {
        let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        let socket =
            OwnedFd::from_raw_fd(check(libc::socket(libc::AF_PACKET, kind, protocol.into()))?);
        for (option, value) in [(libc::SO_RCVBUFFORCE, BUFFER), (libc::SO_TIMESTAMPNS, 1)] {
            let (level, value) = (libc::SOL_SOCKET, &raw const value);
            let size = length(size_of::<libc::c_int>());
            check(libc::setsockopt(socket.as_raw_fd(), level, option, value.cast(), size))?;
        }
        let index = libc::if_nametoindex(device.as_ptr());
        let mut address: libc::sockaddr_ll = zeroed();
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = protocol;
        address.sll_ifindex = index as libc::c_int;
        let size = length(size_of::<libc::sockaddr_ll>());
        check(libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size))?;
        Ok(socket)
    }
}

/// The next packet; `None` if no more has arrived.
fn read_packet(socket: &OwnedFd) -> io::Result<Option<Packet>> {
    let mut packet = Packet { head: [0; HEADERS], length: 0, at: 0.0 };
    let mut control = [0_u64; 8];
    let mut piece =
        libc::iovec { iov_base: packet.head.as_mut_ptr().cast(), iov_len: packet.head.len() };
    // SAFETY: all zeros is a header without anything; what it then points to lives until the call
    // is over, with the lengths that are given.
    let (length, sent_at) = unsafe {
        let mut header: libc::msghdr = zeroed();
        header.msg_iov = &raw mut piece;
        header.msg_iovlen = 1;
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = size_of::<[u64; 8]>() as _;
        let length = libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_TRUNC);
        if length < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::WouldBlock { Ok(None) } else { Err(error) };
        }
        (length as usize, stamp(&header))
    };
    packet.length = length;
    packet.at = sent_at.ok_or_else(|| io::Error::other("a packet without its time"))?;
    Ok(Some(packet))
}

/// The time that the kernel gave a message.
///
/// # Safety
///
/// The header must be one that a call has filled, and what it points to must live.
unsafe fn stamp(header: &libc::msghdr) -> Option<f64> {
    // SAFETY: these macros stay within the buffer of the header; a timestamp has this type.
    unsafe {
        let mut entry = libc::CMSG_FIRSTHDR(header);
        while let Some(one) = entry.as_ref() {
            if (one.cmsg_level, one.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
                let time: libc::timespec = libc::CMSG_DATA(entry).cast::<libc::timespec>().read();
                return Some(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9);
            }
            entry = libc::CMSG_NXTHDR(header, entry);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_arrival_has_no_time_that_it_took() {
        let all = [(5.0, 900), (5.1, 1000), (5.5, 1000)].map(|(at, bytes)| Arrival { at, bytes });
        assert_eq!(rate(&all), 4000.0);
        assert_eq!(rate(&all[..1]), f64::INFINITY);
        assert_eq!(rate(&[]), f64::INFINITY);
    }

    #[test]
    fn only_data_between_two_ports_counts() {
        let mut packet = Packet { head: [0; HEADERS], length: 1500, at: 1.0 };
        (packet.head[0], packet.head[9], packet.head[32]) = (0x45, TCP, 0x80);
        packet.head[20..24].copy_from_slice(&[1, 2, 3, 4]);
        let arrival = Arrival { at: 1.0, bytes: 1514 };
        assert_eq!(packet.arrival_of(0x0102, 0x0304), Some(arrival));
        assert_eq!(packet.arrival_of(0x0102, 0x0305), None);
        packet.length = 52;
        assert_eq!(packet.arrival_of(0x0102, 0x0304), None, "an acknowledgement");
    }
}
