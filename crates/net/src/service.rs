//! Progress beside a program that does something else: the paper's asynchronous thread.
//!
//! While the program itself asks for progress, the thread only looks now and then whether it still
//! does. When the program stays away, the thread serves the endpoint in its place, asleep until
//! something arrives or is due. It also answers at the control socket, asleep until somebody asks.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::control::{Request, Server, answer, refuse_unknown};
use crate::endpoint::{Endpoint, poll};
use crate::error::NetError;

/// How long a program may stay away before the thread takes its place.
const AWAY: Duration = Duration::from_millis(1);
/// The longest sleep of the thread.
const LONGEST: Duration = Duration::from_secs(3600);

struct Shared {
    endpoint: Mutex<Endpoint>,
    /// How often the program has asked for the endpoint.
    visits: AtomicU64,
    stop: AtomicBool,
    /// Held while the thread wants the endpoint for somebody who asks, and said so: a program that
    /// comes all the time waits then, and the thread is not left out.
    turn: Mutex<()>,
    asked: AtomicBool,
    /// Ends the sleep of the thread.
    bell: OwnedFd,
}

/// An endpoint that goes on by itself.
pub struct Service {
    shared: Arc<Shared>,
    /// Where it can be asked, or why it cannot.
    control: Result<PathBuf, NetError>,
    thread: Option<JoinHandle<()>>,
}

impl Service {
    pub fn start(endpoint: Endpoint) -> Result<Service, NetError> {
        // SAFETY: plain numbers; the result is checked, and belongs to nobody else.
        let bell = unsafe {
            let fd = libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC);
            if fd < 0 {
                return Err(NetError::system("eventfd", std::io::Error::last_os_error()));
            }
            OwnedFd::from_raw_fd(fd)
        };
        let shared = Arc::new(Shared {
            endpoint: Mutex::new(endpoint),
            visits: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            turn: Mutex::new(()),
            asked: AtomicBool::new(false),
            bell,
        });
        let server = Server::open();
        let control = server.as_ref().map(|server| server.socket().to_path_buf());
        let control = control.map_err(Clone::clone);
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new().name("laneway-paths".into());
        let thread = thread.spawn(move || of_thread.serve(server.ok()));
        let thread = thread.map_err(|error| NetError::system("starting a thread", error))?;
        Ok(Service { shared, control, thread: Some(thread) })
    }

    /// The endpoint, for the program alone until it lets go of it.
    pub fn endpoint(&self) -> MutexGuard<'_, Endpoint> {
        self.shared.visits.fetch_add(1, Ordering::Relaxed);
        if self.shared.asked.load(Ordering::Acquire) {
            drop(self.shared.turn.lock());
        }
        self.shared.lock()
    }

    /// The control socket where others can ask what its connections do, or why there is none.
    pub fn control(&self) -> Result<&Path, &NetError> {
        self.control.as_deref()
    }

    /// What the program has asked for may be due sooner than what the thread waits for: it looks.
    pub fn notify(&self) {
        self.shared.ring();
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        self.shared.ring();
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has said so.
            _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Endpoint> {
        self.endpoint.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self) {
        let one = 1u64;
        // SAFETY: an eventfd takes eight bytes. One that is full rings already.
        unsafe { libc::write(self.bell.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    fn serve(&self, mut server: Option<Server>) {
        let bell = libc::pollfd { fd: self.bell.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let mut seen = self.visits.load(Ordering::Relaxed);
        while !self.stop.load(Ordering::Acquire) {
            let mut descriptors = vec![bell];
            if let Some(server) = &server {
                server.descriptors(&mut descriptors);
            }
            let own = descriptors.len();
            let visits = self.visits.load(Ordering::Relaxed);
            let rests = if std::mem::replace(&mut seen, visits) != visits {
                AWAY
            } else {
                let mut endpoint = self.lock();
                endpoint.wait(Duration::ZERO);
                descriptors.extend(endpoint.descriptors());
                endpoint.rests_for(LONGEST)
            };
            let rests = server.as_ref().map_or(rests, |server| server.rests_for(rests));
            poll(&mut descriptors, rests);
            self.silence();
            if let Some(server) = &mut server {
                server.serve(&descriptors[1..own], |line| self.answer(line));
            }
        }
    }

    /// Somebody asks.
    fn answer(&self, line: &str) -> String {
        let answer = match Request::parse(line) {
            None => refuse_unknown(),
            Some(request) => {
                let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
                self.asked.store(true, Ordering::Release);
                let mut endpoint = self.lock();
                self.asked.store(false, Ordering::Release);
                answer(&mut endpoint, request)
            }
        };
        answer.encode()
    }

    /// The bell has been heard.
    fn silence(&self) {
        let mut rung = 0u64;
        // SAFETY: an eventfd gives eight bytes, or nothing.
        unsafe { libc::read(self.bell.as_raw_fd(), (&raw mut rung).cast(), 8) };
    }
}
