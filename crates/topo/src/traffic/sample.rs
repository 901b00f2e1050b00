//! Fabrics whose ways or tables do not fit into memory: some phases, and some pairs of hosts, are
//! followed over the cables.

use laneway_core::{Observer, Phases, Stage};
use laneway_stats::SplitMix64;

use crate::routing::{Hop, Routing, walk};
use crate::threads::shared;
use crate::traffic::conflicts::Tally;
use crate::wiring::graph::levels;
use crate::wiring::links::Links;
use crate::wiring::{Host, Wiring};

/// Follows all messages of some phases, drawn at random.
pub fn follow_phases(
    wiring: &dyn Wiring,
    routing: &dyn Routing,
    order: &(dyn Phases + Sync),
    count: u64,
    seed: u64,
    observer: &dyn Observer,
) -> Tally {
    let mut draws = SplitMix64::new(seed);
    let drawn: Vec<u64> = (0..count).map(|_| draws.index(order.count() as usize) as u64).collect();
    let mut all = Tally::default();
    let followed = follow_each(wiring, routing, order, &drawn, observer);
    followed.iter().for_each(|phase| all.merge(phase));
    all
}

/// Follows all messages of these phases, with all cores: a tally for each.
pub fn follow_each(
    wiring: &dyn Wiring,
    routing: &dyn Routing,
    order: &(dyn Phases + Sync),
    phases: &[u64],
    observer: &dyn Observer,
) -> Vec<Tally> {
    let stage = Stage::new(observer, "phases followed", phases.len() as u64);
    let links = Links::of(wiring);
    let parts = shared(phases.len(), |part| {
        let mut partners = vec![0; wiring.hosts() as usize];
        let followed = |&phase: &u64| {
            order.partners(phase, &mut partners);
            let mut tally = follow(wiring, routing, &links, &partners);
            tally.rest(order.resting(phase, &partners));
            stage.step();
            tally
        };
        phases[part].iter().map(followed).collect::<Vec<_>>()
    });
    parts.into_iter().flatten().collect()
}

/// Follows the messages of one phase.
fn follow(wiring: &dyn Wiring, routing: &dyn Routing, links: &Links, to: &[Host]) -> Tally {
    let mut loads = vec![0u32; links.count() as usize];
    let mut tally = Tally::default();
    let link = |hop: Hop| links.link(hop.switch, hop.port) as usize;
    for (from, &to) in to.iter().enumerate().filter(|(from, to)| *from != **to as usize) {
        let (from, mut way) = (from as Host, Vec::new());
        match walk(wiring, routing, from, to, |hop| way.push(link(hop))) {
            Ok(_) => way.into_iter().for_each(|link| loads[link] += 1),
            Err(_) => tally.lost += 1,
        }
    }
    tally.add_phase(loads.iter().copied().max().unwrap_or(0));
    for (from, &to) in to.iter().enumerate() {
        let mut worst = 1;
        if from != to as usize {
            let load = |hop: Hop| worst = worst.max(loads[link(hop)]);
            if walk(wiring, routing, from as Host, to, load).is_err() {
                continue;
            }
        }
        tally.add_flow(worst);
    }
    tally
}

/// The result of following pairs of hosts over the cables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Followed {
    /// The number of followed pairs.
    pub pairs: u64,
    /// The pairs that do not arrive.
    pub lost: Vec<(Host, Host)>,
    /// The number of switches on the longest way.
    pub longest: u32,
    /// Ways that do not climb and then descend; where there are none no credit loop can
    /// exist.
    pub astray: u64,
}

/// Follows pairs of hosts, for fabrics whose table does not fit into memory: the first host to all,
/// which on a mesh stands for every pair, and pairs drawn at random.
pub fn follow_pairs(
    wiring: &dyn Wiring,
    routing: &dyn Routing,
    sample: u64,
    seed: u64,
    observer: &dyn Observer,
) -> Followed {
    let (hosts, levels) = (wiring.hosts(), levels(wiring));
    let mut draws = SplitMix64::new(seed);
    let mut found = Followed::default();
    let drawn = (0..sample)
        .map(|_| (draws.index(hosts as usize) as Host, draws.index(hosts as usize) as Host));
    let first = (1..hosts).map(|to| (0, to)).chain([(1.min(hosts - 1), 0)]);
    let stage = Stage::new(observer, "pairs followed", u64::from(hosts) + sample);
    for (from, to) in stage.over(first.chain(drawn)).filter(|(from, to)| from != to) {
        let mut way = Vec::with_capacity(5);
        let arrived = walk(wiring, routing, from, to, |hop| way.push(levels[hop.switch as usize]));
        found.pairs += 1;
        if arrived.is_err() {
            found.lost.push((from, to));
            continue;
        }
        found.longest = found.longest.max(way.len() as u32);
        let top = way.windows(2).take_while(|pair| pair[0] < pair[1]).count();
        found.astray += u64::from(way[top..].windows(2).any(|pair| pair[0] <= pair[1]));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::conflicts::Counter;
    use crate::traffic::order::{Random, Shift};

    #[test]
    fn following_pairs_shows_what_the_proof_shows() {
        for spec in ["mlfm:d=4", "fat-tree-3:d=4", "fat-tree-2:d=3"] {
            let fabric = crate::topology(spec).expect(spec);
            let found = follow_pairs(&*fabric, &*fabric, 5_000, 1, &());
            let table = crate::Table::of(&*fabric, &*fabric);
            let proof = crate::prove(&*fabric, &table);
            assert!(proof.holds() && found.lost.is_empty() && found.astray == 0, "{spec}");
            assert_eq!(found.longest, proof.longest);
            let mut cut = crate::Fabric::of(&*fabric);
            cut.fail(crate::Part::Switch(fabric.switches() - 1));
            assert!(!follow_pairs(&cut, &table, 5_000, 1, &()).lost.is_empty(), "{spec}");
        }
    }

    /// All phases of an order, drawn one at a time, load links as counting says.
    #[test]
    fn following_phases_shows_what_counting_shows() {
        let fabric = crate::topology("mlfm:d=3").expect("a mesh");
        let counter = Counter::new(&*fabric, &*fabric).expect("small");
        for seed in 0..5 {
            let order = Random { hosts: 36, phases: 1, seed, fixed_points: true };
            let followed = follow_phases(&*fabric, &*fabric, &order, 1, 1, &());
            assert_eq!(followed, counter.count(&order));
        }
        let mut cut = crate::Fabric::of(&*fabric);
        cut.fail(crate::Part::Host(3));
        let lost = follow_phases(&cut, &*fabric, &Shift::new(36), 10, 2, &()).lost;
        assert!((10..=20).contains(&lost), "{lost}");
    }
}
