//! Flat scatter over sites: the root keeps several sends to each other site under way.

use laneway_core::{Blocks, Buf, Collective, Placement, Rank, span};

use crate::registry::{Algorithm, Parameter};
use crate::script::{Lane, Script, Scripted};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Scatter,
    name: "far-first",
    sentence: "`window` sends to each other site at a time, and `near` to the own one beside them",
    source: "laneway; as many connections as fill the link need no helpers",
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
        let own = span(Buf::Out, 0, self.blocks.len(rank));
        if rank != self.root {
            let mut lane = Lane::default();
            lane.round().recv(self.root, own);
            return vec![lane];
        }
        let send = |lane: &mut Lane, window: u32, to: Rank| {
            let out = lane.round();
            out.send_window(window);
            out.send(to, self.blocks.block(Buf::In, to));
        };
        let mut lanes = Vec::new();
        for site in self.placement.others(self.placement.location(rank).site) {
            let mut lane = Lane::default();
            self.placement.members(site).iter().for_each(|to| send(&mut lane, self.window, *to));
            lanes.push(lane);
        }
        if self.near > 0 || lanes.is_empty() {
            lanes.push(Lane::default());
        }
        // The nearest of the others, or a lane of its own.
        let last = lanes.len() - 1;
        let window = if self.near > 0 { self.near } else { self.window };
        for to in &self.placement.neighbours(rank)[1..] {
            send(&mut lanes[last], window, *to);
        }
        lanes[last].round().copy(self.blocks.block(Buf::In, rank), own);
        lanes
    }
}
