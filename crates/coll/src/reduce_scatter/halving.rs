//! Vector halving: what recursive halving and the butterfly share. Partners split the blocks that
//! they work on and each joins the half it keeps, until a core has the blocks of one group left.

use std::ops::Range;

use laneway_core::{ANY, Blocks, Buf, Rank, Round, Schedule, Shape, Span, span};

use super::Alone;
use crate::cores::Cores;

/// Which partners come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// The farthest: a core is left with the blocks of its own group.
    Far,
    /// The nearest: what is joined is always a run of ranks, so their order is kept; a core is left
    /// with the blocks of the group whose number has the digits of its own reversed.
    Near,
}

/// A core works in turns on fewer blocks; the *seat* of a core is the number of the group whose
/// blocks it is left with, and the halves follow the digits of the seats.
struct Halving {
    cores: Cores,
    blocks: Blocks,
    first: First,
    in_place: bool,
}

pub fn schedule(shape: &Shape, first: First) -> Box<dyn Schedule> {
    let (blocks, in_place) = (shape.blocks(), shape.in_place);
    if shape.ranks == 1 {
        return Box::new(Alone { vector: blocks.total(1) });
    }
    Box::new(Halving { cores: Cores::new(shape.ranks, 2, 0), blocks, first, in_place })
}

impl Halving {
    /// The seat of a core, and as well the core of a seat.
    fn seat(&self, core: u32) -> u32 {
        match self.first {
            First::Far => core,
            // Two ranks or more have at least one digit.
            First::Near => core.reverse_bits() >> (32 - self.cores.power),
        }
    }

    /// The ranks whose blocks a core works on after `level` halvings.
    fn kept(&self, core: u32, level: u32) -> Range<Rank> {
        let digits = self.cores.power - level;
        let first = self.seat(core) >> digits << digits;
        self.cores.group(first).start..self.cores.group(first + (1 << digits) - 1).end
    }

    /// The partner of a core in a step.
    fn partner(&self, core: u32, step: u32) -> u32 {
        self.seat(self.seat(core) ^ (1 << (self.cores.power - 1 - step)))
    }

    fn bytes(&self, ranks: &Range<Rank>) -> u64 {
        self.blocks.off(ranks.end) - self.blocks.off(ranks.start)
    }

    fn input(&self, ranks: &Range<Rank>) -> Span {
        self.blocks.span(Buf::In, ranks.start, ranks.end)
    }

    /// The rank that a core stands for beside itself: the next one.
    fn follower(&self, rank: Rank) -> Option<Rank> {
        (self.cores.group(self.cores.of(rank)).len() == 2).then_some(rank + 1)
    }

    /// The level whose blocks a core's sum in Tmp begins with: all of them where it took in a
    /// follower's vector, otherwise the first half.
    fn level(&self, rank: Rank) -> u32 {
        u32::from(self.follower(rank).is_none())
    }

    /// Blocks of the sum in Tmp.
    fn sum(&self, rank: Rank, ranks: &Range<Rank>) -> Span {
        let whole = self.kept(self.cores.of(rank), self.level(rank));
        let off = self.blocks.off(ranks.start) - self.blocks.off(whole.start);
        span(Buf::Tmp, off, self.bytes(ranks))
    }

    /// Room in Tmp, behind the sum, for what arrives to be joined.
    fn room(&self, rank: Rank, len: u64) -> Span {
        let whole = self.kept(self.cores.of(rank), self.level(rank));
        span(Buf::Tmp, self.bytes(&whole), len)
    }

    /// Whether the last step leaves a core with nothing but its own block, straight in Out. In
    /// place, Out lies over blocks that may be on their way.
    fn ends_in_out(&self, rank: Rank) -> bool {
        let left = self.kept(self.cores.of(rank), self.cores.power);
        !self.in_place && left == (rank..rank + 1)
    }

    fn fold_in(&self, rank: Rank, follower: Rank, out: &mut Round) {
        let all = 0..self.cores.ranks;
        out.recv(follower, self.sum(rank, &all));
        out.at_most(ANY, 0);
        out.reduce_left(self.input(&all), self.sum(rank, &all));
    }

    fn halve(&self, rank: Rank, step: u32, out: &mut Round) {
        let core = self.cores.of(rank);
        let partner = self.partner(core, step);
        let (kept, given) = (self.kept(core, step + 1), self.kept(partner, step + 1));
        let fresh = step == 0 && self.follower(rank).is_none();
        let held = |ranks| if fresh { self.input(ranks) } else { self.sum(rank, ranks) };
        let last = step + 1 == self.cores.power && self.ends_in_out(rank);
        let arrives = match (last, fresh) {
            (true, _) => span(Buf::Out, 0, self.bytes(&kept)),
            (_, true) => self.sum(rank, &kept),
            _ => self.room(rank, self.bytes(&kept)),
        };
        out.recv(self.cores.rank(partner), arrives);
        out.send(self.cores.rank(partner), held(&given));
        out.at_most(ANY, 0);
        let lower = partner < core;
        if last || fresh {
            out.reduce(held(&kept), arrives, !lower);
        } else {
            out.reduce(arrives, held(&kept), lower);
        }
    }

    /// The blocks that a core is left with go to their ranks.
    fn deliver(&self, rank: Rank, out: &mut Round) {
        if self.in_place {
            out.drain();
        }
        self.take(rank, out);
        for owner in self.kept(self.cores.of(rank), self.cores.power) {
            let block = self.sum(rank, &(owner..owner + 1));
            if owner != rank {
                out.send(owner, block);
            } else if !self.ends_in_out(rank) {
                out.copy(block, span(Buf::Out, 0, block.len));
            }
        }
    }

    /// The own block comes from the core that was left with it, unless that is the rank itself.
    fn take(&self, rank: Rank, out: &mut Round) {
        let holder = self.cores.rank(self.seat(self.cores.of(rank)));
        if holder != rank {
            out.recv(holder, span(Buf::Out, 0, self.blocks.len(rank)));
        }
    }
}

impl Schedule for Halving {
    fn ranks(&self) -> u32 {
        self.cores.ranks
    }

    fn rounds(&self, rank: Rank, _lane: u32) -> u64 {
        match self.cores.above(rank) {
            Some(_) => 1,
            None => u64::from(self.cores.power) + 2 - u64::from(self.level(rank)),
        }
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        if self.cores.above(rank).is_some() {
            return 0;
        }
        let (core, level) = (self.cores.of(rank), self.level(rank));
        let joined = (level + 1).min(self.cores.power);
        self.bytes(&self.kept(core, level)) + self.bytes(&self.kept(core, joined))
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        if let Some(core) = self.cores.above(rank) {
            // In place, the own block of the sum comes over the vector when that has left.
            let vector = self.input(&(0..self.cores.ranks));
            if self.in_place {
                out.send(core, vector);
                out.drain();
                return self.take(rank, out);
            }
            self.take(rank, out);
            return out.send(core, vector);
        }
        let step = match self.follower(rank) {
            Some(follower) if k == 0 => return self.fold_in(rank, follower, out),
            Some(_) => k as u32 - 1,
            None => k as u32,
        };
        if step < self.cores.power { self.halve(rank, step, out) } else { self.deliver(rank, out) }
    }
}
