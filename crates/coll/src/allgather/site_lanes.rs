//! Allgather over sites: a block crosses once to each other site, and trees within the sites begin
//! at its owner and where it arrives.

use laneway_core::{Blocks, Buf, Collective, Rank, Shape, Span, span};

use super::own;
use crate::registry::{Algorithm, Params};
use crate::script::{Lane, Script, Scripted};
use crate::sites::{Delivery, Lanes, PIPELINED, Route, segment};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Allgather,
    name: "site-lanes",
    sentence: "every rank sends its block once to each other site, in pieces of `segment` to one \
               of `lanes` ranks there; trees within each site begin where a piece is",
    source: "laneway; after Chiba, Endo, Matsuoka 2007",
    parameters: PIPELINED,
    build: |shape, params, placement| {
        let longest = shape.blocks().longest(shape.ranks);
        let lanes = Lanes::new(placement, params.lanes()).with_fan(params.fan(), longest);
        let delivery = delivery(shape, params, lanes);
        Ok(Box::new(Scripted::new(SiteLanes { delivery, blocks: shape.blocks() })))
    },
    ..Algorithm::BASE
};

struct SiteLanes {
    delivery: Delivery,
    blocks: Blocks,
}

fn delivery(shape: &Shape, params: &Params, lanes: Lanes) -> Delivery {
    let blocks = shape.blocks();
    let segment = segment(shape, params.segment(), blocks.longest(shape.ranks));
    let route = |origin: Rank, turn: u64| {
        let source: Span = own(&blocks, origin).piece(turn, segment);
        // The next piece goes by the next lane: a long block has all of them.
        let number = lanes.place(origin) as u64 + turn;
        let mut heads: Vec<Rank> = (0..lanes.sites()).map(|to| lanes.head(to, number)).collect();
        heads[lanes.site(origin)] = origin;
        let off = blocks.off(origin) + source.off;
        Route { origin, source, off, crosser: Some(origin), heads, turn }
    };
    let pieces = |rank: Rank| (0..blocks.len(rank).div_ceil(segment)).map(move |turn| (rank, turn));
    let all = (0..shape.ranks).flat_map(pieces);
    let routes = all.map(|(origin, turn)| route(origin, turn)).collect();
    Delivery { lanes, routes, window: params.window() }
}

impl Script for SiteLanes {
    fn ranks(&self) -> u32 {
        self.delivery.lanes.placement.ranks()
    }

    fn tmp_len(&self, _rank: Rank) -> u64 {
        0
    }

    fn lanes(&self, rank: Rank) -> Vec<Lane> {
        let mut lanes = self.delivery.of(rank, 0, |_| None);
        let own = span(Buf::In, 0, self.blocks.len(rank));
        lanes[0].round().copy(own, self.blocks.block(Buf::Out, rank));
        lanes
    }
}
