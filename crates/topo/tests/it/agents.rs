//! Every switch reaches every host and every switch that cables connect it with, over every routing
//! that we make, on whole and damaged fabrics drawn from seeds: a plain search over the cables says
//! which are connected, a plain walk of the tables which arrive.

mod damaged;

use std::collections::{BTreeMap, BTreeSet};

use damaged::{Damaged, draw};
use laneway_topo::files::formats::lft;
use laneway_topo::proof::prove::Asked;
use laneway_topo::routing::engines::{ENGINES, several};
use laneway_topo::traffic::repair::spread;
use laneway_topo::{End, Fabric, Hop, Table, Wiring, prove, prove_agents, reroute, topology};

/// Switches that cables connect with this one.
fn connected(fabric: &Fabric, from: u32) -> BTreeSet<u32> {
    let (mut found, mut next) = (BTreeSet::from([from]), vec![from]);
    while let Some(switch) = next.pop() {
        for port in 0..fabric.ports(switch) as u8 {
            if let End::Switch(other, _) = fabric.end(switch, port)
                && found.insert(other)
            {
                next.push(other);
            }
        }
    }
    found
}

/// The hops of a way to an end; `None` if it does not arrive within as many hops as switches.
fn walk(fabric: &Fabric, from: u32, to: End, port: impl Fn(u32) -> u8) -> Option<Vec<Hop>> {
    let (mut switch, mut way) = (from, Vec::new());
    for _ in 0..=fabric.switches() {
        if to == End::Switch(switch, 0) {
            return Some(way);
        }
        let port = port(switch);
        if u32::from(port) >= fabric.ports(switch) {
            return None;
        }
        way.push(Hop { switch, port });
        match fabric.end(switch, port) {
            End::Switch(next, _) => switch = next,
            end => return (end == to).then_some(way),
        }
    }
    None
}

/// Every column of the tables: where it leads to, and its ports by switch.
fn columns(fabric: &Fabric, table: &Table, to_switches: &Table) -> Vec<(End, Vec<u8>)> {
    let column = |table: &Table, at: u32| {
        (0..fabric.switches()).map(|from| table.row_of(from)[at as usize]).collect()
    };
    let hosts = (0..table.destinations())
        .map(|at| (End::Host(at / table.paths()), column(table, at)))
        .filter(|(end, _)| matches!(end, End::Host(host) if fabric.attached(*host).is_some()));
    let switches = (0..fabric.switches()).map(|at| (End::Switch(at, 0), column(to_switches, at)));
    hosts.chain(switches).collect()
}

/// Everything that cables connect is reached, and links form a credit loop only where the proofs
/// say so.
fn check(fabric: &Fabric, table: &Table, what: &str) {
    let to_switches = lft::to_switches(fabric, table);
    let mut pairs = 0;
    let mut waits: BTreeMap<Hop, BTreeSet<Hop>> = BTreeMap::new();
    let connected: Vec<_> = (0..fabric.switches()).map(|at| connected(fabric, at)).collect();
    for (to, ports) in columns(fabric, table, &to_switches) {
        let at = match to {
            End::Host(host) => fabric.attached(host).expect("plugged in").0,
            End::Switch(switch, _) => switch,
            End::Nothing => continue,
        };
        for &from in connected[at as usize].iter().filter(|&&from| to != End::Switch(from, 0)) {
            let way = walk(fabric, from, to, |at| ports[at as usize]);
            let way = way.unwrap_or_else(|| panic!("{what}: switch {from} does not reach {to:?}"));
            for pair in way.windows(2) {
                waits.entry(pair[0]).or_default().insert(pair[1]);
            }
            pairs += 1;
        }
    }
    let proof = prove_agents(fabric, table, &to_switches);
    assert_eq!((proof.pairs, proof.missed()), (pairs, 0), "{what}");
    let hosts = prove(fabric, table).credit_loop;
    let is_reported = !hosts.is_empty() || !proof.credit_loops.is_empty();
    assert_eq!(has_credit_loop(waits), is_reported, "{what}: {:?}", proof.credit_loops);
    // Shortest ways may leave the switches no other; up-down ways leave them some.
    assert!(
        proof.credit_loops.is_empty() || what.contains("minimal"),
        "{what}: {:?}",
        proof.credit_loops
    );
}

/// Removes links that wait for none, until all are gone or none can go.
fn has_credit_loop(mut waits: BTreeMap<Hop, BTreeSet<Hop>>) -> bool {
    loop {
        let waiting: BTreeSet<Hop> = waits.keys().copied().collect();
        let before = waits.len();
        waits.retain(|_, next| next.iter().any(|next| waiting.contains(next)));
        if waits.len() == before {
            return before > 0;
        }
    }
}

/// All routings of a damaged fabric.
fn routings(drawn: &Damaged) -> Vec<(&'static str, Table)> {
    let Damaged { whole, fabric } = drawn;
    let mut all: Vec<_> =
        ENGINES.iter().map(|engine| (engine.name, (engine.route)(fabric, &()))).collect();
    all.push(("2 paths", several(fabric, None, 2)));
    match whole {
        Some(whole) => {
            all.push(("reroute", reroute(&**whole, &**whole, fabric)));
            all.push(("spread", spread(&**whole, &**whole, fabric)));
        }
        None => all.push(("reroute", reroute(fabric, &(ENGINES[0].route)(fabric, &()), fabric))),
    }
    all
}

#[test]
fn every_switch_reaches_all_on_damaged_fabrics() {
    for seed in 0..120 {
        let drawn = draw(seed);
        for (routing, table) in routings(&drawn) {
            check(&drawn.fabric, &table, &format!("seed {seed}, {routing}"));
        }
    }
}

#[test]
fn every_switch_reaches_all_of_a_whole_topology() {
    for spec in ["mlfm:d=1", "mlfm:d=2", "mlfm:d=4", "mlfm:d=5", "fat-tree-2:d=3", "fat-tree-3:d=4"]
    {
        let plan = topology(spec).expect(spec);
        let fabric = Fabric::of(&*plan);
        check(&fabric, &Table::of(&*plan, &*plan), spec);
        for engine in ENGINES.iter().filter(|engine| engine.name != "minimal") {
            check(&fabric, &(engine.route)(&fabric, &()), &format!("{spec}, {}", engine.name));
        }
    }
}

/// The mesh's own paths use one lane so well that the switches' messages may close a credit loop;
/// the proof names it, and everything is reached.
#[test]
fn several_paths_of_the_mesh_reach_all() {
    for (spec, paths) in [("mlfm:d=4", 2), ("mlfm:d=8", 4)] {
        let plan = topology(spec).expect(spec);
        let table = plan.paths(paths).expect("vertices enough");
        let to_switches = lft::to_switches(&*plan, &table);
        let proof = prove_agents(&*plan, &table, &to_switches);
        assert_eq!(proof.missed(), 0, "{spec}");
        let switches = u64::from(plan.switches());
        let hosts = u64::from(plan.hosts() * paths);
        assert_eq!(proof.pairs, switches * (hosts + switches - 1), "{spec}");
        println!("{spec}, {paths} paths: {} credit loops", proof.credit_loops.len());
    }
}

/// A hole in a table, and a credit loop that only switches close, are found.
#[test]
fn what_is_wrong_is_found() {
    let plan = topology("mlfm:d=4").expect("a mesh");
    let table = Table::of(&*plan, &*plan);
    let to_switches = lft::to_switches(&*plan, &table);
    let edge = plan.switches() - 1;
    let mut hole = table.clone();
    hole.set(edge, 0, u8::MAX);
    let proof = prove_agents(&*plan, &hole, &to_switches);
    assert_eq!((proof.missed(), proof.unreached[0]), (1, (edge, Asked::Host(0, 0))));
    assert!(prove(&*plan, &hole).holds(), "no host needs it");
    // Every layer passes what edge switches send to other vertices.
    let mut credit_loop = table.clone();
    for switch in 20..plan.switches() {
        for host in 0..plan.hosts() {
            let way = |table: &Table| walk_to_host(&*plan, switch, host, table);
            if way(&table) > 3 {
                credit_loop.set(switch, host, (host / 20) as u8);
            }
        }
    }
    let proof = prove_agents(&*plan, &credit_loop, &to_switches);
    assert_eq!(proof.missed(), 0);
    assert_eq!(proof.credit_loops.len(), 1, "{:?}", proof.credit_loops);
    assert!(prove(&*plan, &credit_loop).holds(), "hosts close none");
}

fn walk_to_host(plan: &dyn Wiring, from: u32, host: u32, table: &Table) -> usize {
    let fabric = Fabric::of(plan);
    let port = |at: u32| table.row_of(at)[host as usize];
    walk(&fabric, from, End::Host(host), port).map_or(0, |way| way.len())
}
