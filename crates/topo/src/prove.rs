//! What a forwarding table must be: everybody reaches everybody, nothing goes round, and no circle
//! of full buffers can wait for itself.
//!
//! A switch that is full holds back the link before it. If links that wait for each other form a
//! circle, the fabric can stand still for ever; on one virtual lane a table is safe exactly where
//! the links, each pointing at those that its messages take next, form no circle (Dally and Seitz
//! 1987).

use crate::graph::levels;
use crate::links::Links;
use crate::routing::{Hop, walk};
use crate::sample::Followed;
use crate::table::Table;
use crate::topologies::Topology;
use crate::wiring::{End, Host, NO_PORT, Port, Switch, Wiring, by_switch};

/// What is true of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Ordered pairs of different hosts that have a cable, times paths.
    pub pairs: u64,
    /// Those that are not reached, with the path: from, to, path; and how many more there are than
    /// anybody would read.
    pub unreached: Vec<(Host, Host, u32)>,
    pub unlisted: u64,
    /// Switches on the longest way.
    pub longest: u32,
    /// Links that wait for each other in a circle; empty where none do.
    pub circle: Vec<Hop>,
}

impl Proof {
    pub fn holds(&self) -> bool {
        self.unreached.is_empty() && self.circle.is_empty()
    }

    /// Pairs that are not reached, times paths.
    pub fn missed(&self) -> u64 {
        self.unreached.len() as u64 + self.unlisted
    }
}

/// Pairs that are listed, about.
const MOST_LISTED: usize = 1 << 24;

/// Instead of a number of switches: not looked at yet, and no way.
const UNKNOWN: u32 = u32::MAX;
const NEVER: u32 = u32::MAX - 1;

/// Proves a table over a wiring.
pub fn prove(wiring: &dyn Wiring, table: &Table) -> Proof {
    let mut prover = Prover::new(wiring, table);
    let mut proof = Proof::default();
    let plugged: Vec<Host> =
        (0..wiring.hosts()).filter(|&host| wiring.attached(host).is_some()).collect();
    let leaves = by_switch(wiring, plugged.iter().copied());
    for &host in &plugged {
        for path in 0..table.paths() {
            proof.pairs += plugged.len() as u64 - 1;
            prover.begin();
            for (switch, hosts) in &leaves {
                match prover.follow(*switch, host, path) {
                    NEVER => {
                        let others = hosts.iter().filter(|&&from| from != host);
                        match proof.unreached.len() < MOST_LISTED {
                            true => proof.unreached.extend(others.map(|&from| (from, host, path))),
                            false => proof.unlisted += others.count() as u64,
                        }
                    }
                    far => proof.longest = proof.longest.max(far),
                }
            }
            prover.wait_on(host, path);
        }
    }
    proof.circle = prover.circle();
    proof
}

/// Proves a topology by formula without its table: follows the pairs that stand for all. Where each
/// way climbs and then descends, no circle of links can wait for itself.
pub fn prove_standing(topology: &dyn Topology) -> Option<Followed> {
    let (sources, destinations) = topology.standing()?;
    let levels = levels(topology);
    let mut found = Followed::default();
    let mut way = Vec::new();
    for from in sources {
        for to in destinations.clone().filter(|&to| to != from) {
            way.clear();
            found.pairs += 1;
            let level = |hop: Hop| way.push(levels[hop.switch as usize]);
            if walk(topology, topology, from, to, level).is_err() {
                found.lost.push((from, to));
                continue;
            }
            found.longest = found.longest.max(way.len() as u32);
            let top = way.windows(2).take_while(|pair| pair[0] < pair[1]).count();
            found.astray += u64::from(way[top..].windows(2).any(|pair| pair[0] <= pair[1]));
        }
    }
    Some(found)
}

/// A set of a switch's ports.
type Ports = [u64; 4];

struct Prover<'a> {
    table: &'a Table,
    links: Links,
    ends: Vec<End>,
    /// For each link the ports of the next switch that its messages take.
    waits: Vec<Ports>,
    /// Switches to the destination, for each switch; and those that have been looked at.
    far: Vec<u32>,
    seen: Vec<Switch>,
}

impl<'a> Prover<'a> {
    fn new(wiring: &dyn Wiring, table: &'a Table) -> Prover<'a> {
        let links = Links::of(wiring);
        Prover {
            table,
            ends: links.ends(wiring),
            waits: vec![[0; 4]; links.count() as usize],
            far: vec![UNKNOWN; wiring.switches() as usize],
            seen: Vec::new(),
            links,
        }
    }

    fn begin(&mut self) {
        for switch in self.seen.drain(..) {
            self.far[switch as usize] = UNKNOWN;
        }
    }

    /// Where a switch sends: the port, and what is behind it.
    fn next(&self, switch: Switch, host: Host, path: u32) -> (Port, End) {
        let port = self.table.row_of(switch)[(host * self.table.paths() + path) as usize];
        let link = self.links.checked(switch, port).filter(|_| port != NO_PORT);
        (port, link.map_or(End::Nothing, |link| self.ends[link as usize]))
    }

    /// How many switches a message passes from here, this one included.
    fn follow(&mut self, from: Switch, host: Host, path: u32) -> u32 {
        let (first, mut switch) = (self.seen.len(), from);
        let end = loop {
            match self.far[switch as usize] {
                UNKNOWN => {}
                // What is on the way that is being followed comes round.
                far => break far,
            }
            self.far[switch as usize] = NEVER;
            self.seen.push(switch);
            match self.next(switch, host, path).1 {
                End::Host(other) if other == host => break 0,
                End::Host(_) | End::Nothing => break NEVER,
                End::Switch(next, _) => switch = next,
            }
        };
        if end != NEVER {
            for (before, &switch) in self.seen[first..].iter().rev().enumerate() {
                self.far[switch as usize] = end + before as u32 + 1;
            }
        }
        self.far[from as usize]
    }

    /// Messages to this host let links wait for the next ones; those that do not arrive, too, as
    /// far as they come.
    fn wait_on(&mut self, host: Host, path: u32) {
        for at in 0..self.seen.len() {
            let switch = self.seen[at];
            let (port, end) = self.next(switch, host, path);
            let End::Switch(next, _) = end else { continue };
            let (after, _) = self.next(next, host, path);
            if after != NO_PORT && self.links.checked(next, after).is_some() {
                let link = self.links.link(switch, port) as usize;
                self.waits[link][usize::from(after / 64)] |= 1 << (after % 64);
            }
        }
    }

    /// The links that a link's messages take next.
    fn after(&self, link: u32) -> impl Iterator<Item = u32> + '_ {
        let next = match self.ends[link as usize] {
            End::Switch(next, _) => Some(next),
            End::Host(_) | End::Nothing => None,
        };
        let ports = self.waits[link as usize];
        let is_in = move |port: &u8| ports[usize::from(port / 64)] >> (port % 64) & 1 == 1;
        let ports = (0..u8::MAX).filter(is_in);
        next.into_iter().flat_map(move |next| {
            let link = move |port| self.links.link(next, port);
            ports.clone().map(link).collect::<Vec<_>>()
        })
    }

    /// Links that wait for each other in a circle.
    fn circle(&self) -> Vec<Hop> {
        // Those that wait for nobody are taken away, and then those that waited for them alone.
        let count = self.links.count();
        let mut waiting: Vec<u32> = vec![0; count as usize];
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); count as usize];
        for link in 0..count {
            for next in self.after(link) {
                waiting[link as usize] += 1;
                before[next as usize].push(link);
            }
        }
        let mut free: Vec<u32> = (0..count).filter(|&link| waiting[link as usize] == 0).collect();
        while let Some(link) = free.pop() {
            for &earlier in &before[link as usize] {
                waiting[earlier as usize] -= 1;
                if waiting[earlier as usize] == 0 {
                    free.push(earlier);
                }
            }
        }
        // Each of what is left waits for another of them: following them comes round.
        let Some(mut link) = (0..count).find(|&link| waiting[link as usize] > 0) else {
            return Vec::new();
        };
        let mut passed: Vec<u32> = Vec::new();
        loop {
            if let Some(at) = passed.iter().position(|&earlier| earlier == link) {
                return passed[at..].iter().map(|&link| self.links.hop(link)).collect();
            }
            passed.push(link);
            let mut left = self.after(link).filter(|&next| waiting[next as usize] > 0);
            match left.next() {
                Some(next) => link = next,
                None => return Vec::new(),
            }
        }
    }
}
