//! Connections between two processes that go on over another path when one dies.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use laneway_connections::{
    ConnectionId, Endpoint, LocalPath, Options, Secret, Service, Setup, What,
};
use laneway_core::{Comm, Rank, Tag, USER_TAGS};
use laneway_path::{Event, PathId};

use crate::error::{Error, Result};
use crate::values::Exchange;

/// Ranks tell each other their addresses with this tag.
const ADDRESSES: Tag = USER_TAGS - 1;
/// Receives that are posted at any time.
const RECEIVES: u64 = 16;
/// The longest sleep between two looks, as another thread may have taken what is waited for.
const LOOK: Duration = Duration::from_millis(5);

/// How connections are made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConnectOptions {
    /// This end of each path, in the same order at both ends.
    pub paths: Vec<LocalPath>,
    /// What both processes know; addresses other than loopback demand one.
    pub secret: Secret,
    /// What is done about paths without being asked.
    pub setup: Setup,
    /// Bytes of the longest message that is received.
    pub largest: usize,
    /// How long opening a connection may take.
    pub limit: Duration,
}

impl Default for ConnectOptions {
    /// One path over the loopback address, without a secret; messages of up to 64 KiB.
    fn default() -> ConnectOptions {
        ConnectOptions::at([SocketAddr::from(([127, 0, 0, 1], 0))])
    }
}

impl ConnectOptions {
    /// With a path from each of these addresses of this host; port 0 is any.
    pub fn at(addresses: impl IntoIterator<Item = SocketAddr>) -> ConnectOptions {
        ConnectOptions {
            paths: addresses.into_iter().map(LocalPath::at).collect(),
            secret: Secret::none(),
            setup: Setup::usual(),
            largest: 64 << 10,
            limit: Duration::from_secs(10),
        }
    }

    /// With what both processes know.
    pub fn with_secret(self, secret: Secret) -> ConnectOptions {
        ConnectOptions { secret, ..self }
    }

    /// With messages of up to this number of bytes.
    pub fn with_largest(self, largest: usize) -> ConnectOptions {
        ConnectOptions { largest, ..self }
    }

    fn open(&self, accepts: bool) -> Result<Arc<Ends>> {
        let (paths, secret, setup) = (self.paths.clone(), self.secret, self.setup);
        let endpoint = Endpoint::open(Options { paths, secret, accepts, setup })?;
        let addresses = endpoint.addresses();
        let (service, inboxes) = (Service::start(endpoint)?, Mutex::default());
        Ok(Arc::new(Ends { service, addresses, inboxes, options: self.clone() }))
    }
}

/// Opens a connection to another rank, which calls this as well. The addresses travel over the
/// communicator; what is sent later goes over paths of its own. Ranks on different hosts set
/// [`ConnectOptions::paths`] and a secret.
///
/// ```standalone_crate
/// use std::time::Duration;
///
/// use laneway::{Backend, ConnectOptions, Launch, connect, join, launch};
///
/// fn main() -> laneway::Result<()> {
///     if !laneway::is_rank() {
///         return launch(Launch::this_program().ranks(2))?.ok();
///     }
///     let (world, limit) = (join(Backend::default())?, Duration::from_secs(10));
///     let connection = connect(&world, 1 - world.rank(), &ConnectOptions::default())?;
///     connection.send(format!("from rank {}", world.rank()))?;
///     let heard = connection.receive(limit)?;
///     assert_eq!(heard, format!("from rank {}", 1 - world.rank()).as_bytes());
///     connection.close(limit)
/// }
/// ```
pub fn connect(comm: &dyn Comm, peer: Rank, options: &ConnectOptions) -> Result<Connection> {
    if comm.clock().is_virtual() {
        return Err(Error::Rule("simulated ranks have no network to connect over".into()));
    }
    if peer == comm.rank() || peer >= comm.size() {
        return Err(Error::Rule(format!("rank {} cannot connect to rank {peer}", comm.rank())));
    }
    if comm.rank() > peer {
        let seen = comm.probe(Some(peer), Some(ADDRESSES), true)?;
        let mut bytes = vec![0; seen.map_or(0, |message| message.len) as usize];
        comm.recv(Some(peer), Some(ADDRESSES), &mut bytes)?;
        let text = String::from_bytes(&bytes).unwrap_or_default();
        let addresses: Vec<SocketAddr> = text.split(' ').flat_map(str::parse).collect();
        return connect_to(&addresses, options);
    }
    let listener = listen(options);
    // Without addresses the peer does not wait for this rank.
    let addresses = listener.as_ref().map_or(Vec::new(), Listener::addresses);
    let words: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    comm.send(peer, ADDRESSES, &words.join(" ").to_bytes())?;
    listener?.accept()
}

/// Opens a connection to a process that listens at these addresses, one for each path, in the order
/// of its paths.
pub fn connect_to(peer: &[SocketAddr], options: &ConnectOptions) -> Result<Connection> {
    let ends = options.open(false)?;
    let id = ends.service.with(|end| end.connect(peer, 0, options.limit))?;
    Connection::new(ends, id)
}

/// Lets other processes open connections to this one.
pub fn listen(options: &ConnectOptions) -> Result<Listener> {
    Ok(Listener { ends: options.open(true)? })
}

/// Accepts connections.
pub struct Listener {
    ends: Arc<Ends>,
}

impl Listener {
    /// Where it is, on each path: what [`connect_to`] takes.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.ends.addresses.clone()
    }

    /// Waits for the next connection.
    pub fn accept(&self) -> Result<Connection> {
        let id = self.ends.wait(self.ends.options.limit, Inboxes::accepted)?;
        Connection::new(self.ends.clone(), id)
    }
}

/// A reliable connection: messages arrive whole, once and in order, also where a path dies.
///
/// A thread keeps it going beside the program. [`Connection::close`] ends it when both ends have
/// everything; where it is dropped, what was sent and has not arrived may be lost.
///
/// ```
/// use std::time::Duration;
///
/// use laneway::{ConnectOptions, PathId, connect_to, listen};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (options, limit) = (
///     ConnectOptions::at(["127.0.0.1:0".parse()?, "127.0.0.2:0".parse()?]),
///     Duration::from_secs(10),
/// );
/// let listener = listen(&options)?;
/// let here = connect_to(&listener.addresses(), &options)?;
/// let there = listener.accept()?;
/// here.wait_for_alternate(limit)?;
/// here.send("over path 0")?;
/// here.drain(PathId(0))?;
/// here.send("over path 1")?;
/// assert_eq!(there.receive(limit)?, b"over path 0");
/// assert_eq!(there.receive(limit)?, b"over path 1");
/// assert_eq!(here.path()?, PathId(1));
/// # Ok(())
/// # }
/// ```
pub struct Connection {
    ends: Arc<Ends>,
    id: ConnectionId,
}

impl Connection {
    fn new(ends: Arc<Ends>, id: ConnectionId) -> Result<Connection> {
        let connection = Connection { ends, id };
        (0..RECEIVES).try_for_each(|_| connection.post())?;
        Ok(connection)
    }

    /// Sends a message of at least one byte, which may arrive later.
    pub fn send(&self, message: impl Into<Vec<u8>>) -> Result<()> {
        let message = message.into();
        if message.is_empty() {
            return Err(Error::Rule("a message has at least one byte".into()));
        }
        self.start_send(message)
    }

    fn start_send(&self, message: Vec<u8>) -> Result<()> {
        let ends = &*self.ends;
        ends.inboxes().of(self.id).sent += 1;
        ends.service.with(|end| end.send(self.id, 0, message)).map_err(|error| {
            ends.inboxes().of(self.id).sent -= 1;
            error.into()
        })
    }

    /// Ends the connection together with the peer, which calls this as well: waits until all that
    /// either has sent has arrived. Messages that were not received yet are dropped.
    pub fn close(self, limit: Duration) -> Result<()> {
        // An empty message says that nothing follows.
        self.start_send(Vec::new())?;
        let begun = Instant::now();
        loop {
            let left = limit.saturating_sub(begun.elapsed());
            let done = self.ends.wait(left, |inboxes| {
                let inbox = inboxes.of(self.id);
                match inbox.messages.pop_front() {
                    Some(_) => Some(None),
                    None => inbox.is_over().map(Some),
                }
            })?;
            match done {
                Some(result) => return result,
                None => _ = self.post(),
            }
        }
    }

    /// Waits until everything that was sent has arrived.
    pub fn flush(&self, limit: Duration) -> Result<()> {
        self.ends.wait(limit, |inboxes| {
            let inbox = inboxes.of(self.id);
            (inbox.sent == inbox.arrived).then_some(Ok(())).or(inbox.closed())
        })?
    }

    /// The next message of the peer, which is waited for.
    pub fn receive(&self, limit: Duration) -> Result<Vec<u8>> {
        let message = self.ends.wait(limit, |inboxes| {
            let inbox = inboxes.of(self.id);
            let message = inbox.messages.pop_front();
            let ended = inbox.is_finished || inbox.is_closed;
            message.map(Ok).or(ended.then_some(Err(Error::Closed)))
        })??;
        // The peer may have closed the connection behind its last message.
        _ = self.post();
        Ok(message)
    }

    fn post(&self) -> Result<()> {
        let buffer = Vec::with_capacity(self.ends.options.largest);
        Ok(self.ends.service.with(|end| end.post_receive(self.id, 0, buffer))?)
    }

    /// The path in use.
    pub fn path(&self) -> Result<PathId> {
        Ok(self.ends.service.with(|end| end.get(self.id).map(|one| one.primary()))?)
    }

    /// Waits until another path is ready to take over.
    pub fn wait_for_alternate(&self, limit: Duration) -> Result<()> {
        self.ends.wait(limit, |inboxes| {
            let inbox = inboxes.of(self.id);
            inbox.is_armed.then_some(Ok(())).or(inbox.closed())
        })?
    }

    /// Goes over to the other path now; refused where none is ready.
    pub fn migrate(&self) -> Result<()> {
        Ok(self.ends.service.with(|end| end.migrate(&[self.id]))?)
    }

    /// Takes a path out of use: connections that use it go over to another one.
    pub fn drain(&self, path: PathId) -> Result<()> {
        Ok(self.ends.service.with(|end| end.drain(path))?)
    }

    /// What has happened to its paths since the last call, such as [`Event::Migrated`].
    pub fn events(&self) -> Vec<Event> {
        self.ends.collect();
        std::mem::take(&mut self.ends.inboxes().of(self.id).events)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The peer may have closed it before.
        _ = self.ends.service.with(|end| end.close(self.id));
        self.ends.inboxes().all.remove(&self.id.0);
    }
}

/// What has come for a connection and was not asked for yet.
#[derive(Default)]
struct Inbox {
    messages: VecDeque<Vec<u8>>,
    events: Vec<Event>,
    sent: u64,
    arrived: u64,
    is_armed: bool,
    /// The peer sends nothing more.
    is_finished: bool,
    is_closed: bool,
}

impl Inbox {
    fn closed<T>(&self) -> Option<Result<T>> {
        self.is_closed.then_some(Err(Error::Closed))
    }

    /// Whether both ends have everything: a peer closes when it has.
    fn is_over(&self) -> Option<Result<()>> {
        match self.is_finished && (self.sent == self.arrived || self.is_closed) {
            true => Some(Ok(())),
            false => self.closed(),
        }
    }

    fn take(&mut self, what: What) {
        match what {
            What::Closed => self.is_closed = true,
            What::Event(Event::Received { message, .. }) if message.is_empty() => {
                self.is_finished = true;
            }
            What::Event(Event::Received { message, .. }) => self.messages.push_back(message),
            What::Event(Event::Sent { .. }) => self.arrived += 1,
            What::Event(event) => {
                match event {
                    Event::Armed { .. } => self.is_armed = true,
                    Event::Migrated { .. } | Event::Unhealthy { .. } => self.is_armed = false,
                    Event::Failed { .. } => self.is_closed = true,
                    _ => {}
                }
                self.events.push(event);
            }
            _ => {}
        }
    }
}

#[derive(Default)]
struct Inboxes {
    all: BTreeMap<u32, Inbox>,
    accepted: VecDeque<ConnectionId>,
}

impl Inboxes {
    fn of(&mut self, connection: ConnectionId) -> &mut Inbox {
        self.all.entry(connection.0).or_default()
    }

    fn accepted(&mut self) -> Option<ConnectionId> {
        self.accepted.pop_front()
    }
}

/// This end of some connections, which share their paths.
struct Ends {
    service: Service,
    addresses: Vec<SocketAddr>,
    inboxes: Mutex<Inboxes>,
    options: ConnectOptions,
}

impl Ends {
    fn inboxes(&self) -> MutexGuard<'_, Inboxes> {
        self.inboxes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sorts what has come since the last call.
    fn collect(&self) {
        let mut inboxes = self.inboxes();
        while let Some(notice) = self.service.with(Endpoint::poll) {
            match notice.what {
                What::Accepted { .. } => inboxes.accepted.push_back(notice.connection),
                what => inboxes.of(notice.connection).take(what),
            }
        }
    }

    /// Waits until something is found in what has come.
    fn wait<T>(
        &self,
        limit: Duration,
        mut found: impl FnMut(&mut Inboxes) -> Option<T>,
    ) -> Result<T> {
        let begun = Instant::now();
        loop {
            self.collect();
            if let Some(found) = found(&mut self.inboxes()) {
                return Ok(found);
            }
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Err(Error::Silent(limit.as_secs_f64()));
            }
            self.service.wait(left.min(LOOK));
        }
    }
}
