//! The socket that a process offers: one request a line, one answer, then it is over.
//!
//! A client cannot block the process: a request is short, the number of clients is limited, and
//! each is served for at most two seconds.

use std::fs;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::folder;
use crate::driver::secret::random;
use crate::error::NetError;

/// The longest request.
const MOST_BYTES: usize = 256;
/// Requests that are served at a time; others wait their turn.
const MOST_CLIENTS: usize = 8;
/// How long a request may take.
const LIMIT: Duration = Duration::from_secs(2);
/// Services of one process.
const MOST_SERVICES: u32 = 1000;

/// A connected client.
struct Client {
    stream: UnixStream,
    request: Vec<u8>,
    answer: Option<Vec<u8>>,
    written: usize,
    ends_at: Instant,
}

pub(crate) struct Server {
    listener: UnixListener,
    clients: Vec<Client>,
    /// The time before which no client is accepted: the process has no descriptor to spare.
    full_until: Option<Instant>,
    /// Goes with this value.
    socket: PathBuf,
}

impl Server {
    /// A socket in the usual folder.
    pub fn open() -> Result<Server, NetError> {
        let folder = folder::folder();
        folder::make(&folder)?;
        Server::open_in(&folder).map_err(|error| NetError::ControlFolder {
            folder: folder.display().to_string(),
            why: error.to_string(),
        })
    }

    fn open_in(folder: &Path) -> io::Result<Server> {
        let drawn = random().map_err(io::Error::other)?;
        let unfinished = folder.join(format!("{:016x}.new", u64::from_ne_bytes(drawn)));
        let listener = UnixListener::bind(&unfinished)?;
        let named = fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o600))
            .and_then(|()| listener.set_nonblocking(true))
            .and_then(|()| name(folder, &unfinished));
        // It has its own name now, or none.
        let removed = fs::remove_file(&unfinished);
        let socket = named?;
        removed?;
        Ok(Server { listener, clients: Vec::new(), full_until: None, socket })
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// What a call that waits for this has to look at.
    pub fn descriptors(&self, into: &mut Vec<libc::pollfd>) {
        let one = |fd: i32, events: i16| libc::pollfd { fd, events, revents: 0 };
        if self.clients.len() < MOST_CLIENTS && self.full_until.is_none() {
            into.push(one(self.listener.as_raw_fd(), libc::POLLIN));
        }
        into.extend(self.clients.iter().map(|client| {
            let events = if client.answer.is_some() { libc::POLLOUT } else { libc::POLLIN };
            one(client.stream.as_raw_fd(), events)
        }));
    }

    /// How long nothing is to be done if no request comes.
    pub fn max_sleep(&self, limit: Duration) -> Duration {
        let ends_at = self.clients.iter().map(|client| client.ends_at);
        let ends_at = ends_at.chain(self.full_until).min();
        let ends = ends_at.map(|at| at.saturating_duration_since(Instant::now()));
        ends.map_or(limit, |ends| ends.min(limit))
    }

    /// Goes on with every request as far as that is possible, now that its descriptors were looked
    /// at.
    pub fn serve(&mut self, seen: &[libc::pollfd], mut answer: impl FnMut(&str) -> String) {
        let is_quiet = seen.iter().all(|descriptor| descriptor.revents == 0);
        if is_quiet && self.clients.is_empty() && self.full_until.is_none() {
            return;
        }
        let now = Instant::now();
        self.full_until = self.full_until.filter(|until| now < *until);
        while self.clients.len() < MOST_CLIENTS && self.full_until.is_none() {
            match self.listener.accept() {
                Ok((stream, _)) if may_ask(&stream) && stream.set_nonblocking(true).is_ok() => {
                    let (request, written, ends_at) = (Vec::new(), 0, now + LIMIT);
                    self.clients.push(Client { stream, request, answer: None, written, ends_at });
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.full_until = Some(now + LIMIT),
            }
        }
        self.clients.retain_mut(|client| now < client.ends_at && client.go_on(&mut answer));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A listing of the folder removes what is left there.
        _ = fs::remove_file(&self.socket);
    }
}

/// Gives a listening socket the first free name of this process, so that every name accepts.
fn name(folder: &Path, unfinished: &Path) -> io::Result<PathBuf> {
    let mut last = io::Error::other("too many services of this process");
    for service in 0..MOST_SERVICES {
        let socket = folder.join(folder::name(std::process::id(), service));
        match fs::hard_link(unfinished, &socket) {
            Ok(()) => return Ok(socket),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// Whether the other end is this user, or root.
fn may_ask(stream: &UnixStream) -> bool {
    let mut peer = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut bytes = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the structure is ours and as long as is said.
    let got = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut bytes,
        )
    };
    got == 0 && (peer.uid == 0 || peer.uid == folder::user())
}

/// Sends without the signal that ends a program whose reader is gone.
pub(super) fn send(stream: &UnixStream, bytes: &[u8]) -> io::Result<usize> {
    let (fd, flags) = (stream.as_raw_fd(), libc::MSG_NOSIGNAL);
    // SAFETY: there are as many bytes as are said.
    let sent = unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), flags) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

impl Client {
    /// False where it is over.
    fn go_on(&mut self, answer: &mut impl FnMut(&str) -> String) -> bool {
        if self.answer.is_none() {
            match self.read() {
                Ok(false) => return true,
                Ok(true) => {}
                Err(_) => return false,
            }
            let request = String::from_utf8_lossy(&self.request).into_owned();
            self.answer = Some(answer(request.trim()).into_bytes());
        }
        self.write()
    }

    /// Whether the request is complete; an error where it never will be.
    fn read(&mut self) -> io::Result<bool> {
        let mut bytes = [0; MOST_BYTES];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.request.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            if let Some(end) = self.request.iter().position(|byte| *byte == b'\n') {
                self.request.truncate(end);
                return Ok(true);
            }
            if self.request.len() >= MOST_BYTES {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    }

    /// True while there is something left to write.
    fn write(&mut self) -> bool {
        let answer = self.answer.as_deref().unwrap_or_default();
        while self.written < answer.len() {
            match send(&self.stream, &answer[self.written..]) {
                Ok(count) if count > 0 => self.written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => return false,
            }
        }
        false
    }
}
