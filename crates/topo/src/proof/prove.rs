//! The requirements of a forwarding table: all hosts reach each other, nothing goes round, and no
//! credit loop exists (`waits.rs`).

mod agents;

use laneway_core::{Observer, Stage};

use crate::proof::waits::Waits;
use crate::routing::follow::{Follow, Goal, NEVER};
use crate::routing::table::Table;
use crate::routing::{Hop, walk};
use crate::topologies::Topology;
use crate::traffic::sample::Followed;
use crate::wiring::graph::levels;
use crate::wiring::{Host, Switch, Wiring, by_switch};
pub use agents::{Agents, Asked, prove_agents, prove_agents_observed};

/// The proof of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proof {
    /// Ordered pairs of different hosts that have a cable, times paths.
    pub pairs: u64,
    /// Those that are not reached, with the path: from, to, path; and how many more there are than
    /// a reader would want.
    pub unreached: Vec<(Host, Host, u32)>,
    /// Pairs that are not reached and not listed.
    pub unlisted: u64,
    /// The number of switches on the longest way.
    pub longest: u32,
    /// The links of a credit loop; empty if there is none.
    pub credit_loop: Vec<Hop>,
}

impl Proof {
    /// Whether every pair is reached and there is no credit loop.
    pub fn holds(&self) -> bool {
        self.unreached.is_empty() && self.credit_loop.is_empty()
    }

    /// Pairs that are not reached, times paths.
    pub fn missed(&self) -> u64 {
        self.unreached.len() as u64 + self.unlisted
    }
}

/// Pairs that are listed, about.
const MOST_LISTED: usize = 1 << 24;

/// Proves a table over a wiring.
pub fn prove(wiring: &dyn Wiring, table: &Table) -> Proof {
    prove_observed(wiring, table, &())
}

/// The same, with progress reports.
pub fn prove_observed(wiring: &dyn Wiring, table: &Table, observer: &dyn Observer) -> Proof {
    let (mut waits, mut follow) = (Waits::none(wiring), Follow::new(wiring.switches()));
    let mut proof = Proof::default();
    let plugged: Vec<Host> =
        (0..wiring.hosts()).filter(|&host| wiring.attached(host).is_some()).collect();
    let leaves = by_switch(wiring, plugged.iter().copied());
    let stage = Stage::new(observer, "paths proven, by host", plugged.len() as u64);
    for &host in stage.over(&plugged) {
        for path in 0..table.paths() {
            proof.pairs += plugged.len() as u64 - 1;
            let port = |switch: Switch| table.entry(switch, host, path);
            follow.begin();
            for (switch, hosts) in &leaves {
                match follow.follow(&waits, *switch, Goal::Host(host), port) {
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
            follow.add_to(&mut waits, Goal::Host(host), port);
        }
    }
    proof.credit_loop = waits.credit_loop();
    proof
}

/// Proves a topology by formula without its table: follows the pairs that stand for all. Where each
/// way climbs and then descends, no credit loop exists.
pub fn prove_standing(topology: &dyn Topology, observer: &dyn Observer) -> Option<Followed> {
    let (sources, destinations) = topology.standing()?;
    let stage = Stage::new(observer, "sources followed", sources.len() as u64);
    let levels = levels(topology);
    let mut found = Followed::default();
    let mut way = Vec::new();
    for from in stage.over(sources) {
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
