//! Scatter by relays: helpers of the root's site send what crosses, piece by piece as it comes.

use laneway_core::{Blocks, Buf, Collective, Placement, Rank, span};

use crate::registry::{Algorithm, Counts, Parameter};
use crate::script::{Lane, Script, Scripted};
use crate::sites::{Stretch, Stretches};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Scatter,
    name: "relay",
    sentence: "`lanes` helpers send across what the root hands them in pieces of `segment`, the \
               root `own` hundredths of it",
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

struct Relay {
    placement: Placement,
    root: Rank,
    blocks: Blocks,
    stretches: Stretches,
    /// Sends that a sender has under way to other sites.
    window: u32,
    /// Sends that the root has under way within its site.
    near: u32,
}

impl Relay {
    fn is_near(&self, rank: Rank) -> bool {
        self.placement.location(rank).site == self.placement.location(self.root).site
    }

    /// One lane feeds the helpers and then serves the site, the other crosses.
    fn root(&self) -> Vec<Lane> {
        let (mut feed, mut cross) = (Lane::default(), Lane::default());
        let block =
            |rank: Rank, off: u64, len: u64| span(Buf::In, self.blocks.off(rank) + off, len);
        for (helper, number) in self.stretches.given() {
            let piece = self.stretches.of(helper)[number];
            let out = feed.round();
            out.send_window(self.near);
            out.send(helper, block(piece.rank, piece.off, piece.len));
        }
        // Helpers need their own blocks last: they have work already.
        let (helpers, others) =
            (&self.stretches.senders[1..], self.placement.neighbours(self.root));
        let others = others[1..].iter().filter(|rank| !helpers.contains(rank));
        for &to in others.chain(helpers) {
            let out = feed.round();
            out.send_window(self.near);
            out.send(to, self.blocks.block(Buf::In, to));
        }
        feed.round().copy(
            self.blocks.block(Buf::In, self.root),
            span(Buf::Out, 0, self.blocks.len(self.root)),
        );
        for piece in self.stretches.of(self.root) {
            let out = cross.round();
            out.send_window(self.window);
            out.send(piece.rank, block(piece.rank, piece.off, piece.len));
        }
        vec![feed, cross]
    }

    /// One lane takes pieces, the other sends each across when it is there.
    fn near(&self, rank: Rank) -> Vec<Lane> {
        let (mut take, mut cross) = (Lane::default(), Lane::default());
        let mut off = 0;
        for piece in self.stretches.of(rank) {
            let kept = span(Buf::Tmp, off, piece.len);
            take.round().recv(self.root, kept);
            let out = cross.round();
            out.after(0, take.last());
            out.send_window(self.window);
            out.send(piece.rank, kept);
            off += piece.len;
        }
        take.round().recv(self.root, span(Buf::Out, 0, self.blocks.len(rank)));
        vec![take, cross]
    }
}

impl Script for Relay {
    fn ranks(&self) -> u32 {
        self.placement.ranks()
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        let relays = rank != self.root;
        let pieces = if relays { self.stretches.of(rank) } else { &[] };
        pieces.iter().map(|piece| piece.len).sum()
    }

    fn lanes(&self, rank: Rank) -> Vec<Lane> {
        if rank == self.root {
            return self.root();
        }
        if self.is_near(rank) {
            return self.near(rank);
        }
        let mut lane = Lane::default();
        let out = lane.round();
        for (sender, piece) in self.stretches.to(rank) {
            out.recv(sender, span(Buf::Out, piece.off, piece.len));
        }
        vec![lane]
    }
}
