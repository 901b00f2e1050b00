//! A connection that this endpoint has begun to open.

use std::net::SocketAddr;
use std::time::Duration;

use laneway_path::Nanos;

use super::is_at;
use super::packet::{Kind, Offer, Packet};
use crate::driver::seal::Security;
use crate::driver::secret::Drawn;

/// The first interval after which a packet is sent again; it grows.
const AGAIN: Nanos = 20_000_000;
const MOST_AGAIN: Nanos = 500_000_000;
/// How often a challenge is answered.
const ANSWERS: usize = 4;

pub(in crate::endpoint) struct Opening {
    opener: Drawn,
    /// What the peer has drawn, once it has answered, and the path that this is good for.
    challenge: Option<(Drawn, usize)>,
    /// All that it has drawn: it accepts by the first that reaches it, which may be any of them.
    drawn: Vec<Drawn>,
    pub offer: Offer,
    pub peers: Vec<SocketAddr>,
    again_at: Nanos,
    apart: Nanos,
    /// How often something was sent.
    tries: usize,
    ends_at: Nanos,
}

impl Opening {
    /// Offers this to the peer at these addresses, one for each path, within this limit.
    pub fn new(
        now: Nanos,
        opener: Drawn,
        offer: Offer,
        peers: &[SocketAddr],
        limit: Duration,
    ) -> Opening {
        Opening {
            opener,
            challenge: None,
            drawn: Vec::new(),
            offer,
            peers: peers.to_vec(),
            again_at: now,
            apart: AGAIN,
            tries: 0,
            ends_at: now + Nanos::try_from(limit.as_nanos()).unwrap_or(Nanos::MAX / 2),
        }
    }

    pub fn opener(&self) -> Drawn {
        self.opener
    }

    pub fn again_at(&self) -> Nanos {
        self.again_at
    }

    /// Whether it took too long.
    pub fn is_over(&self, now: Nanos) -> bool {
        now >= self.ends_at
    }

    /// The peer has drawn this. A later challenge counts: the earlier may be out of date.
    pub fn on_challenge(&mut self, now: Nanos, path: usize, drawn: Drawn) {
        self.challenge = Some((drawn, path));
        if !self.drawn.contains(&drawn) {
            self.drawn.push(drawn);
        }
        (self.again_at, self.tries) = (now, 0);
    }

    /// Whether a packet accepts this, from an end that is where it was called.
    pub fn is_accepted_by(&self, packet: &Packet) -> bool {
        let is_answer = self.opener == packet.opener && self.drawn.contains(&packet.accepter);
        is_answer && is_at(&packet.offer.addresses, &self.peers)
    }

    /// What is due now, and its path.
    pub fn again(&mut self, now: Nanos, security: Security) -> Option<(usize, Packet)> {
        if now < self.again_at {
            return None;
        }
        let path = self.next_path();
        self.again_at = (now + self.apart).min(self.ends_at);
        self.apart = (self.apart * 3 / 2).min(MOST_AGAIN);
        Some((path, self.packet(security)))
    }

    /// The path that is tried now. A challenge is answered over its own path, a few times; then
    /// another path is greeted.
    fn next_path(&mut self) -> usize {
        self.tries += 1;
        self.challenge = self.challenge.filter(|_| self.tries <= ANSWERS);
        self.challenge.map_or(self.tries % self.peers.len(), |(_, path)| path)
    }

    fn packet(&self, security: Security) -> Packet {
        let kind = if self.challenge.is_some() { Kind::Open } else { Kind::Hello };
        let accepter = self.challenge.map_or([0; 16], |(drawn, _)| drawn);
        let (offer, called) = (self.offer.clone(), self.peers.clone());
        Packet { kind, security, opener: self.opener, accepter, offer, called }
    }
}

#[cfg(test)]
impl Opening {
    /// How many numbers of the peer it keeps.
    pub fn kept(&self) -> usize {
        self.drawn.len()
    }
}
