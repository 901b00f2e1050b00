//! Handshakes of an endpoint: connections that it is opening, and proof demanded of peers.
//!
//! It holds the secret. It keeps no state for a peer that has not proved that it knows the secret
//! and is at its address now. It makes no connection: it reports what was agreed.

mod opening;
mod packet;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use laneway_path::Nanos;

use super::lines::Lines;
use crate::driver::seal::{Sealer, Security, sealers};
use crate::driver::secret::{Drawn, Prover, Secret, random};
use crate::error::NetError;
pub(super) use opening::Opening;
use packet::{Kind, challenge, read, write};
pub(super) use packet::{Offer, Packet, is_handshake};

/// Challenges are good for this long, and half as long again.
const SLOT: Nanos = 10_000_000_000;

pub(super) struct Handshakes {
    secret: Secret,
    security: Security,
    /// Makes the challenges of this endpoint.
    own: Prover,
    accepts: bool,
    opening: Vec<Opening>,
    /// Connections that others have opened, by what they drew.
    accepted: BTreeMap<Drawn, Accepted>,
}

/// A connection that a peer has opened.
#[derive(Clone, Copy)]
pub(super) struct Accepted {
    pub number: u32,
    /// What its keys were made with, whatever the peer has answered since.
    accepter: Drawn,
    since: Nanos,
}

/// What a packet of a handshake leads to.
pub(super) enum Step {
    /// It is not right, or out of turn.
    Refused,
    /// Nothing more is to be done.
    Answered,
    /// A challenge was taken: the answer is due.
    Challenged,
    /// The peer has proved itself and opens a connection, perhaps not for the first time.
    Open(Packet),
    /// The peer has accepted what was opened from here.
    Accepted(Opening, Packet),
}

impl Handshakes {
    pub fn new(secret: Secret, security: Security, accepts: bool) -> Result<Handshakes, NetError> {
        let own = secret.prover().derive(&random::<32>()?);
        let (opening, accepted) = (Vec::new(), BTreeMap::new());
        Ok(Handshakes { secret, security, own, accepts, opening, accepted })
    }

    /// Takes a packet of a handshake.
    pub fn on_packet(
        &mut self,
        now: Nanos,
        path: usize,
        from: SocketAddr,
        packet: &[u8],
        lines: &mut Lines,
    ) -> Step {
        let packet = read(packet, &self.secret.prover());
        let Some(packet) = packet.filter(|packet| packet.security == self.security) else {
            return Step::Refused;
        };
        // From elsewhere than its own packets will come, it is a replay: an answer could be carried
        // to the opener, who would prove the address of another.
        let own = packet.offer.addresses.get(path).map_or(&[][..], std::slice::from_ref);
        let calls =
            self.accepts && is_at(own, &[from]) && is_at(&lines.addresses(), &packet.called);
        match packet.kind {
            Kind::Hello if calls => {
                let accepter = challenge(&self.own, &packet.opener, from, now / SLOT);
                let offer = Offer { addresses: Vec::new(), ..packet.offer };
                let kind = Kind::Challenge;
                let called = Vec::new();
                let answer = Packet { kind, accepter, offer, called, ..packet };
                self.send(lines, path, from, &answer);
                Step::Answered
            }
            Kind::Open if calls && self.is_proof(now, from, &packet) => Step::Open(packet),
            Kind::Hello | Kind::Open => Step::Refused,
            Kind::Challenge => {
                let mut all = self.opening.iter_mut();
                match all.find(|opening| opening.opener() == packet.opener) {
                    None => Step::Refused,
                    Some(opening) => {
                        opening.on_challenge(now, path, packet.accepter);
                        Step::Challenged
                    }
                }
            }
            Kind::Accepted => {
                match self.opening.iter().position(|opening| opening.is_accepted_by(&packet)) {
                    None => Step::Refused,
                    Some(at) => Step::Accepted(self.opening.swap_remove(at), packet),
                }
            }
        }
    }

    /// The peer has answered a recent challenge, which went to this address.
    fn is_proof(&self, now: Nanos, from: SocketAddr, open: &Packet) -> bool {
        let slots = [now / SLOT, (now / SLOT).saturating_sub(1)];
        let right = |slot: u64| challenge(&self.own, &open.opener, from, slot) == open.accepter;
        slots.into_iter().any(right)
    }

    fn send(&self, lines: &mut Lines, path: usize, to: SocketAddr, packet: &Packet) {
        lines.send_to(path, to, &write(packet, &self.secret.prover()));
    }

    /// What the ends of a connection seal with: the opener's key first.
    pub fn sealers(&self, packet: &Packet) -> [Sealer; 2] {
        sealers(self.security, &self.secret.prover(), &packet.opener, &packet.accepter)
    }
}

/// Whether an end with these addresses, one for each path, is the one that is called by those.
fn is_at(own: &[SocketAddr], called: &[SocketAddr]) -> bool {
    let is = |(own, called): (&SocketAddr, &SocketAddr)| {
        let anywhere = own.ip().is_unspecified() && own.port() == called.port();
        own == called || anywhere
    };
    !own.is_empty() && !called.is_empty() && own.iter().zip(called).all(is)
}

/// Connections that are being opened from here.
impl Handshakes {
    /// Begins to open a connection; [`Handshakes::go_on`] sends what is due.
    pub fn open(&mut self, opening: Opening) {
        self.opening.push(opening);
    }

    pub fn is_opening(&self) -> bool {
        !self.opening.is_empty()
    }

    /// Connections that are being opened.
    pub fn opening(&self) -> impl Iterator<Item = &Opening> {
        self.opening.iter()
    }

    /// When something is sent again.
    pub fn next_at(&self) -> Option<Nanos> {
        self.opening.iter().map(Opening::again_at).min()
    }

    /// Sends what has had no answer again: the numbers of what took too long, and is given up.
    pub fn go_on(&mut self, now: Nanos, lines: &mut Lines) -> Vec<u32> {
        let (job, security) = (self.secret.prover(), self.security);
        let mut gone = Vec::new();
        self.opening.retain_mut(|opening| {
            let ends = opening.is_over(now);
            if ends {
                gone.push(opening.offer.number);
            } else if let Some((path, packet)) = opening.again(now, security) {
                lines.send_to(path, opening.peers[path], &write(&packet, &job));
            }
            !ends
        });
        gone
    }
}

/// Connections that peers have opened.
impl Handshakes {
    /// Forgets those that were accepted long ago and have ended.
    pub fn forget(&mut self, now: Nanos, is_here: impl Fn(u32) -> bool) {
        self.accepted.retain(|_, Accepted { number, since, .. }| {
            now < *since + 3 * SLOT || is_here(*number)
        });
    }

    /// The connection that a peer has opened before by the same handshake.
    pub fn accepted(&self, open: &Packet) -> Option<Accepted> {
        self.accepted.get(&open.opener).copied()
    }

    /// A peer has opened this connection.
    pub fn accept(&mut self, now: Nanos, number: u32, open: &Packet) {
        let accepted = Accepted { number, accepter: open.accepter, since: now };
        self.accepted.insert(open.opener, accepted);
    }

    /// Sends what this end offers for a connection that was accepted.
    pub fn answer(
        &self,
        lines: &mut Lines,
        path: usize,
        to: SocketAddr,
        open: &Packet,
        accepted: Accepted,
        offer: Offer,
    ) {
        let (kind, accepter) = (Kind::Accepted, accepted.accepter);
        let (security, opener, called) = (self.security, open.opener, Vec::new());
        self.send(lines, path, to, &Packet { kind, security, opener, accepter, offer, called });
    }
}

/// What hostile packets could have it keep.
#[cfg(test)]
impl Handshakes {
    /// Connections that are being opened, the most numbers that were drawn for one of them, and
    /// connections that were accepted.
    pub fn kept(&self) -> [usize; 3] {
        let drawn = self.opening.iter().map(Opening::kept).max().unwrap_or(0);
        [self.opening.len(), drawn, self.accepted.len()]
    }
}
