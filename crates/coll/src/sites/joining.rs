//! Pieces of vectors that are joined: within each site along a tree, and across sites along a tree
//! of sites.

use std::cmp::Reverse;

use laneway_core::{Buf, Rank, Round, Span, span};

use super::delivery::Gate;
use super::lanes::Lanes;
use crate::script::Lane;

/// One piece of all vectors.
pub struct Sum {
    /// Its offset in every rank's In.
    pub off: u64,
    pub len: u64,
    /// Where the tree of each site ends.
    pub heads: Vec<Rank>,
    /// The rank that has the sum of all sites, by the head of its own site; without one, each head
    /// keeps what its site has.
    pub home: Option<Rank>,
    /// Pieces of the same turn are under way at the same time.
    pub turn: u64,
}

impl Sum {
    fn own(&self) -> Span {
        span(Buf::In, self.off, self.len)
    }
}

pub struct Joining {
    pub lanes: Lanes,
    pub sums: Vec<Sum>,
}

/// What a rank has joined.
#[derive(Clone, Copy)]
pub struct Joined {
    pub number: usize,
    /// Where it is: the caller's In, or scratch.
    pub at: Span,
    /// The round that joins it.
    pub gate: Gate,
}

/// What a rank does, and what comes of it.
pub struct Part {
    /// Receives, and what is passed on; receives, and what ends here.
    pub lanes: Vec<Lane>,
    /// What ends here.
    pub ends: Vec<Joined>,
    /// The round after which the In of each piece is read no more.
    pub read: Vec<Gate>,
    /// Bytes of scratch.
    pub room: u64,
}

/// The lanes of a rank.
pub const PASS: u32 = 1;
const END: u32 = 3;
pub const LANES: u32 = 4;

impl Joining {
    /// Whether a piece ends at a rank.
    fn ends_at(&self, sum: &Sum, rank: Rank) -> bool {
        match sum.home {
            Some(home) => home == rank,
            None => sum.heads[self.lanes.site(rank)] == rank,
        }
    }

    fn parent(&self, sum: &Sum, rank: Rank) -> Option<Rank> {
        let site = self.lanes.site(rank);
        let head = sum.heads[site];
        if sum.home == Some(rank) {
            return None;
        }
        if rank != head {
            return self.lanes.parent(head, rank);
        }
        let home = sum.home?;
        let before = self.lanes.before(self.lanes.site(home), site);
        Some(before.map_or(home, |before| sum.heads[before]))
    }

    /// The ranks that a rank has parts of a piece from. A home that another rank heads has one.
    fn children(&self, sum: &Sum, rank: Rank, children: &mut Vec<Rank>) {
        children.clear();
        let site = self.lanes.site(rank);
        let head = sum.heads[site];
        if sum.home == Some(rank) && rank != head {
            return children.push(head);
        }
        self.lanes.children(head, rank, children);
        if let Some(home) = sum.home.filter(|_| rank == head) {
            let after = self.lanes.after(self.lanes.site(home), site).iter();
            children.extend(after.map(|site| sum.heads[*site]));
        }
    }

    /// How far a rank is from where a piece ends: more than any rank that has it later.
    fn depth(&self, sum: &Sum, rank: Rank) -> u32 {
        let site = self.lanes.site(rank);
        let head = sum.heads[site];
        if sum.home == Some(rank) && rank != head {
            return 0;
        }
        let far = sum.home.map_or(0, |home| self.lanes.crossings(self.lanes.site(home), site));
        1 + far + self.lanes.depth(head, rank)
    }

    /// Scratch of a rank: a room for each child of each piece.
    pub fn room(&self, rank: Rank) -> u64 {
        let mut children = Vec::new();
        let room = |sum: &Sum| {
            self.children(sum, rank, &mut children);
            children.len() as u64 * sum.len
        };
        self.sums.iter().map(room).sum()
    }

    /// What a rank does with pieces: those for other sites first, the deepest of a tree first.
    pub fn of(&self, rank: Rank) -> Part {
        let site = self.lanes.site(rank);
        let mut order: Vec<usize> = (0..self.sums.len()).collect();
        order.sort_by_cached_key(|&number| {
            let sum = &self.sums[number];
            let is_near = sum.home.is_some_and(|home| self.lanes.site(home) == site);
            (sum.turn, is_near, Reverse(self.depth(sum, rank)), number)
        });
        let mut lanes: Vec<Lane> = (0..LANES).map(|_| Lane::default()).collect();
        let mut read = vec![Gate { lane: PASS, round: 0 }; self.sums.len()];
        let (mut ends, mut off) = (Vec::new(), 0);
        let (mut children, mut values) = (Vec::new(), Vec::new());
        for number in order {
            let sum = &self.sums[number];
            let is_end = self.ends_at(sum, rank);
            let lane = if is_end { END } else { PASS };
            values.clear();
            values.push(sum.own());
            self.children(sum, rank, &mut children);
            let arriving = lanes[lane as usize - 1].round();
            for &child in &children {
                let kept = span(Buf::Tmp, off, sum.len);
                arriving.recv_on(child, u16::from(is_end), kept);
                values.push(kept);
                off += sum.len;
            }
            let arrived = lanes[lane as usize - 1].last();
            let out = lanes[lane as usize].round();
            if values.len() > 1 {
                out.after(lane - 1, arrived);
            }
            let at = fold(out, &values, sum.own());
            if let Some(parent) = self.parent(sum, rank) {
                out.send_on(parent, u16::from(self.ends_at(sum, parent)), at);
            }
            let gate = Gate { lane, round: lanes[lane as usize].last() };
            read[number] = gate;
            ends.extend(is_end.then_some(Joined { number, at, gate }));
        }
        Part { lanes, ends, read, room: off }
    }
}

/// Joins values in their order, all but the fixed one in scratch that may be written; where the
/// result is.
pub fn fold(out: &mut Round, values: &[Span], fixed: Span) -> Span {
    let mut sum = values[0];
    for &value in &values[1..] {
        if sum == fixed {
            out.reduce_left(sum, value);
            sum = value;
        } else {
            out.reduce_right(value, sum);
        }
    }
    sum
}
