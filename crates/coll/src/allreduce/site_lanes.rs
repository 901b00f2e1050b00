//! Allreduce over sites: each site joins a piece at one of its lanes, the lanes of all sites swap
//! what they have, and each spreads the sum at its site. With a `fan` the sums follow trees of
//! sites instead ([`SiteTrees`]).

use laneway_core::{Buf, Collective, Rank, Shape, Span, span};

use super::site_trees::SiteTrees;
use crate::even::Even;
use crate::registry::{Algorithm, Params};
use crate::script::{Lane, Script, Scripted};
use crate::sites::{
    Delivery, Gate, JOINING_LANES, Joined, Joining, Lanes, PIPELINED, Part, Route, Sum, fold, parts,
};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Allreduce,
    name: "site-lanes",
    sentence: "trees within each site join pieces of `segment` at `lanes` ranks, which swap them \
               with those of other sites, or join and spread them along trees of `fan` sites each",
    source: "laneway; after Rabenseifner 2004 and Chiba, Endo, Matsuoka 2007",
    parameters: PIPELINED,
    ordered: false,
    build: |shape, params, placement| match params.fan() {
        0 => Ok(Box::new(Scripted::new(SiteLanes::new(shape, params, placement)))),
        _ => Ok(Box::new(Scripted::new(SiteTrees::new(shape, params, placement)))),
    },
    ..Algorithm::BASE
};

struct SiteLanes {
    joining: Joining,
    /// Routes within a site, for each site.
    deliveries: Vec<Delivery>,
    in_place: bool,
}

/// The lanes of a rank after those of the joining: sends to other sites, receives from them, and
/// what is joined of all.
const CROSS: u32 = JOINING_LANES;
const ARRIVE: u32 = CROSS + 1;
const FINISH: u32 = CROSS + 2;
const SWAP: u16 = 2;

impl SiteLanes {
    fn new(shape: &Shape, params: &Params, placement: &laneway_core::Placement) -> SiteLanes {
        let lanes = || Lanes::new(placement, params.lanes());
        let most = lanes().most();
        let element = u64::from(shape.element);
        let segment = (params.segment() / element).max(1);
        let count = parts(shape.vector() / element, segment, most);
        let cut = Even::new(shape, count);
        let at_site = |site: usize| {
            let lanes = lanes();
            let route = |number: u64| {
                let source = cut.part(Buf::Out, number as u32);
                let origin = lanes.head(site, number);
                let heads = vec![origin; lanes.sites()];
                let turn = number / most;
                Route { origin, source, off: source.off, crosser: None, heads, turn }
            };
            let routes = (0..u64::from(count)).map(route).filter(|route| route.source.len > 0);
            let routes = routes.collect();
            Delivery { lanes, routes, window: params.window() }
        };
        let joining = {
            let lanes = lanes();
            let sum = |number: u64| {
                let Span { off, len, .. } = cut.part(Buf::In, number as u32);
                let heads = (0..lanes.sites()).map(|of| lanes.head(of, number)).collect();
                Sum { off, len, heads, home: None, turn: number / most }
            };
            let sums = (0..u64::from(count)).map(sum).filter(|sum| sum.len > 0).collect();
            Joining { lanes, sums }
        };
        let deliveries = (0..joining.lanes.sites()).map(at_site).collect();
        SiteLanes { joining, deliveries, in_place: shape.in_place }
    }

    /// Swaps a piece with the lanes of other sites; the round after which its sum is in Out.
    fn swap(&self, rank: Rank, end: &Joined, rooms: u64, lanes: &mut [Lane]) -> Gate {
        let (sum, own) = (&self.joining.sums[end.number], self.joining.lanes.site(rank));
        let is_fold = end.at.buf == Buf::Tmp;
        let out = lanes[CROSS as usize].round();
        if is_fold {
            out.after(end.gate.lane, end.gate.round);
        }
        for site in self.joining.lanes.others(own) {
            out.send_on(sum.heads[site], SWAP, end.at);
        }
        // In the order of the sites, so that all of them have the same bits.
        let (mut values, mut off) = (Vec::new(), rooms);
        let out = lanes[ARRIVE as usize].round();
        for (site, &head) in sum.heads.iter().enumerate() {
            if site == own {
                values.push(end.at);
                continue;
            }
            let kept = span(Buf::Tmp, off, sum.len);
            out.recv_on(head, SWAP, kept);
            values.push(kept);
            off += sum.len;
        }
        let (crossed, arrived) = (lanes[CROSS as usize].last(), lanes[ARRIVE as usize].last());
        let out = lanes[FINISH as usize].round();
        out.after(ARRIVE, arrived);
        if is_fold {
            out.after(end.gate.lane, end.gate.round);
        } else if self.in_place {
            out.after(CROSS, crossed);
        }
        let at = fold(out, &values, end.at);
        out.copy(at, span(Buf::Out, sum.off, sum.len));
        Gate { lane: FINISH, round: lanes[FINISH as usize].last() }
    }

    fn swapped(&self, rank: Rank) -> u64 {
        let site = self.joining.lanes.site(rank);
        let own = self.joining.sums.iter().filter(|sum| sum.heads[site] == rank);
        own.map(|sum| sum.len).sum::<u64>() * (self.joining.lanes.sites() as u64 - 1)
    }
}

impl Script for SiteLanes {
    fn ranks(&self) -> u32 {
        self.joining.lanes.placement.ranks()
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        self.joining.room(rank) + self.swapped(rank)
    }

    fn lanes(&self, rank: Rank) -> Vec<Lane> {
        let Part { mut lanes, ends, read, mut room } = self.joining.of(rank);
        lanes.extend((CROSS..=FINISH).map(|_| Lane::default()));
        let others = self.joining.lanes.sites() as u64 - 1;
        // A piece waits for its sum where it begins, and for its bytes to be free elsewhere.
        let mut gates: Vec<Option<Gate>> =
            read.iter().map(|gate| self.in_place.then_some(*gate)).collect();
        for end in &ends {
            let sum = &self.joining.sums[end.number];
            gates[end.number] = Some(if others > 0 {
                let gate = self.swap(rank, end, room, &mut lanes);
                room += others * sum.len;
                gate
            } else {
                let lane = &mut lanes[end.gate.lane as usize];
                lane.round().copy(end.at, span(Buf::Out, sum.off, sum.len));
                Gate { lane: end.gate.lane, round: lane.last() }
            });
        }
        let site = self.joining.lanes.site(rank);
        let first = lanes.len() as u32;
        lanes.extend(self.deliveries[site].of(rank, first, |number| gates[number]));
        lanes
    }
}
