//! What fabrics take: counts, distances by definition, and spares by the distribution itself.

use laneway_topo::cost::{Parts, distances, spares};
use laneway_topo::{End, Fabric, KINDS, Part, Topology, topology};

fn small() -> impl Iterator<Item = Box<dyn Topology>> {
    KINDS.iter().flat_map(|kind| {
        let fits = |d: &u32| *d >= kind.least && (d.is_multiple_of(2) || !kind.only_even);
        (2..=6).filter(fits).map(|d| (kind.build)(d))
    })
}

/// In a topology by formula one switch sees what all see.
#[test]
fn switches_with_hosts_are_alike() {
    for fabric in small() {
        let (one, all) = (distances(&*fabric, true), distances(&*fabric, false));
        assert!((one.shortest_mean - all.shortest_mean).abs() < 1e-9, "{}", fabric.spec());
        let all = laneway_topo::cost::Distances { shortest_mean: one.shortest_mean, ..all };
        assert_eq!(one, all, "{}", fabric.spec());
        assert!(!all.is_sampled && all.apart == 0);
    }
}

/// One narrow place among many switches is seen, wherever it is.
#[test]
fn a_narrow_place_is_found() {
    let whole = topology("mlfm:d=10").expect("a topology");
    for switch in [0, 37, 109] {
        let mut left = Fabric::of(&*whole);
        (11..20).for_each(|port| left.fail(Part::Link(switch, port)));
        let found = distances(&left, false);
        assert_eq!((found.disjoint, found.apart, found.diameter), (1, 0, Some(5)), "{switch}");
        left.fail(Part::Link(switch, 10));
        let found = distances(&left, false);
        assert_eq!((found.disjoint, found.apart, found.diameter), (0, 109, None), "{switch}");
        left.fail(Part::Host(10 * switch));
        assert_eq!(Parts::of(&left).hosts, 1099);
    }
}

/// Two triangles with one cable between them have one way from each to the other.
#[test]
fn ways_that_share_no_link_are_counted() {
    let mut fabric = Fabric::default();
    for switch in 0..6u32 {
        fabric.add_switch(&format!("s{switch}"), 8).expect("few ports");
        let host = fabric.add_host(&format!("h{switch}"));
        fabric.plug((switch, 0), End::Host(host)).expect("free");
    }
    let mut free = [1u8; 6];
    let mut join = |one: u32, other: u32| {
        let ports = [one, other].map(|switch| (switch, free[switch as usize]));
        free[one as usize] += 1;
        free[other as usize] += 1;
        fabric.plug(ports[0], End::Switch(other, ports[1].1)).expect("free");
    };
    for (one, other) in [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)] {
        join(one, other);
    }
    assert_eq!(distances(&fabric, false).disjoint, 1);
    for (one, other) in [(1, 4), (0, 5)] {
        fabric.plug((one, 6), End::Switch(other, 6)).expect("free");
        let least = if one == 1 { 2 } else { 3 };
        assert_eq!(distances(&fabric, false).disjoint, least);
    }
}

#[test]
fn an_empty_fabric_is_counted() {
    let parts = Parts::of(&Fabric::default());
    assert_eq!((parts.port_efficiency(), parts.all_cables()), (0.0, 0));
    let found = distances(&Fabric::default(), false);
    assert_eq!((found.diameter, found.disjoint), (Some(1), 0));
}

/// Quantiles of the Poisson distribution, summed in logarithms by another program.
#[test]
fn spares_are_the_quantile() {
    for (expected, at_95, at_30) in SPARES {
        assert_eq!((spares(expected, 0.95), spares(expected, 0.3)), (at_95, at_30), "{expected}");
    }
    assert_eq!((spares(0.0, 0.95), spares(f64::NAN, 0.95)), (0, 0));
    // Where the sum ends and the approximation begins nothing jumps.
    let (before, after) = (spares(1e6, 0.95), spares(1e6 + 0.001, 0.95));
    assert!(before.abs_diff(after) <= 1, "{before} {after}");
    assert_eq!(spares(f64::INFINITY, 0.95), u64::MAX);
}

const SPARES: [(f64, u64, u64); 8] = [
    (0.05, 0, 0),
    (0.2, 1, 0),
    (3.0, 6, 2),
    (40.0, 51, 37),
    (499.0, 536, 487),
    (501.0, 538, 489),
    (745.0, 790, 731),
    (5000.0, 5117, 4963),
];
