//! Windowed linear scatter: the root keeps several sends under way, the farthest ranks first.

use laneway_core::{Blocks, Buf, Collective, Rank, Round, Schedule, span};

use crate::place::Circle;
use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Scatter,
    name: "windowed",
    sentence: "the root keeps `window` sends outstanding, beginning with the farthest rank",
    source: "laneway; the root-side window that multi-lane scatter is compared with",
    parameters: &[(Parameter::Window, 8)],
    build: |shape, params, _| {
        let circle = Circle { ranks: shape.ranks, root: shape.root };
        Ok(Box::new(Windowed { circle, blocks: shape.blocks(), window: params.window() }))
    },
    ..Algorithm::BASE
};

struct Windowed {
    circle: Circle,
    blocks: Blocks,
    window: u32,
}

impl Schedule for Windowed {
    fn ranks(&self) -> u32 {
        self.circle.ranks
    }

    fn rounds(&self, rank: Rank, _lane: u32) -> u64 {
        if rank == self.circle.root { u64::from(self.circle.ranks) } else { 1 }
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        let own = span(Buf::Out, 0, self.blocks.len(rank));
        if rank != self.circle.root {
            return out.recv(self.circle.root, own);
        }
        let place = self.circle.ranks - 1 - k as u32;
        if place == 0 {
            return out.copy(self.blocks.block(Buf::In, rank), own);
        }
        let to = self.circle.rank(place);
        out.send_window(self.window);
        out.send(to, self.blocks.block(Buf::In, to));
    }
}
