//! Reduce: the ranks' vectors are joined at the root. The tree algorithms share one schedule.

pub mod binary;
pub mod binomial;
pub mod chain;
pub mod in_order_binary;
pub mod knomial;
pub mod linear;
pub mod pipeline;
pub mod rabenseifner;
pub mod site_lanes;

use laneway_core::{Buf, Rank, Round, Schedule, Shape, Span, span};

use crate::climb::Climb;
use crate::even::whole_elements;
use crate::place::Circle;
use crate::registry::Algorithm;
use crate::shift::down;

pub static ALGORITHMS: &[&Algorithm] = &[
    &linear::ALGORITHM,
    &chain::ALGORITHM,
    &pipeline::ALGORITHM,
    &binary::ALGORITHM,
    &in_order_binary::ALGORITHM,
    &binomial::ALGORITHM,
    &knomial::ALGORITHM,
    &rabenseifner::ALGORITHM,
    &site_lanes::ALGORITHM,
];

/// Up a tree, segment by segment: lane 0 receives, lane 1 joins, lane 2 sends up.
///
/// A node receives its first child's segment where it will join: the root in Out, others in
/// scratch. So In is joined where it lies, and nothing is ever copied. Where the order of the ranks
/// counts, places are ranks, and if the tree's top is not the root, it sends the result on to the
/// root as to a parent; the root receives it in lane 3.
pub struct TreeReduce<T> {
    circle: Circle,
    tree: T,
    root: Rank,
    vector: u64,
    segment: u64,
    window: u64,
    in_place: bool,
}

/// What a rank is in the tree.
struct Node {
    place: u32,
    children: u64,
    /// Where the result goes; none at the root, if it is the top.
    up: Option<Rank>,
    /// Children of each segment that are received where they are joined: 1, or 0 where the caller's
    /// vector is there already.
    first: u64,
    /// Segments that can wait to be sent up.
    sums: u64,
    /// Other children's segments that can wait to be joined.
    slots: u64,
}

impl<T: Climb> TreeReduce<T> {
    /// `segment` 0 sends the vector whole; `window` bounds the segments under way each way.
    pub fn new(shape: &Shape, tree: T, segment: u64, window: u32) -> TreeReduce<T> {
        let (ranks, root, vector) = (shape.ranks, shape.root, shape.vector());
        let segment = if segment == 0 { vector } else { segment };
        let segment = whole_elements(shape, segment, vector);
        // Two windows of scratch lie within the range of offsets.
        let window = u64::from(window).min((1 << 61) / segment).max(1);
        // The top's place is at the root where order does not count.
        let first = if shape.commutative { down(ranks, root, tree.top()) } else { 0 };
        let circle = Circle { ranks, root: first };
        TreeReduce { circle, tree, root, vector, segment, window, in_place: shape.in_place }
    }

    fn top(&self) -> Rank {
        self.circle.rank(self.tree.top())
    }

    fn segments(&self) -> u64 {
        self.vector.div_ceil(self.segment)
    }

    fn node(&self, rank: Rank) -> Node {
        let place = self.circle.place(rank);
        let children = u64::from(self.tree.child_count(place));
        let up = match self.tree.parent(place) {
            Some(parent) => Some(self.circle.rank(parent)),
            None => (rank != self.root).then_some(self.root),
        };
        let first = u64::from(up.is_some() || !self.in_place);
        let sums = if up.is_some() && children > 0 { self.window.min(self.segments()) } else { 0 };
        let others = self.segments().saturating_mul(children.saturating_sub(first));
        Node { place, children, up, first, sums, slots: self.window.min(others) }
    }

    fn piece(&self, buf: Buf, k: u64) -> Span {
        span(buf, 0, self.vector).piece(k, self.segment)
    }

    /// Where segment `k` is joined.
    fn sum(&self, node: &Node, k: u64) -> Span {
        let out = self.piece(Buf::Out, k);
        match node.up {
            None => out,
            Some(_) => span(Buf::Tmp, k % node.sums * self.segment, out.len),
        }
    }

    /// Where number `j` of the segments that are not received where they are joined waits.
    fn slot(&self, node: &Node, j: u64, len: u64) -> Span {
        span(Buf::Tmp, (node.sums + j % node.slots) * self.segment, len)
    }

    fn receive(&self, node: &Node, n: u64, out: &mut Round) {
        let (k, i) = (n / node.children, n % node.children);
        let from = self.circle.rank(self.tree.child(node.place, i as u32));
        let sum = self.sum(node, k);
        if i < node.first {
            match node.up {
                None => out.recv_window(self.window as u32),
                Some(_) if k >= node.sums => out.after(2, k - node.sums),
                Some(_) => {}
            }
            return out.recv(from, sum);
        }
        let others = node.children - node.first;
        let j = k * others + i - node.first;
        if j >= node.slots {
            let freed = j - node.slots;
            let (segment, child) = (freed / others, freed % others + node.first);
            // Once a segment's sum is sent, its slots are known to be free.
            if node.up.is_none() || segment + node.sums > k {
                out.after(1, segment * node.children + child);
            }
        }
        out.recv(from, self.slot(node, j, sum.len));
    }

    fn join(&self, node: &Node, n: u64, out: &mut Round) {
        if node.children == 0 {
            return out.copy(span(Buf::In, 0, self.vector), span(Buf::Out, 0, self.vector));
        }
        let (k, i) = (n / node.children, n % node.children);
        let lower = self.tree.child(node.place, i as u32) < node.place;
        let sum = self.sum(node, k);
        out.after(0, n);
        if i < node.first {
            out.reduce(self.piece(Buf::In, k), sum, !lower);
        } else {
            let j = k * (node.children - node.first) + i - node.first;
            out.reduce(self.slot(node, j, sum.len), sum, lower);
        }
    }

    fn send_up(&self, node: &Node, up: Rank, k: u64, out: &mut Round) {
        if node.children == 0 {
            out.send_window(self.window as u32);
            out.send(up, self.piece(Buf::In, k));
        } else {
            out.after(1, (k + 1) * node.children - 1);
            out.send(up, self.sum(node, k));
        }
    }
}

impl<T: Climb> Schedule for TreeReduce<T> {
    fn ranks(&self) -> u32 {
        self.circle.ranks
    }

    fn lanes(&self, rank: Rank) -> u32 {
        if rank == self.root && rank != self.top() { 4 } else { 3 }
    }

    fn rounds(&self, rank: Rank, lane: u32) -> u64 {
        let node = self.node(rank);
        match lane {
            1 if node.children == 0 && node.up.is_none() => u64::from(!self.in_place),
            0 | 1 => self.segments() * node.children,
            2 if node.up.is_none() => 0,
            _ => self.segments(),
        }
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        let node = self.node(rank);
        (node.sums + node.slots) * self.segment
    }

    fn round(&self, rank: Rank, lane: u32, k: u64, out: &mut Round) {
        let node = self.node(rank);
        match (lane, node.up) {
            (0, _) => self.receive(&node, k, out),
            (1, _) => self.join(&node, k, out),
            (2, Some(up)) => self.send_up(&node, up, k, out),
            (2, None) => {}
            _ => {
                if self.in_place {
                    out.after(2, k);
                }
                out.recv_window(self.window as u32);
                out.recv(self.top(), self.piece(Buf::Out, k));
            }
        }
    }
}
