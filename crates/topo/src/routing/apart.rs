//! How far the paths to a host keep apart: what is left of them when a cable or a switch fails, and
//! how full the links become when all hosts change to another path.

use laneway_core::{Observer, Stage};

use crate::routing::table::Table;
use crate::routing::{Hop, walk};
use crate::threads::shared;
use crate::wiring::links::Links;
use crate::wiring::{Host, Wiring, by_switch};

/// The disjointness of the paths of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathDiversity {
    /// Ordered pairs of hosts at different switches that every path serves.
    pub pairs: u64,
    /// Of these, where no two paths share a cable but the hosts' own.
    pub by_cable: u64,
    /// And where they share no switch either but those of the two hosts.
    pub by_switch: u64,
    /// For each path, the messages on the fullest link of an all-to-all.
    pub fullest: Vec<u64>,
}

impl PathDiversity {
    /// A number of pairs as a part of all; `None` without pairs.
    pub fn share(&self, pairs: u64) -> Option<f64> {
        (self.pairs > 0).then(|| pairs as f64 / self.pairs as f64)
    }
}

/// Follows every path from every switch with hosts to every host.
pub fn path_diversity(wiring: &dyn Wiring, table: &Table) -> PathDiversity {
    path_diversity_observed(wiring, table, &())
}

/// The same, with progress reports.
pub fn path_diversity_observed(
    wiring: &dyn Wiring,
    table: &Table,
    observer: &dyn Observer,
) -> PathDiversity {
    let links = Links::of(wiring);
    let leaves: Vec<Vec<Host>> = by_switch(wiring, 0..wiring.hosts()).into_values().collect();
    let stage = Stage::new(observer, "paths compared, by switch", leaves.len() as u64);
    let parts = shared(leaves.len(), |own| {
        let mut part = Part::new(table, &links);
        own.for_each(|leaf| {
            part.look(wiring, &leaves[leaf]);
            stage.step();
        });
        part
    });
    let mut all = PathDiversity::default();
    let mut loads: Vec<Vec<u64>> = vec![vec![0; links.count() as usize]; table.paths() as usize];
    for part in parts {
        all.pairs += part.found.pairs;
        all.by_cable += part.found.by_cable;
        all.by_switch += part.found.by_switch;
        for (all, own) in loads.iter_mut().flatten().zip(part.loads.iter().flatten()) {
            *all += own;
        }
    }
    all.fullest = loads.iter().map(|load| load.iter().copied().max().unwrap_or(0)).collect();
    all
}

/// What one thread finds.
struct Part<'t> {
    table: &'t Table,
    links: &'t Links,
    found: PathDiversity,
    /// Messages of each path on each link.
    loads: Vec<Vec<u64>>,
    /// The way of each path, used again for each pair.
    ways: Vec<Vec<Hop>>,
}

impl<'t> Part<'t> {
    fn new(table: &'t Table, links: &'t Links) -> Part<'t> {
        let paths = table.paths() as usize;
        let loads = vec![vec![0; links.count() as usize]; paths];
        Part { table, links, found: PathDiversity::default(), loads, ways: vec![Vec::new(); paths] }
    }

    /// Everything from the hosts of one switch: they share their ways.
    fn look(&mut self, wiring: &dyn Wiring, hosts: &[Host]) {
        let own = wiring.attached(hosts[0]).map(|place| place.0);
        for to in 0..wiring.hosts() {
            let far = wiring.attached(to).map(|place| place.0) != own;
            let senders = hosts.len() as u64 - u64::from(hosts.contains(&to));
            let mut arrived = true;
            for (path, way) in self.ways.iter_mut().enumerate() {
                way.clear();
                let routing = self.table.path(path as u32);
                let walked = walk(wiring, &routing, hosts[0], to, |hop| way.push(hop));
                arrived &= walked.is_ok();
                for hop in way.iter().filter(|_| walked.is_ok()) {
                    self.loads[path][self.links.link(hop.switch, hop.port) as usize] += senders;
                }
            }
            if arrived && far {
                self.found.pairs += senders;
                let (by_cable, by_switch) = share_nothing(&self.ways);
                self.found.by_cable += senders * u64::from(by_cable);
                self.found.by_switch += senders * u64::from(by_switch);
            }
        }
    }
}

/// Whether no two ways share a cable but the last, and no switch but the first and the last.
fn share_nothing(ways: &[Vec<Hop>]) -> (bool, bool) {
    let (mut cables, mut switches) = (true, true);
    for (at, one) in ways.iter().enumerate() {
        for other in &ways[at + 1..] {
            let (one, other) = (&one[..one.len() - 1], &other[..other.len() - 1]);
            cables &= one.iter().all(|hop| !other.contains(hop));
            let passes = |hop: &Hop| other[1..].iter().any(|met| met.switch == hop.switch);
            switches &= !one[1..].iter().any(passes);
        }
    }
    (cables, cables && switches)
}
