//! Scatter over third sites: pieces that reach their site earlier over another one are passed on
//! by ranks there.

use laneway_core::{Buf, Collective, Rank, span};

use crate::registry::{Algorithm, Counts};
use crate::script::{Lane, Script, Scripted};
use crate::sites::ThirdSites;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Scatter,
    name: "third-site",
    sentence: "the root keeps `window` pieces to each other site under way; `lanes` ranks of a \
               third site pass on those that arrive earlier over it",
    source: "laneway; for sites with a slow way between them and fast ones to a third",
    parameters: ThirdSites::PARAMETERS,
    counts: Counts::All,
    build: |shape, params, placement| {
        let pieces = ThirdSites::new(shape, params, placement, false);
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
                out.send_window(*window);
                let block = blocks.block(Buf::In, piece.rank);
                out.send_on(piece.hop(), piece.chan(), piece.of(block));
            }
            lanes.push(lane);
        }
        let mut site = Lane::default();
        for &to in &placement.neighbours(*root)[1..] {
            let out = site.round();
            out.send_window(*near);
            out.send(to, blocks.block(Buf::In, to));
        }
        site.round().copy(blocks.block(Buf::In, *root), span(Buf::Out, 0, blocks.len(*root)));
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
        let own = span(Buf::Out, 0, self.0.blocks.len(rank));
        let (mut take, mut pass, mut keep) = (Lane::default(), Lane::default(), Lane::default());
        if self.0.is_near(rank) {
            keep.round().recv(self.0.root, own);
            return vec![keep];
        }
        for (piece, off) in self.0.passed_by(rank) {
            let kept = span(Buf::Tmp, off, piece.len);
            take.round().recv_on(self.0.root, piece.chan(), kept);
            let out = pass.round();
            out.after(0, take.last());
            out.send_window(self.0.window);
            out.send_on(piece.rank, piece.chan(), kept);
        }
        for piece in self.0.of(rank) {
            let from = piece.via.unwrap_or(self.0.root);
            keep.round().recv_on(from, piece.chan(), piece.of(own));
        }
        vec![take, pass, keep]
    }
}
