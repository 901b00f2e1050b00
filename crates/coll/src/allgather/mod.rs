//! Allgather and allgatherv: every rank gets every rank's block. All but the linear one pass on
//! what they received, and share one schedule. Every rank knows all lengths: the caller of
//! allgatherv has to name them.

pub mod bruck;
pub mod k_bruck;
pub mod linear;
pub mod neighbour;
pub mod recursive_doubling;
pub mod ring;
pub mod site_lanes;

use laneway_core::{Blocks, Buf, Phases, Rank, Round, Schedule, Shape, Span, span};

use crate::registry::Algorithm;

pub static ALGORITHMS: &[&Algorithm] = &[
    &linear::ALGORITHM,
    &ring::ALGORITHM,
    &neighbour::ALGORITHM,
    &recursive_doubling::ALGORITHM,
    &bruck::ALGORITHM,
    &k_bruck::ALGORITHM,
    &site_lanes::ALGORITHM,
];

/// Who passes what to whom. A block lies in Out where it belongs, at every rank, so that nothing is
/// moved twice and a receive can be posted before its round.
pub trait Exchange: Send + Sync {
    fn rounds(&self, rank: Rank) -> u64;

    fn recvs(&self, rank: Rank, k: u64, out: &mut Round);

    /// The own block alone goes from In, as [`own`] says; later it is in Out as well.
    fn sends(&self, rank: Rank, k: u64, out: &mut Round);

    /// Whether the sends of round `k > 0` hold something that round `k - 1` received.
    fn relays(&self, _rank: Rank, _k: u64) -> bool {
        true
    }

    fn phases(&self) -> Option<&dyn Phases> {
        None
    }
}

/// A rank's block as the caller brought it.
fn own(blocks: &Blocks, rank: Rank) -> Span {
    span(Buf::In, 0, blocks.len(rank))
}

/// Lane 0 receives, up to `window` messages ahead; lane 1 passes on what has arrived.
pub struct Relay<E> {
    ranks: u32,
    blocks: Blocks,
    window: u32,
    exchange: E,
}

impl<E: Exchange> Relay<E> {
    pub fn new(shape: &Shape, window: u32, exchange: E) -> Relay<E> {
        Relay { ranks: shape.ranks, blocks: shape.blocks(), window, exchange }
    }
}

impl<E: Exchange> Schedule for Relay<E> {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn lanes(&self, rank: Rank) -> u32 {
        // In a single round nothing is passed on.
        if self.exchange.rounds(rank) > 1 { 2 } else { 1 }
    }

    fn rounds(&self, rank: Rank, _lane: u32) -> u64 {
        // Even a rank alone copies its block.
        self.exchange.rounds(rank).max(1)
    }

    fn round(&self, rank: Rank, lane: u32, k: u64, out: &mut Round) {
        let rounds = self.exchange.rounds(rank);
        if lane == 0 && rounds > 0 {
            // Before the first round nothing is outstanding.
            if k > 0 {
                out.recv_window(self.window);
            }
            self.exchange.recvs(rank, k, out);
        }
        if lane == 0 && rounds > 1 {
            return;
        }
        if k < rounds {
            if k > 0 && self.exchange.relays(rank, k) {
                out.after(0, k - 1);
            }
            if k > 0 {
                out.send_window(self.window);
            }
            self.exchange.sends(rank, k, out);
        }
        if k == 0 {
            out.copy(own(&self.blocks, rank), self.blocks.block(Buf::Out, rank));
        }
    }

    fn phases(&self) -> Option<&dyn Phases> {
        self.exchange.phases()
    }
}
