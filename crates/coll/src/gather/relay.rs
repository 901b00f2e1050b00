//! Gather by relays: helpers of the root's site take what crosses and pass it on piece by piece.

use laneway_core::{Blocks, Buf, Chan, Collective, Placement, Rank, span};

use crate::registry::{Algorithm, Counts, Parameter};
use crate::script::{Lane, Script, Scripted};
use crate::sites::{Stretch, Stretches};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Gather,
    name: "relay",
    sentence: "`lanes` helpers take what crosses in pieces of `segment` and pass it on, the root \
               takes `own` hundredths of it",
    source: "laneway; helpers pay where hosts have a card of their own for other sites",
    parameters: &[
        (Parameter::Lanes, 0),
        (Parameter::Segment, 256 << 10),
        (Parameter::Window, 4),
        (Parameter::Near, 8),
        (Parameter::Own, 10),
    ],
    counts: Counts::All,
    build: |shape, params, placement| {
        let blocks = shape.blocks();
        let cut = Stretch {
            helpers: params.lanes(),
            own: params.get(Parameter::Own),
            segment: params.segment(),
        };
        let stretches = Stretches::new(placement, shape.root, &blocks, cut);
        let (placement, root) = (placement.clone(), shape.root);
        let (window, near) = (params.window(), params.near().max(1));
        Ok(Box::new(Scripted::new(Relay { placement, root, blocks, stretches, window, near })))
    },
    ..Algorithm::BASE
};

/// The channel of a rank's own block, beside what it passes on.
const OWN: Chan = 1;

struct Relay {
    placement: Placement,
    root: Rank,
    blocks: Blocks,
    stretches: Stretches,
    /// Receives that a helper has under way from other sites.
    window: u32,
    /// Transfers of each helper to the root that are under way, and of the rest of the site.
    near: u32,
}

impl Relay {
    /// A lane for each helper, one for the own blocks of the site, which are there at once, and one
    /// for what the root takes itself.
    fn root(&self) -> Vec<Lane> {
        let block =
            |rank: Rank, off: u64, len: u64| span(Buf::Out, self.blocks.off(rank) + off, len);
        let mut lanes = Vec::new();
        for &helper in &self.stretches.senders[1..] {
            let mut lane = Lane::default();
            for piece in self.stretches.of(helper) {
                let out = lane.round();
                out.recv_window(self.near);
                out.recv(helper, block(piece.rank, piece.off, piece.len));
            }
            lanes.push(lane);
        }
        let mut site = Lane::default();
        for &from in &self.placement.neighbours(self.root)[1..] {
            let out = site.round();
            out.recv_window(self.near);
            out.recv_on(from, OWN, self.blocks.block(Buf::Out, from));
        }
        let own = span(Buf::In, 0, self.blocks.len(self.root));
        site.round().copy(own, self.blocks.block(Buf::Out, self.root));
        let mut cross = Lane::default();
        for piece in self.stretches.of(self.root) {
            let out = cross.round();
            out.recv_window(self.window);
            out.recv(piece.rank, block(piece.rank, piece.off, piece.len));
        }
        lanes.extend([site, cross]);
        lanes
    }

    /// One lane takes pieces, another passes each on when it is there, a third sends the own block.
    fn near(&self, rank: Rank) -> Vec<Lane> {
        let (mut take, mut pass, mut own) = (Lane::default(), Lane::default(), Lane::default());
        let mut off = 0;
        for piece in self.stretches.of(rank) {
            let kept = span(Buf::Tmp, off, piece.len);
            let out = take.round();
            out.recv_window(self.window);
            out.recv(piece.rank, kept);
            let out = pass.round();
            out.after(0, take.last());
            out.send(self.root, kept);
            off += piece.len;
        }
        own.round().send_on(self.root, OWN, span(Buf::In, 0, self.blocks.len(rank)));
        vec![take, pass, own]
    }
}

impl Script for Relay {
    fn ranks(&self) -> u32 {
        self.placement.ranks()
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        let pieces = if rank == self.root { &[] } else { self.stretches.of(rank) };
        pieces.iter().map(|piece| piece.len).sum()
    }

    fn lanes(&self, rank: Rank) -> Vec<Lane> {
        let site = |rank: Rank| self.placement.location(rank).site;
        if rank == self.root {
            return self.root();
        }
        if site(rank) == site(self.root) {
            return self.near(rank);
        }
        let mut lane = Lane::default();
        let out = lane.round();
        for (helper, piece) in self.stretches.to(rank) {
            out.send(helper, span(Buf::In, piece.off, piece.len));
        }
        vec![lane]
    }
}
