//! Scatters and gathers by routes that are drawn: pieces of blocks over helpers of the root's site
//! and over hosts of a third site. They are simulated, and never moved.

use laneway_core::{Buf, Rank, Round, Schedule, span};

use crate::dice::Dice;
use crate::flow::{Towards, Wires};

/// A schedule of more pieces than this takes too long to simulate.
const MOST_PIECES: usize = 6_000;

/// A piece of a block, and the ranks that it passes: from the root, or to it.
struct Piece {
    path: Vec<Rank>,
    len: u64,
}

/// One end of a piece's hop.
#[derive(Clone, Copy)]
struct Hop {
    other: Rank,
    len: u64,
    /// The receive that this send waits for, as a place in the list of receives.
    after: Option<u64>,
}

/// Pieces on their routes. A rank receives in one lane and sends in another.
pub struct Routed {
    receives: Vec<Vec<Hop>>,
    sends: Vec<Vec<Hop>>,
    window: u32,
}

impl Routed {
    fn new(ranks: usize, pieces: &[Piece], window: u32) -> Routed {
        let (mut receives, mut sends) = (vec![Vec::new(); ranks], vec![Vec::new(); ranks]);
        for Piece { path, len } in pieces {
            let len = *len;
            let mut after = None;
            for ends in path.windows(2) {
                let [from, to] = [ends[0], ends[1]];
                sends[from as usize].push(Hop { other: to, len, after });
                after = Some(receives[to as usize].len() as u64);
                receives[to as usize].push(Hop { other: from, len, after: None });
            }
        }
        Routed { receives, sends, window }
    }
}

impl Schedule for Routed {
    fn ranks(&self) -> u32 {
        self.sends.len() as u32
    }

    fn lanes(&self, _rank: Rank) -> u32 {
        2
    }

    fn tmp_len(&self, _rank: Rank) -> u64 {
        u64::MAX / 4
    }

    fn rounds(&self, rank: Rank, lane: u32) -> u64 {
        let list = if lane == 0 { &self.receives } else { &self.sends };
        list[rank as usize].len() as u64
    }

    fn round(&self, rank: Rank, lane: u32, k: u64, out: &mut Round) {
        if lane == 0 {
            let Hop { other, len, .. } = self.receives[rank as usize][k as usize];
            return out.recv(other, span(Buf::Tmp, 0, len));
        }
        let Hop { other, len, after } = self.sends[rank as usize][k as usize];
        if let Some(round) = after {
            out.after(0, round);
        }
        out.send_window(self.window);
        out.send(other, span(Buf::Tmp, 0, len));
    }
}

/// Which ranks pass a piece on, beside the root's and the other end.
#[derive(Clone, Copy)]
struct Over {
    has_helper: bool,
    third: Option<usize>,
    /// The part of the pieces that goes so; the others go directly.
    part: f64,
}

/// What routes are drawn for.
pub struct Routes<'a> {
    pub wires: &'a Wires,
    pub towards: Towards,
    pub root: Rank,
    pub size: u64,
}

impl Routes<'_> {
    /// A schedule and its name.
    pub fn draw(&self, dice: &mut Dice) -> (String, Routed) {
        let (ranks, count) = (self.wires.hosts.len(), self.wires.sites.len());
        let most = (MOST_PIECES / ranks).clamp(1, 64) as u64;
        let segment = dice.whole(self.size.div_ceil(most), self.size);
        let window = dice.whole(1, 4 * ranks as u64) as u32;
        let over: Vec<Over> = (0..count).map(|site| self.over(dice, site)).collect();
        let is_interleaved = dice.is(0.7);
        let mut pieces: Vec<([u64; 2], Piece)> = Vec::new();
        let far: Vec<u64> = (0..count).map(|site| self.near(site)).collect();
        for rank in (0..ranks as Rank).filter(|rank| *rank != self.root) {
            let site = self.wires.hosts[rank as usize].site;
            for number in 0..self.size.div_ceil(segment) {
                let len = segment.min(self.size - number * segment);
                let path = self.path(dice, &over[site], rank, number);
                let turn = if is_interleaved { number } else { 0 };
                pieces.push(([turn, far[site]], Piece { path, len }));
            }
        }
        pieces.sort_by_key(|(turn, _)| *turn);
        let pieces: Vec<Piece> = pieces.into_iter().map(|(_, piece)| piece).collect();
        let third = over.iter().filter(|over| over.third.is_some()).count();
        let name = format!("routed:segment={segment}:window={window}:third={third}");
        (name, Routed::new(ranks, &pieces, window))
    }

    fn home(&self) -> usize {
        self.wires.hosts[self.root as usize].site
    }

    /// Less for what is farther.
    fn near(&self, site: usize) -> u64 {
        let latency = self.way(self.home(), site).map_or(0.0, |way| way.0);
        u64::MAX - (latency * 1e9) as u64
    }

    /// Latency and rate between the root's end and the other one.
    fn way(&self, near: usize, far: usize) -> Option<(f64, f64)> {
        let ends = match self.towards {
            Towards::Ranks => (near, far),
            Towards::Root => (far, near),
        };
        let way = self.wires.ways.iter().find(|way| (way.from, way.to) == ends)?;
        Some((way.latency, way.rate.unwrap_or(f64::INFINITY)))
    }

    fn over(&self, dice: &mut Dice, site: usize) -> Over {
        let home = self.home();
        if site == home {
            return Over { has_helper: false, third: None, part: 0.0 };
        }
        let rate = |near, far| self.way(near, far).map_or(0.0, |way| way.1);
        let others = (0..self.wires.sites.len()).filter(|third| ![home, site].contains(third));
        let others: Vec<(usize, f64)> =
            others.map(|third| (third, rate(home, third).min(rate(third, site)))).collect();
        let wide = others.iter().copied().max_by(|one, other| one.1.total_cmp(&other.1));
        let wide = wide.filter(|wide| wide.1 > 1.2 * rate(home, site)).map(|wide| wide.0);
        let third = match wide {
            Some(_) if dice.is(0.8) => wide,
            _ if !others.is_empty() && dice.is(0.15) => Some(dice.one_of(&others).0),
            _ => None,
        };
        let part = if dice.is(0.6) { 1.0 } else { dice.log(0.2, 1.0) };
        Over { has_helper: dice.is(0.35), third, part }
    }

    fn path(&self, dice: &mut Dice, over: &Over, rank: Rank, number: u64) -> Vec<Rank> {
        let hosts = self.wires.hosts.iter();
        let of = |site: usize| -> Vec<Rank> {
            let here = (0..).zip(hosts.clone()).filter(|(_, host)| host.site == site);
            here.map(|(rank, _)| rank).filter(|rank| *rank != self.root).collect()
        };
        let turn = number as usize + rank as usize;
        let mut path = vec![self.root];
        if dice.is(over.part) {
            let sites = [over.has_helper.then_some(self.home()), over.third];
            for site in sites.into_iter().flatten() {
                let there = of(site);
                path.extend(there.get(turn % there.len().max(1)));
            }
        }
        path.push(rank);
        if self.towards == Towards::Root {
            path.reverse();
        }
        path
    }
}
