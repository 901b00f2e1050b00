//! The flows under way and the links that they share: who is on which link.

use crate::carrier::MessageId;
use crate::congestion::Congestion;
use crate::network::ResourceId;

/// One message's bytes as a fluid. What sharing reads of all flows of a component comes first, in
/// one line of memory.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Flow {
    /// The component that it was last found in, and the one in which its share was last settled.
    pub found: u64,
    pub settled: u64,
    /// Its part of a full link, as against the other flows' weights.
    pub weight: f64,
    /// The most it may have whatever the others do.
    pub most: f64,
    /// Its part of the links, while a component is being shared out.
    pub share: f64,
    pub rate: f64,
    /// How many shared links it passes, and how many that it has alone.
    pub hops: u32,
    pub pipes: u32,
    /// It is under way: its number names a message.
    pub active: bool,
    /// The latency is over.
    pub flowing: bool,
    /// Counts the flows as they start.
    pub order: u64,
    pub bytes: f64,
    /// Bytes left at the time `since`; from then on they leave at `rate`.
    pub left: f64,
    pub since: f64,
    /// What its connection may have.
    pub limit: f64,
    /// The most it may have, with the links that it shares: the slowest of them.
    pub cap: f64,
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
    pub flow: MessageId,
    hop: u32,
}

/// A resource; where its rate is not shared, no flow is on it.
#[derive(Clone, Debug, Default)]
pub(super) struct Link {
    pub rate: f64,
    /// What it loses when many flows are on it.
    pub congestion: Congestion,
    pub shared: bool,
    pub flows: Vec<Member>,
    /// What its flows may have whatever the others do, together.
    pub demand: f64,
    /// A flow came or went since the rates were last settled.
    pub changed: bool,
    pub found: u64,
    /// The component in which all its flows were found.
    pub gathered: u64,
    /// While a component is being shared out: the rate and the flows that have no share yet.
    pub free_rate: f64,
    pub open: u32,
    pub open_weight: f64,
}

/// All flows, by message, and all links. The hops of all flows lie in one array, so that a message
/// allocates nothing.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub flows: Vec<Flow>,
    pub links: Vec<Link>,
    /// For each flow the links that it shares, then those that it does not.
    hops: Vec<Hop>,
    /// Places in `hops` for each flow: the longest way so far.
    stride: usize,
}

impl Table {
    /// No flow yet, on these links.
    pub fn new(links: Vec<Link>) -> Table {
        Table { links, ..Table::default() }
    }

    /// Stores a flow that passes these links; it is on none of them before [`Table::join`].
    pub fn insert(&mut self, message: MessageId, flow: Flow, links: &[ResourceId]) {
        let at = message as usize;
        if self.flows.len() <= at {
            self.flows.resize(at + 1, Flow::default());
            self.hops.resize(self.flows.len() * self.stride, Hop::default());
        }
        while links.len() > self.stride {
            self.widen();
        }
        let from = at * self.stride;
        let (mut first, mut last) = (from, from + links.len());
        for &link in links {
            let hop = Hop { link, place: 0 };
            if self.links[link as usize].shared {
                self.hops[first] = hop;
                first += 1;
            } else {
                last -= 1;
                self.hops[last] = hop;
            }
        }
        let hops = (first - from) as u32;
        self.flows[at] = Flow { active: true, hops, pipes: links.len() as u32 - hops, ..flow };
        self.flows[at].most = self.most(message);
        self.flows[at].cap = self.cap(message);
    }

    /// What a flow may have on its own.
    fn cap(&self, message: MessageId) -> f64 {
        let rates = self.hops(message).iter().map(|hop| self.links[hop.link as usize].rate);
        rates.fold(self.flows[message as usize].most, f64::min)
    }

    /// What flows may have is more, or less: a rate has changed.
    pub fn recap(&mut self, message: MessageId, changed: &mut Vec<ResourceId>) {
        let before = self.flows[message as usize].cap;
        let cap = self.cap(message);
        self.flows[message as usize].cap = cap;
        let from = message as usize * self.stride;
        if !self.flows[message as usize].flowing {
            return;
        }
        for hop in &self.hops[from..from + self.flows[message as usize].hops as usize] {
            let on = &mut self.links[hop.link as usize];
            let coupled = on.couples();
            on.demand += cap - before;
            if coupled || on.couples() {
                on.note(hop.link, changed);
            }
        }
    }

    /// Whether a flow under way passes this link, which it shares.
    pub fn shares(&self, message: MessageId, link: ResourceId) -> bool {
        let flow = &self.flows[message as usize];
        flow.active && flow.hops > 0 && self.hops(message).iter().any(|hop| hop.link == link)
    }

    /// What a flow may have whatever the others do.
    pub fn most(&self, message: MessageId) -> f64 {
        let flow = &self.flows[message as usize];
        let from = message as usize * self.stride + flow.hops as usize;
        let pipes = &self.hops[from..from + flow.pipes as usize];
        pipes.iter().map(|hop| self.links[hop.link as usize].rate).fold(flow.limit, f64::min)
    }

    /// Whether a flow passes this link, which it has alone.
    pub fn pipes_through(&self, message: MessageId, link: ResourceId) -> bool {
        let flow = &self.flows[message as usize];
        let from = message as usize * self.stride + flow.hops as usize;
        flow.active && self.hops[from..from + flow.pipes as usize].iter().any(|h| h.link == link)
    }

    /// The rates of all flows that pass this link, which each has alone; looks at every
    /// flow. What an endless rate carries takes no time and is not counted.
    pub fn piped(&self, link: ResourceId) -> f64 {
        let messages = (0..self.flows.len()).map(|message| message as MessageId);
        let passing = messages.filter(|&message| {
            let flow = &self.flows[message as usize];
            // An empty message has left its links, and takes no time.
            flow.flowing && flow.bytes > 0.0 && self.pipes_through(message, link)
        });
        let rates = passing.map(|message| self.flows[message as usize].rate);
        rates.filter(|rate| rate.is_finite()).sum()
    }

    fn widen(&mut self) {
        let wider = (self.stride * 2).max(2);
        let mut hops = vec![Hop::default(); self.flows.len() * wider];
        for message in 0..self.flows.len() {
            let old = &self.hops[message * self.stride..][..self.stride];
            hops[message * wider..][..self.stride].copy_from_slice(old);
        }
        self.hops = hops;
        self.stride = wider;
    }

    /// The links that a flow passes.
    #[inline]
    pub fn hops(&self, message: MessageId) -> &[Hop] {
        let count = self.flows[message as usize].hops as usize;
        &self.hops[message as usize * self.stride..][..count]
    }

    /// Puts a flow on its links and names those that had not changed yet and whose flows feel it.
    pub fn join(&mut self, message: MessageId, changed: &mut Vec<ResourceId>) {
        let from = message as usize * self.stride;
        let cap = self.flows[message as usize].cap;
        for hop in 0..self.flows[message as usize].hops {
            let Hop { link, place } = &mut self.hops[from + hop as usize];
            let on = &mut self.links[*link as usize];
            *place = on.flows.len() as u32;
            on.flows.push(Member { flow: message, hop });
            on.demand += cap;
            if on.couples() {
                on.note(*link, changed);
            }
        }
    }

    /// Takes a flow off its links and forgets it.
    pub fn leave(&mut self, message: MessageId, changed: &mut Vec<ResourceId>) {
        let from = message as usize * self.stride;
        let cap = self.flows[message as usize].cap;
        for hop in 0..self.flows[message as usize].hops as usize {
            let Hop { link, place } = self.hops[from + hop];
            let on = &mut self.links[link as usize];
            if on.couples() {
                on.note(link, changed);
            }
            on.flows.swap_remove(place as usize);
            on.demand = if on.flows.is_empty() { 0.0 } else { on.demand - cap };
            if let Some(moved) = on.flows.get(place as usize) {
                self.hops[moved.flow as usize * self.stride + moved.hop as usize].place = place;
            }
        }
        self.flows[message as usize].active = false;
    }

    /// Counts a flow's weight on its links, and names those that the component did not have yet and
    /// that lead to other flows; the most that it may have because of its own limit and links that
    /// lead to none, and the rate of the slowest of the others.
    #[inline]
    pub fn weigh(
        &mut self,
        message: MessageId,
        round: u64,
        found: &mut Vec<ResourceId>,
    ) -> (f64, f64) {
        let flow = &self.flows[message as usize];
        let (mut most, mut shared) = (flow.most, f64::INFINITY);
        let from = message as usize * self.stride;
        for hop in &self.hops[from..from + flow.hops as usize] {
            let link = &mut self.links[hop.link as usize];
            let couples = link.couples();
            if link.found != round {
                link.open_in(round);
                if couples {
                    found.push(hop.link);
                }
            }
            link.open_weight += flow.weight;
            let bound = if couples { &mut shared } else { &mut most };
            *bound = bound.min(link.carries());
        }
        (most, shared)
    }

    /// Gives a flow its share, and takes it from its links.
    #[inline]
    pub fn settle(&mut self, message: MessageId, share: f64, round: u64) {
        let flow = &mut self.flows[message as usize];
        let weight = flow.weight;
        flow.share = share;
        flow.settled = round;
        let from = message as usize * self.stride;
        for hop in &self.hops[from..from + flow.hops as usize] {
            let link = &mut self.links[hop.link as usize];
            link.free_rate -= share;
            link.open -= 1;
            link.open_weight -= weight;
        }
    }
}

/// A link may be full where its flows could have more than this part of it.
const FULL: f64 = 1.0 - 1e-9;

impl Link {
    /// Whether what one of its flows has depends on the others: there are others, and it may be
    /// full. A link that cannot be full is as if it were not there.
    #[inline]
    pub fn couples(&self) -> bool {
        self.flows.len() > 1 && (self.demand > self.rate * FULL || !self.congestion.is_none())
    }

    /// What its flows have together.
    #[inline]
    pub fn carries(&self) -> f64 {
        match self.congestion.is_none() {
            true => self.rate,
            false => self.rate * self.congestion.part(self.flows.len()),
        }
    }

    /// No flow of the component has its share of it yet.
    #[inline]
    pub fn open_in(&mut self, round: u64) {
        self.found = round;
        self.free_rate = self.carries();
        self.open = self.flows.len() as u32;
        self.open_weight = 0.0;
    }

    /// Its flows must be settled anew.
    pub fn note(&mut self, own: ResourceId, changed: &mut Vec<ResourceId>) {
        if !self.changed {
            self.changed = true;
            changed.push(own);
        }
    }
}
