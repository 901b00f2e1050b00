//! A cluster in motion: messages meet their receives, leave, travel, and take their hosts' time.
//!
//! A message costs its sender's processor `per_send` and `per_byte_sent`, then travels (latency,
//! then the engine's sharing), then costs its receiver's processor `per_recv` and
//! `per_byte_received`. A processor does one thing after another. Up to the network's eager size a
//! message leaves at once, and its send is over when the sender's cost is paid; a longer one leaves
//! when its receive has begun as well, and its send is over when the last byte has arrived. Between
//! ranks of one host a message takes no time.
//!
//! The driver of the ranks (`schedule.rs`, `program/`) gives it sends and receives, lets it
//! [`Cluster::step`] from instant to instant, and reads in `over` which of them have ended, and in
//! `sights` who can see a new message.

mod background;
mod connection;
mod matching;
mod rest;
mod travel;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use laneway_core::{Progress, Rank, Slot};

use crate::carrier::{Carrier, MessageId};
use crate::error::SimError;
use crate::instant::{after, instant};
use crate::network::{Change, HostCost, HostId, Network, ResourceId, Route, Traffic};
use background::Source;
use connection::Connections;
use matching::Matching;
pub(crate) use matching::{Envelope, Label, Message, Pattern};
pub(crate) use rest::Rest;

/// Events in the order of their making are numbered after all ranks.
const FIRST_SEQUENCE: u64 = 1 << 32;

/// The receiver of background traffic, which is not a rank.
const BACKGROUND: Rank = Rank::MAX;

/// A completed message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// The sender.
    pub from: Rank,
    /// The receiver, which is the sender where a rank sends to itself.
    pub to: Rank,
    /// Its length, without the header bytes of the network.
    pub bytes: u64,
    /// When the send was started, in seconds.
    pub start: f64,
    /// When the receive was complete.
    pub end: f64,
}

/// Observes events as they happen: for timelines.
pub trait Observer {
    /// Reports that a rank has received a message, whether or not it crossed the network.
    fn delivered(&mut self, delivery: &Delivery);

    /// From `at` on a resource carries `rate` bytes a second. Only where [`Observer::loads`].
    fn loaded(&mut self, _at: f64, _resource: ResourceId, _rate: f64) {}

    /// Whether the use of every resource is to be reported, which takes its time.
    fn loads(&self) -> bool {
        false
    }
}

impl Observer for Vec<Delivery> {
    fn delivered(&mut self, delivery: &Delivery) {
        self.push(*delivery);
    }
}

/// What happens at an instant, besides what the engine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The sender's part of a send is done.
    Send(MessageId),
    /// The local work before a receive is done.
    Post(MessageId),
    /// The receiver's part of a receive is done.
    Recv(MessageId),
    /// A rank has slept enough.
    Wake(Rank, Slot),
    /// A source of other traffic begins, sends or ends.
    Background(u32),
}

/// The end of a send, a receive or a sleep, of which its rank is to be informed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Over {
    pub rank: Rank,
    pub slot: Slot,
    /// What was received; it is kept until the reader of this removes it.
    pub received: Option<MessageId>,
    /// What was sent, where the send lasts until the last byte has arrived: the sender's bytes may
    /// change from now on.
    pub sent: Option<MessageId>,
}

impl Over {
    fn ended(rank: Rank, slot: Slot) -> Over {
        Over { rank, slot, received: None, sent: None }
    }
}

/// What stands and why: dead resources, and the senders and receivers of messages.
pub(crate) struct Cut {
    pub dead: Vec<String>,
    pub pairs: Vec<(Rank, Rank)>,
}

/// What a run has carried.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carried {
    pub bytes: u64,
    pub flows: u64,
}

pub(crate) struct Cluster<'a, C> {
    network: &'a dyn Network,
    pub carrier: C,
    observer: Option<&'a mut (dyn Observer + Send)>,
    /// The load of each resource as last reported.
    loads: Vec<f64>,
    pub now: f64,
    pub hosts: Vec<HostId>,
    costs: Vec<HostCost>,
    eager_bytes: u64,
    header_bytes: u64,
    /// Until when each host's processor is busy.
    busy: Vec<f64>,
    pub matching: Matching,
    connections: Option<Connections>,
    /// By time, then in the order of their making; but ranks that wake at one instant go on in
    /// the order of their numbers, not of falling asleep. Times are not negative, so that they
    /// order as their bits do.
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    sequence: u64,
    /// Events that are not background.
    pending: usize,
    /// Messages of ranks that left and have not arrived.
    under_way: usize,
    changes: &'a [Change],
    sources: Vec<Source>,
    /// Sends, receives and sleeps that have ended.
    pub over: Vec<Over>,
    /// Whom a message has come into sight of that no receive has taken.
    pub sights: Vec<Rank>,
    pub carried: Carried,
    /// What is left to carry, where the run is to end early if that takes too long.
    pub rest: Option<Rest>,
    route: Route,
    arrived: Vec<MessageId>,
    met: Vec<MessageId>,
}

impl<'a, C: Carrier> Cluster<'a, C> {
    /// A cluster at rest; rank r is on host `hosts[r]`.
    pub fn new(
        network: &'a dyn Network,
        hosts: Vec<HostId>,
        carrier: C,
        observer: Option<&'a mut (dyn Observer + Send)>,
    ) -> Result<Cluster<'a, C>, SimError> {
        let costs = validated(network, &hosts)?;
        let connections = || Connections::new(network.hosts(), network.overflow());
        let loads = observer.as_ref().filter(|observer| observer.loads());
        let mut cluster = Cluster {
            network,
            carrier,
            loads: vec![0.0; loads.map_or(0, |_| network.resources().len())],
            observer,
            now: 0.0,
            eager_bytes: network.eager_bytes(),
            header_bytes: network.header_bytes(),
            busy: vec![0.0; costs.len()],
            matching: Matching::new(hosts.len() as u32),
            hosts,
            costs,
            connections: network.in_order().then(connections),
            events: BinaryHeap::new(),
            sequence: 0,
            pending: 0,
            under_way: 0,
            changes: network.changes(),
            sources: network.background().iter().copied().map(Source::new).collect(),
            over: Vec::new(),
            sights: Vec::new(),
            carried: Carried::default(),
            rest: None,
            route: Route::default(),
            arrived: Vec::new(),
            met: Vec::new(),
        };
        for number in 0..cluster.sources.len() {
            if let Some(first) = cluster.sources[number].first() {
                cluster.later(first, Event::Background(number as u32));
            }
        }
        Ok(cluster)
    }

    /// Goes on to the next instant at which something happens; false where nothing that concerns a
    /// rank can happen any more.
    pub fn step(&mut self) -> Result<bool, SimError> {
        let moved = self.carrier.next(self.now);
        self.tell_loads();
        if self.pending == 0 && (self.under_way == 0 || self.all_stand()) {
            return Ok(false);
        }
        let event = self.events.peek().map(|Reverse((bits, ..))| f64::from_bits(*bits));
        let change = self.changes.first().map(|change| change.at);
        let times = event.into_iter().chain(moved).chain(change);
        let Some(now) = times.min_by(f64::total_cmp) else { return Ok(false) };
        self.now = self.now.max(now);
        while let Some(change) = self.changes.first().filter(|change| change.at <= self.now) {
            self.carrier.set_rate(self.now, change.resource, change.rate);
            self.changes = &self.changes[1..];
        }
        if moved.is_some_and(|time| time <= self.now) {
            let mut arrived = std::mem::take(&mut self.arrived);
            self.carrier.arrived(self.now, &mut arrived);
            for id in arrived.drain(..) {
                self.land(id)?;
            }
            self.arrived = arrived;
        }
        self.happen()?;
        Ok(true)
    }

    /// Gives a host's processor something to do, from `from` on; when it is done.
    pub fn work(&mut self, host: HostId, from: f64, seconds: f64) -> f64 {
        let busy = &mut self.busy[host as usize];
        *busy = after(busy.max(from), seconds);
        *busy
    }

    /// Ends a rank's slot at an instant.
    pub fn wake(&mut self, at: f64, rank: Rank, slot: Slot) {
        self.later(at.max(self.now), Event::Wake(rank, slot));
    }

    /// A rank sends, from `from` on.
    pub fn send(
        &mut self,
        from: f64,
        envelope: Envelope,
        bytes: u64,
        slot: Slot,
    ) -> Result<(MessageId, Progress), SimError> {
        let id = self.matching.send(envelope, bytes, slot);
        self.matching.messages[id as usize].start = from;
        let host = self.hosts[envelope.from as usize];
        let HostCost { per_send, per_byte_sent, .. } = self.cost_of(host, bytes);
        let end = match self.is_within_a_host(id) {
            true => from,
            false => self.work(host, from, per_send + bytes as f64 * per_byte_sent),
        };
        if end > self.now {
            self.later(end, Event::Send(id));
            return Ok((id, Progress::Pending));
        }
        self.ready(id)?;
        let eager = bytes <= self.eager_bytes;
        Ok((id, if eager { Progress::Done } else { Progress::Pending }))
    }

    /// What a host adds to a message of so many bytes.
    fn cost_of(&self, host: HostId, bytes: u64) -> HostCost {
        self.network.cost_of(host, bytes).unwrap_or(self.costs[host as usize])
    }

    /// A rank receives, from `from` on.
    pub fn recv(
        &mut self,
        from: f64,
        to: Rank,
        pattern: Pattern,
        room: u64,
        slot: Slot,
    ) -> Result<MessageId, SimError> {
        let id = self.matching.recv(to, pattern, room, slot);
        if from > self.now {
            self.later(from, Event::Post(id));
        } else {
            self.post(id)?;
        }
        Ok(id)
    }

    fn later(&mut self, time: f64, event: Event) {
        let time = instant(time).max(self.now);
        self.sequence += 1;
        self.pending += usize::from(!matches!(event, Event::Background(_)));
        let order = match event {
            Event::Wake(rank, _) => u64::from(rank),
            _ => FIRST_SEQUENCE + self.sequence,
        };
        self.events.push(Reverse((time.to_bits(), order, event)));
    }

    /// Takes every event of this instant.
    fn happen(&mut self) -> Result<(), SimError> {
        while let Some(&Reverse((bits, _, event))) = self.events.peek() {
            if f64::from_bits(bits) > self.now {
                break;
            }
            self.events.pop();
            self.pending -= usize::from(!matches!(event, Event::Background(_)));
            match event {
                Event::Send(id) => {
                    self.end_eager_send(id);
                    self.ready(id)?;
                }
                Event::Post(id) => self.post(id)?,
                Event::Recv(id) => self.complete(id),
                Event::Wake(rank, slot) => self.over.push(Over::ended(rank, slot)),
                Event::Background(number) => self.disturb(number)?,
            }
        }
        Ok(())
    }

    /// A source of other traffic does what it does next.
    fn disturb(&mut self, number: u32) -> Result<(), SimError> {
        let source = &mut self.sources[number as usize];
        let background = source.background;
        if let Some(flow) = source.flow.take() {
            self.carrier.stop(self.now, flow);
            self.matching.remove(flow);
            return Ok(());
        }
        let next = source.next(self.now);
        // A steady flow has no end of its own.
        let (bytes, most) = match background.traffic {
            Traffic::Steady { rate } => (u64::MAX, rate),
            Traffic::Messages { bytes, .. } => (bytes, f64::INFINITY),
        };
        let envelope = Envelope { from: BACKGROUND, to: BACKGROUND, label: 0 };
        let id = self.matching.insert(envelope, bytes);
        self.find_route(background.from, background.to)?;
        self.route.most = self.route.most.min(most);
        self.carrier.start(self.now, self.now, id, bytes, &self.route);
        if let Traffic::Steady { .. } = background.traffic {
            self.sources[number as usize].flow = Some(id);
        }
        if let Some(next) = next {
            self.later(next, Event::Background(number));
        }
        Ok(())
    }

    /// Whether nothing that the ranks have on the network can ever move again.
    fn all_stand(&self) -> bool {
        let settled = self.changes.is_empty() && !self.network.changes().is_empty();
        settled && self.moving().all(|(id, _)| self.carrier.stands(id))
    }

    /// The ranks' messages that are on the network.
    fn moving(&self) -> impl Iterator<Item = (MessageId, &Message)> {
        let messages = self.matching.messages.iter().enumerate();
        let messages = messages.map(|(id, message)| (id as MessageId, message));
        messages.filter(|(_, message)| message.moving && message.envelope.to != BACKGROUND)
    }

    /// Why messages stand, if some do: the dead resources on their ways, and whose they are.
    pub fn cut(&mut self) -> Option<Cut> {
        let ends = |message: &Message| (message.envelope.from, message.envelope.to);
        let standing = self.moving().filter(|(id, _)| self.carrier.stands(*id));
        let mut pairs: Vec<(Rank, Rank)> = standing.map(|(_, message)| ends(message)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut dead = Vec::new();
        for &(from, to) in &pairs {
            self.find_route(self.hosts[from as usize], self.hosts[to as usize]).ok()?;
            dead.extend(self.route.resources.iter().filter(|r| self.is_dead(**r)));
        }
        dead.sort_unstable();
        dead.dedup();
        let name = |r: &ResourceId| self.network.resources()[*r as usize].name.clone();
        (!pairs.is_empty()).then(|| Cut { dead: dead.iter().map(name).collect(), pairs })
    }

    fn is_dead(&self, resource: ResourceId) -> bool {
        let past = self.network.changes().iter().take_while(|change| change.at <= self.now);
        past.filter(|change| change.resource == resource).last().is_some_and(|c| c.rate == 0.0)
    }

    fn tell_loads(&mut self) {
        let Some(observer) = self.observer.as_mut().filter(|observer| observer.loads()) else {
            return;
        };
        for (resource, reported) in self.loads.iter_mut().enumerate() {
            let load = self.carrier.load(resource as ResourceId);
            if load != *reported {
                *reported = load;
                observer.loaded(self.now, resource as ResourceId, load);
            }
        }
    }
}

/// Looks at everything that is said once, and gives the hosts' costs.
fn validated(network: &dyn Network, placed: &[HostId]) -> Result<Vec<HostCost>, SimError> {
    let refuse = |what: String| Err(SimError::Network { what });
    let (hosts, resources) = (network.hosts(), network.resources());
    if let Some(rank) = placed.iter().position(|&host| host >= hosts) {
        return Err(SimError::Host { rank: rank as Rank, host: placed[rank], hosts });
    }
    if let Some(r) = resources.iter().find(|r| r.rate.is_nan() || r.rate <= 0.0) {
        return refuse(format!("`{}` carries {} bytes a second", r.name, r.rate));
    }
    let can_be = |seconds: f64| seconds.is_finite() && seconds >= 0.0;
    let changes = network.changes();
    let possible =
        |c: &Change| can_be(c.at) && can_be(c.rate) && (c.resource as usize) < resources.len();
    if let Some(change) = changes.iter().find(|change| !possible(change)) {
        return refuse(format!("{change:?}"));
    }
    if !changes.is_sorted_by(|a, b| a.at <= b.at) {
        return refuse("its events are not in chronological order".to_string());
    }
    for other in network.background() {
        let rate = match other.traffic {
            Traffic::Steady { rate } => rate,
            Traffic::Messages { every, .. } => every,
        };
        let apart = other.from != other.to && other.from < hosts && other.to < hosts;
        if !apart || !can_be(other.start) || !can_be(rate) || rate == 0.0 {
            return refuse(format!("{other:?}"));
        }
    }
    let cost = |host: HostId| {
        let cost = network.cost(host);
        let HostCost { per_send, per_recv, per_byte_sent, per_byte_received } = cost;
        match [per_send, per_recv, per_byte_sent, per_byte_received].into_iter().all(can_be) {
            true => Ok(cost),
            false => Err(SimError::Network { what: format!("host {host} costs {cost:?}") }),
        }
    };
    (0..hosts).map(cost).collect()
}
