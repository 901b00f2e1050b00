//! Allreduce along trees of sites: a piece is joined up the tree to a lane of one site and spread
//! down the same tree. Pieces have their tops at all sites in turn, so that each site sends and
//! receives at most two vectors, however many sites there are.

use laneway_core::{Buf, Placement, Rank, Shape, Span, span};

use crate::even::Even;
use crate::registry::Params;
use crate::script::{Lane, Script};
use crate::sites::{Delivery, Gate, Joining, Lanes, Part, Route, Sum, parts};

pub struct SiteTrees {
    joining: Joining,
    delivery: Delivery,
    in_place: bool,
}

impl SiteTrees {
    pub fn new(shape: &Shape, params: &Params, placement: &Placement) -> SiteTrees {
        let lanes = || Lanes::new(placement, params.lanes()).with_fan(params.fan(), shape.vector());
        let (joining, delivery) = (lanes(), lanes());
        let (most, sites) = (joining.most(), joining.sites() as u64);
        let element = u64::from(shape.element);
        let segment = (params.segment() / element).max(1);
        let count = parts(shape.vector() / element, segment, most);
        let cut = Even::new(shape, count);
        let numbers = || (0..u64::from(count)).filter(|&n| cut.part(Buf::In, n as u32).len > 0);
        let heads = |number: u64| -> Vec<Rank> {
            (0..sites as usize).map(|site| joining.head(site, number)).collect()
        };
        // Pieces of a turn have different tops, and so have pieces of a lane.
        let top = |number: u64| ((number / most + number % most) % sites) as usize;
        let sum = |number: u64| {
            let Span { off, len, .. } = cut.part(Buf::In, number as u32);
            let heads = heads(number);
            Sum { off, len, home: Some(heads[top(number)]), heads, turn: number / most }
        };
        let route = |number: u64| {
            let source = cut.part(Buf::Out, number as u32);
            let heads = heads(number);
            let origin = heads[top(number)];
            let (off, turn) = (source.off, number / most);
            Route { origin, source, off, crosser: Some(origin), heads, turn }
        };
        let (sums, routes) = (numbers().map(sum).collect(), numbers().map(route).collect());
        let window = params.window();
        SiteTrees {
            joining: Joining { lanes: joining, sums },
            delivery: Delivery { lanes: delivery, routes, window },
            in_place: shape.in_place,
        }
    }
}

impl Script for SiteTrees {
    fn ranks(&self) -> u32 {
        self.joining.lanes.placement.ranks()
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        self.joining.room(rank)
    }

    fn lanes(&self, rank: Rank) -> Vec<Lane> {
        let Part { mut lanes, ends, read, .. } = self.joining.of(rank);
        // A piece waits for its sum where it begins, and for its bytes to be free elsewhere.
        let mut gates: Vec<Option<Gate>> =
            read.iter().map(|gate| self.in_place.then_some(*gate)).collect();
        for end in &ends {
            let sum = &self.joining.sums[end.number];
            let lane = &mut lanes[end.gate.lane as usize];
            lane.round().copy(end.at, span(Buf::Out, sum.off, sum.len));
            gates[end.number] = Some(Gate { lane: end.gate.lane, round: lane.last() });
        }
        let first = lanes.len() as u32;
        lanes.extend(self.delivery.of(rank, first, |number| gates[number]));
        lanes
    }
}
