//! The end that sends, and waits for each message to come back: over one connection, or several.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use laneway_path::{Event, Nanos};

use super::trace::fill;
use super::{CONTROL, CONTROL_BYTES, Checked, MAIN, State, Trace};
use crate::driver::notice::{ConnectionId, What};
use crate::endpoint::{Endpoint, wait_for_any};
use crate::error::NetError;
use crate::service::Service;
use crate::system::clock::now;

/// How long the other end may take to answer at the beginning.
const OPENS: Duration = Duration::from_secs(10);
/// The longest interval between checks of the stop flag.
const LOOKS: Duration = Duration::from_millis(20);
/// The time limit for outstanding messages after the stop.
const ENDS: Duration = Duration::from_secs(10);

/// One connection, with one message under way at a time.
struct Lane {
    id: ConnectionId,
    /// Where the message is, unless it is under way.
    message: Option<Vec<u8>>,
    room: Option<Vec<u8>>,
    sent: u64,
    checked: Checked,
    trace: Trace,
}

impl Lane {
    fn open(
        endpoint: &mut Endpoint,
        peer: &[SocketAddr],
        label: u64,
        bytes: usize,
    ) -> Result<Lane, NetError> {
        let id = endpoint.connect(peer, label, OPENS)?;
        let (message, room) = (Some(vec![0; bytes]), Some(Vec::with_capacity(bytes)));
        let (checked, trace) = (Checked::default(), Trace::new(now()));
        Ok(Lane { id, message, room, sent: 0, checked, trace })
    }

    /// Sends the next message when the last one is back.
    fn send(&mut self, endpoint: &mut Endpoint) -> Result<(), NetError> {
        if self.message.is_none() || self.room.is_none() {
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

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Received { message, .. } => {
                self.trace.on_message(now(), message.len());
                self.checked.on_message(&message);
                self.room = Some(message);
            }
            Event::Sent { message, .. } => self.message = Some(message),
            _ => {}
        }
    }
}

/// Messages there and back over the connections of one endpoint.
struct Trips {
    service: Service,
    lanes: Vec<Lane>,
    migrations: u64,
    broken: bool,
}

impl Trips {
    fn open(
        mut endpoint: Endpoint,
        peer: &[SocketAddr],
        label: u64,
        bytes: usize,
        connections: usize,
    ) -> Result<Trips, NetError> {
        let lanes = (0..connections).map(|_| Lane::open(&mut endpoint, peer, label, bytes));
        let lanes = lanes.collect::<Result<_, _>>()?;
        Ok(Trips { service: Service::start(endpoint)?, lanes, migrations: 0, broken: false })
    }

    /// Sends on each connection whose last message is back.
    fn go_on(&mut self, sends: bool) -> Result<(), NetError> {
        let mut endpoint = self.service.endpoint();
        while let Some(notice) = endpoint.poll() {
            match notice.what {
                What::Closed | What::Event(Event::Failed { .. }) => self.broken = true,
                What::Event(Event::Migrated { .. }) => self.migrations += 1,
                What::Event(event) => {
                    let lane = self.lanes.iter_mut().find(|lane| lane.id == notice.connection);
                    if let Some(lane) = lane {
                        lane.on_event(event);
                    }
                }
                _ => {}
            }
        }
        if self.broken || !sends {
            return Ok(());
        }
        self.lanes.iter_mut().try_for_each(|lane| lane.send(&mut endpoint))
    }

    fn is_done(&self) -> bool {
        self.broken || self.lanes.iter().all(|lane| lane.checked.received >= lane.sent)
    }
}

/// What a client sends.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Of a message.
    pub bytes: usize,
    /// Each has a message under way.
    pub connections: usize,
    /// How long the program computes between a message and its answer.
    pub computes: Duration,
}

/// What a client has seen.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Of each connection.
    pub traces: Vec<Trace>,
    /// Of the path that nothing touches, where there is one.
    pub control: Option<Trace>,
    /// How often connections moved to another path.
    pub migrations: u64,
    /// Messages that were sent.
    pub sent: u64,
    /// Whether what came back came once and in order.
    pub checked: Checked,
    /// Whether a connection ended before the stop.
    pub broken: bool,
}

impl Outcome {
    /// The longest time for which any connection stood still that touches these instants.
    pub fn longest_gap(&self, from: Nanos, until: Nanos) -> Nanos {
        self.traces.iter().map(|trace| trace.longest_gap(from, until)).max().unwrap_or(0)
    }

    /// The length so far of the longest stall that had not ended when the traffic did.
    pub fn unfinished(&self) -> Option<Nanos> {
        self.traces.iter().filter_map(Trace::unfinished).max()
    }

    /// Bytes a second of all connections between two instants.
    pub fn rate(&self, from: Nanos, until: Nanos) -> f64 {
        self.traces.iter().map(|trace| trace.rate(from, until)).sum()
    }

    /// Messages of all connections.
    pub fn messages(&self) -> u64 {
        self.traces.iter().map(Trace::messages).sum()
    }
}

/// The end that sends, and times each answer.
pub struct Client {
    main: Trips,
    control: Option<Trips>,
    computes: Duration,
}

impl Client {
    /// Opens all connections: to the peer's addresses on the paths, and to its address on the path
    /// that nothing touches, where there is one.
    pub fn open(
        main: Endpoint,
        peers: &[SocketAddr],
        control: Option<(Endpoint, SocketAddr)>,
        load: Load,
    ) -> Result<Client, NetError> {
        let Load { bytes, connections, computes } = load;
        let main = Trips::open(main, peers, MAIN, bytes.max(super::LEAST_BYTES), connections)?;
        let control = control
            .map(|(endpoint, peer)| Trips::open(endpoint, &[peer], CONTROL, CONTROL_BYTES, 1));
        Ok(Client { main, control: control.transpose()?, computes })
    }

    /// Sends until the stop flag is set.
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
            state.update(self.main.service.endpoint().connections());
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
        Ok(self.end())
    }

    /// Closes all connections.
    fn end(self) -> Outcome {
        let Client { mut main, control, .. } = self;
        for lane in main.lanes.iter_mut().filter(|lane| lane.checked.received < lane.sent) {
            lane.trace.end_stalled(now());
        }
        for trips in std::iter::once(&main).chain(&control) {
            let mut endpoint = trips.service.endpoint();
            // Where it is broken there is nothing to close.
            trips.lanes.iter().for_each(|lane| _ = endpoint.close(lane.id));
        }
        let mut checked = Checked::default();
        main.lanes.iter().for_each(|lane| checked.add(&lane.checked));
        Outcome {
            sent: main.lanes.iter().map(|lane| lane.sent).sum(),
            traces: main.lanes.into_iter().map(|lane| lane.trace).collect(),
            control: control.into_iter().flat_map(|trips| trips.lanes).next().map(|l| l.trace),
            migrations: main.migrations,
            checked,
            broken: main.broken,
        }
    }
}

/// Keeps a processor busy.
pub(super) fn compute(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        std::hint::spin_loop();
    }
}
