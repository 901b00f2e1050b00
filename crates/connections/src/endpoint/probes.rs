//! Probes of idle connections: one connection probes a path to a host, and the others to the same
//! host take its word.

use std::collections::HashMap;
use std::net::SocketAddr;

use laneway_path::{Nanos, PathId};

use super::{Endpoint, LocalPath};

/// Entries beside those of the connections that are there, before old ones are forgotten.
const MOST_OLD: usize = 64;

type Way = (u8, SocketAddr);

pub(super) struct Probers {
    /// The connection that probes a path to a host.
    of: HashMap<Way, u32>,
    /// Paths that differ in nothing but their ports may take different ways through the network.
    by_port: bool,
}

impl Probers {
    pub fn new(paths: &[LocalPath]) -> Probers {
        let at = |path: &LocalPath| (path.address.ip(), path.device.clone());
        let by_port = paths.iter().enumerate().any(|(k, path)| {
            let same = |other: &LocalPath| at(other) == at(path);
            paths[..k].iter().any(same)
        });
        Probers { of: HashMap::new(), by_port }
    }

    fn way(&self, path: PathId, peer: SocketAddr) -> Way {
        let port = if self.by_port { peer.port() } else { 0 };
        (path.0, SocketAddr::new(peer.ip(), port))
    }
}

impl Endpoint {
    /// If nothing but the time asks for a probe of this connection's alternate path, it takes the
    /// word of the connection that probes for all to this host; or it is that one from now on.
    pub(super) fn share_probe(&mut self, now: Nanos, index: u32) {
        let Some(end) = self.connections.at(index) else { return };
        let Some(path) = end.connection.idle_probe(now) else { return };
        let Some(peer) = end.peers.get(usize::from(path.0)) else { return };
        let (number, way) = (end.connection.number(), self.probers.way(path, peer.address));
        let prober = self.probers.of.get(&way).copied().filter(|prober| *prober != number);
        let other = prober.and_then(|prober| self.connections.get(prober)).filter(|other| {
            // Its number may be another connection's now.
            let peer = other.peers.get(usize::from(path.0));
            peer.is_some_and(|peer| self.probers.way(path, peer.address) == way)
        });
        let evidence = other.and_then(|other| other.connection.evidence(path));
        let end = self.connections.at(index);
        let takes = |evidence| end.is_some_and(|end| end.connection.take_word(now, evidence));
        if !evidence.as_ref().is_some_and(takes) {
            self.probers.of.insert(way, number);
        }
    }

    /// A connection has ended: entries of those that are gone do not pile up.
    pub(super) fn forget_probers(&mut self) {
        let entries = self.probers.of.len();
        // Counting is left out where there is nothing to forget: thousands may end at once.
        if entries > MOST_OLD && entries > MOST_OLD + self.connections.iter().count() {
            self.probers.of.retain(|_, prober| self.connections.get(*prober).is_some());
        }
    }
}
