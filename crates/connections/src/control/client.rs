//! Finds the processes that offer a control socket, and asks them.

use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use super::folder::{folder, sockets};
use super::request::Request;
use super::server::send;
use super::words::{Change, refused};
use crate::endpoint::Status;
use crate::error::NetError;

/// The longest answer that is read.
const MOST_BYTES: usize = 64 << 20;

/// A service of a process that runs, ready to be asked once.
pub struct Process {
    /// The process.
    pub pid: u32,
    /// Which of the process's services.
    pub service: u32,
    /// Where it is reached, or why it is not.
    stream: io::Result<UnixStream>,
}

/// What a process said.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answered<T> {
    /// The process.
    pub pid: u32,
    /// Which of its services.
    pub service: u32,
    /// What it said, or why nothing came.
    pub answer: Result<T, NetError>,
}

/// The services of this user's processes. Sockets of processes that are gone are removed.
pub fn list() -> Result<Vec<Process>, NetError> {
    let mut processes = Vec::new();
    for (pid, service, socket) in sockets(&folder())? {
        let stream = connect(&socket);
        match stream.as_ref().map_err(io::Error::kind) {
            // The process has ended: a socket gets its name only after it listens.
            Err(io::ErrorKind::ConnectionRefused) => _ = fs::remove_file(&socket),
            Err(io::ErrorKind::NotFound) => {}
            _ => processes.push(Process { pid, service, stream }),
        }
    }
    Ok(processes)
}

/// Asks all of them at once for their state; all answers together may take so long.
pub fn status(of: Vec<Process>, limit: Duration) -> Vec<Answered<Status>> {
    ask(of, Request::Status, limit, Status::parse)
}

/// Takes the traffic of all of them off a path: by its device, its address or its number.
pub fn drain(of: Vec<Process>, path: &str, limit: Duration) -> Vec<Answered<Vec<Change>>> {
    ask(of, Request::Drain(path), limit, Change::parse)
}

/// Lets all of them use a path again.
pub fn undrain(of: Vec<Process>, path: &str, limit: Duration) -> Vec<Answered<Vec<Change>>> {
    ask(of, Request::Undrain(path), limit, Change::parse)
}

fn ask<T>(
    mut of: Vec<Process>,
    request: Request<'_>,
    limit: Duration,
    read: impl Fn(&str) -> Result<T, String>,
) -> Vec<Answered<T>> {
    let (line, ends_at) = (request.encode(), Instant::now() + limit);
    for process in &mut of {
        let sent = process.stream.as_ref().map(|stream| send(stream, line.as_bytes()));
        if let Ok(Err(error)) = sent {
            process.stream = Err(error);
        }
    }
    let answer = |Process { pid, service, stream }: Process| {
        let heard = stream.and_then(|stream| hear(stream, ends_at));
        let silent = |why: String| NetError::NoControl { pid, why };
        let answer =
            heard.map_err(|error| silent(error.to_string())).and_then(|text| {
                match refused(&text) {
                    Some(why) => Err(NetError::ControlRefused { pid, why: why.to_string() }),
                    None => read(&text).map_err(silent),
                }
            });
        Answered { pid, service, answer }
    };
    of.into_iter().map(answer).collect()
}

/// Everything that a process says, until it closes.
fn hear(mut stream: UnixStream, ends_at: Instant) -> io::Result<String> {
    stream.set_nonblocking(false)?;
    let (mut text, mut bytes) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        let left = ends_at.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::other("it took too long to answer"));
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut bytes) {
            Ok(0) => return String::from_utf8(text).map_err(io::Error::other),
            Ok(count) => text.extend_from_slice(&bytes[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        if text.len() > MOST_BYTES {
            return Err(io::Error::other("its answer does not end"));
        }
    }
}

/// Connects at once or fails: a process that does not accept must not block its clients.
fn connect(socket: &Path) -> io::Result<UnixStream> {
    // SAFETY: the structure is plain numbers, for which zeros are right.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let name = socket.as_os_str().as_bytes();
    if name.len() >= address.sun_path.len() {
        return Err(io::Error::other("the name of its socket is too long"));
    }
    for (to, byte) in address.sun_path.iter_mut().zip(name) {
        *to = *byte as libc::c_char;
    }
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: plain numbers; the result is checked, and has no other owner.
    let fd = unsafe {
        let fd = libc::socket(libc::AF_UNIX, kind, 0);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(fd)
    };
    let bytes = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: the address is ours, as long as is said, and its name ends with a zero.
    let connected = unsafe { libc::connect(fd.as_raw_fd(), (&raw const address).cast(), bytes) };
    if connected != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(fd.into())
}
