//! Gather along a tree of sites: a rank takes the blocks of its subtree and passes them on when it
//! has them all. All begin at once, and only parents wait.

use laneway_core::{Blocks, Buf, Rank, Span, span};

use super::tree::{SiteTree, bytes, runs};
use crate::script::{Lane, Script};

pub struct TreeGather {
    pub tree: SiteTree,
    pub blocks: Blocks,
    /// Whether a helper beside the root sends its own block at once, or with what it passes on.
    pub own_at_once: bool,
}

impl TreeGather {
    /// Whether a rank's own block goes ahead of what it passes on.
    fn goes_ahead(&self, rank: Rank) -> bool {
        let beside = self.tree.parent(rank) == Some(self.tree.root);
        self.own_at_once && beside && !self.tree.children(rank).is_empty()
    }

    /// The ranks whose blocks a rank sends to its parent in each message, in order: to the root
    /// those that lie side by side there, to a relay all of them.
    fn messages(&self, rank: Rank) -> Vec<&[Rank]> {
        let below = self.tree.subtree(rank);
        if self.tree.parent(rank) != Some(self.tree.root) {
            return vec![below];
        }
        let (ahead, after) = below.split_at(usize::from(self.goes_ahead(rank)));
        let ahead = (!ahead.is_empty()).then_some(ahead);
        ahead.into_iter().chain(runs(after)).collect()
    }

    fn send(&self, rank: Rank, parent: Rank, lane: &mut Lane) {
        let mut messages = self.messages(rank).into_iter();
        let own = span(Buf::In, 0, self.blocks.len(rank));
        if self.tree.children(rank).is_empty() {
            return lane.round().send(parent, own);
        }
        let mut off = 0;
        let out = lane.round();
        if self.goes_ahead(rank) {
            out.send(parent, own);
            off = bytes(&self.blocks, messages.next().unwrap_or_default());
        } else {
            out.copy(own, span(Buf::Tmp, 0, own.len));
        }
        for child in self.tree.children(rank) {
            out.recv(*child, self.kept(rank, *child));
        }
        out.drain();
        let out = lane.round();
        for message in messages {
            let len = bytes(&self.blocks, message);
            out.send(parent, span(Buf::Tmp, off, len));
            off += len;
        }
    }

    /// Where a relay keeps what a child sends.
    fn kept(&self, rank: Rank, child: Rank) -> Span {
        let ranks = self.tree.subtree(rank);
        let first = ranks.iter().position(|one| *one == child).unwrap_or(0);
        let below = self.tree.subtree(child);
        span(Buf::Tmp, bytes(&self.blocks, &ranks[..first]), bytes(&self.blocks, below))
    }
}

impl Script for TreeGather {
    fn ranks(&self) -> u32 {
        self.tree.ranks()
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        self.tree.scratch(&self.blocks, rank)
    }

    fn lanes(&self, rank: Rank) -> Vec<Lane> {
        let mut lane = Lane::default();
        if let Some(parent) = self.tree.parent(rank) {
            self.send(rank, parent, &mut lane);
            return vec![lane];
        }
        let own = self.blocks.block(Buf::Out, rank);
        lane.round().copy(span(Buf::In, 0, own.len), own);
        let out = lane.round();
        for &child in self.tree.children(rank) {
            for message in self.messages(child) {
                let last = message[message.len() - 1];
                out.recv(child, self.blocks.span(Buf::Out, message[0], last + 1));
            }
        }
        vec![lane]
    }
}
