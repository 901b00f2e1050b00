//! Any algorithm with the ranks in other places: a rank plays the part of a place, so that
//! neighbours of the algorithm become neighbours of the machine.
//!
//! Blocks lie in the order of the ranks, so where an algorithm works on many blocks at once they
//! are copied into the order of the places before, or out of it afterwards.

use std::sync::OnceLock;

use laneway_core::{Blocks, Buf, Collective, Layout, Matrix, Rank, Round, Schedule, Shape, Span};
use laneway_core::{Step, span};

use crate::registry::{Algorithm, Params, Refusal};

/// The algorithm's schedule with rank r in place `places[r]`.
pub fn permuted(
    algorithm: &Algorithm,
    shape: &Shape,
    params: &Params,
    places: &[u32],
) -> Result<Box<dyn Schedule>, Refusal> {
    shape.validate().map_err(|bad| Refusal(bad.0))?;
    let mut ranks = vec![Rank::MAX; shape.ranks as usize];
    for (rank, &place) in places.iter().enumerate() {
        match ranks.get_mut(place as usize) {
            Some(free) if *free == Rank::MAX => *free = rank as Rank,
            _ => return Err(Refusal(format!("place {place} is taken twice or does not exist"))),
        }
    }
    if places.len() != ranks.len() {
        return Err(Refusal(format!("{} places for {} ranks", places.len(), ranks.len())));
    }
    let family = shape.collective.family();
    let moved = places.iter().enumerate().any(|(rank, &place)| rank as u32 != place);
    let prefixes = matches!(family, Collective::Scan | Collective::Exscan);
    if moved && (prefixes || (family.reduces() && !shape.commutative)) {
        return Err(Refusal("the order of the ranks is part of the result".into()));
    }
    let mut inner_shape = shape.clone();
    inner_shape.root = places[shape.root as usize];
    inner_shape.layout = permuted_layout(shape, &ranks);
    // Where blocks are moved, the algorithm works on copies.
    inner_shape.in_place &= matches!(shape.layout, Layout::Vector(_));
    let inner = algorithm.schedule(&inner_shape, params)?;
    let (shape, places) = (shape.clone(), places.to_vec());
    let bases = ranks.iter().map(|_| OnceLock::new()).collect();
    Ok(Box::new(Permuted { inner, inner_shape, shape, places, ranks, bases }))
}

fn permuted_layout(shape: &Shape, ranks: &[Rank]) -> Layout {
    let at = |place: u32| ranks[place as usize];
    match &shape.layout {
        Layout::Blocks(Blocks::At(_)) => {
            let blocks = shape.blocks();
            let lengths: Vec<u64> = ranks.iter().map(|&rank| blocks.len(rank)).collect();
            let blocks = Blocks::of_lengths(&lengths);
            Layout::Blocks(blocks.expect("a sum that did not overflow in another order"))
        }
        Layout::Matrix(matrix @ Matrix::Each(_)) => {
            let lengths = |s, d| matrix.len(at(s), at(d));
            let matrix = Matrix::of_lengths(shape.ranks, lengths);
            Layout::Matrix(matrix.expect("sums that did not overflow in another order"))
        }
        equal => equal.clone(),
    }
}

struct Permuted {
    inner: Box<dyn Schedule>,
    inner_shape: Shape,
    shape: Shape,
    /// By rank.
    places: Vec<u32>,
    /// By place.
    ranks: Vec<Rank>,
    /// For each rank, see [`Permuted::bases`].
    bases: Vec<OnceLock<(u64, u64)>>,
}

impl Permuted {
    /// Whether `rank` needs its In, and its Out, in the order of the places.
    fn moves(&self, rank: Rank) -> (bool, bool) {
        let root = rank == self.shape.root;
        match self.shape.collective.family() {
            Collective::Scatter => (root, false),
            Collective::Gather => (false, root),
            Collective::Allgather => (false, true),
            Collective::Alltoall => (true, true),
            Collective::ReduceScatter => (true, false),
            _ => (false, false),
        }
    }

    /// Where the reordered In and Out lie in scratch, behind the inner schedule's own.
    fn bases(&self, rank: Rank) -> (u64, u64) {
        // A schedule may have to be read for it.
        *self.bases[rank as usize].get_or_init(|| {
            let inner = self.inner.tmp_len(self.places[rank as usize]);
            let input = if self.moves(rank).0 { self.shape.in_len(rank) } else { 0 };
            (inner, inner + input)
        })
    }

    fn mapped(&self, rank: Rank, s: Span) -> Span {
        let (input, output) = self.bases(rank);
        match (s.buf, self.moves(rank)) {
            (Buf::In, (true, _)) => span(Buf::Tmp, input + s.off, s.len),
            (Buf::Out, (_, true)) => span(Buf::Tmp, output + s.off, s.len),
            _ => s,
        }
    }

    /// Block `place` of `rank`'s buffer: where the caller has it, and where the algorithm wants it.
    fn block(&self, rank: Rank, buf: Buf, place: u32) -> (Span, Span) {
        let (other, here) = (self.ranks[place as usize], self.places[rank as usize]);
        match (&self.shape.layout, buf) {
            (Layout::Matrix(m), Buf::In) => {
                (m.sent(rank, other), self.inner_shape.matrix().sent(here, place))
            }
            (Layout::Matrix(m), _) => {
                (m.received(other, rank), self.inner_shape.matrix().received(place, here))
            }
            _ => {
                let (outer, inner) = (self.shape.blocks(), self.inner_shape.blocks());
                (outer.block(buf, other), inner.block(buf, place))
            }
        }
    }

    fn shift(&self, rank: Rank) -> u64 {
        u64::from(self.moves(rank).0)
    }
}

impl Schedule for Permuted {
    fn ranks(&self) -> u32 {
        self.shape.ranks
    }

    fn lanes(&self, rank: Rank) -> u32 {
        self.inner.lanes(self.places[rank as usize])
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        let output = if self.moves(rank).1 { self.shape.out_len(rank) } else { 0 };
        self.bases(rank).1 + output
    }

    fn rounds(&self, rank: Rank, lane: u32) -> u64 {
        let last = u64::from(lane == 0 && self.moves(rank).1);
        self.shift(rank) + self.inner.rounds(self.places[rank as usize], lane) + last
    }

    fn round(&self, rank: Rank, lane: u32, k: u64, out: &mut Round) {
        let (place, shift) = (self.places[rank as usize], self.shift(rank));
        if k < shift {
            if lane > 0 {
                return out.after(0, 0);
            }
            for block in 0..self.shape.ranks {
                let (from, to) = self.block(rank, Buf::In, block);
                out.copy(from, self.mapped(rank, to));
            }
            return;
        }
        if k - shift == self.inner.rounds(place, lane) {
            for other in 0..self.lanes(rank) {
                let rounds = shift + self.inner.rounds(place, other);
                if rounds > 0 {
                    out.after(other, rounds - 1);
                }
            }
            for block in 0..self.shape.ranks {
                let (to, from) = self.block(rank, Buf::Out, block);
                out.copy(self.mapped(rank, from), to);
            }
            return;
        }
        let before = out.steps.len();
        self.inner.round(place, lane, k - shift, out);
        for step in &mut out.steps[before..] {
            match step {
                Step::Send { to: peer, span, .. } | Step::Recv { from: peer, span, .. } => {
                    *peer = self.ranks[*peer as usize];
                    *span = self.mapped(rank, *span);
                }
                Step::Copy { from, to: into } | Step::Reduce { from, into, .. } => {
                    *from = self.mapped(rank, *from);
                    *into = self.mapped(rank, *into);
                }
                Step::After { round, .. } => *round += shift,
                Step::AtMost { .. } => {}
            }
        }
    }
}
