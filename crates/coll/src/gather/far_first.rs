//! Flat gather over sites by credits: the root lets a few ranks of each site send at a time.

use laneway_core::{Buf, Collective, Rank, span};

use crate::registry::Algorithm;
use crate::script::{Lane, Script, Scripted};
use crate::sites;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Gather,
    name: "far-first",
    sentence: "the root grants `window` sends to each other site at a time, and `near` to its own",
    source: "laneway; no more senders than fill the link, so that none is flooded",
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
        let own = span(Buf::In, 0, blocks.len(rank));
        if rank != *root {
            let mut lane = Lane::default();
            // An empty block is never sent, so it needs no credit.
            if own.len > 0 {
                let out = lane.round();
                out.await_signal(*root, 0);
                out.drain();
                for (chan, piece) in self.0.pieces(rank, own) {
                    out.send_on(*root, chan, piece);
                }
            }
            return vec![lane];
        }
        let lists = self.0.lists().into_iter();
        let mut lanes: Vec<Lane> = lists
            .map(|list| {
                let mut lane = Lane::default();
                for (from, window) in list.into_iter().filter(|(from, _)| blocks.len(*from) > 0) {
                    let out = lane.round();
                    for (chan, piece) in self.0.pieces(from, blocks.block(Buf::Out, from)) {
                        out.recv_window(window);
                        out.recv_on(from, chan, piece);
                    }
                    out.signal(from, 0);
                }
                lane
            })
            .collect();
        let last = lanes.len() - 1;
        lanes[last].round().copy(own, blocks.block(Buf::Out, rank));
        lanes
    }
}
