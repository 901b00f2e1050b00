//! Listening and connecting, for both kinds of sockets: abstract Unix names and loopback ports.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixListener};

use laneway_core::{CommError, Rank};

use crate::board::Board;
use crate::error::LocalError;
use crate::system;
use crate::transport::Transport;

/// What a connecting rank says first: the run's token and its own number.
pub(crate) const HELLO: usize = 20;

pub(crate) fn hello(board: &Board, rank: Rank) -> [u8; HELLO] {
    let mut bytes = [0; HELLO];
    bytes[..16].copy_from_slice(&board.head().token);
    bytes[16..].copy_from_slice(&rank.to_ne_bytes());
    bytes
}

/// The rank that a greeting names, if it knows the token.
pub(crate) fn greeted(board: &Board, bytes: &[u8; HELLO]) -> Option<Rank> {
    let [token @ .., a, b, c, d] = bytes;
    let rank = Rank::from_ne_bytes([*a, *b, *c, *d]);
    (*token == board.head().token && rank < board.size()).then_some(rank)
}

/// A socket that listens for a rank, opened by the launcher before any rank runs, so that no
/// connection comes too early; and its address as the board keeps it.
pub(crate) fn listen(transport: Transport, ranks: u32) -> Result<(OwnedFd, Vec<u8>), LocalError> {
    let failed =
        |error: io::Error| LocalError::system(format!("listen on a {transport} socket"), error);
    let (fd, address): (OwnedFd, Vec<u8>) = match transport {
        Transport::Tcp => {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
            let port = listener.local_addr().map_err(failed)?.port();
            (listener.into(), port.to_ne_bytes().to_vec())
        }
        Transport::Unix | Transport::Memory => {
            let token = system::random_token()?;
            let name = token.iter().flat_map(|byte| [hex(byte >> 4), hex(byte & 15)]).collect();
            let address = UnixAddr::from_abstract_name(&name as &Vec<u8>).map_err(failed)?;
            (UnixListener::bind_addr(&address).map_err(failed)?.into(), name)
        }
    };
    // The standard library asks for a short queue; a storm of first messages wants all ranks in it.
    // The system may give less (net.core.somaxconn).
    // SAFETY: plain calls on an open descriptor.
    let code = unsafe { libc::listen(fd.as_raw_fd(), ranks.max(128) as i32) };
    if code != 0 {
        return Err(system::local_error("lengthen the queue of a listening socket"));
    }
    Ok((fd, address))
}

fn hex(digit: u8) -> u8 {
    b"0123456789abcdef"[digit as usize]
}

/// What became of an attempt to connect.
pub(crate) enum Attempt {
    /// Under way: what is sent now may have to wait until the connection stands.
    Begun(OwnedFd),
    /// The peer's queue is full; it has room again when the peer looks.
    Full,
    /// The peer has ended; the board will say how.
    Gone,
}

/// Begins to connect to a rank's listening socket. Never waits: a peer that waits for us may not
/// look at its queue before we go on.
pub(crate) fn connect(
    board: &Board,
    transport: Transport,
    me: Rank,
    to: Rank,
) -> Result<Attempt, CommError> {
    let seat = board.seat(to);
    let address = &seat.address[..(seat.address_len as usize).min(seat.address.len())];
    let begun = match transport {
        Transport::Tcp => tcp(address),
        Transport::Unix | Transport::Memory => unix(address),
    };
    match begun {
        Ok(fd) => Ok(Attempt::Begun(fd)),
        Err(error) => match error.raw_os_error() {
            Some(libc::EAGAIN) if transport != Transport::Tcp => Ok(Attempt::Full),
            Some(libc::ECONNREFUSED | libc::ECONNRESET | libc::EPIPE) => Ok(Attempt::Gone),
            _ => Err(CommError::System {
                what: format!("rank {me} cannot connect to rank {to} by {transport}"),
                error: format!("{error} (open files: ulimit -n)"),
            }),
        },
    }
}

fn tcp(address: &[u8]) -> io::Result<OwnedFd> {
    let port = address.try_into().map(u16::from_ne_bytes);
    let port = port.map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    // SAFETY: an all-zero sockaddr_in is a valid value.
    let mut name: libc::sockaddr_in = unsafe { std::mem::zeroed() };
    name.sin_family = libc::AF_INET as libc::sa_family_t;
    name.sin_port = port.to_be();
    name.sin_addr.s_addr = u32::from(Ipv4Addr::LOCALHOST).to_be();
    let fd = open(libc::AF_INET)?;
    let at_once: libc::c_int = 1;
    // SAFETY: the option is an int of this size.
    let code = unsafe {
        let value = (&raw const at_once).cast();
        let len = size_of::<libc::c_int>() as libc::socklen_t;
        libc::setsockopt(fd.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_NODELAY, value, len)
    };
    if code != 0 {
        return Err(io::Error::last_os_error());
    }
    begin(fd, (&raw const name).cast(), size_of_val(&name))
}

fn unix(address: &[u8]) -> io::Result<OwnedFd> {
    // SAFETY: an all-zero sockaddr_un is a valid value.
    let mut name: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    name.sun_family = libc::AF_UNIX as libc::sa_family_t;
    // An abstract name begins with a zero byte and has no end but its length.
    for (place, byte) in name.sun_path[1..].iter_mut().zip(address) {
        *place = *byte as libc::c_char;
    }
    let len = std::mem::offset_of!(libc::sockaddr_un, sun_path) + 1 + address.len();
    begin(open(libc::AF_UNIX)?, (&raw const name).cast(), len)
}

fn open(family: i32) -> io::Result<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: plain call.
    match unsafe { libc::socket(family, kind, 0) } {
        // SAFETY: the descriptor was just opened and has no other owner.
        fd @ 0.. => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}

fn begin(fd: OwnedFd, name: *const libc::sockaddr, len: usize) -> io::Result<OwnedFd> {
    // SAFETY: both callers give a name of their own with its length.
    match unsafe { libc::connect(fd.as_raw_fd(), name, len as libc::socklen_t) } {
        0 => Ok(fd),
        _ if system::last_errno() == libc::EINPROGRESS => Ok(fd),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Takes the next connection from a listening socket's queue, if one is there.
pub(crate) fn accept(listener: &OwnedFd) -> Result<Option<OwnedFd>, CommError> {
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    let none = std::ptr::null_mut();
    // SAFETY: the address is not asked for.
    let fd = unsafe { libc::accept4(listener.as_raw_fd(), none, std::ptr::null_mut(), flags) };
    if fd >= 0 {
        // SAFETY: the descriptor was just opened and has no other owner.
        return Ok(Some(unsafe { OwnedFd::from_raw_fd(fd) }));
    }
    match system::last_errno() {
        libc::EAGAIN | libc::EINTR | libc::ECONNABORTED => Ok(None),
        _ => Err(system::comm_error("a connection cannot be accepted (open files: ulimit -n)")),
    }
}

/// Reads what is there: `None` when nothing is, 0 at the end.
///
/// # Safety
/// `into` must be valid for writes of `len` bytes.
pub(crate) unsafe fn receive(fd: &OwnedFd, into: *mut u8, len: usize) -> Option<usize> {
    loop {
        // SAFETY: the caller vouches for the room.
        let got = unsafe { libc::recv(fd.as_raw_fd(), into.cast(), len, libc::MSG_DONTWAIT) };
        match got {
            0.. => return Some(got as usize),
            _ => match system::last_errno() {
                libc::EINTR => {}
                libc::EAGAIN => return None,
                // Reset, or whatever else a stream can end with: the board says how.
                _ => return Some(0),
            },
        }
    }
}

/// Writes two parts in one call; `None` when the peer has gone, 0 when there is no room.
///
/// # Safety
/// `data` must be valid for `len` bytes.
pub(crate) unsafe fn transmit(
    fd: &OwnedFd,
    head: &[u8],
    data: *const u8,
    len: usize,
) -> Option<usize> {
    let mut parts = [
        libc::iovec { iov_base: head.as_ptr().cast_mut().cast(), iov_len: head.len() },
        libc::iovec { iov_base: data.cast_mut().cast(), iov_len: len },
    ];
    // SAFETY: an all-zero msghdr names nothing; parts and head outlive the calls, the caller
    // vouches for the data, and sending reads only.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = parts.as_mut_ptr();
        message.msg_iovlen = parts.len();
        loop {
            let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
            let sent = libc::sendmsg(fd.as_raw_fd(), &message, flags);
            match sent {
                0.. => return Some(sent as usize),
                _ => match system::last_errno() {
                    libc::EINTR => {}
                    libc::EAGAIN | libc::ENOBUFS | libc::ENOMEM => return Some(0),
                    _ => return None,
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_is_said_and_not_waited_for() {
        let (mut board, _) = Board::create(2, Transport::Unix).unwrap();
        let (listener, address) = listen(Transport::Unix, 2).unwrap();
        board.set_address(1, &address);
        // SAFETY: plain call on an open descriptor.
        assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 1) }, 0);
        let mut begun = Vec::new();
        let full = (0..8).any(|_| match connect(&board, Transport::Unix, 0, 1) {
            Ok(Attempt::Begun(fd)) => {
                begun.push(fd);
                false
            }
            Ok(Attempt::Full) => true,
            Ok(Attempt::Gone) | Err(_) => panic!("the socket listens"),
        });
        assert!(full, "{} connections fit a queue of one", begun.len());
        assert!(matches!(accept(&listener), Ok(Some(_))));
        assert!(matches!(connect(&board, Transport::Unix, 0, 1), Ok(Attempt::Begun(_))));
        drop(listener);
        assert!(matches!(connect(&board, Transport::Unix, 0, 1), Ok(Attempt::Gone)));
    }

    #[test]
    fn a_port_that_was_given_back_does_not_listen() {
        let (mut board, _) = Board::create(2, Transport::Tcp).unwrap();
        let (listener, address) = listen(Transport::Tcp, 2).unwrap();
        board.set_address(1, &address);
        assert!(matches!(connect(&board, Transport::Tcp, 0, 1), Ok(Attempt::Begun(_))));
        drop(listener);
        match connect(&board, Transport::Tcp, 0, 1) {
            Ok(Attempt::Gone) => {}
            Ok(Attempt::Begun(fd)) => {
                // SAFETY: there is no second part.
                let sent = unsafe { transmit(&fd, &[1], std::ptr::null(), 0) };
                assert_eq!(sent, None, "the refusal came after the call");
            }
            Ok(Attempt::Full) | Err(_) => panic!("no socket listens"),
        }
    }
}
