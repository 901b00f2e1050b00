//! What the engine sees of a cluster: resources that messages share, and the way between two hosts.

use crate::congestion::Congestion;

/// How flows part a link that is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fairness {
    /// Everybody has the same.
    #[default]
    Equal,
    /// In inverse proportion to the latency of their ways, as connections of TCP tend to and as
    /// SimGrid's model CM02 has it; without latency, as with one of a second.
    ByLatency,
}

/// A host, counted from 0. Rank r of a run is on host r unless the platform places it elsewhere.
pub type HostId = u32;

/// A resource, counted from 0.
pub type ResourceId = u32;

/// Something that carries bytes at a rate: one direction of a network card, a link, an uplink.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// What it is called; [`directions`](crate::directions) reads its link from it.
    pub name: String,
    /// Bytes a second.
    pub rate: f64,
    /// Whether messages share the rate; otherwise each may have it whole (a fat pipe).
    pub shared: bool,
    /// What it loses when many messages share it.
    pub congestion: Congestion,
}

/// The way of one message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Route {
    /// What it passes, in order, each once.
    pub resources: Vec<ResourceId>,
    /// Seconds before the first byte moves.
    pub latency: f64,
    /// The most bytes a second that one connection may have; infinite without a limit.
    pub most: f64,
}

/// What a host's processor adds to a message, in seconds. A host does one thing after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostCost {
    /// For each message that it sends.
    pub per_send: f64,
    /// For each message that it receives.
    pub per_recv: f64,
    /// For each byte that it sends.
    pub per_byte_sent: f64,
    /// For each byte that it receives.
    pub per_byte_received: f64,
}

/// From an instant on, another rate: a resource slows, dies (0) or returns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Seconds of virtual time.
    pub at: f64,
    /// Whose rate changes.
    pub resource: ResourceId,
    /// Bytes a second; 0 while it is dead.
    pub rate: f64,
}

/// Traffic of others between two hosts, which shares the network with the ranks' messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Background {
    /// The host that sends.
    pub from: HostId,
    /// The host that receives, another one.
    pub to: HostId,
    /// How much it sends, and when.
    pub traffic: Traffic,
    /// When it begins, in seconds.
    pub start: f64,
    /// When it ends; infinite where it does not. A message that is under way then still arrives.
    pub until: f64,
}

/// What others send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Traffic {
    /// Never more than so many bytes a second, and always that much where there is room.
    Steady {
        /// Bytes a second.
        rate: f64,
    },
    /// Messages one after the other, so many seconds from start to start; with a seed on average,
    /// at random (the gaps are exponential), else exactly.
    Messages {
        /// Bytes of each message.
        bytes: u64,
        /// Seconds from start to start.
        every: f64,
        /// What the gaps are drawn from; none where they are all alike.
        seed: Option<u64>,
    },
}

/// A host's clock reads `offset + (1 + drift) * t` after t seconds of virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostClock {
    /// What it reads at the start, in seconds.
    pub offset: f64,
    /// Seconds that it gains in each second; below 0 where it loses.
    pub drift: f64,
}

/// What TCP does where too much arrives at once. A connection's message that would bring the eager
/// bytes under way to one host above the buffer is lost, and goes once more after a timeout. What
/// follows on the connection waits behind it, and is not lost until the connection has been idle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overflow {
    /// Bytes that a host, or its port of the switch, can hold.
    pub buffer: u64,
    /// Seconds until a lost message leaves once more.
    pub retransmit: f64,
    /// In this part of the bursts to a host something is lost where the buffer is full; in the
    /// others there is room by luck. A burst lasts until the host holds nothing.
    pub part: f64,
    /// Which bursts they are.
    pub seed: u64,
}

/// A cluster for the engine. Routes are asked for once for each message, so a formula is as good as
/// a table.
pub trait Network: Sync {
    /// What it is called, for people.
    fn name(&self) -> String {
        "a simulated cluster".to_string()
    }

    /// How many hosts there are.
    fn hosts(&self) -> u32;

    /// What a host is called, for people.
    fn host_name(&self, host: HostId) -> String {
        format!("host{host}")
    }

    /// Everything that messages share; a [`ResourceId`] is an index of it.
    fn resources(&self) -> &[Resource];

    /// Fills in the way from one host to another; the hosts differ.
    fn route(&self, from: HostId, to: HostId, route: &mut Route);

    /// What the processor of a host adds to its messages; nothing by default.
    fn cost(&self, _host: HostId) -> HostCost {
        HostCost::default()
    }

    /// What the processor of a host adds to a message of so many bytes, where that is no straight
    /// line; [`Network::cost`] by default.
    fn cost_of(&self, _host: HostId, _bytes: u64) -> Option<HostCost> {
        None
    }

    /// Messages up to so many bytes leave without waiting for their receive.
    fn eager_bytes(&self) -> u64;

    /// Bytes that travel with every message beyond its own.
    fn header_bytes(&self) -> u64 {
        0
    }

    /// Whether the messages from one host to another go one after the other, as over every real
    /// transport; otherwise they share the links beside each other, as in SimGrid.
    fn in_order(&self) -> bool {
        true
    }

    /// How many connections two hosts have, where messages go in order: those of a channel (or
    /// tag) go one after the other, those of different ones on different connections, in turn.
    fn connections(&self) -> u32 {
        1
    }

    /// How flows part a link that is full.
    fn fairness(&self) -> Fairness {
        Fairness::Equal
    }

    /// Whether too many bytes at once are lost; only where messages go in order.
    fn overflow(&self) -> Option<Overflow> {
        None
    }

    /// Events, the earliest first.
    fn changes(&self) -> &[Change] {
        &[]
    }

    /// Traffic of others; none by default.
    fn background(&self) -> &[Background] {
        &[]
    }

    /// What a host's clock reads; virtual time by default.
    fn clock(&self, _host: HostId) -> HostClock {
        HostClock::default()
    }
}
