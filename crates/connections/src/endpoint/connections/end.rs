//! One connection and what its endpoint knows of it.

use laneway_path::{Connection, Event, Manager, Nanos, PathId, Refusal};

use crate::driver::kind::PathKind;
use crate::driver::managed::{self, Ends};
use crate::driver::seal::Sealer;
use crate::driver::setup::Setup;
use crate::endpoint::handshakes::Offer;
use crate::endpoint::lines::Peer;
use crate::endpoint::shared::Share;
use crate::endpoint::streams::OfPath;

/// The two ends of a connection, as one of them sees them.
pub(in crate::endpoint) struct Agreed<'a> {
    pub own: &'a Offer,
    pub peer: &'a Offer,
    pub leads: bool,
    pub seals: Sealer,
    pub opens: Sealer,
}

pub(in crate::endpoint) struct End {
    pub connection: Connection,
    pub manager: Manager,
    /// Where the peer is, on each path: fixed when the endpoint has joined it.
    pub peers: Vec<Peer>,
    pub seals: Sealer,
    pub opens: Sealer,
    /// Whether it was opened from here.
    pub leads: bool,
    /// Where data goes by streams, that of each path.
    pub streams: Vec<OfPath>,
    /// Paths that it has left, whose streams are to be reset.
    pub left: Vec<PathId>,
    /// What it said of itself when it was opened.
    pub start: u32,
    pub packet_bytes: u32,
    pub first_path: PathId,
    /// Whether it is in the list of those that have something to do.
    pub is_dirty: bool,
    /// Whether it waits for something to arrive at its peer.
    pub waits: bool,
    /// The buffers that are lent to it, if any are.
    pub share: Option<Share>,
    /// When it is looked at next, whatever happens.
    pub looked_at: Nanos,
}

impl End {
    /// Ready to send and to receive.
    pub fn new(now: Nanos, setup: &Setup, agreed: Agreed<'_>) -> Result<End, Refusal> {
        let Agreed { own, peer, leads, seals, opens } = agreed;
        let paths = own.addresses.len().min(peer.addresses.len()) as u8;
        let ends = Ends {
            number: own.number,
            peer: peer.number,
            start: own.start,
            peer_start: peer.start,
            packet_bytes: own.packet_bytes.min(peer.packet_bytes) as usize,
            paths,
            leads,
            kind: own.kind,
        };
        let first_path = PathId(own.primary);
        let setup = setup.beginning_with(first_path);
        let (connection, manager) = managed::establish(now, &setup, &ends)?;
        let streams = if own.kind == PathKind::Stream { usize::from(paths) } else { 0 };
        Ok(End {
            connection,
            manager,
            peers: Vec::new(),
            seals,
            opens,
            leads,
            streams: vec![OfPath::none(); streams],
            left: Vec::new(),
            start: own.start,
            packet_bytes: own.packet_bytes,
            first_path,
            is_dirty: false,
            waits: false,
            share: None,
            looked_at: Nanos::MAX,
        })
    }

    pub fn next_timeout(&self) -> Option<Nanos> {
        managed::next_timeout(&self.connection, &self.manager)
    }

    /// Time has passed.
    pub fn on_timeout(&mut self, now: Nanos) {
        managed::on_timeout(now, &mut self.connection, &mut self.manager);
    }

    /// The next event, after the manager has acted on it.
    pub fn poll_event(&mut self, now: Nanos) -> Option<Event> {
        managed::poll_event(now, &mut self.connection, &mut self.manager)
    }
}
