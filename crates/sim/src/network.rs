//! What the engine sees of a cluster: resources that messages share, and the way between two hosts.

/// A host, counted from 0. Rank r of a run is on host r unless the platform places it elsewhere.
pub type HostId = u32;

/// A resource, counted from 0.
pub type ResourceId = u32;

/// Something that carries bytes at a rate: one direction of a network card, a link, an uplink.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    pub name: String,
    /// Bytes a second.
    pub rate: f64,
    /// Whether messages share the rate; otherwise each may have it whole (a fat pipe).
    pub shared: bool,
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
    pub per_send: f64,
    pub per_recv: f64,
    /// On each side, for each byte.
    pub per_byte: f64,
}

/// A cluster for the engine. Routes are asked for once for each message, so a formula is as good as
/// a table.
pub trait Network {
    fn hosts(&self) -> u32;

    fn resources(&self) -> &[Resource];

    /// Fills in the way from one host to another; the hosts differ.
    fn route(&self, from: HostId, to: HostId, route: &mut Route);

    fn cost(&self, _host: HostId) -> HostCost {
        HostCost::default()
    }

    /// Messages up to so many bytes leave without waiting for their receive.
    fn eager_bytes(&self) -> u64;
}
