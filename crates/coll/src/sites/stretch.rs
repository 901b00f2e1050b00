//! What crosses to a site, cut into pieces for each sender.
//!
//! The root takes the same part of every block, so that it has as many connections as it can use.
//! The rest is one line of bytes of which each helper gets a stretch: whole blocks would leave
//! helpers uneven, and a part of every block for each would make many short messages. A stretch
//! gives each its exact share, and cuts few blocks.

use laneway_core::{Blocks, Placement, Rank};

/// A part of one rank's block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub rank: Rank,
    /// Where it begins in the block.
    pub off: u64,
    pub len: u64,
}

/// Who sends from the root's site to others: the root itself first, then its helpers; and which
/// pieces, in the order in which the root gives them out.
#[derive(Clone, Debug)]
pub struct Stretches {
    pub senders: Vec<Rank>,
    pieces: Vec<Vec<Piece>>,
}

/// How the stretches are cut.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// Helpers beside the root; 0 for as many as there are.
    pub helpers: u32,
    /// Hundredths that the root sends itself.
    pub own: u64,
    /// The most bytes of a piece.
    pub segment: u64,
}

impl Stretches {
    pub fn new(placement: &Placement, root: Rank, blocks: &Blocks, cut: Stretch) -> Stretches {
        let mut senders = placement.neighbours(root);
        if cut.helpers > 0 {
            senders.truncate(cut.helpers as usize + 1);
        }
        let helpers = senders.len() - 1;
        let own = if helpers == 0 { 100 } else { cut.own };
        let cut = Stretch { own, helpers: helpers as u32, ..cut };
        let sites = placement.others(placement.location(root).site);
        let lines = sites.iter().map(|site| line(placement.members(*site), blocks, cut));
        let lines: Vec<Vec<Vec<Piece>>> = lines.collect();
        let pieces = (0..senders.len()).map(|sender| {
            // A connection leads to one rank: what is under way should lead to several.
            let of_ranks = lines.iter().flat_map(|line| line[sender].chunk_by(of_one_rank));
            alternating(&of_ranks.collect::<Vec<_>>())
        });
        let pieces = pieces.collect();
        Stretches { senders, pieces }
    }

    /// What a sender sends across, in order; nothing where it is none.
    pub fn of(&self, sender: Rank) -> &[Piece] {
        let at = self.senders.iter().position(|one| *one == sender);
        at.map_or(&[], |at| &self.pieces[at])
    }

    /// Every sender's pieces of one rank, in order.
    pub fn to(&self, rank: Rank) -> impl Iterator<Item = (Rank, Piece)> {
        self.senders.iter().zip(&self.pieces).flat_map(move |(sender, pieces)| {
            let own = pieces.iter().filter(move |piece| piece.rank == rank);
            own.map(|piece| (*sender, *piece))
        })
    }

    /// The helpers with the number of the piece that each is given, in the order of giving.
    pub fn given(&self) -> impl Iterator<Item = (Rank, usize)> {
        let most = self.pieces.iter().skip(1).map(Vec::len).max().unwrap_or(0);
        (0..most).flat_map(move |number| {
            let helpers = self.senders.iter().zip(&self.pieces).skip(1);
            let with = helpers.filter(move |(_, pieces)| number < pieces.len());
            with.map(move |(helper, _)| (*helper, number))
        })
    }
}

/// The blocks of some ranks: what the root sends of each, then the stretches of the helpers.
fn line(members: &[Rank], blocks: &Blocks, cut: Stretch) -> Vec<Vec<Piece>> {
    let helpers = cut.helpers as usize;
    let own = |rank: Rank| match helpers {
        0 => blocks.len(rank),
        _ => (u128::from(blocks.len(rank)) * u128::from(cut.own) / 100) as u64,
    };
    let total: u64 = members.iter().map(|rank| blocks.len(*rank) - own(*rank)).sum();
    let end = |helper: usize| match helper {
        0 => 0,
        _ => (u128::from(total) * helper as u128 / helpers as u128) as u64,
    };
    let mut stretches = vec![Vec::new(); helpers + 1];
    let (mut helper, mut done) = (0, 0);
    for &rank in members {
        let (mut off, len) = (0, blocks.len(rank));
        while off < len {
            let own = own(rank);
            // To the end of the segment, and of what this sender has of the block.
            let segment = (off / cut.segment + 1).saturating_mul(cut.segment) - off;
            let (sender, until) = if off < own {
                (0, own - off)
            } else {
                while done == end(helper) && helper < helpers {
                    helper += 1;
                }
                (helper, (len - off).min(end(helper) - done))
            };
            let piece = until.min(segment);
            stretches[sender].push(Piece { rank, off, len: piece });
            off += piece;
            done += if sender > 0 { piece } else { 0 };
        }
    }
    stretches
}

fn of_one_rank(one: &Piece, next: &Piece) -> bool {
    one.rank == next.rank
}

/// One of each list in turn, while there are any.
fn alternating(lists: &[&[Piece]]) -> Vec<Piece> {
    let most = lists.iter().map(|list| list.len()).max().unwrap_or(0);
    (0..most).flat_map(|at| lists.iter().filter_map(move |list| list.get(at).copied())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_core::Location;

    #[test]
    fn every_byte_that_crosses_is_in_one_piece() {
        let location = |host| Location { site: host % 3, host, wan_card: true };
        let placement = Placement::new((0..13).map(location).collect());
        let lengths: Vec<u64> = (0..13).map(|rank| [0, 7, 100, 3][rank % 4]).collect();
        let blocks = Blocks::of_lengths(&lengths).expect("short ones");
        for (helpers, own, segment) in [(0, 0, 9), (2, 50, 1), (1, 100, 1000), (3, 7, 40)] {
            let cut = Stretch { helpers, own, segment };
            let stretches = Stretches::new(&placement, 4, &blocks, cut);
            for rank in 0..13 {
                let mut pieces: Vec<Piece> = stretches.to(rank).map(|(_, piece)| piece).collect();
                pieces.sort_by_key(|piece| piece.off);
                let mut end = 0;
                for piece in &pieces {
                    assert_eq!(piece.off, end);
                    assert!((1..=segment).contains(&piece.len));
                    end += piece.len;
                }
                let far = placement.location(rank).site != placement.location(4).site;
                assert_eq!(end, if far { blocks.len(rank) } else { 0 });
            }
            let given = stretches.given().count();
            let of_helpers = stretches.senders[1..].iter().map(|rank| stretches.of(*rank).len());
            assert_eq!(given, of_helpers.sum::<usize>());
        }
    }
}
