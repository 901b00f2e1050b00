//! What the engine sees of a cluster: resources that messages share, and the way between two hosts.

use crate::congestion::Congestion;

/// The fairness with which flows share a full link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fairness {
    /// Equal shares.
    #[default]
    Equal,
    /// In inverse proportion to the latency of their ways, as connections of TCP tend to and as
    /// SimGrid's model CM02 has it; without latency, as with one of a second.
    ByLatency,
}

/// A host, numbered from 0. Rank r is on host r unless the platform places it elsewhere.
pub type HostId = u32;

/// A resource, numbered from 0.
pub type ResourceId = u32;

/// A resource with a rate: one direction of a network card, a link, an uplink.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// The name; [`directions`](crate::directions) reads its link from it.
    pub name: String,
    /// The rate in bytes a second.
    pub rate: f64,
    /// Whether messages share the rate; otherwise each may have it whole (a fat pipe).
    pub shared: bool,
    /// The rate under contention of many messages.
    pub congestion: Congestion,
}

/// The route of one message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Route {
    /// The resources on the route, in order, each once.
    pub resources: Vec<ResourceId>,
    /// The latency in seconds.
    pub latency: f64,
    /// The largest rate of one connection in bytes a second; infinite without a limit.
    pub most: f64,
}

/// The processor time of a host for a message, in seconds; a host does one thing at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostCost {
    /// The time for each sent message.
    pub per_send: f64,
    /// The time for each received message.
    pub per_recv: f64,
    /// The time for each sent byte.
    pub per_byte_sent: f64,
    /// The time for each received byte.
    pub per_byte_received: f64,
}

/// A change of a resource's rate at an instant: it slows, dies (0) or returns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The instant in seconds of virtual time.
    pub at: f64,
    /// The resource.
    pub resource: ResourceId,
    /// The new rate in bytes a second; 0 while it is dead.
    pub rate: f64,
}

/// Background traffic between two hosts, which shares the network with the ranks' messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Background {
    /// The sending host.
    pub from: HostId,
    /// The receiving host, another one.
    pub to: HostId,
    /// The amount and times of its messages.
    pub traffic: Traffic,
    /// Its start in seconds.
    pub start: f64,
    /// Its end in seconds, or infinity. A message in progress then still arrives.
    pub until: f64,
}

/// The kind of background traffic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Traffic {
    /// Never more than this number of bytes a second, and always that much where there is room.
    Steady {
        /// Bytes a second.
        rate: f64,
    },
    /// Messages one after the other, `every` seconds from start to start; with a seed on average,
    /// at random (the gaps are exponential), else exactly.
    Messages {
        /// Bytes of each message.
        bytes: u64,
        /// Seconds from start to start.
        every: f64,
        /// What the gaps are drawn from; `None` if they are all alike.
        seed: Option<u64>,
    },
}

/// A host's clock reads `offset + (1 + drift) * t` after t seconds of virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostClock {
    /// The offset at the start, in seconds.
    pub offset: f64,
    /// The drift in seconds per second; negative if the clock is slow.
    pub drift: f64,
}

/// Loss by overflow, as TCP has it where too much arrives at once. A connection's message that
/// would bring the eager bytes under way to one host above the buffer is lost, and goes once more
/// after a timeout. What follows on the connection waits behind it, and is not lost until the
/// connection has been idle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overflow {
    /// The buffer of a host, or of its switch port, in bytes.
    pub buffer: u64,
    /// The retransmission time in seconds.
    pub retransmit: f64,
    /// In this part of the bursts to a host something is lost where the buffer is full; in the
    /// others there is room by luck. A burst lasts until the host holds nothing.
    pub part: f64,
    /// The seed that selects the bursts.
    pub seed: u64,
}

/// A cluster for the engine. Routes are asked for once for each message, so a formula is as good as
/// a table.
pub trait Network: Sync {
    /// The name, for people.
    fn name(&self) -> String {
        "a simulated cluster".to_string()
    }

    /// The number of hosts.
    fn hosts(&self) -> u32;

    /// The name of a host, for people.
    fn host_name(&self, host: HostId) -> String {
        format!("host{host}")
    }

    /// All resources that messages share; a [`ResourceId`] is an index of it.
    fn resources(&self) -> &[Resource];

    /// Fills in the route from one host to another; the hosts differ.
    fn route(&self, from: HostId, to: HostId, route: &mut Route);

    /// The processor time of a host for its messages; 0 by default.
    fn cost(&self, _host: HostId) -> HostCost {
        HostCost::default()
    }

    /// What the processor of a host adds to a message of so many bytes, where costs are not linear
    /// in the size; [`Network::cost`] by default.
    fn cost_of(&self, _host: HostId, _bytes: u64) -> Option<HostCost> {
        None
    }

    /// The eager limit in bytes: longer messages wait for their receive.
    fn eager_bytes(&self) -> u64;

    /// The header of a message in bytes.
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

    /// The fairness of full links.
    fn fairness(&self) -> Fairness {
        Fairness::Equal
    }

    /// The loss by overflow; only where messages go in order.
    fn overflow(&self) -> Option<Overflow> {
        None
    }

    /// The changes of rates, the earliest first.
    fn changes(&self) -> &[Change] {
        &[]
    }

    /// The background traffic; none by default.
    fn background(&self) -> &[Background] {
        &[]
    }

    /// The clock of a host; virtual time by default.
    fn clock(&self, _host: HostId) -> HostClock {
        HostClock::default()
    }
}
