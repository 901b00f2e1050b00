//! Tests of the generators and judges of the benchmark `choices`.

// The benchmark uses what the tests do not.
#![allow(dead_code)]

mod cases;
mod dice;
mod draw;
mod flow;
mod plan;
mod routed;

use laneway_sim::platform::Platform;

use dice::Dice;
use draw::{Drawn, MOST_SMALL, OPERATIONS};
use flow::{Rates, Relays, Towards, Way, WiredHost, WiredSite, Wires, least};
use routed::Routes;

const SEEDS: std::ops::Range<u64> = 7_000..7_300;

fn read(drawn: &Drawn) -> Platform {
    Platform::parse("drawn", &drawn.text).unwrap_or_else(|error| panic!("{error}\n{}", drawn.text))
}

#[test]
fn every_case_is_a_platform_with_calls_on_it() {
    let all = cases::all();
    assert!(all.len() >= 9);
    for (name, drawn) in all {
        let hosts = read(&drawn).hosts();
        assert!(!drawn.calls.is_empty(), "{name}");
        for call in &drawn.calls {
            assert!(call.shape(hosts).validate().is_ok(), "{name}: {call:?}");
        }
    }
}

#[test]
fn equal_seeds_draw_equal_platforms_and_calls() {
    for seed in SEEDS.step_by(10) {
        assert_eq!(Drawn::new(seed), Drawn::new(seed));
        assert_ne!(Drawn::new(seed).text, Drawn::new(seed + 1).text);
    }
}

#[test]
fn every_draw_is_a_platform_with_calls_on_it() {
    for seed in SEEDS {
        let drawn = Drawn::new(seed);
        let platform = read(&drawn);
        let hosts = platform.hosts();
        assert_eq!(hosts as usize > MOST_SMALL, seed % 10 == 9, "{seed}: {hosts} hosts");
        assert!((2..=9).contains(&platform.site_names().len()), "{seed}");
        assert_eq!(drawn.sites.len(), hosts as usize);
        for call in &drawn.calls {
            assert!(call.shape(hosts).validate().is_ok(), "{seed}: {call:?}");
        }
        if drawn.is_simgrids {
            let export = platform.export_simgrid().expect("files for SimGrid");
            assert_eq!(export.lost, [] as [&str; 0], "{seed}");
        }
    }
}

/// What the issue of unequal platforms names is drawn, each on some of 300.
#[test]
fn everything_is_drawn_somewhere() {
    let words = [
        "a fat host",
        "a thin host",
        "mixed",
        "in and out differ",
        "second cards of all",
        "second cards of some",
        "uplinks",
        "a way over a third site",
        "skewed latencies",
        "any latencies",
        "costs",
        "several connections",
        "limited connections",
        "prime counts",
        "round robin",
        "at random",
        "by site",
    ];
    let all: Vec<Drawn> = SEEDS.map(Drawn::new).collect();
    for word in words {
        let count = all.iter().filter(|drawn| drawn.what.contains(word)).count();
        assert!(count >= 5, "{word}: {count} of {}", all.len());
    }
    for eager in [0, 1, 1 << 30] {
        assert!(all.iter().any(|drawn| drawn.eager == eager), "{eager}");
    }
    let alone = |drawn: &&Drawn| {
        drawn.sites.iter().any(|site| drawn.sites.iter().filter(|one| *one == site).count() == 1)
    };
    assert!(all.iter().filter(alone).count() >= 10);
    for op in OPERATIONS {
        let calls = all.iter().flat_map(|drawn| &drawn.calls);
        assert!(calls.filter(|call| call.op == op).count() >= 50, "{}", op.name());
    }
}

/// Every byte of a drawn route arrives, and no sooner than the bound allows.
#[test]
fn drawn_routes_carry_all_bytes_and_keep_the_bound() {
    let cases = cases::all();
    let (_, triangle) = cases.iter().find(|case| case.0 == "triangle").expect("the case");
    let (platform, wires) = (read(triangle), &triangle.wires);
    let size = 1 << 20;
    for towards in [Towards::Ranks, Towards::Root] {
        let routes = Routes { wires, towards, root: 1, size };
        let bound = least(wires, towards, Relays::AllSites, 1, size as f64).time;
        let two = least(wires, towards, Relays::TwoSites, 1, size as f64).time;
        let dice = &mut Dice::new(5);
        let mut best = f64::INFINITY;
        for _ in 0..40 {
            let (name, routed) = routes.draw(dice);
            let outcome = laneway_sim::simulate(&platform, &routed, None).expect(&name);
            assert!(outcome.bytes >= 11 * size && outcome.finish >= bound, "{name}");
            best = f64::min(best, outcome.finish);
        }
        assert!(best < 0.2 * two && best < 2.0 * bound, "{best}, {bound}, {two}");
    }
}

const MB: f64 = 1e6;

fn both(rate: f64) -> Rates {
    Rates { out: rate, into: rate }
}

/// Sites of these numbers of hosts with cards of 10 MB/s, 1 ms inside and 5 ms between.
fn wires(counts: &[usize]) -> Wires {
    let site = |_: &usize| WiredSite { latency: 1e-3, switch: None, uplink: None };
    let host = |site: usize| WiredHost { site, card: both(10.0 * MB), wan: None };
    let sites = 0..counts.len();
    let ends = sites.clone().flat_map(|a| sites.clone().map(move |b| (a, b)));
    let way = |(from, to)| Way { from, to, latency: 5e-3, rate: None };
    Wires {
        hosts: sites.clone().flat_map(|at| vec![host(at); counts[at]]).collect(),
        sites: counts.iter().map(site).collect(),
        ways: ends.filter(|(a, b)| a != b).map(way).collect(),
        aggregate: None,
    }
}

fn set_way(wires: &mut Wires, ends: [usize; 2], latency: f64, rate: f64) {
    for way in &mut wires.ways {
        if [way.from.min(way.to), way.from.max(way.to)] == ends {
            (way.latency, way.rate) = (latency, Some(rate));
        }
    }
}

#[track_caller]
fn expect(wires: &Wires, towards: Towards, relays: Relays, root: usize, time: f64) {
    let found = least(wires, towards, relays, root, MB).time;
    assert!((found / time - 1.0).abs() < 1e-7, "{found} and not {time}");
}

#[test]
fn a_card_limits_one_site() {
    let one = wires(&[4]);
    for towards in [Towards::Ranks, Towards::Root] {
        expect(&one, towards, Relays::AllSites, 2, 0.3 + 1e-3);
    }
    let mut slow = one.clone();
    slow.hosts[3].card = Rates { out: 10.0 * MB, into: 2.0 * MB };
    expect(&slow, Towards::Ranks, Relays::AllSites, 0, 0.5 + 1e-3);
    expect(&slow, Towards::Root, Relays::AllSites, 0, 0.3 + 1e-3);
}

#[test]
fn a_switch_an_uplink_and_a_second_card_count() {
    let mut two = wires(&[2, 2]);
    // The root: 1 MB inside and 2 MB across.
    expect(&two, Towards::Ranks, Relays::TwoSites, 0, 0.3 + 1e-3);
    two.hosts[0].wan = Some(both(4.0 * MB));
    // 3 MB over 14 MB/s, of which the neighbour forwards what the second card does not carry.
    expect(&two, Towards::Ranks, Relays::TwoSites, 0, 3.0 / 14.0 + 1e-3);
    two.sites[0].switch = Some(2.0 * MB);
    expect(&two, Towards::Ranks, Relays::TwoSites, 0, 0.5 + 1e-3);
    two.sites[0].uplink = Some(Rates { out: 1.0 * MB, into: 50.0 * MB });
    expect(&two, Towards::Ranks, Relays::TwoSites, 0, 2.0 + 5e-3);
}

#[test]
fn a_third_site_passes_bytes_on() {
    let mut three = wires(&[2, 2, 2]);
    set_way(&mut three, [0, 1], 40e-3, 0.1 * MB);
    // 2 MB over the slow way; with relays the root's card has 5 MB to send.
    for towards in [Towards::Ranks, Towards::Root] {
        expect(&three, towards, Relays::TwoSites, 0, 20.0 + 40e-3);
        expect(&three, towards, Relays::AllSites, 0, 0.5 + 1e-3);
    }
}

/// What all sites share carries bytes twice that are relayed.
#[test]
fn an_aggregate_counts_every_crossing() {
    let mut three = wires(&[1, 1, 1]);
    three.aggregate = Some(2.0 * MB);
    expect(&three, Towards::Ranks, Relays::AllSites, 0, 1.0 + 5e-3);
    // 1 MB to site 1 over site 2: twice through the aggregate, in all 3 MB; or 0.2 MB/s direct.
    set_way(&mut three, [0, 1], 5e-3, 0.2 * MB);
    let direct = least(&three, Towards::Ranks, Relays::TwoSites, 0, MB).time;
    assert!((direct - 5.005).abs() < 1e-6, "{direct}");
    // A time t: 0.2 t goes directly, 1 - 0.2 t over site 2, and 1 to it.
    let time = least(&three, Towards::Ranks, Relays::AllSites, 0, MB).time;
    let expected = 3.0 / 2.2 + 5e-3;
    assert!((time - expected).abs() < 1e-6, "{time} and not {expected}");
}

#[test]
fn latency_bounds_a_byte() {
    let two = wires(&[3, 3]);
    for towards in [Towards::Ranks, Towards::Root] {
        let time = least(&two, towards, Relays::AllSites, 0, 1.0).time;
        assert!((5e-3..5.001e-3).contains(&time), "{time}");
    }
}
