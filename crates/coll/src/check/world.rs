//! The symbolic run: all ranks of a schedule, their messages matched in order, until nothing moves.

use std::rc::Rc;

use laneway_core::schedule::CHANNELS;
use laneway_core::{At, Buf, Chan, Collective, Port, Progress, Rank, Run, Schedule, Shape};
use laneway_core::{Slot, Span, Step};

use super::memory::{Memory, Value};
use super::order::{Access, Heard, Kind, Order};
use super::terms::Terms;
use super::{Fault, Proof, Semantics};
use crate::definition::definition;

/// One end of a transfer that waits for the other.
struct Waiting {
    from: Rank,
    chan: Chan,
    slot: Slot,
    access: Access,
    span: Span,
    /// A send's contents, and whom its sender had heard of; none for a receive.
    sent: Option<(Vec<(u64, Value)>, Heard)>,
}

struct World<'a> {
    shape: &'a Shape,
    semantics: Semantics,
    terms: Terms,
    memories: Vec<Memory>,
    orders: Vec<Order>,
    /// By destination.
    waiting: Vec<Vec<Waiting>>,
    /// By rank: which lane uses which end of which channel, where a rank has several lanes.
    ends: Vec<Vec<(Rank, Chan, bool, u32)>>,
    lanes: Vec<u32>,
    /// Transfers that are complete and whose ranks were not notified yet.
    over: Vec<(Rank, Slot)>,
    proof: Proof,
    from_holds: Vec<(u64, Value)>,
    into_holds: Vec<(u64, Value)>,
    holds: Vec<(u64, Value)>,
}

/// The world as one rank's run sees it.
struct RankPort<'w, 'a> {
    world: &'w mut World<'a>,
    rank: Rank,
}

pub fn run(shape: &Shape, schedule: &dyn Schedule, semantics: Semantics) -> Result<Proof, Fault> {
    let ranks = shape.ranks;
    let mut world = World::new(shape, schedule, semantics);
    let mut runs: Vec<Run<'_, dyn Schedule + '_>> =
        (0..ranks).map(|rank| Run::new(schedule, rank)).collect();
    let mut ready: Vec<Rank> = (0..ranks).rev().collect();
    while let Some(rank) = ready.pop() {
        runs[rank as usize].poll(&mut RankPort { world: &mut world, rank })?;
        for (rank, slot) in world.over.drain(..) {
            runs[rank as usize].done(slot);
            if ready.last() != Some(&rank) {
                ready.push(rank);
            }
        }
    }
    world.conclude(&runs)
}

impl<'a> World<'a> {
    fn new(shape: &'a Shape, schedule: &dyn Schedule, semantics: Semantics) -> World<'a> {
        let ranks = 0..shape.ranks;
        let listens = shape.collective == Collective::Barrier;
        let own = |rank: Rank| -> Heard {
            let mut set = vec![0; if listens { shape.ranks.div_ceil(64) as usize } else { 0 }];
            if let Some(word) = set.get_mut(rank as usize / 64) {
                *word = 1u64 << (rank % 64);
            }
            Rc::new(set)
        };
        let lanes: Vec<u32> = ranks.clone().map(|rank| schedule.lanes(rank)).collect();
        World {
            shape,
            semantics,
            terms: Terms::new(shape.ranks, shape.commutative),
            memories: ranks.clone().map(|rank| memory(shape, schedule, rank)).collect(),
            orders: ranks
                .clone()
                .map(|rank| Order::new(lanes[rank as usize], own(rank), listens))
                .collect(),
            waiting: ranks.clone().map(|_| Vec::new()).collect(),
            ends: ranks.map(|_| Vec::new()).collect(),
            lanes,
            over: Vec::new(),
            proof: Proof::default(),
            from_holds: Vec::new(),
            into_holds: Vec::new(),
            holds: Vec::new(),
        }
    }

    /// Nothing moves any more: are all ranks done, all messages matched, the result right?
    fn conclude(mut self, runs: &[Run<'_, dyn Schedule + '_>]) -> Result<Proof, Fault> {
        let stuck: Vec<(Rank, u32, u64)> = runs
            .iter()
            .enumerate()
            .filter(|(_, run)| !run.finished())
            .flat_map(|(rank, run)| {
                run.blocked().map(move |(lane, round, _)| (rank as Rank, lane, round))
            })
            .collect();
        if let Some((to, end)) =
            self.waiting.iter().enumerate().find_map(|(to, ends)| Some((to, ends.first()?)))
            && (stuck.is_empty() || end.sent.is_some())
        {
            let (from, chan, is_send) = (end.from, end.chan, end.sent.is_some());
            return Err(Fault::Unmatched { from, to: to as Rank, chan, is_send });
        }
        if !stuck.is_empty() {
            return Err(Fault::Deadlock { stuck });
        }
        for rank in 0..self.shape.ranks {
            for piece in definition(self.shape, rank) {
                let term = self.terms.range(piece.ranks.start, piece.ranks.end);
                let value = Value { term, off: piece.off };
                self.memories[rank as usize].expect(&self.terms, piece.at, piece.len, value)?;
            }
            self.heard_of_all(rank)?;
        }
        Ok(self.proof)
    }

    fn heard_of_all(&self, rank: Rank) -> Result<(), Fault> {
        if self.shape.collective != Collective::Barrier {
            return Ok(());
        }
        let heard = self.orders[rank as usize].heard_in_the_end();
        match (0..self.shape.ranks).find(|of| heard[*of as usize / 64] >> (of % 64) & 1 == 0) {
            Some(of) => Err(Fault::Unheard { rank, of }),
            None => Ok(()),
        }
    }

    /// A send and its receive have met.
    fn deliver(&mut self, to: Rank, send: Waiting, recv: Waiting) -> Result<(), Fault> {
        let (sent, received) = (send.span.len, recv.span.len);
        if sent != received {
            return Err(Fault::Length { from: send.from, to, sent, received });
        }
        if let Some((holds, heard)) = send.sent {
            self.memories[to as usize].fill(recv.span, &holds);
            self.orders[to as usize].arrived(recv.access, heard);
        }
        self.proof.messages += 1;
        if self.semantics == Semantics::Rendezvous {
            self.over.push((send.from, send.slot));
        }
        self.over.push((to, recv.slot));
        Ok(())
    }
}

/// What the caller brings: In, and the Out of a broadcast's root.
fn memory(shape: &Shape, schedule: &dyn Schedule, rank: Rank) -> Memory {
    let mut memory = Memory::new(shape, rank, schedule.tmp_len(rank));
    let value = Value { term: Terms::of(rank), off: 0 };
    if shape.collective == Collective::Bcast {
        if rank == shape.root {
            memory.set(Buf::Out, value);
        }
    } else {
        memory.set(Buf::In, value);
    }
    memory
}

impl RankPort<'_, '_> {
    fn spans_fit(&self, step: &Step, spans: &[Span]) -> Result<(), Fault> {
        let memory = &self.world.memories[self.rank as usize];
        let why = if spans.iter().any(|span| !memory.contains(*span)) {
            "a span lies outside its buffer"
        } else if spans.windows(2).any(|w| w[0].len != w[1].len) {
            "the spans differ in length"
        } else {
            return Ok(());
        };
        Err(Fault::Span { rank: self.rank, step: *step, why })
    }

    fn local(&mut self, at: At, step: &Step) -> Result<(), Fault> {
        let (world, me) = (&mut *self.world, self.rank as usize);
        let access = world.orders[me].access(at.lane, at.round, Kind::Local);
        let (memory, order) = (&mut world.memories[me], &world.orders[me]);
        let (from, into) = match *step {
            Step::Copy { from, to } => (from, to),
            Step::Reduce { from, into, .. } => (from, into),
            _ => return Ok(()),
        };
        let (a, b) = (memory.physical(from), memory.physical(into));
        if a.buf == b.buf && a.off < b.end() && b.off < a.end() {
            // In place, a rank's own block is where it belongs already.
            if a == b && matches!(step, Step::Copy { .. }) {
                return Ok(());
            }
            let why = "the spans overlap";
            return Err(Fault::Span { rank: self.rank, step: *step, why });
        }
        world.from_holds.clear();
        memory.read(order, access, from, &mut world.from_holds)?;
        if let Step::Reduce { left, .. } = *step {
            world.into_holds.clear();
            world.holds.clear();
            memory.read(order, access, into, &mut world.into_holds)?;
            let both = (&world.from_holds[..], &world.into_holds[..]);
            Memory::join(&mut world.terms, self.rank, into, both, left, &mut world.holds)?;
        } else {
            std::mem::swap(&mut world.holds, &mut world.from_holds);
        }
        memory.write(order, access, into)?;
        memory.fill(into, &world.holds);
        Ok(())
    }

    /// Holds rule 2: one lane at each end of a channel.
    fn claim(&mut self, peer: Rank, chan: Chan, send: bool, lane: u32) -> Result<(), Fault> {
        let me = self.rank as usize;
        if self.world.lanes[me] == 1 {
            return Ok(());
        }
        let ends = &mut self.world.ends[me];
        match ends.iter().find(|end| (end.0, end.1, end.2) == (peer, chan, send)) {
            Some(end) if end.3 != lane => Err(Fault::Shared { rank: self.rank, peer, chan }),
            Some(_) => Ok(()),
            None => {
                ends.push((peer, chan, send, lane));
                Ok(())
            }
        }
    }

    fn transfer(&mut self, at: At, step: &Step) -> Result<Progress, Fault> {
        let (peer, chan, span, send) = match *step {
            Step::Send { to, chan, span } => (to, chan, span, true),
            Step::Recv { from, chan, span } => (from, chan, span, false),
            _ => return Ok(Progress::Done),
        };
        if peer >= self.world.shape.ranks || peer == self.rank || chan >= CHANNELS {
            return Err(Fault::Peer { rank: self.rank, step: *step });
        }
        self.spans_fit(step, &[span])?;
        self.claim(peer, chan, send, at.lane)?;
        let (world, me) = (&mut *self.world, self.rank as usize);
        let kind = if send { Kind::Send } else { Kind::Recv };
        let access = world.orders[me].access(at.lane, at.round, kind);
        let (memory, order) = (&mut world.memories[me], &world.orders[me]);
        let sent = if send {
            let mut holds = Vec::new();
            memory.read(order, access, span, &mut holds)?;
            Some((holds, order.heard(at.lane)))
        } else {
            memory.write(order, access, span)?;
            None
        };
        let (from, to) = if send { (self.rank, peer) } else { (peer, self.rank) };
        let own = Waiting { from, chan, slot: at.slot, access, span, sent };
        let waiting = &mut world.waiting[to as usize];
        let other = waiting.iter().position(|end| (end.from, end.chan) == (from, chan));
        match other.filter(|&index| waiting[index].sent.is_some() != send) {
            Some(index) => {
                let other = waiting.remove(index);
                if send { world.deliver(to, own, other)? } else { world.deliver(to, other, own)? }
            }
            None => waiting.push(own),
        }
        let over_at_once = send && world.semantics == Semantics::Eager;
        Ok(if over_at_once { Progress::Done } else { Progress::Pending })
    }
}

impl Port for RankPort<'_, '_> {
    type Error = Fault;

    fn start(&mut self, at: At, step: &Step) -> Result<Progress, Fault> {
        self.world.proof.steps += 1;
        match *step {
            Step::Copy { from, to: into } | Step::Reduce { from, into, .. } => {
                self.spans_fit(step, &[from, into])?;
                self.local(at, step)?;
                Ok(Progress::Done)
            }
            _ => self.transfer(at, step),
        }
    }

    fn passed(&mut self, lane: u32, gate: &Step) {
        self.world.proof.steps += 1;
        self.world.orders[self.rank as usize].passed(lane, gate);
    }

    fn issued(&mut self, lane: u32, _round: u64) {
        self.world.orders[self.rank as usize].issued(lane);
    }
}
