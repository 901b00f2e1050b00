//! Progress beside a program that does something else: the paper's asynchronous thread.
//!
//! While the program itself asks for progress, the thread only looks now and then whether it still
//! does. When the program stays away, the thread serves the endpoint in its place, asleep until
//! something arrives or is due. It can also call a function on every event of a path, and answers
//! at the control socket.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::control::{Request, Server, answer, refuse_unknown};
use crate::driver::notice::Notice;
use crate::endpoint::Endpoint;
use crate::error::NetError;
use crate::system::bell::Bell;
use crate::system::clock::now;
use crate::system::readiness::poll;

/// How long a program may stay away before the thread takes its place.
const AWAY: Duration = Duration::from_millis(1);
/// The longest sleep of the thread.
const LONGEST: Duration = Duration::from_secs(3600);

struct Shared {
    endpoint: Mutex<Endpoint>,
    /// How often the program has asked for the endpoint, and how often arrivals there were
    /// polled.
    visits: AtomicU64,
    looks: Arc<AtomicU64>,
    stop: AtomicBool,
    /// Held while the thread wants the endpoint for a queued request, and said so: a program that
    /// comes all the time waits then, and the thread is not left out.
    turn: Mutex<()>,
    asked: AtomicBool,
    /// Ends the sleep of the thread.
    bell: Bell,
    /// Whether the thread sleeps until something is due; it changes to true under the lock.
    sleeps: AtomicBool,
    /// Ends the rest of those who wait, and how many do; it changes under the lock.
    news: Bell,
    waiting: AtomicUsize,
}

/// An endpoint that goes on by itself.
pub struct Service {
    shared: Arc<Shared>,
    /// Where it can be asked, or why it cannot.
    control: Result<PathBuf, NetError>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Service {
    /// Starts the thread that serves an endpoint.
    pub fn start(endpoint: Endpoint) -> Result<Service, NetError> {
        Service::spawn(endpoint, None)
    }

    /// With a function that the thread calls for every event of a path, as `Armed` and `Migrated`
    /// (paper: 3.2), after the endpoint's own policy has acted on it. The polling program gets it
    /// as well. The function may use the endpoint, and must not wait for long.
    pub fn start_with(
        endpoint: Endpoint,
        on_event: impl FnMut(&Notice) + Send + 'static,
    ) -> Result<Service, NetError> {
        Service::spawn(endpoint, Some(Box::new(on_event)))
    }

    fn spawn(mut endpoint: Endpoint, on_event: Option<OnEvent>) -> Result<Service, NetError> {
        if on_event.is_some() {
            endpoint.observe();
        }
        endpoint.served_by_a_thread();
        let shared = Arc::new(Shared {
            looks: Arc::clone(&endpoint.served),
            endpoint: Mutex::new(endpoint),
            visits: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            turn: Mutex::new(()),
            asked: AtomicBool::new(false),
            bell: Bell::new()?,
            sleeps: AtomicBool::new(false),
            news: Bell::new()?,
            waiting: AtomicUsize::new(0),
        });
        let server = Server::open();
        let control = server.as_ref().map(|server| server.socket().to_path_buf());
        let control = control.map_err(Clone::clone);
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new().name("laneway-paths".into());
        let thread = thread.spawn(move || of_thread.serve(on_event, server.ok()));
        let thread = thread.map_err(|error| NetError::system("starting a thread", error))?;
        Ok(Service { shared, control, thread: Mutex::new(Some(thread)) })
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

    /// The endpoint, for the program alone until it lets go of it; a thread that sleeps looks
    /// within a millisecond after that for what has become due.
    ///
    /// The thread says under the lock that it sleeps, so it is asked under the lock as well: what
    /// it waits for was due before this visit.
    pub fn visit(&self) -> MutexGuard<'_, Endpoint> {
        let endpoint = self.endpoint();
        if self.shared.sleeps.swap(false, Ordering::Relaxed) {
            self.shared.bell.ring();
        }
        endpoint
    }

    /// Uses the endpoint; what follows from it is done in time, also if the program stays away
    /// from now on, and those who wait look again.
    pub fn with<T>(&self, work: impl FnOnce(&mut Endpoint) -> T) -> T {
        let mut endpoint = self.endpoint();
        let result = work(&mut endpoint);
        let sleeps = self.shared.sleeps.load(Ordering::Relaxed) || endpoint.has_observed();
        let waits = self.shared.waiting.load(Ordering::Relaxed) > 0;
        drop(endpoint);
        if sleeps {
            self.shared.bell.ring();
        }
        if waits {
            self.shared.news.ring();
        }
        result
    }

    /// Rests until there may be something to poll, for so long at most; false where there is not.
    /// Others use the endpoint meanwhile.
    pub fn wait(&self, limit: Duration) -> bool {
        let shared = &*self.shared;
        let ([hot, others], rests) = {
            let mut endpoint = self.endpoint();
            if endpoint.has_notices() {
                return true;
            }
            shared.waiting.fetch_add(1, Ordering::Relaxed);
            (endpoint.descriptors(), endpoint.max_sleep(limit))
        };
        let mut descriptors = [hot, others, shared.news.descriptor()];
        poll(&mut descriptors, rests);
        let [hot, others, _] = descriptors;
        let mut endpoint = self.endpoint();
        if shared.waiting.fetch_sub(1, Ordering::Relaxed) == 1 {
            shared.news.silence();
        }
        endpoint.serve(&[hot, others], now());
        if endpoint.has_observed() {
            shared.bell.ring();
        }
        endpoint.has_notices()
    }

    /// Ends the thread; when this returns, it calls nothing any more. The endpoint stays, for who
    /// asks it for progress. A function that the thread calls cannot wait for its end.
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::Release);
        self.shared.bell.ring();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread.filter(|other| other.thread().id() != thread::current().id()) {
            // A thread that has panicked has said so.
            _ = thread.join();
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop();
    }
}

type OnEvent = Box<dyn FnMut(&Notice) + Send>;

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Endpoint> {
        self.endpoint.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, mut on_event: Option<OnEvent>, mut server: Option<Server>) {
        let count = || [&self.visits, &*self.looks].map(|count| count.load(Ordering::Relaxed));
        let (mut seen, mut stays_away) = (count(), false);
        let mut descriptors = Vec::new();
        while !self.is_stopped() {
            if let Some(on_event) = &mut on_event {
                let observed = self.lock().take_observed();
                // Nothing is locked: the function may ask for what it likes.
                observed.iter().take_while(|_| !self.is_stopped()).for_each(on_event);
            }
            descriptors.clear();
            descriptors.push(self.bell.descriptor());
            if let Some(server) = &server {
                server.descriptors(&mut descriptors);
            }
            let own = descriptors.len();
            let [visits, looks] = count();
            // A program that comes and never looks would leave all that arrives lying.
            stays_away = visits != seen[0] && (looks != seen[1] || !stays_away);
            let rests = if stays_away { AWAY } else { self.look(&mut descriptors) };
            seen = [visits, self.looks.load(Ordering::Relaxed)];
            let rests = server.as_ref().map_or(rests, |server| server.max_sleep(rests));
            poll(&mut descriptors, rests);
            self.sleeps.store(false, Ordering::Relaxed);
            self.bell.silence();
            if let Some(server) = &mut server {
                server.serve(&descriptors[1..own], |line| self.answer(line));
            }
        }
    }

    /// Answers one request of the control socket.
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

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Does what can be done now; what to wait for then, and for how long.
    fn look(&self, descriptors: &mut Vec<libc::pollfd>) -> Duration {
        let mut endpoint = self.lock();
        endpoint.wait(Duration::ZERO);
        if endpoint.has_notices() && self.waiting.load(Ordering::Relaxed) > 0 {
            self.news.ring();
        }
        self.sleeps.store(true, Ordering::Relaxed);
        let rests = if endpoint.has_observed() { Duration::ZERO } else { LONGEST };
        descriptors.extend(endpoint.descriptors());
        endpoint.max_sleep(rests)
    }
}
