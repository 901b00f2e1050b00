//! Schedules over sites, simulated by us and by SimGrid: both rank them alike.
//!
//! A choice rests on who is faster, and that must be the same in both where links are shared alike:
//! by latency, as SimGrid does. With equal shares, which platforms have unless they say otherwise,
//! relays and a gather's lanes rank higher than in SimGrid, which lets the connections inside a
//! site starve those between sites at the root's card; what is chosen then must still be good.

use laneway_coll::find;
use laneway_core::{Collective, Shape};
use laneway_sim::platform::Platform;
use laneway_sites::Sites;

use super::judge::{Judged, SIMGRIDS_WAY};

/// Who is faster by so much with us is not slower in SimGrid.
const CLEARLY: f64 = 1.03;
/// What a choice may cost where it knows how links are shared, and where it takes for granted that
/// shares are equal and they are by latency.
const CHOICE: f64 = 1.03;
const CHOICE_BY_EQUAL_SHARES: f64 = 1.25;
/// Equal times may differ by rounding.
const ROUNDING: f64 = 1e-6;
const BLOCK: u64 = 256 << 10;

/// Where calls are made. SimGrid deadlocks where messages below and above the eager size meet, so
/// that none is eager here.
const PLATFORMS: [(&str, &str); 5] = [
    ("B/b = 4", "two-sites:32x32,connection=250Mbit,eager=0"),
    ("B/b = 8", "two-sites:32x32,connection=125Mbit,latency=10ms,eager=0"),
    ("B/b = 16", "two-sites:32x32,connection=62.5Mbit,latency=20ms,eager=0"),
    ("three sites", "sites:32,16,8,connection=125Mbit,uplink=1Gbit,eager=0"),
    (
        "separate cards",
        "two-sites:32x32,rate=10Gbit,wan-rate=1Gbit,wan=10Gbit,connection=1Gbit,eager=0",
    ),
];

/// A schedule's time with us and in SimGrid, in seconds.
#[derive(Clone, Debug)]
struct Ranked {
    name: String,
    ours: f64,
    theirs: f64,
}

/// All of a call, and what is chosen for it by equal shares and by SimGrid's.
struct Ranking {
    all: Vec<Ranked>,
    chosen: [String; 2],
}

/// The paper's single lane and its lanes, a flat window, ours as it is, and what is chosen.
fn names(op: Collective, chosen: &[String]) -> Vec<String> {
    let flat = if op == Collective::Scatter { "windowed" } else { "credits" };
    let lanes = ["multi-lane:lanes=4", "multi-lane:lanes=16", "multi-lane:lanes=32"];
    let mut names = vec!["single-lane".to_string(), format!("{flat}:window=4")];
    names.push(format!("{flat}:window=17"));
    names.extend(lanes.map(str::to_string));
    names.extend(["far-first".to_string(), "relay".to_string()]);
    for chosen in chosen {
        if !names.contains(chosen) {
            names.push(chosen.clone());
        }
    }
    names
}

fn ranking(judged: &Judged, op: Collective, spec: &str) -> Ranking {
    let sites = Sites::one_each(&judged.platform);
    let shape = Shape::new(op, sites.placement().ranks(), BLOCK);
    let equal = Platform::read(spec).expect(spec);
    let chosen = [Sites::one_each(&equal), sites.clone()]
        .map(|sites| sites.choose(&shape).expect("a choice").best.spelled());
    // A lane takes a host of each site: where one has fewer, that number of lanes is refused.
    let served = |name: &String| {
        let (algorithm, params) = find(op, name).expect("an algorithm");
        let outcome = sites.simulate(&shape, algorithm, &params).ok()?;
        Some((name.clone(), outcome.finish))
    };
    let ours: Vec<(String, f64)> = names(op, &chosen).iter().filter_map(served).collect();
    let list: Vec<&str> = ours.iter().map(|(name, _)| name.as_str()).collect();
    let (size, spec) = (BLOCK.to_string(), format!("{spec},{SIMGRIDS_WAY}"));
    let lines = judged.theirs(&[op.name(), &list.join(","), &size, "0", &spec]);
    assert_eq!(lines.len(), ours.len(), "{lines:?}");
    let seconds = |line: &String| -> f64 {
        line.rsplit_once(',').and_then(|(_, text)| text.parse().ok()).expect("seconds")
    };
    let both = ours.into_iter().zip(lines.iter().map(seconds));
    let all = both.map(|((name, ours), theirs)| Ranked { name, ours, theirs }).collect();
    Ranking { all, chosen }
}

/// Pairs that the two rank the other way round.
fn contradictions(all: &[Ranked]) -> Vec<String> {
    let pairs = all.iter().flat_map(|fast| all.iter().map(move |slow| (fast, slow)));
    let wrong = pairs.filter(|(fast, slow)| {
        fast.ours * CLEARLY < slow.ours && fast.theirs > slow.theirs * (1.0 + ROUNDING)
    });
    let line = |one: &Ranked| format!("{} ({} s, {} s)", one.name, one.ours, one.theirs);
    wrong.map(|(fast, slow)| format!("{} against {}", line(fast), line(slow))).collect()
}

#[test]
fn schedules_over_sites_rank_as_in_simgrid() {
    let mut seen = 0;
    for (name, spec) in PLATFORMS {
        let Some(judged) = Judged::new(&name.replace(['/', ' ', '='], "-"), spec) else { return };
        for op in [Collective::Scatter, Collective::Gather] {
            let Ranking { all, chosen } = ranking(&judged, op, spec);
            let what = format!("{name}, {}", op.name());
            let wrong = contradictions(&all);
            assert!(wrong.is_empty(), "{what}: {wrong:#?}");
            // A set that is all alike would agree with anything.
            let slowest = all.iter().map(|one| one.ours).fold(0.0, f64::max);
            let fastest = all.iter().map(|one| one.ours).fold(f64::INFINITY, f64::min);
            assert!(slowest > 1.5 * fastest, "{what}: {all:#?}");
            let best = all.iter().map(|one| one.theirs).fold(f64::INFINITY, f64::min);
            for (chosen, most) in chosen.iter().zip([CHOICE_BY_EQUAL_SHARES, CHOICE]) {
                let taken = all.iter().find(|one| one.name == *chosen).expect("the choice");
                let cost = taken.theirs / best;
                assert!(cost < most, "{what}: {chosen} takes {cost} times the best");
            }
            seen += all.len();
        }
    }
    assert!(seen >= 70, "{seen} schedules");
}

#[test]
fn a_ranking_the_other_way_round_is_seen() {
    let one = |name: &str, ours, theirs| Ranked { name: name.to_string(), ours, theirs };
    let fast = one("fast", 1.0, 1.2);
    assert_eq!(contradictions(&[fast.clone(), one("slow", 1.04, 1.1)]).len(), 1);
    assert!(contradictions(&[fast.clone(), one("close", 1.02, 1.1)]).is_empty());
    assert!(contradictions(&[fast, one("slow", 1.04, 1.3)]).is_empty());
}
