//! Netlink: questions about links, addresses and routes that the kernel answers, and messages read
//! without trusting a length in them.

use std::fmt;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// The header of a message, and of an attribute.
const HEADER: usize = 16;
const ATTRIBUTE_HEADER: usize = 4;

/// As much as the kernel puts into one datagram of an answer.
const LARGEST: usize = 64 << 10;

/// A list that changes while it is read is read again so often.
const TRIES: usize = 20;

/// How long an answer may take; the kernel gives it at once.
static LIMIT: libc::timeval = libc::timeval { tv_sec: 5, tv_usec: 0 };

/// A message with a length that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a netlink message of invalid length")
    }
}

impl From<Malformed> for io::Error {
    fn from(malformed: Malformed) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, malformed.to_string())
    }
}

/// One message of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    pub kind: u16,
    pub flags: u16,
    pub sequence: u32,
    pub body: &'a [u8],
}

/// The messages of a datagram.
pub fn messages(mut bytes: &[u8]) -> Result<Vec<Message<'_>>, Malformed> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let length = u32_at(bytes, 0)? as usize;
        let body = bytes.get(HEADER..length).ok_or(Malformed)?;
        let (kind, flags) = (u16_at(bytes, 4)?, u16_at(bytes, 6)?);
        found.push(Message { kind, flags, sequence: u32_at(bytes, 8)?, body });
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(found)
}

/// The attributes that follow the fixed part of a message: what each is, and its bytes.
pub fn attributes(mut bytes: &[u8]) -> Result<Vec<(u16, &[u8])>, Malformed> {
    /// Marks of nesting and byte order, which are no part of what an attribute is.
    const MARKS: u16 = 0xc000;
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let length = usize::from(u16_at(bytes, 0)?);
        let value = bytes.get(ATTRIBUTE_HEADER..length).ok_or(Malformed)?;
        found.push((u16_at(bytes, 2)? & !MARKS, value));
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(found)
}

pub fn u16_at(bytes: &[u8], at: usize) -> Result<u16, Malformed> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
    found.map(|bytes| u16::from_ne_bytes(*bytes)).ok_or(Malformed)
}

pub fn u32_at(bytes: &[u8], at: usize) -> Result<u32, Malformed> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
    found.map(|bytes| u32::from_ne_bytes(*bytes)).ok_or(Malformed)
}

/// Appends an attribute to a message.
pub fn push_attribute(message: &mut Vec<u8>, kind: u16, value: &[u8]) {
    message.extend(((ATTRIBUTE_HEADER + value.len()) as u16).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(value);
    message.resize(message.len().next_multiple_of(4), 0);
}

/// A socket to the kernel's routing family, in the network namespace of the thread that opens it.
pub struct Socket {
    descriptor: OwnedFd,
    sequence: u32,
}

impl Socket {
    /// For questions.
    pub fn open() -> io::Result<Socket> {
        let socket = Socket::bound(0, 0)?;
        let (limit, size) = (&raw const LIMIT, size_of::<libc::timeval>() as u32);
        let fd = socket.descriptor.as_raw_fd();
        // SAFETY: the limit is a static of this size.
        check(unsafe {
            libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_RCVTIMEO, limit.cast(), size)
        })?;
        Ok(socket)
    }

    /// Hears of every change of a link, and never blocks.
    pub fn of_link_events() -> io::Result<Socket> {
        Socket::bound(libc::SOCK_NONBLOCK, libc::RTMGRP_LINK as u32)
    }

    fn bound(flags: i32, groups: u32) -> io::Result<Socket> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | flags;
        // SAFETY: the call takes numbers alone.
        let fd = check(unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE) })?;
        // SAFETY: the descriptor was just made and has no other owner.
        let descriptor = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: all fields are numbers, for which zero is a value.
        let mut address: libc::sockaddr_nl = unsafe { std::mem::zeroed() };
        address.nl_family = libc::AF_NETLINK as u16;
        address.nl_groups = groups;
        let size = size_of::<libc::sockaddr_nl>() as u32;
        // SAFETY: the address has this size and lives longer than the call.
        check(unsafe { libc::bind(fd, (&raw const address).cast(), size) })?;
        Ok(Socket { descriptor, sequence: 0 })
    }

    /// Asks for a whole list, and reads it again where it changed while it was read.
    pub fn dump(&mut self, kind: u16, body: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        for _ in 0..TRIES {
            match self.ask(kind, libc::NLM_F_DUMP as u16, body) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => {}
                answer => return answer,
            }
        }
        Err(io::Error::other("the list changes faster than it can be read"))
    }

    /// Asks one question; gives the bodies of the messages that answer it.
    pub fn ask(&mut self, kind: u16, flags: u16, body: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        self.sequence += 1;
        let mut message = Vec::with_capacity(HEADER + body.len());
        message.extend(((HEADER + body.len()) as u32).to_ne_bytes());
        message.extend(kind.to_ne_bytes());
        message.extend((libc::NLM_F_REQUEST as u16 | flags).to_ne_bytes());
        message.extend(self.sequence.to_ne_bytes());
        message.extend(0_u32.to_ne_bytes());
        message.extend(body);
        let (fd, bytes) = (self.descriptor.as_raw_fd(), message.as_ptr().cast());
        // SAFETY: the message lives longer than the call, which reads no more than its length.
        let sent = unsafe { libc::send(fd, bytes, message.len(), 0) };
        if sent < 0 {
            return Err(io::Error::last_os_error());
        }
        let is_list = flags & libc::NLM_F_DUMP as u16 != 0;
        let mut answer = Answer { sequence: self.sequence, is_list, ..Answer::default() };
        let mut buffer = vec![0; LARGEST];
        while !answer.is_whole {
            let length = self.receive(&mut buffer)?;
            answer.take(&buffer[..length])?;
        }
        match answer.is_interrupted {
            true => Err(io::ErrorKind::Interrupted.into()),
            false => Ok(answer.bodies),
        }
    }

    /// The next datagram; one that is longer than the buffer is an error.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let (fd, start) = (self.descriptor.as_raw_fd(), buffer.as_mut_ptr().cast());
        // SAFETY: the buffer is ours, and no more than its length is written.
        let length = unsafe { libc::recv(fd, start, buffer.len(), libc::MSG_TRUNC) };
        let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
        if length > buffer.len() {
            return Err(io::Error::other("a netlink datagram that is too long"));
        }
        Ok(length)
    }

    /// Reads all that waits and throws it away: how much there was, and whether some was lost.
    pub fn drain(&self) -> io::Result<Drained> {
        let mut drained = Drained::default();
        // Events are only a reason to ask, so that the first byte of each is enough.
        let mut byte = [0_u8];
        loop {
            let (fd, start) = (self.descriptor.as_raw_fd(), byte.as_mut_ptr().cast());
            // SAFETY: one byte of ours is written.
            if unsafe { libc::recv(fd, start, 1, 0) } >= 0 {
                drained.events += 1;
                continue;
            }
            match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::WouldBlock => return Ok(drained),
                error if error.kind() == io::ErrorKind::Interrupted => {}
                error if error.raw_os_error() == Some(libc::ENOBUFS) => drained.is_lossy = true,
                error => return Err(error),
            }
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// What waited at a socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    pub events: u64,
    pub is_lossy: bool,
}

/// An answer that comes in parts.
#[derive(Default)]
struct Answer {
    sequence: u32,
    is_list: bool,
    bodies: Vec<Vec<u8>>,
    is_whole: bool,
    is_interrupted: bool,
}

impl Answer {
    fn take(&mut self, datagram: &[u8]) -> io::Result<()> {
        for message in messages(datagram)? {
            // What a question before this one left unread.
            if message.sequence != self.sequence {
                continue;
            }
            self.is_interrupted |= message.flags & libc::NLM_F_DUMP_INTR as u16 != 0;
            match i32::from(message.kind) {
                libc::NLMSG_NOOP => {}
                libc::NLMSG_DONE => self.is_whole = true,
                libc::NLMSG_ERROR => match u32_at(message.body, 0)? as i32 {
                    0 => self.is_whole = true,
                    code => return Err(io::Error::from_raw_os_error(code.saturating_neg())),
                },
                _ => {
                    self.bodies.push(message.body.to_vec());
                    self.is_whole |= !self.is_list;
                }
            }
        }
        Ok(())
    }
}

fn check(code: i32) -> io::Result<i32> {
    if code >= 0 { Ok(code) } else { Err(io::Error::last_os_error()) }
}
