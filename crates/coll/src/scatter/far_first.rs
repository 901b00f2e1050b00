//! Flat scatter over sites: the root keeps several sends to each other site under way.

use laneway_core::{Buf, Collective, Rank, span};

use crate::registry::Algorithm;
use crate::script::{Lane, Script, Scripted};
use crate::sites;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Scatter,
    name: "far-first",
    sentence: "`window` sends to each other site at a time, in `connections` pieces each, and \
               `near` to the own one beside them",
    source: "laneway; as many connections as fill the link need no helpers",
    parameters: sites::FarFirst::ROOTED,
    build: |shape, params, placement| {
        let far_first = FarFirst(sites::FarFirst::new(shape, params, placement));
        Ok(Box::new(Scripted::new(far_first)))
    },
    ..Algorithm::BASE
};

struct FarFirst(sites::FarFirst);

impl Script for FarFirst {
    fn ranks(&self) -> u32 {
        self.0.ranks()
    }

    fn tmp_len(&self, _rank: Rank) -> u64 {
        0
    }

    fn lanes(&self, rank: Rank) -> Vec<Lane> {
        let sites::FarFirst { root, blocks, .. } = &self.0;
        let own = span(Buf::Out, 0, blocks.len(rank));
        if rank != *root {
            let mut lane = Lane::default();
            let out = lane.round();
            for (chan, piece) in self.0.pieces(rank, own) {
                out.recv_on(*root, chan, piece);
            }
            return vec![lane];
        }
        let lists = self.0.lists().into_iter();
        let mut lanes: Vec<Lane> = lists
            .map(|list| {
                let mut lane = Lane::default();
                for (to, window) in list {
                    let out = lane.round();
                    for (chan, piece) in self.0.pieces(to, blocks.block(Buf::In, to)) {
                        out.send_window(window);
                        out.send_on(to, chan, piece);
                    }
                }
                lane
            })
            .collect();
        let last = lanes.len() - 1;
        lanes[last].round().copy(blocks.block(Buf::In, rank), own);
        lanes
    }
}
