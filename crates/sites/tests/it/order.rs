//! Choices do not depend on the order of the ranks: sorted by site or in turn, slow hosts first or
//! last.

use laneway_coll::find;
use laneway_core::{Collective, Shape};
use laneway_sim::platform::Platform;
use laneway_sites::model::{Form, TwoSites};
use laneway_sites::{Choice, Sharing, Sites};

const TREES: [Collective; 3] = [Collective::Bcast, Collective::Reduce, Collective::Allreduce];

/// `sites` sites with an uplink, whose hosts have ranks by site or in turn.
fn uplinks(sites: u32, hosts: u32, in_turn: bool) -> Platform {
    let mut text = "eager = 65536\n[wan]\nlatency = \"5ms\"\n".to_string();
    for site in 0..sites {
        text += &format!("[[site]]\nname = \"s{site}\"\nlatency = \"20us\"\nuplink = \"1Gbit\"\n");
    }
    for rank in 0..sites * hosts {
        let (site, host) = match in_turn {
            true => (rank % sites, rank / sites),
            false => (rank / hosts, rank % hosts),
        };
        text += &format!("[[host]]\nname = \"s{site}n{host}\"\nsite = \"s{site}\"\n");
        text += "rate = \"10Gbit\"\n";
    }
    Platform::parse("uplinks", &text).expect("a platform")
}

/// Eight hosts at each of two sites, one of them 20 times slower than the others.
fn one_slow(slow: u32) -> Platform {
    let mut text =
        "[wan]\nlatency = \"5ms\"\nrate = \"1Gbit\"\nconnection = \"250Mbit\"\n".to_string();
    for site in ["a", "b"] {
        text += &format!("[[site]]\nname = \"{site}\"\nlatency = \"20us\"\n");
    }
    for host in 0..16 {
        let rate = if host == slow { "50Mbit" } else { "1Gbit" };
        let site = if host < 8 { "a" } else { "b" };
        text += &format!("[[host]]\nname = \"h{host}\"\nsite = \"{site}\"\nrate = \"{rate}\"\n");
    }
    Platform::parse("one slow", &text).expect("a platform")
}

pub fn choice(platform: &Platform, op: Collective, size: u64) -> Choice {
    let sites = Sites::one_each(platform);
    let shape = Shape::new(op, sites.placement().ranks(), size);
    sites.choose(&shape).expect("a choice")
}

/// Seconds of a named algorithm.
pub fn time(platform: &Platform, op: Collective, size: u64, spelled: &str) -> f64 {
    let sites = Sites::one_each(platform);
    let shape = Shape::new(op, sites.placement().ranks(), size);
    let (algorithm, params) = find(op, spelled).expect("an algorithm");
    sites.simulate(&shape, algorithm, &params).expect("a run").finish
}

#[test]
fn ranks_in_turn_are_as_fast_as_sorted_ones() {
    let (in_turn, sorted) = (uplinks(5, 3, true), uplinks(5, 3, false));
    for op in TREES {
        for size in [4 << 10, 1 << 20] {
            let (in_turn, sorted) = (choice(&in_turn, op, size), choice(&sorted, op, size));
            let ratio = in_turn.best.time / sorted.best.time;
            let spelled = [in_turn.best.spelled(), sorted.best.spelled()];
            assert!((0.97..=1.03).contains(&ratio), "{} {size}: {ratio}, {spelled:?}", op.name());
        }
    }
}

/// A copy for each other site through one uplink takes six times as long as the bytes of one.
#[test]
fn no_uplink_carries_a_copy_for_each_other_site() {
    let platform = uplinks(7, 2, true);
    let vector = (4 << 20) as f64 / 125e6;
    for (op, vectors) in TREES.into_iter().zip([1.0, 1.0, 2.0]) {
        let best = choice(&platform, op, 4 << 20).best;
        let over = best.time / (vectors * vector);
        assert!(over < 2.0, "{}: {over} with {}", op.name(), best.spelled());
        let star = time(&platform, op, 4 << 20, "site-lanes:fan=0");
        let spelled = best.spelled();
        assert!(star > 2.5 * best.time, "{}: {star} and {} {spelled}", op.name(), best.time);
    }
}

#[test]
fn a_slow_host_never_helps_whatever_its_rank() {
    for (op, spelled) in [
        (Collective::Scatter, "multi-lane:lanes=4"),
        (Collective::Scatter, "multi-lane:lanes=4:window=4"),
        (Collective::Scatter, "single-lane"),
        (Collective::Scatter, "far-first"),
        (Collective::Gather, "multi-lane:lanes=4"),
        (Collective::Gather, "single-lane"),
        (Collective::Bcast, "site-lanes:lanes=4"),
        (Collective::Bcast, "site-lanes:lanes=0"),
        (Collective::Reduce, "site-lanes:lanes=4"),
        (Collective::Allreduce, "site-lanes:lanes=4"),
    ] {
        let all = [1, 4, 7, 8, 10, 15].map(|slow| time(&one_slow(slow), op, 1 << 20, spelled));
        for times in [&all[..3], &all[3..]] {
            let (least, most) = (times.iter().copied(), times.iter().copied());
            let ratio = most.fold(0.0, f64::max) / least.fold(f64::INFINITY, f64::min);
            assert!(ratio < 1.1, "{} {spelled}: {all:?}", op.name());
        }
    }
}

/// The model deals slow hosts out evenly and cannot know their ranks; the algorithm's groups are of
/// neighbours.
#[test]
fn the_cost_model_knows_slow_hosts() {
    for slow in [1, 7, 9, 15] {
        let platform = one_slow(slow);
        let layout = platform.layout().expect("sites");
        let hosts: Vec<u32> = (0..16).collect();
        let model = TwoSites::of(&layout, &hosts, 0, 1 << 20, Sharing::Shared).expect("two sites");
        for lanes in [1, 2, 4] {
            let predicted = model.time(Form::Corrected, lanes).expect("a time");
            let spelled = format!("multi-lane:lanes={lanes}");
            let simulated = time(&platform, Collective::Scatter, 1 << 20, &spelled);
            let ratio = predicted / simulated;
            assert!((0.85..1.15).contains(&ratio), "{slow} {lanes}: {predicted}, {simulated}");
        }
    }
}
