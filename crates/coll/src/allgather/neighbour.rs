//! Neighbour exchange: a rank turns to the next and to the one before by turns, two blocks at a
//! time, which halves the rounds of a ring.

use laneway_core::{Blocks, Buf, Collective, Rank, Round};

use super::{Exchange, Relay, own};
use crate::registry::{Algorithm, Parameter, Refusal};
use crate::shift::{down, up};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Allgather,
    name: "neighbour",
    sentence: "exchanges with the two neighbours by turns, passing on two blocks at a time",
    source: "Chen et al. 2005; Open MPI tuned",
    parameters: &[(Parameter::Window, 4), Parameter::BY_RANK],
    build: |shape, params, _| {
        let ranks = shape.ranks;
        if ranks > 1 && ranks % 2 == 1 {
            return Err(Refusal(format!(
                "neighbours pair up only in an even number of ranks, not in {ranks}"
            )));
        }
        let exchange = Neighbours { ranks, blocks: shape.blocks() };
        Ok(Box::new(Relay::new(shape, params.window(), exchange)))
    },
    ..Algorithm::BASE
};

struct Neighbours {
    ranks: u32,
    blocks: Blocks,
}

impl Neighbours {
    /// Even ranks turn up in even rounds, odd ranks in odd ones.
    fn turns_up(rank: Rank, k: u64) -> bool {
        u64::from(rank) % 2 == k % 2
    }

    fn partner(&self, rank: Rank, k: u64) -> Rank {
        if Self::turns_up(rank, k) { up(self.ranks, rank, 1) } else { down(self.ranks, rank, 1) }
    }

    /// The first of the two blocks that a rank holds after round `k` as the newest. Blocks 2g and
    /// 2g + 1 always travel together; each turn reaches one such pair further.
    fn newest(&self, rank: Rank, k: u64) -> Rank {
        let (pairs, far) = (self.ranks / 2, k.div_ceil(2) as u32);
        let reach = if Self::turns_up(rank, k) { up } else { down };
        2 * reach(pairs, rank / 2, far)
    }
}

impl Exchange for Neighbours {
    fn rounds(&self, _rank: Rank) -> u64 {
        u64::from(self.ranks / 2)
    }

    fn recvs(&self, rank: Rank, k: u64, out: &mut Round) {
        let from = self.partner(rank, k);
        let first = self.newest(rank, k);
        match k {
            0 => out.recv(from, self.blocks.block(Buf::Out, from)),
            _ => out.recv(from, self.blocks.span(Buf::Out, first, first + 2)),
        }
    }

    fn sends(&self, rank: Rank, k: u64, out: &mut Round) {
        let to = self.partner(rank, k);
        if k == 0 {
            return out.send(to, own(&self.blocks, rank));
        }
        let first = self.newest(rank, k - 1);
        out.send(to, self.blocks.span(Buf::Out, first, first + 2));
    }
}
