//! The proof for the switches themselves. Their management agents answer every request, so that
//! each switch must be reached from everywhere and must itself reach every requester.

use laneway_core::{Observer, Stage};

use crate::proof::waits::Waits;
use crate::routing::Hop;
use crate::routing::follow::{Follow, Goal, NEVER};
use crate::routing::table::Table;
use crate::wiring::graph::Graph;
use crate::wiring::{Host, Port, Switch, Wiring};

/// The destination of a switch: a host by one of its paths, or another switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A host, by one of its paths.
    Host(Host, u32),
    /// Another switch.
    Switch(Switch),
}

/// The proof of the ways that begin or end at a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Agents {
    /// Ordered pairs of a switch and a host, times paths, or another switch, that cables connect.
    pub pairs: u64,
    /// Those that are not reached; and how many more there are than a reader would want.
    pub unreached: Vec<(Switch, Asked)>,
    /// Pairs that are not reached and not listed.
    pub unlisted: u64,
    /// A credit loop of each set of links that wait for each other because of the switches'
    /// messages.
    pub credit_loops: Vec<Vec<Hop>>,
}

impl Agents {
    /// Whether every switch and host is reached, whatever the credit loops.
    pub fn reach_all(&self) -> bool {
        self.unreached.is_empty()
    }

    /// Pairs that are not reached.
    pub fn missed(&self) -> u64 {
        self.unreached.len() as u64 + self.unlisted
    }
}

/// Pairs that are listed.
const MOST_LISTED: usize = 1 << 20;

/// Proves what hosts do not need of a table to hosts, and a table to the switches.
pub fn prove_agents(wiring: &dyn Wiring, table: &Table, to_switches: &Table) -> Agents {
    prove_agents_observed(wiring, table, to_switches, &())
}

/// The same, with progress reports.
pub fn prove_agents_observed(
    wiring: &dyn Wiring,
    table: &Table,
    to_switches: &Table,
    observer: &dyn Observer,
) -> Agents {
    let mut prover = Prover::new(wiring);
    let all = u64::from(wiring.hosts()) + u64::from(wiring.switches());
    let stage = Stage::new(observer, "paths of switches proven", all);
    prover.prove_hosts(wiring, table, &stage);
    for to in stage.over(0..wiring.switches()) {
        prover.prove(Asked::Switch(to), to, |at| to_switches.row_of(at)[to as usize]);
    }
    prover.found.credit_loops = prover.of_all.credit_loops_beside(&prover.of_hosts);
    prover.found
}

struct Prover {
    leaves: Vec<Switch>,
    pieces: Vec<u32>,
    /// Links that wait because hosts send to each other, and because any sender does.
    of_hosts: Waits,
    of_all: Waits,
    follow: Follow,
    found: Agents,
}

impl Prover {
    fn new(wiring: &dyn Wiring) -> Prover {
        let graph = Graph::of(wiring);
        Prover {
            leaves: graph.leaves().collect(),
            pieces: graph.pieces(),
            of_hosts: Waits::none(wiring),
            of_all: Waits::none(wiring),
            follow: Follow::new(wiring.switches()),
            found: Agents::default(),
        }
    }

    fn prove_hosts(&mut self, wiring: &dyn Wiring, table: &Table, stage: &Stage) {
        for host in 0..wiring.hosts() {
            stage.step();
            let Some((leaf, _)) = wiring.attached(host) else { continue };
            for path in 0..table.paths() {
                self.prove(Asked::Host(host, path), leaf, |at| table.entry(at, host, path));
            }
        }
    }

    /// One column of a table, to a goal at a switch.
    fn prove(&mut self, to: Asked, at: Switch, port: impl Fn(Switch) -> Port) {
        let goal = match to {
            Asked::Host(host, _) => Goal::Host(host),
            Asked::Switch(switch) => Goal::Switch(switch),
        };
        self.follow.begin();
        if let Goal::Host(_) = goal {
            for &leaf in &self.leaves {
                self.follow.follow(&self.of_all, leaf, goal, &port);
            }
            self.follow.add_to(&mut self.of_hosts, goal, &port);
        }
        for from in 0..self.pieces.len() as Switch {
            let far = self.follow.follow(&self.of_all, from, goal, &port);
            let is_other = goal != Goal::Switch(from);
            if is_other && self.pieces[from as usize] == self.pieces[at as usize] {
                self.found.pairs += 1;
                match far {
                    NEVER if self.found.unreached.len() < MOST_LISTED => {
                        self.found.unreached.push((from, to));
                    }
                    NEVER => self.found.unlisted += 1,
                    _ => {}
                }
            }
        }
        self.follow.add_to(&mut self.of_all, goal, &port);
    }
}
