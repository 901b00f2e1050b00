//! Flat gather over sites by credits: the root lets a few ranks of each site send at a time.

use laneway_core::{Blocks, Buf, Collective, Placement, Rank, span};

use crate::registry::{Algorithm, Parameter};
use crate::script::{Lane, Script, Scripted};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Gather,
    name: "far-first",
    sentence: "the root grants `window` sends to each other site at a time, and `near` to its own",
    source: "laneway; no more senders than fill the link, so that none is flooded",
    parameters: &[(Parameter::Window, 8), (Parameter::Near, 0)],
    build: |shape, params, placement| {
        let script = FarFirst {
            placement: placement.clone(),
            root: shape.root,
            blocks: shape.blocks(),
            window: params.window(),
            near: params.near(),
        };
        Ok(Box::new(Scripted::new(script)))
    },
    ..Algorithm::BASE
};

struct FarFirst {
    placement: Placement,
    root: Rank,
    blocks: Blocks,
    window: u32,
    near: u32,
}

impl Script for FarFirst {
    fn ranks(&self) -> u32 {
        self.placement.ranks()
    }

    fn tmp_len(&self, _rank: Rank) -> u64 {
        0
    }

    fn lanes(&self, rank: Rank) -> Vec<Lane> {
        let own = span(Buf::In, 0, self.blocks.len(rank));
        if rank != self.root {
            let mut lane = Lane::default();
            // An empty block is never sent, so it needs no credit.
            if own.len > 0 {
                let out = lane.round();
                out.await_signal(self.root, 0);
                out.drain();
                out.send(self.root, own);
            }
            return vec![lane];
        }
        let grant = |lane: &mut Lane, window: u32, from: Rank| {
            let block = self.blocks.block(Buf::Out, from);
            if block.len > 0 {
                let out = lane.round();
                out.recv_window(window);
                out.recv(from, block);
                out.signal(from, 0);
            }
        };
        let mut lanes = Vec::new();
        for site in self.placement.others(self.placement.location(rank).site) {
            let mut lane = Lane::default();
            self.placement.members(site).iter().for_each(|one| grant(&mut lane, self.window, *one));
            lanes.push(lane);
        }
        if self.near > 0 || lanes.is_empty() {
            lanes.push(Lane::default());
        }
        let last = lanes.len() - 1;
        let window = if self.near > 0 { self.near } else { self.window };
        for from in &self.placement.neighbours(rank)[1..] {
            grant(&mut lanes[last], window, *from);
        }
        lanes[last].round().copy(own, self.blocks.block(Buf::Out, rank));
        lanes
    }
}
