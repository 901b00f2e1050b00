//! The real OpenSM on the real ibsim, with our tables: every switch answers every host that asks
//! for its counters, so that questions find their way to it and its answers find theirs back, whole
//! and after cuts.

use crate::subnet;

use laneway_needs::some_of;
use laneway_stats::SplitMix64;
use laneway_topo::files::formats::{Identity, guid2lid, lft, netlist};
use laneway_topo::traffic::repair::spread;
use laneway_topo::{End, Fabric, Part, Wiring, prove_agents, topology};
use subnet::{Subnet, is_here};

/// All hosts ask by the library of `perfquery`, and some by the command itself. All of them use the
/// command where this variable is set, which takes an hour.
const ALL_ASK: &str = "LANEWAY_TEST_ALL_HOSTS_ASK";

/// A fabric with `count` of its cables between switches cut.
fn cut(whole: &dyn Wiring, count: usize, seed: u64) -> Fabric {
    let (mut draws, mut fabric) = (SplitMix64::new(seed), Fabric::of(whole));
    for _ in 0..count {
        loop {
            let switch = draws.index(fabric.switches() as usize) as u32;
            let port = draws.index(fabric.ports(switch) as usize) as u8;
            if let End::Switch(..) = fabric.end(switch, port) {
                break fabric.fail(Part::Link(switch, port));
            }
        }
    }
    fabric
}

fn every_switch_answers(spec: &str, asking_hosts: usize) {
    if !is_here() {
        return;
    }
    let plan = topology(spec).expect(spec);
    for count in some_of(vec![0, 1, 3, 5]) {
        let seed = 100 + count as u64;
        let what = format!("{spec}, {count} cables cut by seed {seed}");
        let fabric = cut(&*plan, count, seed);
        let mut identity = Identity::planned(&fabric);
        identity.pin(0).expect("few addresses");
        let table = spread(&*plan, &*plan, &fabric);
        let subnet = Subnet::start(&netlist::write_ibsim(&fabric, &identity));
        subnet.write("guid2lid", &guid2lid::write(&identity));
        subnet.write("tables.lft", &lft::write(&fabric, &table, &identity));
        subnet.opensm(&["-x", "-R", "file", "-U", &subnet.path("tables.lft")]);
        let (installed, to_switches) =
            lft::read_both(&subnet.tool("dump_lfts"), &fabric, &identity).expect("a dump");
        let proof = prove_agents(&fabric, &installed, &to_switches);
        assert_eq!(
            (proof.missed(), proof.credit_loops.len()),
            (0, 0),
            "{what}: {:?}",
            proof.unreached
        );
        let lids: Vec<u16> = identity.switches.iter().map(|id| id.lid).collect();
        let hosts: Vec<String> = (0..fabric.hosts()).map(|host| fabric.host_name(host)).collect();
        let silent = subnet.all_silent(&hosts, &lids);
        assert!(silent.is_empty(), "{what}: no answer to host from address: {silent:?}");
        let mut asking: Vec<u32> = (0..fabric.hosts()).collect();
        SplitMix64::new(seed).shuffle(&mut asking);
        if std::env::var_os(ALL_ASK).is_none() {
            asking.truncate(asking_hosts);
        }
        for host in asking {
            let silent = subnet.silent(&fabric.host_name(host), &lids);
            assert!(silent.is_empty(), "{what}: no answer from {silent:?} to host {host}");
        }
    }
}

#[test]
fn every_switch_of_a_mesh_answers() {
    every_switch_answers("mlfm:d=4", 3);
}

#[test]
fn long_every_switch_of_a_larger_mesh_answers() {
    every_switch_answers("mlfm:d=8", 1);
}

#[test]
fn every_switch_of_a_tree_answers() {
    every_switch_answers("fat-tree-3:d=4", 2);
}
