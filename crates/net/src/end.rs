//! One connection and what its endpoint knows of it.

use laneway_path::{
    AckTimeout, Config, Connection, Event, Manager, Modify, Nanos, NotReadyTimer, PathId, Policy,
    QpState, Refusal, Retries,
};

use crate::handshake::Offer;
use crate::secret::Sealer;
use crate::wire::Peer;

/// How a connection is set up.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub policy: Policy,
    pub ack_timeout: AckTimeout,
    pub retries: Retries,
    pub not_ready_timer: NotReadyTimer,
    pub not_ready_retries: Retries,
    /// The path that it begins with.
    pub primary: PathId,
    /// Whether an alternate path is loaded at once.
    pub arms: bool,
}

impl Setup {
    /// Keeps an alternate path armed; gives up half a minute after the last sign of the peer.
    pub fn usual() -> Setup {
        Setup {
            policy: Policy::keep_armed(false),
            ack_timeout: AckTimeout::new(20).unwrap_or(AckTimeout::NEVER),
            retries: Retries::MOST,
            not_ready_timer: NotReadyTimer::USUAL,
            not_ready_retries: Retries::MOST,
            primary: PathId(0),
            arms: true,
        }
    }
}

/// The two ends of a connection, as one of them sees them.
pub(crate) struct Agreed<'a> {
    pub own: &'a Offer,
    pub peer: &'a Offer,
    pub leads: bool,
    pub seals: Sealer,
    pub opens: Sealer,
}

pub(crate) struct End {
    pub connection: Connection,
    pub manager: Manager,
    /// Where the peer is, on each path: fixed when the endpoint has joined it.
    pub peers: Vec<Peer>,
    pub seals: Sealer,
    pub opens: Sealer,
    /// What it said of itself when it was opened.
    pub start: u32,
    pub packet_bytes: u32,
    /// Whether it is in the list of those that have something to do.
    pub is_dirty: bool,
    /// Whether it waits for something to arrive at its peer.
    pub waits: bool,
    /// When it is looked at next, whatever happens.
    pub looked_at: Nanos,
}

impl End {
    /// Ready to send and to receive.
    pub fn new(now: Nanos, setup: &Setup, agreed: &Agreed<'_>) -> Result<End, Refusal> {
        let Agreed { own, peer, .. } = agreed;
        let paths = own.addresses.len().min(peer.addresses.len()) as u8;
        let mut connection = Connection::new(Config { number: own.number, paths });
        let init = Modify { path: Some(setup.primary), ..Modify::to(QpState::Init) };
        connection.modify(now, init)?;
        let next = PathId((setup.primary.0 + 1) % paths);
        let alternate = (setup.arms && next != setup.primary).then_some(next);
        let rtr = Modify {
            peer: Some(peer.number),
            receive_number: Some(peer.start),
            packet_bytes: Some(own.packet_bytes.min(peer.packet_bytes) as usize),
            not_ready_timer: Some(setup.not_ready_timer),
            alternate,
            load: alternate.is_some(),
            ..Modify::to(QpState::Rtr)
        };
        connection.modify(now, rtr)?;
        let rts = Modify {
            send_number: Some(own.start),
            ack_timeout: Some(setup.ack_timeout),
            retries: Some(setup.retries),
            not_ready_retries: Some(setup.not_ready_retries),
            ..Modify::to(QpState::Rts)
        };
        connection.modify(now, rts)?;
        let policy = Policy { leads: agreed.leads, ..setup.policy };
        Ok(End {
            connection,
            manager: Manager::new(policy, paths),
            peers: Vec::new(),
            seals: agreed.seals,
            opens: agreed.opens,
            start: own.start,
            packet_bytes: own.packet_bytes,
            is_dirty: false,
            waits: false,
            looked_at: Nanos::MAX,
        })
    }

    pub fn next_timeout(&self) -> Option<Nanos> {
        let times = [self.connection.next_timeout(), self.manager.next_timeout()];
        times.into_iter().flatten().min()
    }

    /// Time has passed.
    pub fn on_timeout(&mut self, now: Nanos) {
        if self.connection.next_timeout().is_some_and(|at| at <= now) {
            self.connection.on_timeout(now);
        }
        if self.manager.next_timeout().is_some_and(|at| at <= now) {
            self.manager.on_timeout(now, &mut self.connection);
        }
    }

    /// The next event, after the manager has acted on it.
    pub fn poll_event(&mut self, now: Nanos) -> Option<Event> {
        let event = self.connection.poll_event()?;
        self.manager.on_event(now, &mut self.connection, &event);
        Some(event)
    }
}
