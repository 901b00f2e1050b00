//! Gather over third sites: pieces that reach the root earlier over another site are passed on by
//! ranks there.

use laneway_core::{Buf, Collective, Rank, span};

use crate::registry::{Algorithm, Counts};
use crate::script::{Lane, Script, Scripted};
use crate::sites::ThirdSites;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Gather,
    name: "third-site",
    sentence: "the root takes `window` pieces of each other site at a time; `lanes` ranks of a \
               third site pass on those that arrive earlier over it",
    source: "laneway; for sites with a slow way between them and fast ones to a third",
    parameters: ThirdSites::PARAMETERS,
    counts: Counts::All,
    build: |shape, params, placement| {
        let pieces = ThirdSites::new(shape, params, placement, true);
        Ok(Box::new(Scripted::new(ThirdSite(pieces))))
    },
    ..Algorithm::BASE
};

struct ThirdSite(ThirdSites);

impl ThirdSite {
    /// A lane for each other site, and one for the own.
    fn root(&self) -> Vec<Lane> {
        let ThirdSites { root, blocks, placement, window, near, .. } = &self.0;
        let mut lanes = Vec::new();
        for list in &self.0.lists {
            let mut lane = Lane::default();
            for piece in list {
                let out = lane.round();
                out.recv_window(*window);
                let block = blocks.block(Buf::Out, piece.rank);
                out.recv_on(piece.hop(), piece.chan(), piece.of(block));
            }
            lanes.push(lane);
        }
        let mut site = Lane::default();
        for &from in &placement.neighbours(*root)[1..] {
            let out = site.round();
            out.recv_window(*near);
            out.recv(from, blocks.block(Buf::Out, from));
        }
        site.round().copy(span(Buf::In, 0, blocks.len(*root)), blocks.block(Buf::Out, *root));
        lanes.push(site);
        lanes
    }
}

impl Script for ThirdSite {
    fn ranks(&self) -> u32 {
        self.0.placement.ranks()
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        self.0.scratch(rank)
    }

    fn lanes(&self, rank: Rank) -> Vec<Lane> {
        if rank == self.0.root {
            return self.root();
        }
        let own = span(Buf::In, 0, self.0.blocks.len(rank));
        let (mut take, mut pass, mut give) = (Lane::default(), Lane::default(), Lane::default());
        if self.0.is_near(rank) {
            give.round().send(self.0.root, own);
            return vec![give];
        }
        for (piece, off) in self.0.passed_by(rank) {
            let kept = span(Buf::Tmp, off, piece.len);
            let out = take.round();
            out.recv_window(self.0.window);
            out.recv_on(piece.rank, piece.chan(), kept);
            let out = pass.round();
            out.after(0, take.last());
            out.send_on(self.0.root, piece.chan(), kept);
        }
        for piece in self.0.of(rank) {
            let to = piece.via.unwrap_or(self.0.root);
            give.round().send_on(to, piece.chan(), piece.of(own));
        }
        vec![take, pass, give]
    }
}
