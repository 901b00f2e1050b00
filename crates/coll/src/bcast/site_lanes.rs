//! Broadcast over sites by lanes: the root deals pieces out to ranks of its site, each of which
//! sends its pieces across.

use laneway_core::{Buf, Collective, Rank, Shape};

use crate::even::Even;
use crate::registry::{Algorithm, Params};
use crate::script::{Lane, Script, Scripted};
use crate::sites::{Delivery, Lanes, PIPELINED, Route, parts};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Bcast,
    name: "site-lanes",
    sentence: "the root deals pieces of `segment` out to `lanes` ranks of its site, which send \
               them across, to all sites or along a tree of `fan` sites each; trees within each \
               site begin where a piece arrives",
    source: "laneway; after van de Geijn 1994 and Chiba, Endo, Matsuoka 2007",
    parameters: PIPELINED,
    build: |shape, params, placement| {
        let lanes = Lanes::new(placement, params.lanes()).with_fan(params.fan(), shape.vector());
        Ok(Box::new(Scripted::new(SiteLanes(delivery(shape, params, lanes)))))
    },
    ..Algorithm::BASE
};

struct SiteLanes(Delivery);

fn delivery(shape: &Shape, params: &Params, lanes: Lanes) -> Delivery {
    let (root, near) = (shape.root, lanes.site(shape.root));
    let senders = lanes.count(near) as u64;
    let count = parts(shape.vector(), params.segment(), lanes.most());
    let cut = Even::new(shape, count);
    let turns = lanes.most();
    let lanes = lanes.without(root);
    let others = lanes.fast(near);
    let senders = senders.min(others.len() as u64 + 1);
    let route = |number: u64| {
        // The root crosses with its share itself, and others spread it at its site.
        let lane = (number % senders) as usize;
        let helper = match lane {
            0 => others[((number / senders) % others.len() as u64) as usize],
            _ => others[lane - 1],
        };
        let mut heads: Vec<Rank> = (0..lanes.sites()).map(|to| lanes.head(to, number)).collect();
        heads[near] = helper;
        let crosser = Some(if lane == 0 { root } else { helper });
        let source = cut.part(Buf::Out, number as u32);
        Route { origin: root, source, off: source.off, crosser, heads, turn: number / turns }
    };
    let routes = (0..u64::from(count)).map(route).filter(|route| route.source.len > 0).collect();
    Delivery { lanes, routes, window: params.window() }
}

impl Script for SiteLanes {
    fn ranks(&self) -> u32 {
        self.0.lanes.placement.ranks()
    }

    fn tmp_len(&self, _rank: Rank) -> u64 {
        0
    }

    fn lanes(&self, rank: Rank) -> Vec<Lane> {
        self.0.of(rank, 0, |_| None)
    }
}
