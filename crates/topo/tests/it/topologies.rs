//! Every topology: its cables have two ends, its forwarding arrives, its order has no conflict.

use laneway_core::Phases;
use laneway_topo::{Counter, End, Fabric, KINDS, Routing, Table, Topology, prove, topology};

fn small() -> impl Iterator<Item = Box<dyn Topology>> {
    KINDS.iter().flat_map(|kind| {
        let fits = |d: &u32| *d >= kind.least && (d.is_multiple_of(2) || !kind.only_even);
        (1..=6).filter(fits).map(|d| (kind.build)(d))
    })
}

#[test]
fn every_cable_has_two_ends() {
    for fabric in small() {
        let mut hosts = vec![false; fabric.hosts() as usize];
        for switch in 0..fabric.switches() {
            for port in 0..fabric.ports(switch) as u8 {
                match fabric.end(switch, port) {
                    End::Nothing => {}
                    End::Host(host) => {
                        assert_eq!(fabric.attached(host), Some((switch, port)));
                        assert!(!std::mem::replace(&mut hosts[host as usize], true));
                    }
                    End::Switch(other, its) => {
                        let back = fabric.end(other, its);
                        assert_eq!(back, End::Switch(switch, port), "{}", fabric.spec());
                        assert_eq!(fabric.reach(other, its), fabric.reach(switch, port));
                    }
                }
            }
        }
        assert!(hosts.into_iter().all(|seen| seen), "{}", fabric.spec());
        assert_eq!(Fabric::of(&*fabric).hosts(), fabric.hosts());
    }
}

#[test]
fn every_table_holds() {
    for fabric in small() {
        let table = Table::of(&*fabric, &*fabric);
        let proof = prove(&*fabric, &table);
        let hosts = u64::from(fabric.hosts());
        assert!(proof.holds(), "{}: {proof:?}", fabric.spec());
        assert_eq!(proof.pairs, hosts * (hosts - 1));
        assert_eq!(table.port(0, 0), fabric.port(0, 0));
    }
}

/// paper: fullmesh figure 13, for every d and not only 4, 8 and 18.
#[test]
fn the_whole_machines_all_to_all_has_no_conflict() {
    for fabric in small() {
        let counter = Counter::new(&*fabric, &*fabric).expect("small");
        let order = fabric.order();
        let tally = counter.count(&*order);
        let hosts = u64::from(fabric.hosts());
        assert_eq!(tally.lost, 0);
        assert_eq!(tally.flows.iter().sum::<u64>(), hosts * hosts);
        if fabric.bisection().in_paper.is_some() {
            assert_eq!((tally.worst(), tally.time()), (1, hosts), "{}", fabric.spec());
        } else {
            assert!(tally.worst() == 2 && tally.phase_mean() < 0.8, "{}", fabric.spec());
        }
    }
}

/// paper: fullmesh table 3.
#[test]
fn the_sizes_of_table_3() {
    let sizes = |spec: &str| {
        let fabric = topology(spec).expect(spec);
        (fabric.hosts(), fabric.switches())
    };
    assert_eq!(sizes("mlfm:d=4"), (80, 30));
    assert_eq!(sizes("mlfm:d=8"), (576, 108));
    assert_eq!(sizes("mlfm:d=18"), (6156, 513));
    assert_eq!(sizes("fat-tree-3:d=4"), (64, 40));
    assert_eq!(sizes("fat-tree-3:d=8"), (512, 160));
    assert_eq!(sizes("fat-tree-3:d=18"), (5832, 810));
    assert_eq!(sizes("fat-tree-3-half:d=4"), (64, 28));
    assert_eq!(sizes("fat-tree-3-half:d=8"), (512, 112));
    assert_eq!(sizes("fat-tree-3-half:d=18"), (5832, 567));
    assert_eq!(sizes("fat-tree-3-max:p=36"), (11664, 1620));
    assert_eq!(sizes("fat-tree-2:p=36"), (648, 54));
}

#[test]
fn what_cannot_be_is_refused() {
    for spec in [
        "mlfm",
        "mlfm:d=",
        "mlfm:d=0",
        "mlfm:d=128",
        "mlfm:d=-1",
        "mlfm:p=7",
        "mesh:d=4",
        "fat-tree-3-half:d=3",
        "fat-tree-2:d=99999999999",
        "",
        ":",
        "mlfm:d=8,d=9",
    ] {
        let failure = topology(spec).err().unwrap_or_else(|| panic!("{spec} was built"));
        assert_eq!(failure.kind, laneway_topo::ErrorKind::Topology, "{spec}");
    }
}

/// One wrong partner among all messages is found.
#[test]
fn one_wrong_partner_is_found() {
    struct Wrong(Box<dyn Phases + Send + Sync>);
    impl Phases for Wrong {
        fn count(&self) -> u64 {
            self.0.count()
        }
        fn partner(&self, rank: u32, phase: u64) -> u32 {
            let right = self.0.partner(rank, phase);
            if (rank, phase) == (77, 33) { right ^ 1 } else { right }
        }
    }
    let fabric = topology("mlfm:d=4").expect("a mesh");
    let counter = Counter::new(&*fabric, &*fabric).expect("small");
    let tally = counter.count(&Wrong(fabric.order()));
    assert_eq!(tally.phases[2], 1);
}
