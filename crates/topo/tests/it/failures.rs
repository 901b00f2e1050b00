//! After a failure all hosts reach those they can, without going round and without a credit loop
//! that waits: every single failure, and thousands of sets.

use std::thread;

use laneway_needs::amount;
use laneway_stats::SplitMix64;
use laneway_topo::routing::reroute::Native;
use laneway_topo::{End, Fabric, Part, Table, Topology, Wiring, lost, prove, topology};

/// A piece of the fabric for each switch: what a search over cables finds, and nothing else.
fn pieces(fabric: &dyn Wiring) -> Vec<u32> {
    let mut piece = vec![u32::MAX; fabric.switches() as usize];
    for begin in 0..fabric.switches() {
        let mut next = vec![begin];
        while let Some(switch) = next.pop() {
            if piece[switch as usize] != u32::MAX {
                continue;
            }
            piece[switch as usize] = begin;
            for port in 0..fabric.ports(switch) as u8 {
                if let End::Switch(other, _) = fabric.end(switch, port) {
                    next.push(other);
                }
            }
        }
    }
    piece
}

/// The table reaches every pair that is connected, and no credit loop.
fn check(damaged: &Fabric, table: &Table, what: &str) {
    let proof = prove(damaged, table);
    assert!(proof.credit_loop.is_empty(), "{what}: {:?}", proof.credit_loop);
    if proof.unreached.is_empty() {
        return;
    }
    let pieces = pieces(damaged);
    let piece = |host| damaged.attached(host).map(|(switch, _)| pieces[switch as usize]);
    for (from, to, _) in proof.unreached {
        assert_ne!(piece(from), piece(to), "{what}: {from} does not reach {to}");
    }
}

/// Every switch, and every cable once.
fn parts(fabric: &dyn Wiring) -> Vec<Part> {
    let mut parts: Vec<Part> = (0..fabric.switches()).map(Part::Switch).collect();
    for switch in 0..fabric.switches() {
        for port in 0..fabric.ports(switch) as u8 {
            match fabric.end(switch, port) {
                End::Switch(other, _) if other < switch => {}
                End::Nothing => {}
                _ => parts.push(Part::Link(switch, port)),
            }
        }
    }
    parts
}

/// Runs on all cores.
fn each<T: Sync>(work: &[T], run: impl Fn(&T) + Sync) {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    thread::scope(|scope| {
        for share in work.chunks(work.len().div_ceil(cores).max(1)) {
            let run = &run;
            scope.spawn(move || share.iter().for_each(run));
        }
    });
}

fn every_single_failure(spec: &str) {
    let whole = topology(spec).expect("a topology");
    let native = Native::new(&*whole, &*whole);
    each(&parts(&*whole), |&part| {
        let mut damaged = Fabric::of(&*whole);
        damaged.fail(part);
        check(&damaged, &native.reroute(&damaged), &format!("{spec} {part:?}"));
    });
}

#[test]
fn the_mesh_survives_every_single_failure() {
    every_single_failure("mlfm:d=4");
    every_single_failure("mlfm:d=8");
}

#[test]
fn trees_survive_every_single_failure() {
    for spec in ["fat-tree-2:d=4", "fat-tree-3:d=4", "fat-tree-3-max:d=4", "fat-tree-3-half:d=4"] {
        every_single_failure(spec);
    }
    every_single_failure("fat-tree-2:d=8");
    every_single_failure("fat-tree-3:d=5");
}

/// 2 to 5 different cables between switches.
fn draw(whole: &dyn Topology, cables: &[Part], seed: u64) -> Fabric {
    let mut draws = SplitMix64::new(seed);
    let mut damaged = Fabric::of(whole);
    let mut cables = cables.to_vec();
    let count = 2 + draws.index(4);
    for _ in 0..count {
        damaged.fail(cables.swap_remove(draws.index(cables.len())));
    }
    assert_eq!(lost(whole, &damaged).cables_gone, count as u32, "seed {seed}");
    damaged
}

fn many_sets(spec: &str, seeds: std::ops::Range<u64>) {
    let whole = topology(spec).expect("a topology");
    let native = Native::new(&*whole, &*whole);
    let is_cable = |part: &Part| match *part {
        Part::Link(switch, port) => matches!(whole.end(switch, port), End::Switch(..)),
        _ => false,
    };
    let cables: Vec<Part> = parts(&*whole).into_iter().filter(is_cable).collect();
    let seeds: Vec<u64> = seeds.collect();
    each(&seeds, |&seed| {
        let damaged = draw(&*whole, &cables, seed);
        check(&damaged, &native.reroute(&damaged), &format!("{spec} seed {seed}"));
    });
}

#[test]
fn sets_of_links_are_survived() {
    many_sets("mlfm:d=4", 0..amount(1_000, 8_000));
}

#[test]
fn sets_of_links_of_a_larger_mesh_are_survived() {
    many_sets("mlfm:d=8", 8_000..amount(8_100, 10_000));
}

/// Half of all cables gone: pieces, and switches that only detours of detours reach.
#[test]
fn ruins_are_survived() {
    for spec in ["mlfm:d=4", "fat-tree-3:d=4", "fat-tree-3-half:d=4"] {
        let whole = topology(spec).expect("a topology");
        let native = Native::new(&*whole, &*whole);
        let parts = parts(&*whole);
        for seed in 0..amount(40, 200) {
            let mut draws = SplitMix64::new(seed);
            let mut damaged = Fabric::of(&*whole);
            for _ in 0..draws.index(parts.len() / 2) {
                damaged.fail(parts[draws.index(parts.len())]);
            }
            check(&damaged, &native.reroute(&damaged), &format!("{spec} ruin {seed}"));
        }
    }
}

fn changed(one: &Table, other: &Table) -> usize {
    let rows = (0..one.switches()).map(|at| one.row_of(at).iter().zip(other.row_of(at)));
    rows.flatten().filter(|(one, other)| one != other).count()
}

/// Whether messages that have come to a switch would still arrive by the table.
fn arrives(fabric: &Fabric, table: &Table, mut switch: u32, host: u32) -> bool {
    for _ in 0..fabric.switches() {
        match fabric.end(switch, table.row_of(switch)[host as usize]) {
            End::Host(end) => return end == host,
            End::Switch(next, _) => switch = next,
            End::Nothing => return false,
        }
    }
    false
}

/// What still works stays, and one cable of the mesh costs few of 62,208 entries.
#[test]
fn little_changes() {
    for (spec, part, most) in [
        ("mlfm:d=8", Part::Link(1, 9), 300),
        ("mlfm:d=8", Part::Switch(107), 3_000),
        ("fat-tree-3:d=8", Part::Link(1, 9), 300),
    ] {
        let whole = topology(spec).expect("a topology");
        let native = Native::new(&*whole, &*whole);
        let mut damaged = Fabric::of(&*whole);
        assert_eq!(native.reroute(&damaged), *native.table());
        damaged.fail(part);
        let table = native.reroute(&damaged);
        for switch in 0..whole.switches() {
            for host in 0..whole.hosts() {
                let [now, was] = [&table, native.table()].map(|t| t.row_of(switch)[host as usize]);
                let works = arrives(&damaged, native.table(), switch, host);
                assert!(!works || now == was, "{spec} {part:?}: switch {switch} to {host}");
            }
        }
        let changed = changed(&table, native.table());
        assert!((1..=most).contains(&changed), "{spec} {part:?}: {changed}");
    }
}

#[test]
fn what_is_lost_is_counted() {
    let whole = topology("mlfm:d=4").expect("a topology");
    let mut damaged = Fabric::of(&*whole);
    assert!(lost(&*whole, &damaged).is_nothing());
    damaged.fail(Part::Switch(0));
    let loss = lost(&*whole, &damaged);
    assert_eq!(loss.hosts_cut_off, [0, 1, 2, 3]);
    assert_eq!(loss.pairs_apart, 80 * 79 - 76 * 75);
    assert_eq!(loss.switches_gone, [0]);
    assert_eq!((loss.cables_gone, loss.cables), (4, 80));
    assert_eq!(loss.narrowest, None);
    damaged.fail(Part::Link(1, 5));
    assert_eq!(lost(&*whole, &damaged).narrowest, Some((1, 0.75)));
}

/// A table for another fabric is made anew rather than refused.
#[test]
fn another_fabric_is_routed_anew() {
    let (whole, other) = (topology("mlfm:d=3").expect("one"), topology("mlfm:d=2").expect("one"));
    let fabric = Fabric::of(&*other);
    let table = laneway_topo::reroute(&*whole, &*whole, &fabric);
    assert!(prove(&fabric, &table).holds());
}
