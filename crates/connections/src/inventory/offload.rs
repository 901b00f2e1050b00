//! What the kernel offers to UDP: segmentation, receive offload, and how large a socket's buffers
//! may be without privilege.

use std::fs;
use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use crate::system::socket::set_option;

/// What was found by trying it on a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Offload {
    /// One call sends many packets (UDP_SEGMENT).
    pub sends_segments: bool,
    /// Packets of one sender arrive together (UDP_GRO).
    pub receives_together: bool,
    /// The largest buffers that a user may ask for, in bytes, where the system says so.
    pub most_receive_bytes: Option<u64>,
    /// The same for sending.
    pub most_send_bytes: Option<u64>,
}

impl Offload {
    /// Tries them.
    pub fn find() -> io::Result<Offload> {
        let socket = UdpSocket::bind("0.0.0.0:0").or_else(|_| UdpSocket::bind("[::]:0"))?;
        let limit = |name: &str| {
            let text = fs::read_to_string(format!("/proc/sys/net/core/{name}")).ok()?;
            text.trim().parse().ok()
        };
        Ok(Offload {
            sends_segments: accepts(&socket, libc::UDP_SEGMENT, 1400),
            receives_together: accepts(&socket, libc::UDP_GRO, 1),
            most_receive_bytes: limit("rmem_max"),
            most_send_bytes: limit("wmem_max"),
        })
    }
}

fn accepts(socket: &UdpSocket, option: i32, value: i32) -> bool {
    set_option(socket.as_raw_fd(), libc::SOL_UDP, option, value).is_ok()
}
