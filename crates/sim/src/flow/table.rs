//! The flows under way and the links that they share: who is on which link.

use super::queue::Slot;
use crate::carrier::MessageId;
use crate::network::ResourceId;

/// One message's bytes as a fluid.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    pub message: MessageId,
    /// Counts the flows as they start.
    pub order: u64,
    /// How many shared links it passes.
    pub hops: u32,
    /// The latency is over.
    pub flowing: bool,
    pub bytes: f64,
    /// Bytes left at the time `since`; from then on they leave at `rate`.
    pub left: f64,
    pub since: f64,
    pub rate: f64,
    /// The most it may have whatever the others do.
    pub most: f64,
    /// Its part of a full link, as against the other flows' weights.
    pub weight: f64,
    /// Its part of the links, while a component is being shared out.
    pub share: f64,
    /// The component that it was last found in, and the one in which its share was last settled.
    pub found: u64,
    pub settled: u64,
}

/// A link that a flow passes, and where in the link's list the flow stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hop {
    pub link: ResourceId,
    place: u32,
}

/// Which flow is on a link, and with which of its hops.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub flow: Slot,
    hop: u32,
}

/// A resource whose rate is shared.
#[derive(Clone, Debug, Default)]
pub(super) struct Link {
    pub rate: f64,
    pub flows: Vec<Member>,
    /// A flow came or went since the rates were last settled.
    pub changed: bool,
    pub found: u64,
    /// While a component is being shared out: the rate and the flows that have no share yet.
    pub free_rate: f64,
    pub open: u32,
    pub open_weight: f64,
}

/// All flows and links. The hops of all flows lie in one array, so that a message allocates
/// nothing.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub flows: Vec<Flow>,
    pub links: Vec<Link>,
    free: Vec<Slot>,
    hops: Vec<Hop>,
    /// Places in `hops` for each flow: the longest way so far.
    stride: usize,
}

impl Table {
    /// No flow yet, on links of these rates.
    pub fn new(rates: impl Iterator<Item = f64>) -> Table {
        let links = rates.map(|rate| Link { rate, ..Link::default() }).collect();
        Table { links, ..Table::default() }
    }

    /// Stores a flow that passes these links; it is on none of them before [`Table::join`].
    pub fn insert(&mut self, flow: Flow, links: impl Iterator<Item = ResourceId>) -> Slot {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.flows[slot as usize] = flow;
                slot
            }
            None => {
                self.flows.push(flow);
                self.hops.resize(self.flows.len() * self.stride, Hop::default());
                (self.flows.len() - 1) as Slot
            }
        };
        let mut count = 0;
        for link in links {
            if count == self.stride {
                self.widen();
            }
            self.hops[slot as usize * self.stride + count] = Hop { link, place: 0 };
            count += 1;
        }
        self.flows[slot as usize].hops = count as u32;
        slot
    }

    fn widen(&mut self) {
        let wider = (self.stride * 2).max(2);
        let mut hops = vec![Hop::default(); self.flows.len() * wider];
        for slot in 0..self.flows.len() {
            let old = &self.hops[slot * self.stride..][..self.stride];
            hops[slot * wider..][..self.stride].copy_from_slice(old);
        }
        self.hops = hops;
        self.stride = wider;
    }

    /// The links that a flow passes.
    #[inline]
    pub fn hops(&self, slot: Slot) -> &[Hop] {
        let count = self.flows[slot as usize].hops as usize;
        &self.hops[slot as usize * self.stride..][..count]
    }

    /// Puts a flow on its links and names those that had not changed yet.
    pub fn join(&mut self, slot: Slot, changed: &mut Vec<ResourceId>) {
        let from = slot as usize * self.stride;
        for hop in 0..self.flows[slot as usize].hops {
            let Hop { link, place } = &mut self.hops[from + hop as usize];
            let on = &mut self.links[*link as usize];
            *place = on.flows.len() as u32;
            on.flows.push(Member { flow: slot, hop });
            on.note(*link, changed);
        }
    }

    /// Takes a flow off its links and forgets it.
    pub fn leave(&mut self, slot: Slot, changed: &mut Vec<ResourceId>) {
        let from = slot as usize * self.stride;
        for hop in 0..self.flows[slot as usize].hops as usize {
            let Hop { link, place } = self.hops[from + hop];
            let on = &mut self.links[link as usize];
            on.flows.swap_remove(place as usize);
            if let Some(moved) = on.flows.get(place as usize) {
                self.hops[moved.flow as usize * self.stride + moved.hop as usize].place = place;
            }
            on.note(link, changed);
        }
        self.free.push(slot);
    }

    /// Counts a flow's weight on its links; the most that it may have because of its own limit
    /// and links that it has alone, and the rate of the slowest that it shares.
    pub fn weigh(&mut self, slot: Slot) -> (f64, f64) {
        let flow = &self.flows[slot as usize];
        let (mut most, mut shared) = (flow.most, f64::INFINITY);
        let from = slot as usize * self.stride;
        for hop in &self.hops[from..from + flow.hops as usize] {
            let link = &mut self.links[hop.link as usize];
            link.open_weight += flow.weight;
            let bound = if link.open > 1 { &mut shared } else { &mut most };
            *bound = bound.min(link.rate);
        }
        (most, shared)
    }

    /// Gives a flow its share, and takes it from its links.
    #[inline]
    pub fn settle(&mut self, slot: Slot, share: f64, round: u64) {
        let flow = &mut self.flows[slot as usize];
        let weight = flow.weight;
        flow.share = share;
        flow.settled = round;
        let from = slot as usize * self.stride;
        for hop in &self.hops[from..from + flow.hops as usize] {
            let link = &mut self.links[hop.link as usize];
            link.free_rate -= share;
            link.open -= 1;
            link.open_weight -= weight;
        }
    }
}

impl Link {
    fn note(&mut self, own: ResourceId, changed: &mut Vec<ResourceId>) {
        if !self.changed {
            self.changed = true;
            changed.push(own);
        }
    }
}
