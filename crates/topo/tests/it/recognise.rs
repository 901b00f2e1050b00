//! Fabrics under other names, numbers and ports, whole and damaged: what they are is found again.

use laneway_stats::SplitMix64;
use laneway_topo::machine::differ::{Difference, differ};
use laneway_topo::machine::map::Map;
use laneway_topo::{
    Counter, End, Fabric, KINDS, Part, Topology, Wiring, prove, recognise, topology,
};

fn order(count: u32, draws: &mut SplitMix64) -> Vec<u32> {
    let mut all: Vec<u32> = (0..count).collect();
    for last in (1..all.len()).rev() {
        all.swap(last, draws.index(last + 1));
    }
    all
}

/// The same cables with everything else changed: numbers, names, ports.
fn shuffled(plan: &dyn Wiring, draws: &mut SplitMix64) -> Fabric {
    let (switches, hosts) = (order(plan.switches(), draws), order(plan.hosts(), draws));
    let ports: Vec<Vec<u32>> =
        (0..plan.switches()).map(|switch| order(plan.ports(switch), draws)).collect();
    let mut fabric = Fabric::default();
    let mut new = vec![0; switches.len()];
    for &old in &switches {
        let name = format!("S-{:016x}", draws.next_u64());
        new[old as usize] = fabric.add_switch(&name, plan.ports(old)).expect("few ports");
    }
    let mut new_hosts = vec![0; hosts.len()];
    for &old in &hosts {
        new_hosts[old as usize] = fabric.add_host(&format!("H-{:016x}", draws.next_u64()));
    }
    let place =
        |switch: u32, port: u8| (new[switch as usize], ports[switch as usize][port as usize] as u8);
    for switch in 0..plan.switches() {
        for port in 0..plan.ports(switch) as u8 {
            let end = match plan.end(switch, port) {
                End::Host(host) => End::Host(new_hosts[host as usize]),
                End::Switch(other, its) if (switch, port) < (other, its) => {
                    let (other, its) = place(other, its);
                    End::Switch(other, its)
                }
                _ => continue,
            };
            fabric.plug(place(switch, port), end).expect("free ports");
        }
    }
    fabric
}

fn some() -> impl Iterator<Item = Box<dyn Topology>> {
    let sizes = |kind: &'static laneway_topo::topologies::Kind| {
        let all: &[u32] = if kind.only_even { &[4, 6] } else { &[3, 4, 5, 6] };
        all.iter().map(move |&d| (kind.build)(d))
    };
    KINDS.iter().flat_map(move |kind| sizes(kind)).chain(topology("mlfm:d=8"))
}

#[test]
fn every_topology_is_recognised_under_other_names_and_ports() {
    let mut draws = SplitMix64::new(5);
    for plan in some() {
        let found = shuffled(&*plan, &mut draws);
        let recognised = recognise(&found).unwrap_or_else(|| panic!("{} is unknown", plan.spec()));
        assert_eq!(recognised.plan.spec(), plan.spec());
        assert_eq!(recognised.differences, vec![], "{}", plan.spec());
        let table = recognised.native(&found);
        assert!(prove(&found, &table).holds(), "{}", plan.spec());
        // The topology's own order, on the hosts that were found, has no more conflicts than there.
        let order = plan.order();
        let mut found_of = vec![0; found.hosts() as usize];
        for (host, planned) in recognised.map.hosts.iter().enumerate() {
            found_of[planned.expect("all are known") as usize] = host as u32;
        }
        let listed = |name: &dyn Fn(u32) -> u32| {
            let pairs = |phase: u64| {
                let pair = |host: u32| (name(host), name(order.partner(host, phase)));
                (0..plan.hosts()).map(pair).collect()
            };
            let phases: Vec<Vec<(u32, u32)>> = (0..order.count().min(40)).map(pairs).collect();
            laneway_topo::traffic::order::Listed::new(plan.hosts(), &phases).expect("pairs")
        };
        let there = Counter::new(&found, &table).expect("small");
        let here = Counter::new(&*plan, &*plan).expect("small");
        let there = there.count(&listed(&|host| found_of[host as usize]));
        assert_eq!(there, here.count(&listed(&|host| host)), "{}", plan.spec());
    }
}

/// Every cable between switches, once.
fn between(fabric: &Fabric) -> Vec<(u32, u8)> {
    let mut all = Vec::new();
    for switch in 0..fabric.switches() {
        for port in 0..fabric.ports(switch) as u8 {
            match fabric.end(switch, port) {
                End::Switch(other, its) if (switch, port) < (other, its) => {
                    all.push((switch, port));
                }
                _ => {}
            }
        }
    }
    all
}

/// Exchanges the far ends of two cables.
fn cross(fabric: &mut Fabric, one: (u32, u8), other: (u32, u8)) {
    let ends = [fabric.end(one.0, one.1), fabric.end(other.0, other.1)];
    fabric.fail(Part::Link(one.0, one.1));
    fabric.fail(Part::Link(other.0, other.1));
    fabric.plug(one, ends[1]).expect("free");
    fabric.plug(other, ends[0]).expect("free");
}

#[test]
fn damaged_fabrics_are_recognised_and_their_cables_named() {
    let mut draws = SplitMix64::new(17);
    for spec in ["mlfm:d=4", "mlfm:d=8", "fat-tree-3:d=4", "fat-tree-2:d=6", "fat-tree-3-max:d=4"] {
        let plan = topology(spec).expect(spec);
        for trial in 0..8 {
            let mut found = shuffled(&*plan, &mut draws);
            let cables = between(&found);
            let mut pick = || cables[draws.index(cables.len())];
            let (mut missing, mut wrong) = (0, 0);
            if trial % 2 == 0 {
                let (switch, port) = pick();
                found.fail(Part::Link(switch, port));
                missing = 1;
            } else {
                let (one, other) = (pick(), pick());
                let far = |(switch, port): (u32, u8)| match found.end(switch, port) {
                    End::Switch(other, _) => other,
                    _ => switch,
                };
                // Cables of one switch, or to one switch, may be exchanged without a difference.
                if one.0 != other.0
                    && far(one) != far(other)
                    && far(one) != other.0
                    && far(other) != one.0
                {
                    cross(&mut found, one, other);
                    wrong = 2;
                }
            }
            let recognised = recognise(&found).unwrap_or_else(|| panic!("{spec} is unknown"));
            assert_eq!(recognised.plan.spec(), spec);
            let differences = &recognised.differences;
            let count = |is: fn(&Difference) -> bool| differences.iter().filter(|d| is(d)).count();
            assert_eq!(count(|d| matches!(d, Difference::Missing(_))), missing, "{spec} {trial}");
            // An exchange may also be seen as another one of the same size.
            assert!(differences.len() <= missing + wrong, "{spec} {trial}: {differences:?}");
            assert_eq!(differences.is_empty(), missing + wrong == 0, "{spec} {trial}");
            let table = recognised.native(&found);
            assert!(prove(&found, &table).holds(), "{spec} {trial}");
        }
    }
}

#[test]
fn with_names_the_very_ports_are_named() {
    let plan = topology("mlfm:d=4").expect("a mesh");
    let names = |found: &Fabric| differ(&*plan, found, &Map::new(found, &*plan).expect("small"));
    let whole = Fabric::of(&*plan);
    assert_eq!(names(&whole), vec![]);
    let mut cut = whole.clone();
    cut.fail(Part::Link(0, 4));
    assert_eq!(names(&cut), vec![Difference::Missing("vertex-0-0/5 to edge-0-1/1".into())]);
    let mut crossed = whole.clone();
    cross(&mut crossed, (0, 4), (1, 4));
    let wrong = |planned: &str, found: &str| Difference::Wrong {
        planned: planned.into(),
        found: found.into(),
    };
    assert_eq!(
        names(&crossed),
        vec![
            wrong("vertex-0-0/5 to edge-0-1/1", "vertex-0-0/5 to edge-1-2/1"),
            wrong("vertex-0-1/5 to edge-1-2/1", "vertex-0-1/5 to edge-0-1/1"),
        ]
    );
    let mut hosts = whole.clone();
    hosts.fail(Part::Host(0));
    hosts.fail(Part::Host(1));
    hosts.plug((0, 0), End::Host(1)).expect("free");
    assert_eq!(
        names(&hosts),
        vec![
            wrong("vertex-0-0/1 to node0", "vertex-0-0/1 to node1"),
            Difference::Missing("vertex-0-0/2 to node1".into()),
        ]
    );
    let mut extra = cut.clone();
    let switch = extra.add_switch("spare", 4).expect("few ports");
    extra.plug((switch, 0), End::Switch(0, 4)).expect("free");
    assert_eq!(names(&extra), vec![wrong("vertex-0-0/5 to edge-0-1/1", "vertex-0-0/5 to spare/1")]);
}

#[test]
fn an_unknown_topology_is_not_recognised() {
    let mut ring = Fabric::default();
    for at in 0..30 {
        ring.add_switch(&format!("ring{at}"), 8).expect("few ports");
    }
    for at in 0..30u32 {
        ring.plug((at, 0), End::Switch((at + 1) % 30, 1)).expect("free");
    }
    for at in 0..80u32 {
        let host = ring.add_host(&format!("host{at}"));
        ring.plug((at % 30, 2 + (at / 30) as u8), End::Host(host)).expect("free");
    }
    assert!(recognise(&ring).is_none());
    assert!(recognise(&Fabric::default()).is_none());
}

/// The far ends of these cables, exchanged at random; a cable from a switch to itself is left out.
fn rewired(mut fabric: Fabric, cables: &[(u32, u8)], draws: &mut SplitMix64) -> Fabric {
    let ends: Vec<End> = cables.iter().map(|&(switch, port)| fabric.end(switch, port)).collect();
    for &(switch, port) in cables {
        fabric.fail(Part::Link(switch, port));
    }
    for (&place, to) in cables.iter().zip(order(cables.len() as u32, draws)) {
        match ends[to as usize] {
            End::Switch(other, _) if other == place.0 => {}
            end => fabric.plug(place, end).expect("free"),
        }
    }
    fabric
}

/// Were they laid on every plan of about their size, this test would take many minutes.
#[test]
fn large_fabrics_like_nothing_are_recognised_as_such_at_once() {
    let mut draws = SplitMix64::new(29);
    // As many hosts and switches as fat-tree-3-max:d=28 has, and hosts at all of them.
    let mut random = Fabric::default();
    for switch in 0..3920u32 {
        random.add_switch(&format!("s{switch}"), 254).expect("few ports");
    }
    for host in 0..43_904 {
        random.add_host(&format!("h{host}"));
        random.plug((host % 3920, (host / 3920) as u8), End::Host(host)).expect("free");
    }
    for port in 0..20 {
        for (one, other) in (0..3920).zip(order(3920, &mut draws)) {
            random.plug((one, 100 + port), End::Switch(other, 200 + port)).expect("free");
        }
    }
    assert!(recognise(&random).is_none());
    // Every switch has the right number of hosts and cables, but they lead anywhere.
    for spec in ["fat-tree-3:d=40", "mlfm:d=51"] {
        let found = shuffled(&*topology(spec).expect(spec), &mut draws);
        let cables = between(&found);
        assert!(recognise(&rewired(found, &cables, &mut draws)).is_none(), "{spec}");
    }
}

/// Nearly one cable in ten is wrong or missing, here and there or all at one kind of switch.
#[test]
fn much_damage_is_still_recognised() {
    let mut draws = SplitMix64::new(31);
    for spec in ["mlfm:d=8", "fat-tree-3:d=8", "fat-tree-3-half:d=8", "fat-tree-2:d=16"] {
        let plan = topology(spec).expect(spec);
        for trial in 0..4 {
            let mut found = shuffled(&*plan, &mut draws);
            let is_leaf = |switch: u32| {
                (0..found.ports(switch) as u8)
                    .any(|port| matches!(found.end(switch, port), End::Host(_)))
            };
            let mut cables = between(&found);
            if trial % 2 == 0 {
                // Those of every other leaf.
                let half = |&(switch, port): &(u32, u8)| match found.end(switch, port) {
                    End::Switch(other, _) if !is_leaf(switch) => other % 2 == 0,
                    _ => switch % 2 == 0,
                };
                cables.retain(half);
            }
            let all = plan.hosts() as usize + between(&found).len();
            let chosen: Vec<_> = order(cables.len() as u32, &mut draws)
                .into_iter()
                .take(all / 11)
                .map(|at| cables[at as usize])
                .collect();
            if trial < 2 {
                chosen.iter().for_each(|&(switch, port)| found.fail(Part::Link(switch, port)));
            } else {
                found = rewired(found, &chosen, &mut draws);
            }
            let recognised = recognise(&found).unwrap_or_else(|| panic!("{spec} {trial}"));
            assert_eq!(recognised.plan.spec(), spec, "{trial}");
            assert!(recognised.differences.len() <= all / 10, "{spec} {trial}");
        }
    }
}

/// A login node at a spare port: all hosts reach it, and the others' ways stay the mesh's own.
#[test]
fn what_the_plan_lacks_is_led_to_as_well() {
    let plan = topology("mlfm:d=4").expect("a mesh");
    let mut found = Fabric::default();
    for switch in 0..plan.switches() {
        let name = format!("s{switch}");
        found.add_switch(&name, plan.ports(switch) + 1).expect("a port more");
    }
    for host in 0..plan.hosts() {
        found.add_host(&format!("n{host}"));
    }
    for switch in 0..plan.switches() {
        for port in 0..plan.ports(switch) as u8 {
            if found.end(switch, port) == End::Nothing {
                found.plug((switch, port), plan.end(switch, port)).expect("free");
            }
        }
    }
    let login = found.add_host("login");
    found.plug((3, plan.ports(3) as u8), End::Host(login)).expect("a spare port");
    let recognised = recognise(&found).expect("a mesh");
    assert_eq!((recognised.plan.spec(), recognised.differences.len()), ("mlfm:d=4".into(), 1));
    let proof = prove(&found, &recognised.native(&found));
    assert!(proof.holds(), "{} unreached, {:?}", proof.unreached.len(), proof.credit_loop);
    assert_eq!(proof.pairs, 81 * 80);
}

/// Every pair of switches would be looked at.
#[test]
fn too_many_switches_without_names_are_refused() {
    let named = |letter: char| {
        let mut fabric = Fabric::default();
        for switch in 0..8193 {
            fabric.add_switch(&format!("{letter}{switch}"), 1).expect("a switch");
        }
        fabric
    };
    let refusal = Map::new(&named('a'), &named('b')).expect_err("too many");
    assert!(refusal.to_string().contains("8193"), "{refusal}");
    assert!(Map::new(&named('a'), &named('a')).is_ok(), "names are enough");
}
