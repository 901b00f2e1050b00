//! Flows over shared links, and a clock that jumps from one event to the next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use laneway_path::{Nanos, PathId};
use laneway_stats::SplitMix64;

use super::cubic::Cubic;
use super::flow::Flow;
use super::link::{Carried, Link};

pub const US: Nanos = 1_000;
pub const MS: Nanos = 1_000_000;

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Packet { flow: usize, side: usize, path: u8, marked: bool, bytes: Vec<u8> },
    Timeout { flow: usize, side: usize },
    CubicAck { lost: bool },
}

pub struct Net {
    pub now: Nanos,
    random: SplitMix64,
    /// By path: towards the receivers, and back.
    pub links: Vec<[Link; 2]>,
    pub flows: Vec<Flow>,
    /// A flow that shares the links of the first path.
    pub cubic: Option<Cubic>,
    due: BinaryHeap<Reverse<(Nanos, u64, Due)>>,
    number: u64,
    spare: Vec<Vec<u8>>,
}

impl Net {
    pub fn new(links: Vec<[Link; 2]>, flows: Vec<Flow>) -> Net {
        let random = SplitMix64::new(5);
        let (due, spare) = (BinaryHeap::new(), Vec::new());
        Net { now: 0, random, links, flows, cubic: None, due, number: 0, spare }
    }

    /// One flow over a path of this rate and round trip; a second path is plain.
    pub fn single(gbits: f64, trip: Nanos, longest_queue: Nanos, paths: u8) -> Net {
        let back = |delay| Link::new(100.0, delay, 100 * MS);
        let first = [Link::new(gbits, trip / 2, longest_queue), back(trip / 2)];
        let second = [Link::new(1.0, 50 * US, 10 * MS), back(50 * US)];
        let mut net = Net::new(vec![first, second], vec![Flow::new(paths, 64 << 10)]);
        net.pass(10 * MS);
        net
    }

    /// The round trip of the first path changes.
    pub fn reroute(&mut self, trip: Nanos) {
        self.links[0].iter_mut().for_each(|link| link.delay = trip / 2);
    }

    /// Has a flow send, with this number of messages in its queue.
    pub fn send(&mut self, flow: usize, messages: usize) {
        self.flows[flow].send(self.now, messages);
        self.look(flow, 0);
    }

    /// The part of the first link's rate at which messages of a flow arrive during this time.
    pub fn rate(&mut self, flow: usize, time: Nanos) -> f64 {
        let before = self.flows[flow].received_bytes;
        self.pass(time);
        let bytes = self.flows[flow].received_bytes - before;
        bytes as f64 * 8.0 / time as f64 / self.links[0][0].gbits()
    }

    /// Lets so much time pass.
    pub fn pass(&mut self, time: Nanos) {
        let until = self.now + time;
        if self.number == 0 {
            (0..self.flows.len()).for_each(|flow| (0..2).for_each(|side| self.look(flow, side)));
        }
        while self.due.peek().is_some_and(|Reverse((at, ..))| *at <= until) {
            let Some(Reverse((at, _, due))) = self.due.pop() else { break };
            self.now = at;
            match due {
                Due::Packet { flow, side, path, marked, bytes } => {
                    let connection = &mut self.flows[flow].ends[side];
                    if marked {
                        connection.on_mark(PathId(path));
                    }
                    connection.on_packet(at, PathId(path), &bytes);
                    self.spare.push(bytes);
                    self.look(flow, side);
                }
                Due::Timeout { flow, side } => {
                    if self.flows[flow].looks_at[side] == Some(at) {
                        self.flows[flow].looks_at[side] = None;
                        self.look(flow, side);
                    }
                }
                Due::CubicAck { lost } => {
                    if let Some(cubic) = &mut self.cubic {
                        cubic.on_ack(at, lost);
                    }
                    self.send_cubic();
                }
            }
        }
        self.now = until;
    }

    /// An end does all that it can do now.
    fn look(&mut self, flow: usize, side: usize) {
        let now = self.now;
        let connection = &mut self.flows[flow].ends[side];
        if connection.next_timeout().is_some_and(|at| at <= now) {
            connection.on_timeout(now);
        }
        self.flows[flow].take_events(now, side);
        loop {
            let mut bytes = self.spare.pop().unwrap_or_default();
            bytes.clear();
            let left = self.flows[flow].ends[side].poll_transmit(now, &mut bytes);
            let Some(PathId(path)) = left else { break self.spare.push(bytes) };
            let link = &mut self.links[usize::from(path)][side];
            if let Carried::Arrives { at, marked } = link.carry(now, bytes.len(), &mut self.random)
            {
                self.push(at, Due::Packet { flow, side: 1 - side, path, marked, bytes });
            }
        }
        let flow_state = &mut self.flows[flow];
        let next = flow_state.ends[side].next_timeout().map(|at| at.max(now + US));
        if let Some(at) = next.filter(|at| flow_state.looks_at[side].is_none_or(|then| *at < then))
        {
            flow_state.looks_at[side] = Some(at);
            self.push(at, Due::Timeout { flow, side });
        }
    }

    pub fn begin_cubic(&mut self) {
        self.cubic = Some(Cubic::new());
        self.send_cubic();
    }

    fn send_cubic(&mut self) {
        while let Some(cubic) = self.cubic.as_mut().filter(|cubic| cubic.may_send()) {
            let bytes = cubic.on_sent();
            let [link, back] = &mut self.links[0];
            let (at, lost) = match link.carry(self.now, bytes, &mut self.random) {
                Carried::Arrives { at, .. } => (at, false),
                Carried::Dropped { at } => (at, true),
            };
            let at = at + back.delay;
            self.push(at, Due::CubicAck { lost });
        }
    }

    fn push(&mut self, at: Nanos, due: Due) {
        self.number += 1;
        self.due.push(Reverse((at, self.number, due)));
    }
}
