//! A link that gives less together when more connections press on it: the cost model and the choice
//! take fewer, and measuring finds the curve.

use laneway_coll::find;
use laneway_core::{Collective, Comm, Shape};
use laneway_measure::Rule;
use laneway_measure::sites::{Asked, Found, measure_sites};
use laneway_sim::Program;
use laneway_sim::platform::{LayoutPipe, Platform};
use laneway_sites::found::{limits, platform_text};
use laneway_sites::model::{Form, TwoSites};
use laneway_sites::{Sharing, Sites};

const FREE: &str = "two-sites:16x16,rate=10Gbit,connection=62.5Mbit,wan=1Gbit";
const CURVE: &str = "4:100%+8:70%+16:30%";
const BLOCK: u64 = 1 << 20;

fn platform(spec: &str) -> Platform {
    Platform::read(spec).unwrap_or_else(|error| panic!("{spec}: {error}"))
}

fn congested() -> Platform {
    platform(&format!("{FREE},congestion={CURVE}"))
}

fn best_lanes(platform: &Platform, form: Form) -> u32 {
    let layout = platform.layout().expect("a layout");
    let hosts: Vec<u32> = (0..layout.hosts.len() as u32).collect();
    let model = TwoSites::of(&layout, &hosts, 0, BLOCK, Sharing::Shared).expect("two sites");
    model.best(form).expect("a choice").lanes
}

/// Seconds of a named algorithm.
fn time(platform: &Platform, op: Collective, spelled: &str) -> f64 {
    let sites = Sites::one_each(platform);
    let shape = Shape::new(op, sites.placement().ranks(), BLOCK);
    let (algorithm, params) = find(op, spelled).expect("an algorithm");
    sites.simulate(&shape, algorithm, &params).expect("a schedule").finish
}

#[test]
fn the_best_number_of_lanes_falls_with_congestion() {
    let (free, congested) = (platform(FREE), congested());
    for form in [Form::Printed, Form::Corrected] {
        let (before, after) = (best_lanes(&free, form), best_lanes(&congested, form));
        assert!(after < before && after <= 8, "{form:?}: {after} of {before}");
    }
    // Simulated, the same schedule with fewer lanes is faster, and without congestion slower.
    for op in [Collective::Scatter, Collective::Gather] {
        let over = |platform: &Platform| {
            time(platform, op, "multi-lane:lanes=16") / time(platform, op, "multi-lane:lanes=8")
        };
        assert!(over(&free) < 0.9, "{}: {}", op.name(), over(&free));
        assert!(over(&congested) > 1.1, "{}: {}", op.name(), over(&congested));
    }
}

#[test]
fn the_choice_follows() {
    let (free, congested) = (platform(FREE), congested());
    for op in [Collective::Scatter, Collective::Gather] {
        let chosen = |platform: &Platform| {
            let sites = Sites::one_each(platform);
            let choice = sites.choose(&Shape::new(op, 32, BLOCK)).expect("a choice");
            let bound = choice.bound.expect("a bound").time;
            assert!(choice.best.time >= bound * (1.0 - 1e-9), "{}: below the bound", op.name());
            (choice.best.spelled(), choice.best.time)
        };
        let ((usual, _), (other, best)) = (chosen(&free), chosen(&congested));
        let worse = time(&congested, op, &usual) / best;
        assert!(worse > 1.5, "{}: {usual} is as good as {other} ({worse})", op.name());
    }
}

fn measured(platform: &Platform) -> Found {
    let program = |comm: &dyn Comm| {
        let rule = Rule::fixed(1);
        let (sites, message, alive, observer) = (None, None, &|| {}, &());
        let asked = Asked { sites, message, every: false, anyway: true, rule, alive, observer };
        measure_sites(comm, &asked)
    };
    let hosts = laneway_sim::Network::hosts(platform);
    let ended = Program::new(platform, hosts).run(program).expect("it ends");
    ended.results.into_iter().next().expect("a rank").expect("it is measured")
}

fn written(platform: &Platform) -> (Platform, String) {
    let found = measured(platform);
    let text = platform_text(&found, &limits(&found));
    (Platform::parse("found", &text).unwrap_or_else(|e| panic!("{e}\n{text}")), text)
}

/// What `flows` connections have together on the way from the first site.
fn together(platform: &Platform, flows: usize) -> f64 {
    let layout = platform.layout().expect("a layout");
    let way = &layout.ways[0];
    let rate = |pipe: &LayoutPipe| pipe.rate * pipe.congestion.part(flows);
    let pipes = way.pipes.iter().map(|pipe| rate(&layout.pipes[*pipe]));
    let one = way.connection.unwrap_or(f64::INFINITY);
    pipes.fold(one * flows as f64, f64::min)
}

#[test]
fn measuring_finds_the_curve() {
    for curve in [CURVE, "2:90%+16:60%", "12:100%+16:80%"] {
        let truth = platform(&format!("{FREE},congestion={curve}"));
        let (found, text) = written(&truth);
        // The numbers of pairs that are measured.
        for flows in [1, 2, 3, 4, 6, 8, 12, 16] {
            let (seen, real) = (together(&found, flows), together(&truth, flows));
            assert!(
                (seen / real - 1.0).abs() < 0.05,
                "{curve}, {flows}: {seen} for {real}\n{text}"
            );
        }
        assert!(!text.contains("wan-rate"), "no card is the limit\n{text}");
        for op in [Collective::Scatter, Collective::Gather] {
            let choose = |platform: &Platform| {
                let sites = Sites::one_each(platform);
                sites.choose(&Shape::new(op, 32, BLOCK)).expect("a choice").best
            };
            let (from_found, from_truth) = (choose(&found), choose(&truth));
            let cost = time(&truth, op, &from_found.spelled()) / from_truth.time;
            assert!(cost < 1.1, "{curve}, {}: {cost}", op.name());
        }
    }
}

#[test]
fn what_does_not_fall_is_not_written() {
    let (_, text) = written(&platform(FREE));
    assert!(!text.contains("congestion"), "{text}");
    let (_, text) = written(&platform("two-sites:8x8,connection=250Mbit"));
    assert!(!text.contains("congestion"), "{text}");
}

#[test]
fn two_directions_that_differ_each_have_their_own() {
    let site =
        |name: &str, more: &str| format!("[[site]]\nname = \"{name}\"\nlatency = \"50us\"\n{more}");
    let host = |name: &str, site: &str| {
        format!("[[host]]\nname = \"{name}\"\nsite = \"{site}\"\nrate = \"10Gbit\"\n")
    };
    let text = [
        site("a", "uplink-out = \"200Mbit\"\ncongestion = \"4:100%+8:50%\"\n"),
        site("b", "uplink-out = \"400Mbit\"\n"),
        host("a[0-7]", "a"),
        host("b[0-7]", "b"),
        "[wan]\nlatency = \"5ms\"\nconnection = \"50Mbit\"\n".to_string(),
    ];
    let truth = Platform::parse("uneven", &text.concat()).expect("a platform");
    let (found, text) = written(&truth);
    for flows in [2, 4, 6, 8] {
        let (seen, real) = (together(&found, flows), together(&truth, flows));
        assert!((seen / real - 1.0).abs() < 0.05, "{flows}: {seen} for {real}\n{text}");
    }
    assert_eq!(text.matches("congestion").count(), 1, "{text}");
}
