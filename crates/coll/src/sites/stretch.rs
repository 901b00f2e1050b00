//! What crosses to a site, cut into pieces for each sender.
//!
//! The root takes the same part of every block, so that it has as many connections as it can use.
//! The rest is one line of bytes of which each helper gets a stretch: whole blocks would leave
//! helpers uneven, and a part of every block for each would make many short messages. A stretch
//! gives each its exact share, by the rate of its host, and cuts few blocks.

use std::collections::BTreeMap;

use laneway_core::{Blocks, Chan, Placement, Rank};

use super::tree::helpers;

/// A part of one rank's block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub rank: Rank,
    /// Where it begins in the block.
    pub off: u64,
    pub len: u64,
    /// The channel on which it crosses.
    pub chan: Chan,
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
    /// Thousandths that the root sends itself.
    pub own: u64,
    /// The most bytes of a piece.
    pub segment: u64,
    /// Parts of a block that go to helpers of their own, if there are as many.
    pub stripes: u64,
    /// Channels between two ranks.
    pub connections: u64,
}

impl Stretches {
    pub fn new(placement: &Placement, root: Rank, blocks: &Blocks, cut: Stretch) -> Stretches {
        let mut senders = helpers(placement, root);
        if cut.helpers > 0 {
            senders.truncate(cut.helpers as usize + 1);
        }
        let shares = shares(placement, &senders[1..]);
        let own = if shares.is_empty() { 1000 } else { cut.own };
        let cut = Stretch { own, helpers: shares.len() as u32, ..cut };
        let sites = placement.others(placement.location(root).site);
        let lines = sites.iter().map(|site| line(placement.members(*site), blocks, cut, &shares));
        let lines: Vec<Vec<Vec<Piece>>> = lines.collect();
        let pieces = (0..senders.len()).map(|sender| {
            let pieces = lines.iter().flat_map(|line| &line[sender]);
            on_channels(in_order_of_arrival(pieces), cut.connections)
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
///
/// A stripe of all blocks is a line of its own, and begins with another helper, so that the stripes
/// of a block go to different helpers.
fn line(members: &[Rank], blocks: &Blocks, cut: Stretch, shares: &[u64]) -> Vec<Vec<Piece>> {
    let helpers = cut.helpers as usize;
    let mut stretches = vec![Vec::new(); helpers + 1];
    let own = |rank: Rank| match helpers {
        0 => blocks.len(rank),
        _ => part(blocks.len(rank), cut.own, 1000),
    };
    for &rank in members {
        cut_up(Piece { rank, off: 0, len: own(rank), chan: 0 }, cut.segment, &mut stretches[0]);
    }
    if helpers == 0 {
        return stretches;
    }
    let total: u64 = members.iter().map(|rank| blocks.len(*rank) - own(*rank)).sum();
    let all: u64 = shares.iter().sum();
    let end = |helper: usize| part(total, shares[..helper].iter().sum(), all);
    let (mut helper, mut done) = (0, 0);
    let stripes = cut.stripes.clamp(1, helpers as u64);
    for (stripe, &rank) in (0..stripes).flat_map(|stripe| members.iter().map(move |r| (stripe, r)))
    {
        let (own, len) = (own(rank), blocks.len(rank));
        let mut off = own + part(len - own, stripe, stripes);
        let until = own + part(len - own, stripe + 1, stripes);
        while off < until {
            while done == end(helper) {
                helper += 1;
            }
            let len = (until - off).min(end(helper) - done);
            cut_up(Piece { rank, off, len, chan: 0 }, cut.segment, &mut stretches[helper]);
            done += len;
            off += len;
        }
    }
    stretches
}

/// What each helper takes of the rest, in thousandths of the fastest's, by the rates of its host.
fn shares(placement: &Placement, helpers: &[Rank]) -> Vec<u64> {
    let most = helpers.iter().map(|rank| placement.speed(*rank)).max().unwrap_or(1);
    let share = |rank: &Rank| part(1000, placement.speed(*rank), most.max(1)).max(1);
    helpers.iter().map(share).collect()
}

/// So many parts of all of them.
fn part(whole: u64, parts: u64, all: u64) -> u64 {
    (u128::from(whole) * u128::from(parts) / u128::from(all)) as u64
}

/// In equal pieces of at most a segment.
fn cut_up(whole: Piece, segment: u64, pieces: &mut Vec<Piece>) {
    let count = whole.len.div_ceil(segment);
    for number in 0..count {
        let (from, to) = (part(whole.len, number, count), part(whole.len, number + 1, count));
        pieces.push(Piece { off: whole.off + from, len: to - from, ..whole });
    }
}

/// A connection leads to one rank, and what is under way should lead to several. All of a sender's
/// connections are equally fast: a piece comes after what is before it on its own.
fn in_order_of_arrival<'a>(pieces: impl Iterator<Item = &'a Piece>) -> Vec<Piece> {
    let mut carried: BTreeMap<Rank, u64> = BTreeMap::new();
    let arrival = |piece: &Piece| {
        let carried = carried.entry(piece.rank).or_default();
        *carried += piece.len;
        (*carried, *piece)
    };
    let mut pieces: Vec<(u64, Piece)> = pieces.map(arrival).collect();
    pieces.sort_by_key(|(arrival, _)| *arrival);
    pieces.into_iter().map(|(_, piece)| piece).collect()
}

/// The pieces of two ranks on several channels, in turn.
fn on_channels(mut pieces: Vec<Piece>, connections: u64) -> Vec<Piece> {
    let mut before: BTreeMap<Rank, u64> = BTreeMap::new();
    for piece in &mut pieces {
        let before = before.entry(piece.rank).or_default();
        piece.chan = (*before % connections) as Chan;
        *before += 1;
    }
    pieces
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
        for (helpers, own, segment, stripes) in
            [(0, 0, 9, 1), (2, 500, 1, 2), (1, 1000, 1000, 9), (3, 70, 40, 3), (3, 0, 1000, 2)]
        {
            let cut = Stretch { helpers, own, segment, stripes, connections: 1 + stripes % 3 };
            let stretches = Stretches::new(&placement, 4, &blocks, cut);
            for rank in 0..13 {
                let mut pieces: Vec<(Rank, Piece)> = stretches.to(rank).collect();
                pieces.sort_by_key(|(_, piece)| piece.off);
                let mut end = 0;
                for (_, piece) in pieces {
                    assert_eq!(piece.off, end);

                    assert!(piece.len <= segment && piece.len > 0);
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

    #[test]
    fn a_slow_helper_takes_less_and_is_the_first_to_be_left_out() {
        let location = |host| Location { site: host / 4, host, wan_card: true };
        let placement = Placement::new((0..8).map(location).collect());
        let placement = placement.with_speeds(|rank| if rank == 1 { 250 } else { 1000 });
        let blocks = Blocks::of_lengths(&[900; 8]).expect("short ones");
        let cut = |helpers| Stretch { helpers, own: 0, segment: 10, stripes: 1, connections: 1 };
        let all = Stretches::new(&placement, 0, &blocks, cut(0));
        let bytes = |sender| all.of(sender).iter().map(|piece| piece.len).sum::<u64>();
        assert_eq!([0, 1, 2, 3].map(bytes), [0, 400, 1600, 1600]);
        let two = Stretches::new(&placement, 0, &blocks, cut(2));
        assert_eq!(two.senders, [0, 2, 3]);
    }
}
