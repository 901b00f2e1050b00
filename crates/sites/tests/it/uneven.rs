//! Platforms with unlike hosts in a site, or sites near each other: on the true platform, choices
//! from the measured file are as good as those from the truth.

use std::fmt::Write;

use laneway_core::{Collective, Comm, Shape};
use laneway_measure::Rule;
use laneway_measure::sites::{Asked, Found, SitesError, measure_sites};
use laneway_sim::Program;
use laneway_sim::platform::Platform;
use laneway_sites::Sites;
use laneway_sites::found::{limits, platform_text};

/// Sites are found by latency.
fn measure(platform: &Platform, anyway: bool) -> Result<Found, SitesError> {
    let program = |comm: &dyn Comm| {
        let (sites, rule, alive, observer) = (None, Rule::fixed(1), &|| {}, &());
        measure_sites(
            comm,
            &Asked { sites, message: None, every: false, anyway, rule, alive, observer },
        )
    };
    let ended = Program::new(platform, platform.hosts()).run(program).expect("it ends");
    ended.results.into_iter().next().expect("a rank")
}

fn site(name: &str, latency: &str, more: &str) -> String {
    format!("[[site]]\nname = \"{name}\"\nlatency = \"{latency}\"\n{more}")
}

/// Hosts `a0`, `a1`, …, each with what it sends and receives in Mbit/s.
fn hosts(site: &str, cards: &[[f64; 2]]) -> String {
    let mut text = String::new();
    for (number, [out, into]) in cards.iter().enumerate() {
        let _ = write!(text, "[[host]]\nname = \"{site}{number}\"\nsite = \"{site}\"\n");
        let _ = write!(text, "rate-out = \"{out}Mbit\"\nrate-in = \"{into}Mbit\"\n");
    }
    text
}

const USUAL: [f64; 2] = [1000.0; 2];
const FAT: [f64; 2] = [10_000.0; 2];

/// Eight equal hosts, and eight of which one has ten times the card.
fn one_fat(place: usize, wan: &str) -> Platform {
    let mut uneven = [USUAL; 8];
    uneven[place] = FAT;
    let text = [
        site("a", "20us", ""),
        site("b", "20us", ""),
        hosts("a", &[USUAL; 8]),
        hosts("b", &uneven),
        format!("[wan]\nlatency = \"5ms\"\n{wan}"),
    ];
    Platform::parse("one fat host", &text.concat()).expect("a platform")
}

/// How much longer choices from what was found take than those from the truth.
fn assert_as_good(truth: &Platform, roots: &[u32], operations: &[Collective]) {
    let found = measure(truth, true).expect("it is measured");
    let text = platform_text(&found, &limits(&found));
    let again = Platform::parse("found", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let (from_truth, from_found) = (Sites::one_each(truth), Sites::one_each(&again));
    for (op, root) in operations.iter().flat_map(|op| roots.iter().map(move |root| (*op, *root))) {
        for size in [64 << 10, 1 << 20] {
            let shape = Shape::new(op, truth.hosts(), size).with_root(root);
            let best = from_truth.choose(&shape).expect("a choice").best;
            let chosen = from_found.choose(&shape).expect("a choice").best;
            let run = from_truth.simulate(&shape, chosen.algorithm, &chosen.params);
            let loss = run.expect("it runs").finish / best.time - 1.0;
            let what = format!("{} {size} from {root}: {}", op.name(), chosen.spelled());
            assert!(loss < 0.03, "{what} for {}: {loss:.3}\n{text}", best.spelled());
        }
    }
}

const SCATTERS: [Collective; 2] = [Collective::Scatter, Collective::Gather];

#[test]
fn a_fat_host_among_others_has_one_card() {
    for (place, wan) in [
        (7, "rate = \"100Gbit\"\n"),
        (0, "rate = \"10Gbit\"\n"),
        (0, "rate = \"10Gbit\"\nconnection = \"250Mbit\"\n"),
    ] {
        let truth = one_fat(place, wan);
        let limits = limits(&measure(&truth, false).expect("it is measured"));
        let second = limits.hosts.iter().position(|host| host.wan_out.or(host.wan_into).is_some());
        assert_eq!(second, None, "{limits:?}");
        assert_as_good(&truth, &[0, 8 + place as u32], &SCATTERS);
    }
}

/// Each host receives at another rate than it sends, and one of them slowly.
#[test]
fn each_host_has_its_own_two_directions() {
    let out = 4000.0;
    let cards = |into: &[f64]| into.iter().map(|into| [out, *into]).collect::<Vec<_>>();
    let text = [
        site("a", "69us", ""),
        site("b", "24us", ""),
        hosts("a", &cards(&[400.0, 8000.0, 16_000.0, 1000.0])),
        hosts("b", &cards(&[16_000.0, 8000.0, 8000.0, 2000.0, 2000.0, 1000.0])),
        "[wan]\nlatency = \"4.5ms\"\nconnection = \"3136Mbit\"\n".into(),
    ];
    let truth = Platform::parse("in is not out", &text.concat()).expect("a platform");
    let limits = limits(&measure(&truth, false).expect("it is measured"));
    for (host, into) in [(0, 400.0), (3, 1000.0), (7, 2000.0), (9, 1000.0)] {
        let own = &limits.hosts[host];
        assert!((own.into * 8e-6 / into - 1.0).abs() < 0.05, "{host}: {own:?}");
        assert!((own.out * 8e-6 / out - 1.0).abs() < 0.05, "{host}: {own:?}");
    }
    assert_as_good(&truth, &[2, 4], &SCATTERS);
}

/// Inside b hosts are farther from each other than a third of what they are from a: it is no site
/// by the rule.
#[test]
fn sites_that_are_none_by_the_rule_are_refused_unless_anyway() {
    let near = |inside: &str| {
        let text = [
            site("a", "5us", ""),
            site("b", inside, ""),
            site("c", "20us", ""),
            hosts("a", &[FAT; 4]),
            hosts("b", &[FAT; 4]),
            hosts("c", &[FAT; 4]),
            "[wan]\nlatency = \"5ms\"\nrate = \"1Gbit\"\n".into(),
            "[[between]]\nsites = [\"a\", \"b\"]\nlatency = \"60us\"\nrate = \"1Gbit\"\n".into(),
        ];
        Platform::parse("near", &text.concat()).expect("a platform")
    };
    let refused = measure(&near("25us"), false).expect_err("b is no site");
    let SitesError::Torn { hosts, inside, outside } = &refused else { panic!("{refused}") };
    assert_eq!(hosts, &["b0", "b1", "b2", "b3"]);
    assert!((inside / 25e-6 - 1.0).abs() < 0.05 && (outside / 60e-6 - 1.0).abs() < 0.05);
    assert_as_good(&near("25us"), &[0, 4, 8], &SCATTERS);
    let found = measure(&near("15us"), false).expect("three sites");
    assert_eq!(found.sites.len(), 3);
}

/// Four sites, one of them with latencies that make it none by the rule and a host that receives
/// faster; slow uplinks whose directions differ.
#[test]
fn slow_uplinks_and_a_wide_site_are_found() {
    let uplinks =
        |out: f64, into: f64| format!("uplink-out = \"{out}Mbit\"\nuplink-in = \"{into}Mbit\"\n");
    let mut last = [[312.0; 2]; 4];
    last[2][1] = 624.0;
    let text = [
        site("a", "1.3us", &uplinks(4.1, 14.7)),
        site("b", "2.6us", &uplinks(2979.0, 2979.0)),
        site("c", "10.4us", &uplinks(41.4, 43.3)),
        site("d", "198us", &uplinks(1168.0, 1.58)),
        hosts("a", &[[292.0; 2]; 4]),
        hosts("b", &[[2000.0; 2]; 3]),
        hosts("c", &[[4329.0, 4329.0], [4329.0, 4329.0], [4329.0, 1082.0]]),
        hosts("d", &last),
        "[wan]\nlatency = \"361us\"\nrate = \"15.9Mbit\"\nconnection = \"2886Mbit\"\n".into(),
        "[[between]]\nsites = [\"b\", \"c\"]\nlatency = \"155us\"\n".into(),
        "[[between]]\nsites = [\"b\", \"d\"]\nlatency = \"32.5ms\"\nconnection = \"80Mbit\"\n"
            .into(),
    ];
    let truth = Platform::parse("slow uplinks", &text.concat()).expect("a platform");
    let refused = measure(&truth, false).expect_err("d is no site");
    assert!(matches!(refused, SitesError::Torn { .. }), "{refused}");
    let found = measure(&truth, true).expect("four sites");
    assert_eq!(found.sites.len(), 4);
    assert_as_good(&truth, &[0, 13], &SCATTERS);
}
