//! What happens to packets, and when: loss, pacing, pipes, delay, without a clock or a socket.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use laneway_stats::SplitMix64;

use super::counters::{Counters, WayCounters};
use super::flow::{Connection, find_connection, find_payload};
use super::server::{Arrival, Server};
use super::{Count, Pipe, Wan, Way};

/// The emulated network and every packet in it. Times are nanoseconds and never go back.
///
/// A packet passes loss, the pacing of its connection, the pipes of its way in order, and the
/// delay. Packets that arrive at a pipe are served in the order of their arrival, over all ways.
#[derive(Debug)]
pub struct Engine {
    wan: Wan,
    now: u64,
    /// Of each way.
    states: Vec<State>,
    /// Those of the pipes, then those of connections.
    servers: Vec<Server>,
    /// The server of each paced connection of a way.
    flows: BTreeMap<(usize, Connection), usize>,
    /// Servers of connections that are over.
    free_servers: Vec<usize>,
    /// When to look next for connections that are over.
    most_flows: usize,
    packets: Vec<Packet>,
    free_packets: Vec<u32>,
    /// When servers end what they serve.
    ends: BinaryHeap<Reverse<(u64, u64, usize)>>,
    /// When packets leave the network.
    leaves: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// Of all ways.
    least_delay_ns: u64,
    /// Whether a packet in the network may have been sent on without its delay.
    may_overtake: bool,
    /// Tells events of the same time apart.
    sequence: u64,
    unrouted: Count,
    late_ns: u64,
    most_late_ns: u64,
}

#[derive(Debug)]
struct State {
    draws: SplitMix64,
    counters: WayCounters,
    /// When the last packet that did not overtake leaves: none may leave before.
    last_leaves_at: u64,
    /// How many connections have a server.
    flows: usize,
}

/// One packet in the network. Its memory is used again, and so is that of its bytes.
#[derive(Debug, Default)]
struct Packet {
    bytes: Vec<u8>,
    way: usize,
    next: Stage,
    overtakes: bool,
    /// Of the way's jitter.
    jitter_share: f64,
}

/// What a packet arrives at.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Flow(usize),
    /// One of the pipes of its way; the delay comes after the last.
    Pipe(usize),
}

impl Default for Stage {
    fn default() -> Stage {
        Stage::Pipe(0)
    }
}

/// The number of connections that are remembered before the first search for finished ones.
const FEW_FLOWS: usize = 1024;

impl Engine {
    /// Refuses a network that makes no sense.
    pub fn new(wan: Wan) -> Result<Engine, String> {
        wan.check()?;
        let mut seeds = SplitMix64::new(wan.seed);
        // Each way draws for itself, so that its packets' fate does not depend on other traffic.
        let state = |_| State {
            draws: SplitMix64::new(seeds.next_u64()),
            counters: WayCounters::default(),
            last_leaves_at: 0,
            flows: 0,
        };
        let mut engine = Engine {
            now: 0,
            states: (0..wan.ways.len()).map(state).collect(),
            servers: wan.pipes.iter().map(|_| Server::default()).collect(),
            flows: BTreeMap::new(),
            free_servers: Vec::new(),
            most_flows: FEW_FLOWS,
            packets: Vec::new(),
            free_packets: Vec::new(),
            ends: BinaryHeap::new(),
            leaves: BinaryHeap::new(),
            sequence: 0,
            unrouted: Count::default(),
            late_ns: 0,
            most_late_ns: 0,
            least_delay_ns: 0,
            may_overtake: false,
            wan,
        };
        engine.find_least_delay();
        Ok(engine)
    }

    /// A packet leaves its site.
    pub fn push(&mut self, now: u64, from: usize, to: usize, bytes: &[u8]) {
        self.advance(now);
        let Some(index) = self.wan.find_way(from, to) else {
            return self.unrouted.add(bytes.len());
        };
        let Some(way) = &self.wan.ways[index] else { return };
        let state = &mut self.states[index];
        state.counters.entered.add(bytes.len());
        let is_lost = state.draws.uniform() < way.loss;
        let is_twice = state.draws.uniform() < way.duplicate;
        if is_lost || way.down {
            return state.counters.lost.add(bytes.len());
        }
        if is_twice {
            state.counters.duplicated.add(bytes.len());
            self.enter(index, bytes);
        }
        self.enter(index, bytes);
    }

    /// No packet leaves before this time; `pop` may then have one, or not yet.
    pub fn next_at(&self) -> Option<u64> {
        // What a server ends is delayed after that, and need not be looked at in between.
        let delay_ns = if self.may_overtake { 0 } else { self.least_delay_ns };
        let end = self.ends.peek().map(|Reverse(end)| end.0.saturating_add(delay_ns));
        let leave = self.leaves.peek().map(|Reverse(leave)| leave.0);
        end.into_iter().chain(leave).min()
    }

    /// The next packet that has left the network: its bytes replace `out`, its site is returned.
    pub fn pop(&mut self, now: u64, out: &mut Vec<u8>) -> Option<usize> {
        self.advance(now);
        let &Reverse((at, _, id)) = self.leaves.peek()?;
        if at > self.now {
            return None;
        }
        self.leaves.pop();
        let late_ns = self.now - at;
        self.late_ns = self.late_ns.saturating_add(late_ns);
        self.most_late_ns = self.most_late_ns.max(late_ns);
        let packet = &mut self.packets[id as usize];
        let way = packet.way;
        std::mem::swap(&mut packet.bytes, out);
        self.free_packets.push(id);
        self.states[way].counters.left.add(out.len());
        Some(way % self.wan.sites)
    }

    /// Changes a way; what is already being served or delayed keeps its time. The pipes of a way
    /// stay as they are.
    pub fn set(
        &mut self,
        now: u64,
        from: usize,
        to: usize,
        change: impl FnOnce(&mut Way),
    ) -> Result<(), String> {
        self.advance(now);
        let none = || format!("there is no way from {from} to {to}");
        let index = self.wan.find_way(from, to).ok_or_else(none)?;
        let old = self.wan.ways[index].as_ref().ok_or_else(none)?;
        let mut way = old.clone();
        change(&mut way);
        if way.pipes != old.pipes {
            return Err("the pipes of a way cannot change".into());
        }
        way.check()?;
        self.wan.ways[index] = Some(way);
        self.find_least_delay();
        Ok(())
    }

    /// Changes a pipe; what is already being served keeps its time. Its name stays as it is.
    pub fn set_pipe(
        &mut self,
        now: u64,
        name: &str,
        change: impl FnOnce(&mut Pipe),
    ) -> Result<(), String> {
        self.advance(now);
        let found = self.wan.pipes.iter_mut().find(|pipe| pipe.name == name);
        let old = found.ok_or_else(|| format!("there is no pipe {name:?}"))?;
        let mut pipe = old.clone();
        change(&mut pipe);
        pipe.name.clone_from(&old.name);
        pipe.check()?;
        *old = pipe;
        Ok(())
    }

    /// The network as it is set now.
    pub fn wan(&self) -> &Wan {
        &self.wan
    }

    /// The least delay of all ways.
    pub fn least_delay_ns(&self) -> u64 {
        self.least_delay_ns
    }

    /// What became of the packets so far.
    pub fn counters(&self) -> Counters {
        Counters {
            ways: self.states.iter().map(|state| state.counters).collect(),
            pipes: self.servers[..self.wan.pipes.len()].iter().map(|pipe| pipe.counters).collect(),
            unrouted: self.unrouted,
            late_ns: self.late_ns,
            most_late_ns: self.most_late_ns,
        }
    }

    #[cfg(test)]
    pub(super) fn count_servers(&self) -> usize {
        self.servers.len()
    }

    #[cfg(test)]
    pub(super) fn count_packets(&self) -> usize {
        self.packets.len()
    }

    fn find_least_delay(&mut self) {
        let ways = || self.wan.ways.iter().flatten();
        self.may_overtake |= ways().any(|way| way.reorder > 0.0);
        self.least_delay_ns = ways().map(|way| to_ns(way.delay)).min().unwrap_or(0);
    }

    /// Lets every service end that is over by now, in the order of time.
    fn advance(&mut self, now: u64) {
        self.now = self.now.max(now);
        while let Some(&Reverse((at, _, server))) = self.ends.peek()
            && at <= self.now
        {
            self.ends.pop();
            let (rate, _) = self.find_limits(server);
            let (done, next_ends_at) = self.servers[server].end(at, rate);
            if let Some(end) = next_ends_at {
                self.schedule_end(end, server);
            }
            if let Some(id) = done {
                self.arrive(at, id);
            }
        }
    }

    /// Takes a copy of a packet into the network, and decides what will happen to it.
    fn enter(&mut self, index: usize, bytes: &[u8]) {
        let Some(way) = &self.wan.ways[index] else { return };
        let id = self.free_packets.pop().unwrap_or_else(|| {
            self.packets.push(Packet::default());
            (self.packets.len() - 1) as u32
        });
        let packet = &mut self.packets[id as usize];
        packet.bytes.clear();
        packet.bytes.extend_from_slice(bytes);
        packet.way = index;
        // Always the same number of draws: a setting does not change what others do to a packet.
        let State { draws, counters, .. } = &mut self.states[index];
        packet.overtakes = draws.uniform() < way.reorder;
        packet.jitter_share = draws.uniform();
        let is_corrupted = draws.uniform() < way.corrupt;
        let payload = &mut packet.bytes[find_payload(bytes)..];
        let bit = draws.index(payload.len() * 8);
        if is_corrupted && !payload.is_empty() {
            payload[bit / 8] ^= 1 << (bit % 8);
            counters.corrupted.add(bytes.len());
        }
        let flow = self.find_flow(index, bytes);
        self.packets[id as usize].next = flow.map_or(Stage::Pipe(0), Stage::Flow);
        self.arrive(self.now, id);
    }

    /// The server of a packet's connection, if it is paced.
    fn find_flow(&mut self, index: usize, bytes: &[u8]) -> Option<usize> {
        let is_paced = self.wan.ways[index].as_ref().is_some_and(|way| way.connection.is_some());
        if !is_paced && self.states[index].flows == 0 {
            return None;
        }
        let connection = (index, find_connection(bytes));
        if let Some(&server) = self.flows.get(&connection) {
            // No longer paced, but behind others that still wait: order is kept.
            return (is_paced || !self.servers[server].is_idle()).then_some(server);
        }
        if !is_paced {
            return None;
        }
        if self.flows.len() >= self.most_flows {
            self.forget_flows();
        }
        let server = self.free_servers.pop().unwrap_or_else(|| {
            self.servers.push(Server::default());
            self.servers.len() - 1
        });
        self.states[index].flows += 1;
        self.flows.insert(connection, server);
        Some(server)
    }

    fn forget_flows(&mut self) {
        let Engine { flows, servers, states, free_servers, .. } = self;
        flows.retain(|(way, _), server| {
            let is_idle = servers[*server].is_idle();
            if is_idle {
                states[*way].flows -= 1;
                free_servers.push(*server);
            }
            !is_idle
        });
        self.most_flows = FEW_FLOWS.max(2 * self.flows.len());
    }

    /// A packet arrives at its next stage.
    fn arrive(&mut self, at: u64, id: u32) {
        let packet = &mut self.packets[id as usize];
        let (index, length) = (packet.way, packet.bytes.len());
        let server = match packet.next {
            Stage::Flow(server) => {
                packet.next = Stage::Pipe(0);
                Some(server)
            }
            Stage::Pipe(place) => {
                packet.next = Stage::Pipe(place + 1);
                self.wan.ways[index].as_ref().and_then(|way| way.pipes.get(place)).copied()
            }
        };
        let Some(server) = server else { return self.delay(at, id) };
        let (rate, queue_bytes) = match server < self.wan.pipes.len() {
            true => self.find_limits(server),
            false => self.find_flow_limits(index),
        };
        match self.servers[server].arrive(at, id, length, rate, queue_bytes) {
            Arrival::Served(end) => self.schedule_end(end, server),
            Arrival::Waits => {}
            Arrival::Dropped => {
                self.states[index].counters.dropped.add(length);
                self.free_packets.push(id);
            }
        }
    }

    /// The rate of a server that serves something, and what may wait there.
    fn find_limits(&self, server: usize) -> (f64, u64) {
        if let Some(pipe) = self.wan.pipes.get(server) {
            return (pipe.rate, pipe.queue_bytes);
        }
        let served = self.servers[server].serving();
        served.map_or((f64::INFINITY, u64::MAX), |id| {
            self.find_flow_limits(self.packets[id as usize].way)
        })
    }

    fn find_flow_limits(&self, index: usize) -> (f64, u64) {
        let way = self.wan.ways[index].as_ref();
        way.map_or((f64::INFINITY, u64::MAX), |way| {
            (way.connection.unwrap_or(f64::INFINITY), way.queue_bytes)
        })
    }

    fn schedule_end(&mut self, at: u64, server: usize) {
        self.sequence += 1;
        self.ends.push(Reverse((at, self.sequence, server)));
    }

    /// The last stage.
    fn delay(&mut self, at: u64, id: u32) {
        let packet = &self.packets[id as usize];
        let Some(way) = &self.wan.ways[packet.way] else { return };
        let state = &mut self.states[packet.way];
        let mut leaves_at = at;
        if packet.overtakes {
            state.counters.reordered.add(packet.bytes.len());
        } else {
            let delay_ns = to_ns(way.delay + way.jitter * packet.jitter_share);
            leaves_at = at.saturating_add(delay_ns).max(state.last_leaves_at);
            state.last_leaves_at = leaves_at;
        }
        self.sequence += 1;
        self.leaves.push(Reverse((leaves_at, self.sequence, id)));
    }
}

fn to_ns(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}
