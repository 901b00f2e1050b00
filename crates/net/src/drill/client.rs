//! The end that sends, and waits for each message to come back.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use laneway_path::Event;

use super::trace::fill;
use super::{CONTROL, CONTROL_BYTES, Checked, MAIN, State, Trace};
use crate::clock::now;
use crate::endpoint::{ConnectionId, Endpoint, What, wait_for_any};
use crate::error::NetError;
use crate::service::Service;

/// How long the other end may take to answer at the beginning.
const OPENS: Duration = Duration::from_secs(10);
/// The program looks at least this often whether it is told to stop.
const LOOKS: Duration = Duration::from_millis(20);
/// What is under way when the end is told to stop may take so long.
const ENDS: Duration = Duration::from_secs(10);

/// Messages there and back over one connection.
struct Trips {
    service: Service,
    id: ConnectionId,
    /// Where the message is, unless it is under way.
    message: Option<Vec<u8>>,
    room: Option<Vec<u8>>,
    sent: u64,
    checked: Checked,
    trace: Trace,
    migrations: u64,
    broken: bool,
}

impl Trips {
    fn open(
        mut endpoint: Endpoint,
        peer: &[SocketAddr],
        label: u64,
        bytes: usize,
    ) -> Result<Trips, NetError> {
        let id = endpoint.connect(peer, label, OPENS)?;
        let (message, room) = (Some(vec![0; bytes]), Some(Vec::with_capacity(bytes)));
        let (checked, trace) = (Checked::default(), Trace::new(now()));
        let service = Service::start(endpoint)?;
        Ok(Trips {
            service,
            id,
            message,
            room,
            sent: 0,
            checked,
            trace,
            migrations: 0,
            broken: false,
        })
    }

    /// Sends the next message when the last one is back.
    fn go_on(&mut self, sends: bool) -> Result<(), NetError> {
        let mut endpoint = self.service.endpoint();
        while let Some(notice) = endpoint.poll() {
            match notice.what {
                What::Event(Event::Received { message, .. }) => {
                    self.trace.on_message(now(), message.len());
                    self.checked.on_message(&message);
                    self.room = Some(message);
                }
                What::Event(Event::Sent { message, .. }) => self.message = Some(message),
                What::Event(Event::Migrated { .. }) => self.migrations += 1,
                What::Closed | What::Event(Event::Failed { .. }) => self.broken = true,
                _ => {}
            }
        }
        if self.broken || !sends || self.message.is_none() || self.room.is_none() {
            return Ok(());
        }
        if let Some((mut message, room)) = self.message.take().zip(self.room.take()) {
            fill(&mut message, self.sent);
            endpoint.post_receive(self.id, self.sent, room)?;
            endpoint.send(self.id, self.sent, message)?;
            self.sent += 1;
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.broken || self.checked.received >= self.sent
    }
}

/// What a client has seen.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub trace: Trace,
    /// Of the path that nothing touches, where there is one.
    pub control: Option<Trace>,
    pub migrations: u64,
    pub sent: u64,
    pub checked: Checked,
    /// Whether the connection came to an end before it was told to.
    pub broken: bool,
}

pub struct Client {
    main: Trips,
    control: Option<Trips>,
    /// How long the program computes between a message and its answer.
    computes: Duration,
}

impl Client {
    /// Opens both connections: to the peer's addresses on the paths, and to its address on the path
    /// that nothing touches, where there is one.
    pub fn open(
        main: Endpoint,
        peers: &[SocketAddr],
        control: Option<(Endpoint, SocketAddr)>,
        bytes: usize,
        computes: Duration,
    ) -> Result<Client, NetError> {
        let main = Trips::open(main, peers, MAIN, bytes.max(super::LEAST_BYTES))?;
        let control =
            control.map(|(endpoint, peer)| Trips::open(endpoint, &[peer], CONTROL, CONTROL_BYTES));
        Ok(Client { main, control: control.transpose()?, computes })
    }

    /// Sends until it is told to stop.
    pub fn run(mut self, state: &State) -> Result<Outcome, NetError> {
        let mut stopped: Option<Instant> = None;
        loop {
            if stopped.is_none() && (state.is_stopped() || self.main.broken) {
                stopped = Some(Instant::now());
            }
            self.main.go_on(stopped.is_none())?;
            if let Some(control) = &mut self.control {
                control.go_on(stopped.is_none())?;
            }
            if let Ok(connection) = self.main.service.endpoint().get(self.main.id) {
                state.update(connection);
            }
            let late = stopped.is_some_and(|at| at.elapsed() > ENDS);
            if stopped.is_some() && self.main.is_done() || late {
                break;
            }
            if !self.computes.is_zero() {
                compute(self.computes);
            }
            let mut main = self.main.service.endpoint();
            let mut control = self.control.as_ref().map(|trips| trips.service.endpoint());
            let mut both = vec![&mut *main];
            both.extend(control.as_deref_mut());
            wait_for_any(&mut both, LOOKS);
        }
        let Client { main, control, .. } = self;
        for trips in std::iter::once(&main).chain(&control) {
            // Where it is broken there is nothing to close.
            _ = trips.service.endpoint().close(trips.id);
        }
        Ok(Outcome {
            trace: main.trace,
            control: control.map(|trips| trips.trace),
            migrations: main.migrations,
            sent: main.sent,
            checked: main.checked,
            broken: main.broken,
        })
    }
}

/// Keeps a processor busy.
pub(super) fn compute(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        std::hint::spin_loop();
    }
}
