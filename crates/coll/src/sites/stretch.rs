//! What crosses to a site, as one line of bytes that is cut into a stretch for each sender.
//!
//! Whole blocks would leave senders uneven, and a sender for a part of every block would make many
//! short messages. A stretch of a line gives each its exact share, and cuts few blocks.

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
        let helpers = senders.len() as u64 - 1;
        let own = if helpers == 0 { 100 } else { cut.own };
        // The root's share beside each helper's.
        let weights: Vec<u64> = match helpers {
            0 => vec![1],
            _ => (0..=helpers).map(|at| if at == 0 { own * helpers } else { 100 - own }).collect(),
        };
        let sites = placement.others(placement.location(root).site);
        let lines = sites.iter().map(|site| line(placement.members(*site), blocks, &weights, cut));
        let mut lines: Vec<Vec<Vec<Piece>>> = lines.collect();
        let pieces = (0..senders.len()).map(|sender| {
            let of_sites = lines.iter_mut().map(|line| std::mem::take(&mut line[sender]));
            alternating(of_sites.collect())
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

/// The blocks of some ranks, cut into stretches of these weights, and these into pieces.
fn line(members: &[Rank], blocks: &Blocks, weights: &[u64], cut: Stretch) -> Vec<Vec<Piece>> {
    let total: u64 = members.iter().map(|rank| blocks.len(*rank)).sum();
    let all: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    let mut sum = 0u128;
    let mut ends = weights.iter().map(|weight| {
        sum += u128::from(*weight);
        (u128::from(total) * sum / all.max(1)) as u64
    });
    let mut stretches = vec![Vec::new(); weights.len()];
    let (mut sender, mut end, mut done) = (0, ends.next().unwrap_or(total), 0);
    for &rank in members {
        let (mut off, len) = (0, blocks.len(rank));
        while off < len {
            while done == end && sender + 1 < weights.len() {
                sender += 1;
                end = ends.next().unwrap_or(total);
            }
            // To the end of the segment, the block or the stretch.
            let until = (off / cut.segment + 1).saturating_mul(cut.segment).min(len);
            let piece = (until - off).min(end - done);
            stretches[sender].push(Piece { rank, off, len: piece });
            off += piece;
            done += piece;
        }
    }
    stretches
}

/// One of each list in turn, while there are any.
fn alternating(lists: Vec<Vec<Piece>>) -> Vec<Piece> {
    let most = lists.iter().map(Vec::len).max().unwrap_or(0);
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
