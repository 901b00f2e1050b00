//! Scatter along a tree of sites: a rank waits for all blocks of its subtree, then serves its
//! children in order. There is no other wait.

use laneway_core::{Blocks, Buf, Rank, Span, span};

use super::tree::{SiteTree, bytes, runs};
use crate::script::{Lane, Script};

pub struct TreeScatter {
    pub tree: SiteTree,
    pub blocks: Blocks,
    /// How many children a rank serves at the same time.
    pub window: u32,
}

impl TreeScatter {
    /// What a rank sends to a child: of the root's own blocks those that lie side by side at once,
    /// of a relay's scratch all of them.
    fn messages(&self, parent: Rank, child: Rank) -> Vec<Span> {
        let below = self.tree.subtree(child);
        if parent == self.tree.root {
            let run = |run: &[Rank]| self.blocks.span(Buf::In, run[0], run[run.len() - 1] + 1);
            return runs(below).map(run).filter(|span| span.len > 0).collect();
        }
        let ranks = self.tree.subtree(parent);
        let first = ranks.iter().position(|rank| *rank == child).unwrap_or(0);
        let message =
            span(Buf::Tmp, bytes(&self.blocks, &ranks[..first]), bytes(&self.blocks, below));
        if message.len > 0 { vec![message] } else { Vec::new() }
    }

    /// Receives what the parent sends, a relay into scratch; and where the own block is then.
    fn receive(&self, rank: Rank, parent: Rank, lane: &mut Lane) -> Span {
        let relays = !self.tree.children(rank).is_empty();
        let buf = if relays { Buf::Tmp } else { Buf::Out };
        let mut off = 0;
        let out = lane.round();
        for message in self.messages(parent, rank) {
            out.recv(parent, span(buf, off, message.len));
            off += message.len;
        }
        out.drain();
        span(buf, 0, self.blocks.len(rank))
    }
}

impl Script for TreeScatter {
    fn ranks(&self) -> u32 {
        self.tree.ranks()
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        self.tree.scratch(&self.blocks, rank)
    }

    fn lanes(&self, rank: Rank) -> Vec<Lane> {
        let mut lane = Lane::default();
        let own = match self.tree.parent(rank) {
            Some(parent) => self.receive(rank, parent, &mut lane),
            None => self.blocks.block(Buf::In, rank),
        };
        // Messages of the children before: only the last few of these children may be served yet.
        let mut before: Vec<u32> = Vec::new();
        for &child in self.tree.children(rank) {
            let messages = self.messages(rank, child);
            let others = (self.window as usize - 1).min(before.len());
            let out = lane.round();
            out.at_most(before[before.len() - others..].iter().sum(), u32::MAX);
            messages.iter().for_each(|message| out.send(child, *message));
            before.push(messages.len() as u32);
        }
        lane.round().copy(own, span(Buf::Out, 0, own.len));
        vec![lane]
    }
}
