//! The messages of an all-to-all among some hosts, and what each of them needs for itself.

use std::collections::BTreeMap;

use crate::routing::{Lost, Routing, walk};
use crate::wiring::links::Links;
use crate::wiring::{Host, Switch, Wiring};

/// What a message needs: its sender, and every link of its way. A resource serves one message in a
/// phase. Hosts of one switch share their ways.
pub struct Flows {
    ranks: usize,
    /// The row of ways that each rank's messages take.
    row: Vec<u32>,
    /// Resources of a way; shorter ones are filled up with `nothing`.
    hops: usize,
    ways: Vec<u32>,
    resources: usize,
}

/// A message that would not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unreached {
    /// The sender.
    pub from: Host,
    /// The receiver.
    pub to: Host,
    /// Why nothing arrives.
    pub why: Lost,
}

impl Flows {
    /// Follows all ways between the hosts, whose ranks are their places in the list.
    pub fn new(
        wiring: &dyn Wiring,
        routing: &dyn Routing,
        hosts: &[Host],
    ) -> Result<Flows, Unreached> {
        let links = Links::of(wiring);
        let mut switches: BTreeMap<Switch, (u32, Host)> = BTreeMap::new();
        let mut row = Vec::with_capacity(hosts.len());
        for &host in hosts {
            let why = Lost::Unplugged(host);
            let (switch, _) =
                wiring.attached(host).ok_or(Unreached { from: host, to: host, why })?;
            let next = switches.len() as u32;
            row.push(switches.entry(switch).or_insert((next, host)).0);
        }
        let mut senders: Vec<(u32, Host)> = switches.into_values().collect();
        senders.sort_unstable();
        let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
        let (mut found, mut ends, mut hops) = (Vec::new(), vec![0], 0);
        for &(_, from) in &senders {
            for &to in hosts {
                let lost = |why| Unreached { from, to, why };
                walk(wiring, routing, from, to, |hop| {
                    let next = (hosts.len() + numbers.len()) as u32;
                    let link = links.link(hop.switch, hop.port);
                    found.push(*numbers.entry(link).or_insert(next));
                })
                .map_err(lost)?;
                hops = hops.max(found.len() - ends[ends.len() - 1]);
                ends.push(found.len());
            }
        }
        let nothing = (hosts.len() + numbers.len()) as u32;
        let mut ways = vec![nothing; hops * (ends.len() - 1)];
        for (way, bounds) in ways.chunks_mut(hops.max(1)).zip(ends.windows(2)) {
            way[..bounds[1] - bounds[0]].copy_from_slice(&found[bounds[0]..bounds[1]]);
        }
        Ok(Flows { ranks: hosts.len(), row, hops, ways, resources: nothing as usize })
    }

    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Senders and links that are used at all.
    pub fn resources(&self) -> usize {
        self.resources
    }

    /// Resources that a message needs at most.
    pub fn most_needs(&self) -> usize {
        self.hops + 1
    }

    /// The links of a message's way.
    fn links(&self, from: usize, to: usize) -> &[u32] {
        &self.ways[(self.row[from] as usize * self.ranks + to) * self.hops..][..self.hops]
    }

    /// What a message needs.
    pub fn needs(&self, from: usize, to: usize) -> impl Iterator<Item = usize> + Clone + '_ {
        let nothing = self.resources;
        let links = self.links(from, to).iter().map(|&link| link as usize);
        std::iter::once(from).chain(links.filter(move |&link| link != nothing))
    }

    /// All messages but those to oneself.
    pub fn all(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let ranks = self.ranks;
        let pairs = (0..ranks).flat_map(move |from| (0..ranks).map(move |to| (from, to)));
        pairs.filter(|(from, to)| from != to)
    }

    /// How many messages need each resource.
    pub fn load(&self) -> Vec<u32> {
        let mut load = vec![0; self.resources];
        for (from, to) in self.all() {
            self.needs(from, to).for_each(|need| load[need] += 1);
        }
        load
    }

    /// No schedule has fewer phases: the busiest link's messages, or a host's to all others and
    /// the one to itself, which takes a phase as in the paper.
    pub fn bound(&self) -> u64 {
        let busiest = self.load().into_iter().max().unwrap_or(0);
        u64::from(busiest).max(self.ranks as u64)
    }
}
