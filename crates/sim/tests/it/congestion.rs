//! Links that carry less together when many messages share them.

use laneway_coll::messages::{Message, Messages};
use laneway_sim::Simulation;
use laneway_sim::platform::Platform;

const SPEC: &str = "two-sites:8x8,latency=1us,lan-latency=1us,rate=10Gbit,wan=800Mbit,\
                    connection=400Mbit,congestion=4:100%+8:50%";
const BYTES: u64 = 10_000_000;

fn read(spec: &str) -> Result<Platform, String> {
    Platform::read(spec).map_err(|error| error.to_string())
}

/// When each rank is done if this number of pairs send at once, in seconds.
fn pairs(platform: &Platform, count: u32, bytes: impl Fn(u32) -> u64) -> Vec<f64> {
    let list: Vec<Message> =
        (0..count).map(|n| Message { from: n, to: 8 + n, bytes: bytes(n) }).collect();
    let schedule = Messages::new(16, &list).expect("a schedule");
    let ended = Simulation::new(platform).run(&schedule).expect("it ends");
    ended.per_rank[8..8 + count as usize].to_vec()
}

#[track_caller]
fn near(seen: f64, seconds: f64) {
    assert!((seen / seconds - 1.0).abs() < 1e-3, "{seen} s for {seconds} s");
}

#[test]
fn messages_together_have_what_the_curve_says() {
    let platform = read(SPEC).expect("a platform");
    let megabits = |count: u32| f64::from(count) * BYTES as f64 * 8e-6;
    for (count, together) in [(1, 400.0), (2, 800.0), (4, 800.0), (6, 600.0), (8, 400.0)] {
        let last = pairs(&platform, count, |_| BYTES).into_iter().fold(0.0, f64::max);
        near(last, megabits(count) / together);
    }
}

#[test]
fn those_that_are_left_have_more_again() {
    let platform = read(SPEC).expect("a platform");
    // Four short ones beside four of twice their length: 400 Mbit/s until the short ones are done,
    // then 800 for what is left of the long ones.
    let times = pairs(&platform, 8, |n| if n < 4 { BYTES } else { 2 * BYTES });
    near(times[0], 8.0 * 80.0 / 400.0);
    near(times[7], 8.0 * 80.0 / 400.0 + 4.0 * 80.0 / 800.0);
}

#[test]
fn an_event_changes_the_rate_and_leaves_the_curve() {
    let text = "include = [\"two-sites:8x8,latency=1us,lan-latency=1us,rate=10Gbit,wan=800Mbit,\
                connection=400Mbit,congestion=4:100%+8:50%\"]\n[[event]]\nat = \"0s\"\n\
                sites = [\"site0\", \"site1\"]\nrate = \"400Mbit\"\n";
    let platform = Platform::parse("event", text).expect("a platform");
    let last = pairs(&platform, 8, |_| BYTES).into_iter().fold(0.0, f64::max);
    near(last, 8.0 * 80.0 / 200.0);
}

#[test]
fn simgrid_export_lists_what_it_cannot_say() {
    let export = read(SPEC).expect("a platform").export_simgrid().expect("an export");
    assert!(export.lost.iter().any(|lost| lost.contains("congestion of 2 links")), "{export:?}");
    let plain = SPEC.rsplit_once(',').map_or(SPEC, |(plain, _)| plain);
    let export = read(plain).expect("a platform").export_simgrid().expect("an export");
    assert!(!export.lost.iter().any(|lost| lost.contains("congestion")), "{export:?}");
}

#[test]
fn what_has_no_rate_to_lose_is_refused() {
    for (spec, part) in [
        ("sites:2,2,congestion=2:50%", "there is none here"),
        ("two-sites:2x2,congestion=2:150%", "parts are above 0 and fall"),
        ("two-sites:2x2,congestion=much", "write it like"),
        ("cluster:4,congestion=2:50%", "congestion"),
    ] {
        let said = read(spec).expect_err(spec);
        assert!(said.contains(part), "{spec}: {said}");
    }
    let pipe = "[[host]]\nname = \"a[0-1]\"\nrate = \"1Gbit\"\n[[link]]\nname = \"l\"\nrate = \
                \"1Gbit\"\nshared = false\ncongestion = \"2:50%\"\n[[route]]\nfrom = \"a0\"\nto = \
                \"a1\"\nlinks = [\"l\"]\n";
    let said = Platform::parse("pipe", pipe).expect_err("refused").to_string();
    assert!(said.contains("messages share"), "{said}");
    let shared = pipe.replace("shared = false\n", "");
    assert!(Platform::parse("link", &shared).is_ok());
}
