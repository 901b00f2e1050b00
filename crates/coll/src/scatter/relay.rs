//! Scatter by relays: helpers of the root's site send what crosses, piece by piece as it comes.

use laneway_core::{Buf, Collective, Rank, span};

use crate::registry::{Algorithm, Counts};
use crate::script::{Lane, Script, Scripted};
use crate::sites;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Scatter,
    name: "relay",
    sentence: "`lanes` helpers send across what the root hands them in pieces of `segment`, the \
               root `own` thousandths of it",
    source: "laneway; helpers pay where hosts have a card of their own for other sites",
    parameters: sites::Relay::PARAMETERS,
    counts: Counts::All,
    build: |shape, params, placement| {
        Ok(Box::new(Scripted::new(Relay(sites::Relay::new(shape, params, placement)))))
    },
    ..Algorithm::BASE
};

struct Relay(sites::Relay);

impl Relay {
    /// One lane feeds the helpers and then serves the site, the other crosses.
    fn root(&self) -> Vec<Lane> {
        let (mut feed, mut cross) = (Lane::default(), Lane::default());
        let block =
            |rank: Rank, off: u64, len: u64| span(Buf::In, self.0.blocks.off(rank) + off, len);
        for (helper, number) in self.0.stretches.given() {
            let piece = self.0.stretches.of(helper)[number];
            let out = feed.round();
            out.send_window(self.0.near);
            out.send(helper, block(piece.rank, piece.off, piece.len));
        }
        // Helpers need their own blocks last: they have work already.
        let (helpers, others) =
            (&self.0.stretches.senders[1..], self.0.placement.neighbours(self.0.root));
        let others = others[1..].iter().filter(|rank| !helpers.contains(rank));
        for &to in others.chain(helpers) {
            let out = feed.round();
            out.send_window(self.0.near);
            out.send(to, self.0.blocks.block(Buf::In, to));
        }
        feed.round().copy(
            self.0.blocks.block(Buf::In, self.0.root),
            span(Buf::Out, 0, self.0.blocks.len(self.0.root)),
        );
        for piece in self.0.stretches.of(self.0.root) {
            let out = cross.round();
            out.send_window(self.0.window);
            out.send_on(piece.rank, piece.chan, block(piece.rank, piece.off, piece.len));
        }
        vec![feed, cross]
    }

    /// One lane takes pieces, the other sends each across when it is there.
    fn near(&self, rank: Rank) -> Vec<Lane> {
        let (mut take, mut cross) = (Lane::default(), Lane::default());
        let mut off = 0;
        for piece in self.0.stretches.of(rank) {
            let kept = span(Buf::Tmp, off, piece.len);
            take.round().recv(self.0.root, kept);
            let out = cross.round();
            out.after(0, take.last());
            out.send_window(self.0.window);
            out.send_on(piece.rank, piece.chan, kept);
            off += piece.len;
        }
        take.round().recv(self.0.root, span(Buf::Out, 0, self.0.blocks.len(rank)));
        vec![take, cross]
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
        for (sender, piece) in self.0.stretches.to(rank) {
            out.recv_on(sender, piece.chan, span(Buf::Out, piece.off, piece.len));
        }
        vec![lane]
    }
}
