//! What a message needs for itself in a phase: its sender, and every link of its way.

use laneway_core::Observer;

use crate::routing::table::Table;
use crate::traffic::ways::{self, Ways};
use crate::wiring::links::Links;
use crate::wiring::{Host, Wiring};

/// The ways of a table. Links come first in the numbers of what is needed, then the senders.
pub(super) struct Roads {
    ways: Ways<u32>,
    links: u32,
    lost: u32,
    pub hosts: u32,
}

/// From whom to whom.
pub(super) type Message = (Host, Host);

impl Roads {
    pub fn new(
        wiring: &dyn Wiring,
        table: &Table,
        observer: &dyn Observer,
    ) -> Result<Roads, String> {
        let links = Links::of(wiring);
        Ok(Roads {
            ways: Ways::new(wiring, table, &links, observer)?,
            links: links.count(),
            lost: ways::lost(&links),
            hosts: wiring.hosts(),
        })
    }

    /// Or a sender.
    pub fn is_link(&self, need: usize) -> bool {
        need < self.links as usize
    }

    /// How many things there are that a message may need.
    pub fn count(&self) -> usize {
        (self.links + self.hosts) as usize
    }

    fn way(&self, from: Host, to: Host) -> &[u32] {
        let at = self.ways.begin[from as usize] + to as usize * self.ways.hops;
        &self.ways.links[at..][..self.ways.hops]
    }

    /// Whether there is a way. A host needs none to itself.
    pub fn arrives(&self, (from, to): Message) -> bool {
        let plugged = self.ways.last[to as usize] < self.links;
        from == to || self.way(from, to)[0] != self.lost && plugged
    }

    /// What a message needs, the sender included; the message must arrive and have another host.
    #[inline]
    pub fn needs(&self, (from, to): Message) -> impl Iterator<Item = usize> + Clone + '_ {
        let way = self.way(from, to).iter().copied().filter(|&link| link < self.links);
        let ends = [self.ways.last[to as usize], self.links + from];
        way.chain(ends).map(|need| need as usize)
    }

    /// The messages of a phase.
    pub fn messages<'r>(&self, row: &'r [Host]) -> impl Iterator<Item = Message> + 'r {
        let sends =
            |(from, &to): (usize, &Host)| (from as Host != to).then_some((from as Host, to));
        row.iter().enumerate().filter_map(sends)
    }

    /// The largest conflict of a phase.
    pub fn worst(&self, row: &[Host]) -> u32 {
        let mut counts = vec![0u32; self.count()];
        let mut worst = 1;
        for message in self.messages(row) {
            for need in self.needs(message) {
                counts[need] += 1;
                worst = worst.max(counts[need]);
            }
        }
        worst
    }
}
