//! Gather by credits: the root lets a few ranks send at a time, so that it is never flooded.

use laneway_core::{Blocks, Buf, Collective, Rank, Round, Schedule, span};

use crate::place::Circle;
use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Gather,
    name: "credits",
    sentence: "ranks send when the root grants it, and the root grants `window` at a time",
    source: "laneway; the cure for the escalations of many-to-one traffic that MPIBlib measures",
    parameters: &[(Parameter::Window, 8)],
    build: |shape, params, _| {
        let circle = Circle { ranks: shape.ranks, root: shape.root };
        Ok(Box::new(Credits { circle, blocks: shape.blocks(), window: params.window() }))
    },
    ..Algorithm::BASE
};

struct Credits {
    circle: Circle,
    blocks: Blocks,
    window: u32,
}

impl Schedule for Credits {
    fn ranks(&self) -> u32 {
        self.circle.ranks
    }

    fn rounds(&self, rank: Rank, _lane: u32) -> u64 {
        if rank == self.circle.root { u64::from(self.circle.ranks) } else { 1 }
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        let root = self.circle.root;
        let own = span(Buf::In, 0, self.blocks.len(rank));
        let place = k as u32 + 1;
        if rank != root {
            // An empty block is never sent, so it needs no credit.
            if own.len > 0 {
                out.await_signal(root, 0);
                out.drain();
                out.send(root, own);
            }
        } else if place == self.circle.ranks {
            out.copy(own, self.blocks.block(Buf::Out, rank));
        } else {
            let from = self.circle.rank(place);
            let block = self.blocks.block(Buf::Out, from);
            if block.len > 0 {
                out.recv_window(self.window);
                out.recv(from, block);
                out.signal(from, 0);
            }
        }
    }
}
