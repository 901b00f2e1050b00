//! Primary and alternate paths, judged by breaking every cable and every switch: no two paths of
//! the table survive more than the two that are chosen.

use std::collections::{BTreeSet, VecDeque};

use laneway_stats::SplitMix64;
use laneway_topo::routing::alternates::{Address, NoPath, PathBetween, alternates};
use laneway_topo::routing::engines::several;
use laneway_topo::routing::walk;
use laneway_topo::wiring::NO_PORT;
use laneway_topo::{End, Fabric, Host, KINDS, Part, Switch, Table, Wiring, topology};

/// Up to eight switches with a host or two each, joined by a tree and some cables more.
fn drawn(draws: &mut SplitMix64) -> Fabric {
    let mut fabric = Fabric::default();
    let switches = 2 + draws.index(7) as u32;
    let mut used = vec![0; switches as usize];
    let mut take = |switch: u32| {
        used[switch as usize] += 1;
        (switch, used[switch as usize] - 1)
    };
    for switch in 0..switches {
        fabric.add_switch(&format!("s{switch}"), 40).expect("few ports");
        for _ in 0..1 + draws.index(2) {
            let host = fabric.add_host(&format!("h{}", fabric.hosts()));
            fabric.plug(take(switch), End::Host(host)).expect("a free port");
        }
    }
    let tree = (1..switches).map(|at| (at, draws.index(at as usize) as u32)).collect::<Vec<_>>();
    let more = (0..draws.index(2 * switches as usize)).map(|_| {
        let one = draws.index(switches as usize) as u32;
        (one, (one + 1 + draws.index(switches as usize - 1) as u32) % switches)
    });
    for (one, other) in tree.into_iter().chain(more.collect::<Vec<_>>()) {
        let (one, other) = (take(one), take(other));
        fabric.plug(one, End::Switch(other.0, other.1)).expect("free ports");
    }
    fabric
}

/// A table whose ways to every address are a tree drawn at random, and not always the shortest.
fn forwarding(fabric: &Fabric, paths: u32, draws: &mut SplitMix64) -> Table {
    let mut table = Table::empty(fabric.switches(), fabric.hosts(), paths);
    for host in 0..fabric.hosts() {
        for path in 0..paths {
            let (leaf, port) = fabric.attached(host).expect("a cable");
            let mut ports = vec![NO_PORT; fabric.switches() as usize];
            ports[leaf as usize] = port;
            let mut open = vec![leaf];
            while !open.is_empty() {
                let at = open.swap_remove(draws.index(open.len()));
                for port in 0..fabric.ports(at) as u8 {
                    if let End::Switch(next, its) = fabric.end(at, port)
                        && ports[next as usize] == NO_PORT
                        && draws.index(4) > 0
                    {
                        ports[next as usize] = its;
                        open.push(next);
                    }
                }
            }
            for (switch, port) in ports.into_iter().enumerate() {
                table.set(switch as Switch, host * paths + path, port);
            }
        }
    }
    table
}

/// Whether messages go out and answers come back.
fn lives(fabric: &Fabric, table: &Table, near: Address, far: Address) -> bool {
    let arrives = |from: Address, to: Address| {
        walk(fabric, &table.path(to.bits), from.host, to.host, |_| {}).is_ok()
    };
    arrives(near, far) && arrives(far, near)
}

/// Every cable and every switch, but for those of a machine with one port.
fn breakable(fabric: &Fabric, machines: [&[Host]; 2]) -> Vec<Part> {
    let mut kept = BTreeSet::new();
    for machine in machines {
        if let [host] = machine {
            let (switch, port) = fabric.attached(*host).expect("a cable");
            kept.extend([Part::Link(switch, port), Part::Switch(switch)]);
        }
    }
    let mut parts = Vec::new();
    for switch in 0..fabric.switches() {
        parts.push(Part::Switch(switch));
        for port in 0..fabric.ports(switch) as u8 {
            let is_first = match fabric.end(switch, port) {
                End::Nothing => false,
                End::Host(_) => true,
                End::Switch(other, its) => (switch, port) < (other, its),
            };
            parts.extend(is_first.then_some(Part::Link(switch, port)));
        }
    }
    parts.retain(|part| !kept.contains(part));
    parts
}

/// Two paths: the parts whose loss ends both.
struct Judged {
    ends: [[Address; 2]; 2],
    shared: Vec<Part>,
}

impl Judged {
    fn counts(&self) -> (usize, usize) {
        let cables = self.shared.iter().filter(|part| matches!(part, Part::Link(..))).count();
        (cables, self.shared.len() - cables)
    }
}

/// Every two paths that have no address in common.
fn judge(fabric: &Fabric, table: &Table, near: &[Host], far: &[Host]) -> (usize, Vec<Judged>) {
    let addresses = |machine: &[Host]| -> Vec<Address> {
        let each = |&host: &Host| (0..table.paths()).map(move |bits| Address { host, bits });
        machine.iter().flat_map(each).collect()
    };
    let mut paths = Vec::new();
    for near in addresses(near) {
        for far in addresses(far) {
            if lives(fabric, table, near, far) {
                paths.push([near, far]);
            }
        }
    }
    let parts = breakable(fabric, [near, far]);
    let dies: Vec<Vec<bool>> = parts
        .iter()
        .map(|part| {
            let mut left = fabric.clone();
            left.fail(*part);
            paths.iter().map(|[near, far]| !lives(&left, table, *near, *far)).collect()
        })
        .collect();
    let mut all = Vec::new();
    for (one, ends) in paths.iter().enumerate() {
        for (other, others) in paths.iter().enumerate() {
            if ends[0] != others[0] && ends[1] != others[1] {
                let both = parts.iter().zip(&dies).filter(|(_, dies)| dies[one] && dies[other]);
                let shared = both.map(|(part, _)| *part).collect();
                all.push(Judged { ends: [*ends, *others], shared });
            }
        }
    }
    (paths.len(), all)
}

fn ends(path: &PathBetween) -> [Address; 2] {
    [path.near, path.far]
}

/// How many ways there are from one switch to another that share no cable, two at most.
fn disjoint_ways(fabric: &Fabric, from: Switch, to: Switch) -> usize {
    // Cables in one direction that carry something; the reverse direction takes it back.
    let mut carried: BTreeSet<(Switch, u8)> = BTreeSet::new();
    for ways in 0..2 {
        let mut before = vec![None; fabric.switches() as usize];
        let mut open = VecDeque::from([from]);
        while let Some(at) = open.pop_front() {
            for port in 0..fabric.ports(at) as u8 {
                if let End::Switch(next, its) = fabric.end(at, port)
                    && next != from
                    && before[next as usize].is_none()
                    && !carried.contains(&(at, port))
                {
                    before[next as usize] = Some((at, port, its));
                    open.push_back(next);
                }
            }
        }
        let mut at = to;
        while at != from {
            let Some((switch, port, its)) = before[at as usize] else { return ways };
            if !carried.remove(&(at, its)) {
                carried.insert((switch, port));
            }
            at = switch;
        }
    }
    2
}

/// Machines of one or two ports, no port twice.
fn machines(fabric: &Fabric, draws: &mut SplitMix64) -> [Vec<Host>; 2] {
    let mut hosts: Vec<Host> = (0..fabric.hosts()).collect();
    let mut machine = |spare: usize| {
        let ports = if hosts.len() > spare + 1 { 1 + draws.index(2) } else { 1 };
        let mut take = || hosts.swap_remove(draws.index(hosts.len()));
        (0..ports).map(|_| take()).collect()
    };
    [machine(1), machine(0)]
}

#[test]
fn no_two_paths_of_a_random_fabric_share_less() {
    let (mut apart, mut meet, mut none) = (0, 0, 0);
    for seed in 0..400 {
        let mut draws = SplitMix64::new(seed);
        let fabric = drawn(&mut draws);
        let paths = 1 << draws.index(3);
        let table = match draws.index(2) {
            0 => forwarding(&fabric, paths, &mut draws),
            _ => several(&fabric, None, paths),
        };
        let [near, far] = machines(&fabric, &mut draws);
        let (count, all) = judge(&fabric, &table, &near, &far);
        let least = all.iter().map(Judged::counts).min();
        let chosen = match alternates(&fabric, &table, &near, &far) {
            Ok(chosen) => chosen,
            Err(why) => {
                assert!(matches!(why, NoPath::Lost(_)) && count == 0, "seed {seed}: {why:?}");
                none += 1;
                continue;
            }
        };
        assert_eq!(chosen.candidates, count, "seed {seed}");
        let Some(alternate) = &chosen.alternate else {
            assert!(all.is_empty(), "seed {seed}: there are two paths");
            none += 1;
            continue;
        };
        assert_eq!(Some(chosen.shares()), least, "seed {seed}");
        let same = |judged: &&Judged| judged.ends == [ends(&chosen.primary), ends(alternate)];
        let judged = all.iter().find(same).expect("a path of the table");
        let mut shared = judged.shared.clone();
        shared.sort_unstable();
        assert_eq!(chosen.shared, shared, "seed {seed}: what ends both");
        let length = |path: &PathBetween| path.out.len() + path.back.len();
        assert!(length(&chosen.primary) <= length(alternate), "seed {seed}");
        if let ([one], [other]) = (&near[..], &far[..]) {
            let leaf = |host: &Host| fabric.attached(*host).expect("a cable").0;
            let ways = disjoint_ways(&fabric, leaf(one), leaf(other));
            let differ = leaf(one) != leaf(other);
            assert!(!differ || chosen.shares().0 > 0 || ways == 2, "seed {seed}: {ways} ways");
        }
        *(if shared.is_empty() { &mut apart } else { &mut meet }) += 1;
    }
    assert!(apart > 50 && meet > 50 && none > 10, "{apart} {meet} {none}: all of it was drawn");
}

#[test]
fn paths_of_planned_fabrics_keep_apart() {
    for kind in KINDS {
        let fabric = (kind.build)(4);
        let table = fabric.paths(4).unwrap_or_else(|| several(&*fabric, Some(&*fabric), 4));
        let far = fabric.hosts() - 1;
        let chosen = alternates(&*fabric, &table, &[0], &[far]).expect("a path");
        assert_eq!(chosen.shares(), (0, 0), "{}: {:?}", kind.name, chosen.shared);
        assert_eq!(chosen.candidates, 16);
    }
}

#[test]
fn two_ports_are_used_before_two_addresses_of_one() {
    let tree = topology("fat-tree-2:d=4").expect("a tree");
    let table = several(&*tree, Some(&*tree), 2);
    // Ports 0 and 4 are at different switches, and so are 24 and 28.
    let chosen = alternates(&*tree, &table, &[0, 4], &[24, 28]).expect("a path");
    let alternate = chosen.alternate.as_ref().expect("two");
    assert_eq!(chosen.shares(), (0, 0));
    assert_ne!(chosen.primary.near.host, alternate.near.host);
    assert_ne!(chosen.primary.far.host, alternate.far.host);
}

#[test]
fn machines_that_are_none_are_refused() {
    let tree = topology("fat-tree-2:d=2").expect("a tree");
    let table = Table::of(&*tree, &*tree);
    assert_eq!(alternates(&*tree, &table, &[], &[1]), Err(NoPath::NoPort));
    assert_eq!(alternates(&*tree, &table, &[0, 1], &[1]), Err(NoPath::Same(1)));
    let one = alternates(&*tree, &table, &[0], &[5]).expect("a path");
    assert_eq!((one.alternate, one.candidates), (None, 1));
    let mut cut = Fabric::of(&*tree);
    cut.fail(Part::Host(5));
    assert!(matches!(alternates(&cut, &table, &[0], &[5]), Err(NoPath::Lost(_))));
}
