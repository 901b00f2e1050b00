//! What is behind a handle. Handles are numbers in a table, so that one that was closed, or is used
//! by another thread while it is closed, is refused and harms nothing.
//!
//! Two locks: what was taken from the endpoint, then the endpoint itself, always in this order.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use laneway_connections::{ConnectionId, Endpoint, Notice, Service, What};
use laneway_path::Event as PathEvent;

use super::refused::{closed, in_callback};
use super::{Event, Paths};
use crate::arguments::refused;
use crate::last_error::Coded;

/// Handles that are open, by their numbers, which are never used again.
struct Table {
    open: BTreeMap<usize, Arc<Held>>,
    next: usize,
}

static TABLE: RwLock<Table> = RwLock::new(Table { open: BTreeMap::new(), next: 1 });

thread_local! {
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Who drives the endpoint: the program's calls alone, or a thread as well.
pub enum Driver {
    Calls(Box<Mutex<Endpoint>>),
    Thread(Service),
}

pub struct Held {
    driver: Driver,
    taken: Mutex<Taken>,
}

/// What was taken from the endpoint and not yet given to the program.
#[derive(Default)]
pub struct Taken {
    notices: VecDeque<Notice>,
    /// Connections that a call waits for: only that call learns how they went.
    pub opening: BTreeSet<ConnectionId>,
    /// Buffers of the program, by numbers of ours.
    receives: BTreeMap<u64, Receive>,
    next: u64,
}

/// A buffer of the program.
pub struct Receive {
    pub connection: ConnectionId,
    pub id: u64,
    pub buffer: *mut u8,
    pub length: usize,
}

// SAFETY: the program lends the buffer until it gets it back, to whichever thread.
unsafe impl Send for Receive {}

/// What the program wants its function to be called with.
pub struct Data(pub *mut c_void);

// SAFETY: it is never looked at here; the program's function, which says that it runs on the
// thread, is given it.
unsafe impl Send for Data {}

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a handle; `make` gets it, and it is not usable before it is in the table.
pub fn insert(make: impl FnOnce(usize) -> Result<Driver, Coded>) -> Result<*mut Paths, Coded> {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    let number = table.next;
    let held = Held { driver: make(number)?, taken: Mutex::default() };
    table.next += 1;
    table.open.insert(number, Arc::new(held));
    Ok(handle(number))
}

pub fn handle(number: usize) -> *mut Paths {
    std::ptr::without_provenance_mut(number)
}

pub fn find(paths: *mut Paths) -> Result<Arc<Held>, Coded> {
    if paths.is_null() {
        return Err(refused("an argument is missing", "paths is NULL", "open paths").into());
    }
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    table.open.get(&paths.addr()).cloned().ok_or_else(closed)
}

/// Takes a handle out of the table.
pub fn remove(paths: *mut Paths) -> Result<Arc<Held>, Coded> {
    find(paths)?;
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    table.open.remove(&paths.addr()).ok_or_else(closed)
}

/// Calls a function of the program from the thread.
pub fn call_back(call: impl FnOnce()) {
    IN_CALLBACK.set(true);
    call();
    IN_CALLBACK.set(false);
}

/// What waits, or ends the thread, is not for its own function.
pub fn refuse_in_callback() -> Result<(), Coded> {
    if IN_CALLBACK.get() { Err(in_callback()) } else { Ok(()) }
}

impl Held {
    /// Uses the endpoint.
    pub fn with<T>(&self, work: impl FnOnce(&mut Endpoint) -> T) -> T {
        match &self.driver {
            Driver::Calls(endpoint) => work(&mut guard(endpoint)),
            Driver::Thread(service) => service.with(work),
        }
    }

    /// What was taken, with all that has happened until now.
    pub fn taken(&self) -> MutexGuard<'_, Taken> {
        let mut taken = guard(&self.taken);
        self.with(|endpoint| {
            while let Some(notice) = endpoint.poll() {
                taken.notices.push_back(notice);
            }
        });
        taken
    }

    /// Rests until the program may be given something, for so long at most.
    pub fn wait(&self, limit: Duration) {
        if guard(&self.taken).notices.is_empty() {
            self.rest(limit);
        }
    }

    /// Rests until there may be something more to take, for so long at most.
    pub fn rest(&self, limit: Duration) {
        _ = match &self.driver {
            Driver::Calls(endpoint) => guard(endpoint).wait(limit),
            Driver::Thread(service) => service.wait(limit),
        };
    }

    /// Keeps a buffer; the number that stands for it.
    pub fn keep(&self, receive: Receive) -> u64 {
        let mut taken = guard(&self.taken);
        let number = taken.next;
        taken.next += 1;
        taken.receives.insert(number, receive);
        number
    }

    /// The buffer is the program's again.
    pub fn give_up(&self, number: u64) {
        guard(&self.taken).receives.remove(&number);
    }

    /// Ends the thread and every connection, and tells the peers.
    pub fn end(&self) {
        if let Driver::Thread(service) = &self.driver {
            service.stop();
        }
        self.with(|endpoint| {
            let ids: Vec<_> = endpoint.connections().map(|c| ConnectionId(c.number())).collect();
            // They were there a moment ago.
            ids.into_iter().for_each(|id| _ = endpoint.close(id));
        });
    }
}

impl Taken {
    /// How a connection went that a call waits for.
    pub fn opened(&mut self, id: ConnectionId) -> Option<What> {
        let is = |notice: &Notice| notice.connection == id && is_opening(&notice.what);
        let at = self.notices.iter().position(is)?;
        self.opening.remove(&id);
        self.notices.remove(at).map(|notice| notice.what)
    }

    /// Forgets all of a connection: its buffers are the program's again.
    pub fn forget(&mut self, connection: ConnectionId) {
        self.receives.retain(|_, receive| receive.connection != connection);
        self.notices.retain(|notice| notice.connection != connection);
    }

    /// The next thing that happened; a message is put into its buffer.
    pub fn next_event(&mut self) -> Option<Event> {
        loop {
            let awaited = &self.opening;
            let is_for_all = |notice: &Notice| {
                !(awaited.contains(&notice.connection) && is_opening(&notice.what))
            };
            let at = self.notices.iter().position(is_for_all)?;
            let notice = self.notices.remove(at)?;
            let Some(mut event) = Event::of(&notice) else { continue };
            match notice.what {
                What::Event(PathEvent::Received { id, message }) => {
                    let Some(receive) = self.receives.remove(&id) else { continue };
                    receive.fill(&message);
                    event.id = receive.id;
                }
                What::Event(PathEvent::ReceiveFlushed { id }) => {
                    let Some(receive) = self.receives.remove(&id) else { continue };
                    event.id = receive.id;
                }
                What::Closed => {
                    let connection = notice.connection;
                    self.receives.retain(|_, receive| receive.connection != connection);
                }
                _ => {}
            }
            return Some(event);
        }
    }
}

impl Receive {
    fn fill(&self, message: &[u8]) {
        let bytes = message.len().min(self.length);
        if bytes > 0 {
            // SAFETY: the program promised room for `length` bytes that it does not touch until
            // it gets the message, which is now.
            unsafe { self.buffer.copy_from_nonoverlapping(message.as_ptr(), bytes) };
        }
    }
}

fn is_opening(what: &What) -> bool {
    matches!(what, What::Connected | What::NoAnswer)
}
