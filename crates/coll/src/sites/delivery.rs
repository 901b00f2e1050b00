//! Pieces that go to all ranks: each crosses once to every other site, along a tree of sites, and a
//! tree within each site begins at the rank that takes it.

use laneway_core::{Buf, Rank, Span, span};

use super::lanes::Lanes;
use crate::script::Lane;

/// The way of one piece.
pub struct Route {
    /// Who has it at first, and where.
    pub origin: Rank,
    pub source: Span,
    /// Where it belongs in Out.
    pub off: u64,
    /// The rank of the origin's site that sends it to other sites: the origin, or the head; none
    /// where it stays. Other heads pass it on.
    pub crosser: Option<Rank>,
    /// Where the tree of each site begins.
    pub heads: Vec<Rank>,
    /// Pieces of the same turn are under way at the same time.
    pub turn: u64,
}

/// A lane and a round of it that must be complete.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    pub lane: u32,
    pub round: u64,
}

pub struct Delivery {
    pub lanes: Lanes,
    pub routes: Vec<Route>,
    /// Sends that a lane of a rank has under way.
    pub window: u32,
}

/// The lanes of a rank: what stays at its site, what came from others, and what it sends to others.
const NEAR_IN: usize = 0;
const NEAR_OUT: usize = 1;
const FAR_IN: usize = 2;
const FAR_OUT: usize = 3;
const CROSS: usize = 4;
/// Channels of pieces that stay at their site, and of those that crossed.
const NEAR: u16 = 30;
const FAR: u16 = 31;

impl Delivery {
    /// How far a rank is from where a piece begins: more than any rank that has it before.
    fn depth(&self, route: &Route, rank: Rank) -> u32 {
        let (first, site) = (self.lanes.site(route.origin), self.lanes.site(rank));
        let head = route.heads[site];
        match rank == route.origin {
            true => 0,
            false => {
                let inside = u32::from(head != route.origin) + self.lanes.depth(head, rank);
                2 * self.lanes.crossings(first, site) + inside
            }
        }
    }

    /// The rank of a site that sends a piece to other sites.
    fn crosser(&self, route: &Route, site: usize) -> Option<Rank> {
        match site == self.lanes.site(route.origin) {
            true => route.crosser,
            false => route.crosser.map(|_| route.heads[site]),
        }
    }

    fn from(&self, route: &Route, rank: Rank, is_near: bool) -> Rank {
        let site = self.lanes.site(rank);
        let head = route.heads[site];
        let above = if rank == head { None } else { self.lanes.parent(head, rank) };
        let crosses = || {
            let before = self.lanes.before(self.lanes.site(route.origin), site);
            before.and_then(|before| self.crosser(route, before))
        };
        let begins = if is_near { Some(route.origin) } else { crosses() };
        above.or(begins).unwrap_or(route.origin)
    }

    /// Whom a rank passes a piece to within its site.
    fn to(&self, route: &Route, rank: Rank, to: &mut Vec<Rank>) {
        to.clear();
        let head = route.heads[self.lanes.site(rank)];
        match rank == route.origin && rank != head {
            true => to.push(head),
            false => self.lanes.children(head, rank, to),
        }
    }

    /// What a rank does, in lanes that are numbered from `first` on. `gate` says what a piece waits
    /// for: at its origin to be there, elsewhere to be received.
    pub fn of(&self, rank: Rank, first: u32, gate: impl Fn(usize) -> Option<Gate>) -> Vec<Lane> {
        let mut lanes: Vec<Lane> = (0..=CROSS).map(|_| Lane::default()).collect();
        let site = self.lanes.site(rank);
        let mut order: Vec<usize> = (0..self.routes.len()).collect();
        order.sort_by_cached_key(|&number| {
            let route = &self.routes[number];
            (route.turn, self.depth(route, rank), number)
        });
        let mut to: Vec<Rank> = Vec::new();
        for number in order {
            let route = &self.routes[number];
            let is_near = self.lanes.site(route.origin) == site;
            let (input, output, channel) = match is_near {
                true => (NEAR_IN, NEAR_OUT, NEAR),
                false => (FAR_IN, FAR_OUT, FAR),
            };
            let (mut held, mut ready) = (route.source, gate(number));
            if rank != route.origin {
                held = span(Buf::Out, route.off, route.source.len);
                let out = lanes[input].round();
                wait(out, ready);
                out.recv_on(self.from(route, rank, is_near), channel, held);
                ready = Some(Gate { lane: first + input as u32, round: lanes[input].last() });
            }
            let send = |lane: &mut Lane, to: &[Rank], channel: u16| {
                let out = lane.round();
                wait(out, ready.filter(|_| !to.is_empty()));
                for to in to {
                    out.send_window(self.window);
                    out.send_on(*to, channel, held);
                }
            };
            if self.crosser(route, site) == Some(rank) {
                let far = self.lanes.after(self.lanes.site(route.origin), site).iter();
                to.clear();
                to.extend(far.map(|site| route.heads[*site]));
                if !to.is_empty() {
                    send(&mut lanes[CROSS], &to, FAR);
                }
            }
            self.to(route, rank, &mut to);
            send(&mut lanes[output], &to, channel);
        }
        lanes
    }
}

fn wait(out: &mut laneway_core::Round, gate: Option<Gate>) {
    if let Some(Gate { lane, round }) = gate {
        out.after(lane, round);
    }
}
