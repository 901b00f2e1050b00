//! Tests of the generators and judges of the benchmark `choices`.

// The benchmark uses what the tests do not.
#![allow(dead_code)]

mod dice;
mod draw;

use laneway_sim::Network;
use laneway_sim::platform::Platform;

use draw::{Drawn, MOST_SMALL, OPERATIONS};

const SEEDS: std::ops::Range<u64> = 7_000..7_300;

fn read(drawn: &Drawn) -> Platform {
    Platform::parse("drawn", &drawn.text).unwrap_or_else(|error| panic!("{error}\n{}", drawn.text))
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
