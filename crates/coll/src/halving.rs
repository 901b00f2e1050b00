//! Recursive halving: pairs at doubling distances halve the vector between them and join, in the
//! order of the ranks, until every core keeps one block of the sum.

use laneway_core::{ANY, Buf, Rank, Round, Shape, Span, span};

use crate::cores::Cores;
use crate::even::Even;

/// The reduce-scatter in which Rabenseifner's algorithms begin, for any number of ranks: those that
/// are no cores hand their vectors to one first.
pub struct Halving {
    pub cores: Cores,
    parts: Even,
    vector: u64,
}

/// Where a core gathers its sum.
pub struct Sum {
    pub buf: Buf,
    /// The part of the vector that `buf` begins with.
    pub base: u64,
    /// Whether the core's own vector is there from the start: the call is in place.
    pub holds_own: bool,
    /// Where in Tmp there is room for what arrives to be joined.
    pub room: u64,
}

impl Sum {
    /// A part of the vector in the sum.
    pub fn at(&self, part: Span) -> Span {
        span(self.buf, part.off - self.base, part.len)
    }
}

impl Halving {
    /// `kept` will be a core.
    pub fn new(shape: &Shape, kept: Rank) -> Halving {
        let cores = Cores::new(shape.ranks, 2, kept);
        Halving { cores, parts: Even::new(shape, cores.count), vector: shape.vector() }
    }

    /// The whole vector.
    pub fn whole(&self, buf: Buf) -> Span {
        span(buf, 0, self.vector)
    }

    /// How often the vector is halved.
    pub fn steps(&self) -> u32 {
        self.cores.power
    }

    /// The partner of a core in a step.
    pub fn peer(&self, core: u32, step: u32) -> Rank {
        self.cores.rank(core ^ (1 << step))
    }

    /// The part of In that a core still works on after `level` steps. Of each pair, the lower takes
    /// the front half, so that the parts are in the order of the reversed digits.
    pub fn part(&self, core: u32, level: u32) -> Span {
        let low = u64::from(core) & ((1 << level) - 1);
        let first = low.reverse_bits().checked_shr(64 - self.steps()).unwrap_or(0) as u32;
        self.parts.span(Buf::In, first, first + (self.cores.count >> level))
    }

    /// The rank that folds into `rank`, a core, if any does.
    pub fn folded(&self, rank: Rank) -> Option<Rank> {
        self.cores.group(self.cores.of(rank)).find(|&other| other != rank)
    }

    /// Bytes of room that a core needs in Tmp for what arrives to be joined.
    pub fn room(&self, rank: Rank, holds_own: bool) -> u64 {
        let level = match (self.folded(rank), holds_own) {
            (Some(_), true) => 0,
            (None, false) => 2,
            _ => 1,
        };
        // Without a level that joins in Tmp, there is none that needs room.
        let core = self.cores.of(rank);
        if level > self.steps() { 0 } else { self.part(core, level).len }
    }

    /// A core takes in the vector of the rank that folds into it.
    pub fn fold_in(&self, rank: Rank, sum: &Sum, out: &mut Round) {
        if let Some(other) = self.folded(rank) {
            self.join(rank, other, self.whole(Buf::In), None, !sum.holds_own, sum, out);
        }
    }

    /// A core halves what it works on, and joins its half with its partner's.
    pub fn halve(&self, rank: Rank, step: u32, sum: &Sum, out: &mut Round) {
        let core = self.cores.of(rank);
        let (keep, give) = (self.part(core, step + 1), self.part(core ^ (1 << step), step + 1));
        let fresh = step == 0 && !sum.holds_own && self.folded(rank).is_none();
        let give = if fresh { give } else { sum.at(give) };
        self.join(rank, self.peer(core, step), keep, Some(give), fresh, sum, out);
    }

    /// Receives a part from a peer and joins it with the own one. A fresh sum receives it where it
    /// will be, and joins In; otherwise it arrives in the room.
    fn join(
        &self,
        rank: Rank,
        peer: Rank,
        part: Span,
        give: Option<Span>,
        fresh: bool,
        sum: &Sum,
        out: &mut Round,
    ) {
        let arrives = if fresh { sum.at(part) } else { span(Buf::Tmp, sum.room, part.len) };
        out.recv(peer, arrives);
        if let Some(give) = give {
            out.send(peer, give);
        }
        out.at_most(ANY, 0);
        let lower = peer < rank;
        if fresh {
            out.reduce(part, arrives, !lower);
        } else {
            out.reduce(arrives, sum.at(part), lower);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_core::Collective;

    #[test]
    fn the_parts_of_the_last_level_are_the_vector() {
        for ranks in 1..70 {
            let shape = Shape::new(Collective::Allreduce, ranks, 240).with_element(8, false);
            let halving = Halving::new(&shape, ranks - 1);
            let cores = 0..halving.cores.count;
            let mut parts: Vec<Span> =
                cores.clone().map(|core| halving.part(core, halving.steps())).collect();
            parts.sort_by_key(|part| (part.off, part.len));
            assert_eq!(parts.iter().map(|part| part.len).sum::<u64>(), 240);
            assert!(parts.windows(2).all(|w| w[0].end() == w[1].off));
            for (core, step) in cores.flat_map(|c| (0..halving.steps()).map(move |s| (c, s))) {
                let (whole, half) = (halving.part(core, step), halving.part(core, step + 1));
                let other = halving.part(core ^ (1 << step), step + 1);
                assert_eq!(whole.len, half.len + other.len);
                assert!(whole.off <= half.off && half.end() <= whole.end());
            }
        }
    }
}
