//! Platforms drawn from a seed: the same each time, of every kind, and what is asked for alone
//! differs.

use laneway_sim::platform::{Fault, Platform};
use laneway_sim::{Network, Route, Traffic};

use super::{read_text, route};

fn read(word: &str) -> Platform {
    Platform::read(word).unwrap_or_else(|error| panic!("{error}"))
}

/// Latency, rates and costs of every way.
fn ways(platform: &Platform) -> Vec<[f64; 4]> {
    let hosts = platform.hosts();
    let pairs = (0..hosts).flat_map(|a| (0..hosts).map(move |b| (a, b))).filter(|(a, b)| a != b);
    pairs
        .map(|(a, b)| {
            let mut route = Route::default();
            platform.route(a, b, &mut route);
            let rate = |id: &u32| platform.resources()[*id as usize].rate;
            let narrowest = route.resources.iter().map(rate).fold(route.most, f64::min);
            let (from, to) = (platform.cost(a), platform.cost(b));
            [route.latency, narrowest, from.per_send + to.per_recv, from.per_byte_sent]
        })
        .collect()
}

#[test]
fn a_seed_is_one_platform() {
    for seed in [0, 7, u64::MAX] {
        let word = format!("random:{seed}");
        let (one, other) = (read(&word), read(&word));
        assert_eq!(one.resources(), other.resources());
        assert_eq!(one.background(), other.background());
        assert_eq!(ways(&one), ways(&other));
        let clocks = |platform: &Platform| {
            (0..platform.hosts()).map(|host| platform.clock(host)).collect::<Vec<_>>()
        };
        assert_eq!(clocks(&one), clocks(&other));
    }
    assert_ne!(ways(&read("random:7")), ways(&read("random:8")));
}

#[test]
fn seeds_draw_every_kind() {
    let all: Vec<Platform> = (0..400).map(|seed| read(&format!("random:{seed}"))).collect();
    let count = |counts: &dyn Fn(&Platform) -> bool| all.iter().filter(|p| counts(p)).count();
    let is_bursty =
        |p: &Platform| p.background().iter().any(|b| !matches!(b.traffic, Traffic::Steady { .. }));
    let has_right_clocks =
        |p: &Platform| (0..p.hosts()).all(|host| p.clock(host) == Default::default());
    for (what, found, expected) in [
        ("symmetric", count(&Platform::is_symmetric), 240),
        ("without background", count(&|p| p.background().is_empty()), 200),
        ("bursty", count(&is_bursty), 100),
        ("right clocks", count(&has_right_clocks), 133),
        ("one site", count(&|p| p.site_names().len() == 1), 133),
        ("three sites", count(&|p| p.site_names().len() == 3), 133),
        ("nothing eager", count(&|p| p.eager_bytes() == 0), 67),
        ("up to 11 hosts", count(&|p| p.hosts() <= 11), 200),
    ] {
        assert!(found.abs_diff(expected) < 50, "{what}: {found} of 400, not about {expected}");
    }
    assert!(all.iter().all(|platform| (4..=32).contains(&platform.hosts())));
    for platform in &all {
        for host in 0..platform.hosts() {
            let clock = platform.clock(host);
            assert!(clock.offset.abs() <= 0.5 && clock.drift.abs() <= 50e-6, "{clock:?}");
        }
    }
}

#[test]
fn what_is_asked_for_leaves_the_rest() {
    for seed in 0..20 {
        let word = format!("random:{seed},ways=symmetric,background=none,clocks=right");
        let quiet = read(&word);
        assert!(quiet.is_symmetric() && quiet.background().is_empty(), "{word}");
        assert!((0..quiet.hosts()).all(|host| quiet.clock(host) == Default::default()));
        let loud = read(&word.replace("none", "bursty").replace("right", "wrong"));
        assert_eq!(ways(&quiet), ways(&loud), "{word}");
        assert!(!loud.background().is_empty());
        let lopsided = read(&word.replace("symmetric", "asymmetric"));
        assert!(!lopsided.is_symmetric(), "{word}");
        assert_eq!(quiet.hosts(), lopsided.hosts());
    }
    assert_eq!(read("random:1,hosts=7").hosts(), 7);
    assert_eq!(read("random:1,eager=3K").eager_bytes(), 3 << 10);
}

#[test]
fn ways_are_symmetric_only_if_latency_rates_and_costs_are() {
    assert!(read("cluster:4,send=2us,receive=5us").is_symmetric());
    assert!(read("two-sites:2x2").is_symmetric());
    // Slower hosts add as much more to a send as to a receive.
    assert!(read("mpiblib16").is_symmetric());
    assert!(read("cluster:2,rate-in=1Gbit,rate-out=2Gbit").is_symmetric());
    let two = "[[host]]\nname = \"a\"\nrate = \"1Gbit\"\n\
               [[host]]\nname = \"b\"\nrate = \"1Gbit\"\n";
    let way = |from: &str, to: &str, latency: &str| {
        format!(
            "[[route]]\nfrom = \"{from}\"\nto = \"{to}\"\nlinks = []\nboth-ways = false\n\
             latency = \"{latency}\"\n"
        )
    };
    let of = |back: &str| {
        let text = format!("{two}{}{}", way("a", "b", "50us"), way("b", "a", back));
        read_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    };
    assert!(of("50us").is_symmetric());
    assert!(!of("60us").is_symmetric());
    assert_eq!(route(&of("60us"), 1, 0), (vec!["b:out", "a:in"], 60e-6, f64::INFINITY));
    let costly = two.replacen("rate = \"1Gbit\"", "rate = \"1Gbit\"\nsend = \"3us\"", 1);
    let text = format!("{costly}{}{}", way("a", "b", "50us"), way("b", "a", "50us"));
    assert!(!read_text(&text).expect("a platform").is_symmetric());
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    for (word, fault, reason) in [
        ("random", Fault::Syntax, "write it like random:7"),
        ("random:", Fault::Syntax, "write it like random:7"),
        ("random:1,2", Fault::Syntax, "write it like random:7"),
        ("random:seven", Fault::Value, "whole number"),
        ("random:-1", Fault::Value, "whole number"),
        ("random:18446744073709551616", Fault::Value, "whole number"),
        ("random:1,seed=2", Fault::Syntax, "given twice"),
        ("random:1,hosts=3", Fault::Value, "from 4 to 32"),
        ("random:1,hosts=33", Fault::Value, "from 4 to 32"),
        ("random:1,ways=odd", Fault::Value, "symmetric or asymmetric"),
        ("random:1,background=loud", Fault::Value, "none, steady or bursty"),
        ("random:1,clocks=+-5ms", Fault::Value, "right or wrong"),
        ("random:1,rate=1Gbit", Fault::Word, "random has no `rate`"),
    ] {
        let Err(error) = Platform::read(word) else { panic!("{word} is a platform") };
        assert_eq!(error.fault, fault, "{word}: {error}");
        assert!(error.reason.contains(reason), "{word}: {error}");
    }
}
