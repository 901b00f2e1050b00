//! The all-to-all in place: ranks pair up and swap blocks through scratch.

use laneway_core::{Buf, Matrix, Phases, Rank, Round, Schedule, Shape, Span, span};

use crate::shift::up;

/// In round k, ranks whose sum is k (round the circle) are partners: a pairing, unlike the usual
/// shifts, so that a block leaves exactly when its successor comes.
struct Pairing {
    ranks: u32,
}

impl Phases for Pairing {
    fn count(&self) -> u64 {
        u64::from(self.ranks)
    }

    fn partner(&self, rank: Rank, phase: u64) -> Rank {
        up(self.ranks, phase as Rank, self.ranks - rank)
    }
}

/// At most `window` swaps under way, each with its slot of scratch.
pub struct Swaps {
    pairing: Pairing,
    matrix: Matrix,
    window: u64,
    /// The longest block of each rank, where they differ.
    longest: Vec<u64>,
}

impl Swaps {
    pub fn new(shape: &Shape, window: u32) -> Swaps {
        let (ranks, matrix) = (shape.ranks, shape.matrix());
        let longest = |rank| (0..ranks).map(|to| matrix.len(rank, to)).max().unwrap_or(0);
        let longest = match matrix {
            Matrix::Equal(_) => Vec::new(),
            Matrix::Each(_) => (0..ranks).map(longest).collect(),
        };
        let window = u64::from(window.clamp(1, ranks));
        Swaps { pairing: Pairing { ranks }, matrix, window, longest }
    }

    /// The scratch of swap `k`.
    fn slot(&self, rank: Rank, k: u64, len: u64) -> Span {
        span(Buf::Tmp, k % self.window * self.longest(rank), len)
    }

    fn longest(&self, rank: Rank) -> u64 {
        match self.matrix {
            Matrix::Equal(len) => len,
            Matrix::Each(_) => self.longest[rank as usize],
        }
    }
}

impl Schedule for Swaps {
    fn ranks(&self) -> u32 {
        self.pairing.ranks
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        self.pairing.count() + self.window
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        self.window * self.longest(rank)
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        if let Some(old) = k.checked_sub(self.window) {
            let partner = self.pairing.partner(rank, old);
            if partner != rank {
                // Both halves of the swap are over, so its slot can go where its block was.
                out.after(0, old);
                let place = self.matrix.received(partner, rank);
                out.copy(self.slot(rank, old, place.len), place);
            }
        }
        if k < self.pairing.count() {
            let partner = self.pairing.partner(rank, k);
            if partner != rank {
                let block = self.matrix.sent(rank, partner);
                out.recv(partner, self.slot(rank, k, block.len));
                out.send(partner, block);
            }
        }
    }

    fn phases(&self) -> Option<&dyn Phases> {
        Some(&self.pairing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check;
    use laneway_core::Collective;

    #[test]
    fn partners_agree_and_all_pairs_meet() {
        for ranks in 1..20 {
            let pairing = Pairing { ranks };
            for rank in 0..ranks {
                let mut met: Vec<Rank> =
                    (0..pairing.count()).map(|phase| pairing.partner(rank, phase)).collect();
                for (phase, partner) in met.iter().enumerate() {
                    assert_eq!(pairing.partner(*partner, phase as u64), rank);
                }
                met.sort_unstable();
                assert_eq!(met, (0..ranks).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn blocks_of_differing_lengths_are_swapped() {
        for ranks in 1..20 {
            let length = |s: Rank, d: Rank| u64::from((s + d) * 7 + s * d) % 40;
            let matrix = Matrix::of_lengths(ranks, length).expect("small lengths");
            let shape = Shape::new(Collective::Alltoallv, ranks, 0).with_matrix(matrix);
            let shape = shape.with_in_place(true);
            assert_eq!(shape.validate(), Ok(()));
            for window in [0, 1, 2, 5, 100] {
                if let Err(fault) = check(&shape, &Swaps::new(&shape, window)) {
                    panic!("{ranks} ranks, window {window}: {fault}");
                }
            }
        }
    }
}
