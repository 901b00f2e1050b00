//! Gather by relays: helpers of the root's site take what crosses and pass it on piece by piece.

use laneway_core::{Buf, Chan, Collective, Rank, span};

use crate::registry::{Algorithm, Counts};
use crate::script::{Lane, Script, Scripted};
use crate::sites;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Gather,
    name: "relay",
    sentence: "`lanes` helpers take what crosses in pieces of `segment` and pass it on, the root \
               takes `own` thousandths of it",
    source: "laneway; helpers pay where hosts have a card of their own for other sites",
    parameters: sites::Relay::PARAMETERS,
    counts: Counts::All,
    build: |shape, params, placement| {
        Ok(Box::new(Scripted::new(Relay(sites::Relay::new(shape, params, placement)))))
    },
    ..Algorithm::BASE
};

/// The channel of a rank's own block, beside what it passes on.
const OWN: Chan = 1;

struct Relay(sites::Relay);

impl Relay {
    /// A lane for each helper, one for the own blocks of the site, which are there at once, and one
    /// for what the root takes itself.
    fn root(&self) -> Vec<Lane> {
        let block =
            |rank: Rank, off: u64, len: u64| span(Buf::Out, self.0.blocks.off(rank) + off, len);
        let mut lanes = Vec::new();
        for &helper in &self.0.stretches.senders[1..] {
            let mut lane = Lane::default();
            for piece in self.0.stretches.of(helper) {
                let out = lane.round();
                out.recv_window(self.0.near);
                out.recv(helper, block(piece.rank, piece.off, piece.len));
            }
            lanes.push(lane);
        }
        let mut site = Lane::default();
        for &from in &self.0.placement.neighbours(self.0.root)[1..] {
            let out = site.round();
            out.recv_window(self.0.near);
            out.recv_on(from, OWN, self.0.blocks.block(Buf::Out, from));
        }
        let own = span(Buf::In, 0, self.0.blocks.len(self.0.root));
        site.round().copy(own, self.0.blocks.block(Buf::Out, self.0.root));
        let mut cross = Lane::default();
        for piece in self.0.stretches.of(self.0.root) {
            let out = cross.round();
            out.recv_window(self.0.window);
            out.recv_on(piece.rank, piece.chan, block(piece.rank, piece.off, piece.len));
        }
        lanes.extend([site, cross]);
        lanes
    }

    /// One lane takes pieces, another passes each on when it is there, a third sends the own block.
    fn near(&self, rank: Rank) -> Vec<Lane> {
        let (mut take, mut pass, mut own) = (Lane::default(), Lane::default(), Lane::default());
        let mut off = 0;
        for piece in self.0.stretches.of(rank) {
            let kept = span(Buf::Tmp, off, piece.len);
            let out = take.round();
            out.recv_window(self.0.window);
            out.recv_on(piece.rank, piece.chan, kept);
            let out = pass.round();
            out.after(0, take.last());
            out.send(self.0.root, kept);
            off += piece.len;
        }
        own.round().send_on(self.0.root, OWN, span(Buf::In, 0, self.0.blocks.len(rank)));
        vec![take, pass, own]
    }
}

impl Script for Relay {
    fn ranks(&self) -> u32 {
        self.0.ranks()
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        self.0.scratch(rank)
    }

    fn lanes(&self, rank: Rank) -> Vec<Lane> {
        if rank == self.0.root {
            return self.root();
        }
        if self.0.is_near(rank) {
            return self.near(rank);
        }
        let mut lane = Lane::default();
        let out = lane.round();
        for (helper, piece) in self.0.stretches.to(rank) {
            out.send_on(helper, piece.chan, span(Buf::In, piece.off, piece.len));
        }
        vec![lane]
    }
}
