//! Listening and connecting, for both kinds of sockets: abstract Unix names and loopback ports.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixListener, UnixStream};

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

/// A socket that listens for a rank, opened by the launcher before any rank runs, so that nobody
/// can connect too early; and its address as the board keeps it.
pub(crate) fn listen(transport: Transport, ranks: u32) -> Result<(OwnedFd, Vec<u8>), LocalError> {
    let failed = |error: io::Error| LocalError::System {
        what: format!("listen on a {transport} socket"),
        error: error.to_string(),
    };
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
    // The standard library asks for a short queue; a storm of first messages needs all ranks in it.
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

/// Connects to a rank's listening socket and greets it. Waits only where a queue is full, and a
/// queue has room for every rank.
pub(crate) fn connect(
    board: &Board,
    transport: Transport,
    me: Rank,
    to: Rank,
) -> Result<Option<OwnedFd>, CommError> {
    let seat = board.seat(to);
    let address = &seat.address[..(seat.address_len as usize).min(seat.address.len())];
    let hello = hello(board, me);
    let connected: io::Result<OwnedFd> = match transport {
        Transport::Tcp => tcp(address, &hello),
        Transport::Unix | Transport::Memory => unix(address, &hello),
    };
    match connected {
        Ok(fd) => Ok(Some(fd)),
        // The peer has ended; the board will tell how.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::ConnectionRefused
                    | io::ErrorKind::ConnectionReset
                    | io::ErrorKind::BrokenPipe
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(CommError::System {
            what: format!("rank {me} cannot connect to rank {to} by {transport}"),
            error: format!("{error} (open files: ulimit -n)"),
        }),
    }
}

fn tcp(address: &[u8], hello: &[u8]) -> io::Result<OwnedFd> {
    let port = address.try_into().map(u16::from_ne_bytes);
    let port = port.map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut stream = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    stream.set_nodelay(true)?;
    stream.write_all(hello)?;
    stream.set_nonblocking(true)?;
    Ok(stream.into())
}

fn unix(address: &[u8], hello: &[u8]) -> io::Result<OwnedFd> {
    let mut stream = UnixStream::connect_addr(&UnixAddr::from_abstract_name(address)?)?;
    stream.write_all(hello)?;
    stream.set_nonblocking(true)?;
    Ok(stream.into())
}

/// Takes the next connection from a listening socket's queue, if one is there.
pub(crate) fn accept(listener: &OwnedFd) -> Result<Option<OwnedFd>, CommError> {
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    let none = std::ptr::null_mut();
    // SAFETY: the address is not asked for.
    let fd = unsafe { libc::accept4(listener.as_raw_fd(), none, std::ptr::null_mut(), flags) };
    if fd >= 0 {
        // SAFETY: the descriptor was just opened and belongs to nobody else.
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
                // Reset, or whatever else a stream can end with: the board tells how.
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
