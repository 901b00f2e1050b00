//! Reduce-scatter over sites: each site joins its part of a block before that crosses to its rank.

use laneway_core::{Blocks, Buf, Collective, Rank, Shape, span};

use crate::registry::{Algorithm, Parameter, Params};
use crate::script::{Lane, Script, Scripted};
use crate::sites::{FAN, Joining, Lanes, PASS, Sum, segment};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::ReduceScatter,
    name: "site-lanes",
    sentence: "trees within each site join pieces of `segment` at one of `lanes` ranks, which \
               sends the sum across to whom it belongs",
    source: "laneway; after Chiba, Endo, Matsuoka 2007",
    parameters: &[(Parameter::Segment, 256 << 10), (Parameter::Lanes, 0), FAN, Parameter::BY_RANK],
    ordered: false,
    build: |shape, params, placement| {
        let longest = shape.blocks().longest(shape.ranks);
        let lanes = Lanes::new(placement, params.lanes()).with_fan(params.fan(), longest);
        let joining = joining(shape, params, lanes);
        let (blocks, in_place) = (shape.blocks(), shape.in_place);
        Ok(Box::new(Scripted::new(SiteLanes { joining, blocks, in_place })))
    },
    ..Algorithm::BASE
};

struct SiteLanes {
    joining: Joining,
    blocks: Blocks,
    in_place: bool,
}

fn joining(shape: &Shape, params: &Params, lanes: Lanes) -> Joining {
    let blocks = shape.blocks();
    let segment = segment(shape, params.segment(), blocks.longest(shape.ranks));
    let sum = |home: Rank, turn: u64| {
        let piece = blocks.block(Buf::In, home).piece(turn, segment);
        let number = lanes.place(home) as u64 + turn;
        let mut heads: Vec<Rank> = (0..lanes.sites()).map(|of| lanes.head(of, number)).collect();
        heads[lanes.site(home)] = home;
        Sum { off: piece.off, len: piece.len, heads, home: Some(home), turn }
    };
    let pieces = |rank: Rank| (0..blocks.len(rank).div_ceil(segment)).map(move |turn| (rank, turn));
    let sums = (0..shape.ranks).flat_map(pieces).map(|(home, turn)| sum(home, turn)).collect();
    Joining { lanes, sums }
}

impl Script for SiteLanes {
    fn ranks(&self) -> u32 {
        self.joining.lanes.placement.ranks()
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        self.joining.room(rank)
    }

    fn lanes(&self, rank: Rank) -> Vec<Lane> {
        let mut part = self.joining.of(rank);
        let last = part.lanes.len() - 1;
        // In place, Out lies over what is yet to be sent.
        let passes = !part.lanes[PASS as usize].is_empty();
        if self.in_place && passes && !part.ends.is_empty() {
            let round = part.lanes[PASS as usize].last();
            part.lanes[last].round().after(PASS, round);
        }
        let out = part.lanes[last].round();
        for end in part.ends {
            let sum = &self.joining.sums[end.number];
            out.copy(end.at, span(Buf::Out, sum.off - self.blocks.off(rank), sum.len));
        }
        part.lanes
    }
}
