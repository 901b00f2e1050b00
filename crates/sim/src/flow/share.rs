//! Max-min fairness by water-filling: all shares rise together, each by its weight, and a flow
//! stops where its link is full or its own limit is reached (Bertsekas and Gallager, Data Networks,
//! section 6.5.2).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::table::Table;
use crate::carrier::MessageId;
use crate::network::ResourceId;

/// Links full so close above the water's level are full at the level: what differs is rounding
/// alone, and equal shares must end together.
const CLOSE: f64 = 1.0 + 1e-12;

/// Shares out one component of flows and links at a time, with storage that is used again.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    /// Numbers the components, so that marks of earlier ones need not be wiped.
    round: u64,
    pub flows: Vec<MessageId>,
    links: Vec<ResourceId>,
    /// Links with the level at which they are full, as of their entry; it can only have risen
    /// since. Positive numbers order as their bits do.
    fill: BinaryHeap<Reverse<(u64, ResourceId)>>,
    /// Flows that their own limit may stop before a link does: the level, the flow, the limit.
    limited: Vec<(u64, MessageId, f64)>,
    /// How many shares were worked out.
    pub worked: u64,
}

impl Sharing {
    /// Begins a settlement: no component is known yet.
    pub fn begin(&mut self) -> u64 {
        self.round += 1;
        self.round
    }

    /// Finds every flow that a change of this link can reach, opens the links on their ways, and
    /// notes the flows whose own limit matters. False where earlier components of the settlement
    /// that began with `first` had all of them already.
    pub fn gather(&mut self, table: &mut Table, seed: ResourceId, first: u64) -> bool {
        let link = &mut table.links[seed as usize];
        link.changed = false;
        if link.gathered >= first {
            return false;
        }
        self.clear();
        if link.found != self.round {
            link.open_in(self.round);
        }
        self.links.push(seed);
        self.spread(table, first);
        !self.flows.is_empty()
    }

    /// The same of a flow that has come.
    pub fn gather_flow(&mut self, table: &mut Table, message: MessageId, first: u64) -> bool {
        let flow = &table.flows[message as usize];
        if !flow.active || !flow.flowing || flow.found >= first || flow.hops == 0 {
            return false;
        }
        self.clear();
        self.add(table, message);
        self.spread(table, first);
        true
    }

    fn clear(&mut self) {
        self.round += 1;
        self.flows.clear();
        self.links.clear();
        self.limited.clear();
    }

    /// Adds all flows of the links that were found. A flow of an earlier component was settled with
    /// all that it can feel.
    fn spread(&mut self, table: &mut Table, first: u64) {
        let mut at = 0;
        while let Some(&link) = self.links.get(at) {
            at += 1;
            table.links[link as usize].gathered = self.round;
            for i in 0..table.links[link as usize].flows.len() {
                let message = table.links[link as usize].flows[i].flow;
                if table.flows[message as usize].found < first {
                    self.add(table, message);
                }
            }
        }
    }

    fn add(&mut self, table: &mut Table, message: MessageId) {
        table.flows[message as usize].found = self.round;
        self.flows.push(message);
        let (most, shared) = table.weigh(message, self.round, &mut self.links);
        // No share of a link is above the link's rate, so a higher limit never stops one.
        if most < shared {
            let level = most / table.flows[message as usize].weight;
            self.limited.push((level.to_bits(), message, most));
        }
    }

    /// Works out the share of every flow of the component.
    pub fn share_out(&mut self, table: &mut Table) {
        self.worked += self.flows.len() as u64;
        if let [flow] = self.flows[..] {
            let rates = table.hops(flow).iter().map(|hop| table.links[hop.link as usize].carries());
            let share = rates.fold(table.flows[flow as usize].most, f64::min);
            table.flows[flow as usize].share = share;
            return;
        }
        self.prepare(table);
        let (mut level, mut next) = (0.0, 0);
        loop {
            while self.limited.get(next).is_some_and(|&(_, flow, _)| self.is_settled(table, flow)) {
                next += 1;
            }
            let limit = self.limited.get(next).map(|&(bits, ..)| f64::from_bits(bits));
            let full = self.fullest(table, level);
            let full = full.filter(|(height, _)| limit.is_none_or(|limit| *height < limit));
            if let Some((height, link)) = full {
                level = height;
                self.fill.pop();
                self.stop_at_link(table, link, level);
            } else if let Some(&(bits, flow, most)) = self.limited.get(next) {
                level = level.max(f64::from_bits(bits));
                table.settle(flow, most, self.round);
            } else {
                return;
            }
        }
    }

    fn is_settled(&self, table: &Table, flow: MessageId) -> bool {
        table.flows[flow as usize].settled == self.round
    }

    /// Orders the flows by their limits, and the links by the level at which they are full.
    fn prepare(&mut self, table: &Table) {
        self.limited.sort_unstable_by_key(|&(bits, message, _)| (bits, message));
        let mut fill = std::mem::take(&mut self.fill).into_vec();
        fill.clear();
        for &number in &self.links {
            let link = &table.links[number as usize];
            if link.couples() {
                fill.push(Reverse(((link.free_rate / link.open_weight).to_bits(), number)));
            }
        }
        self.fill = BinaryHeap::from(fill);
    }

    /// The link that is full first when the water rises, and its level then.
    fn fullest(&mut self, table: &Table, level: f64) -> Option<(f64, ResourceId)> {
        loop {
            let mut top = self.fill.peek_mut()?;
            let Reverse((bits, number)) = *top;
            let link = &table.links[number as usize];
            if link.open == 0 {
                PeekMut::pop(top);
                continue;
            }
            let height = link.free_rate / link.open_weight;
            // Rounding may leave next to nothing of a weight; the level never falls.
            let height = if height > level * CLOSE { height } else { level };
            if height <= f64::from_bits(bits) {
                return Some((height, number));
            }
            // Flows that stopped elsewhere left it more: back into the heap with its new level.
            *top = Reverse((height.to_bits(), number));
        }
    }

    /// The link is full: its flows go no higher.
    fn stop_at_link(&mut self, table: &mut Table, link: ResourceId, level: f64) {
        for i in 0..table.links[link as usize].flows.len() {
            let flow = table.links[link as usize].flows[i].flow;
            if !self.is_settled(table, flow) {
                let share = level * table.flows[flow as usize].weight;
                table.settle(flow, share, self.round);
            }
        }
    }
}
