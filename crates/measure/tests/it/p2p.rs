//! Point-to-point experiments on simulated clusters, whose every time has a formula.

use laneway_core::{Comm, CommError, Rank};
use laneway_measure::Rule;
use laneway_measure::p2p::{
    Buffers, Cache, Estimate, Lab, Limits, Members, Pattern, Plan, RoundTrips, Sizes, Verdict,
    Work, logp, point_to_two, round_trip, round_trips, survey, verdict,
};
use laneway_sim::platform::Platform;
use laneway_sim::{Ended, Program};

/// Of `cluster:N`: a card's bytes a second, and the seconds from host to host.
const RATE: f64 = 125e6;
const LATENCY: f64 = 50e-6;

fn platform(spec: &str) -> Platform {
    Platform::read(spec).expect("a platform")
}

/// What rank 0 has at the end of a program on all hosts, and the virtual seconds it took.
fn on<R: Send>(
    platform: &Platform,
    program: impl Fn(&dyn Comm) -> Result<Option<R>, CommError> + Sync,
) -> (R, f64) {
    let ended = Program::new(platform, platform.hosts()).limit(1e4).run(program);
    let Ended { results, finish } = ended.expect("a program that ends");
    let mut results = results.into_iter().map(|result| result.expect("no error"));
    let first = results.next().flatten().expect("a result at rank 0");
    assert!(results.all(|result| result.is_none()), "results elsewhere");
    (first, finish)
}

fn assert_near(found: f64, wanted: f64, part: f64, what: &str) {
    let off = (found - wanted).abs() / wanted;
    assert!(off <= part, "{what}: {found}, not {wanted}: {:.4} % off", off * 100.0);
}

fn pairs(platform: &Platform, bytes: (usize, usize), parallel: bool) -> (RoundTrips, f64) {
    on(platform, |comm| round_trips(&Lab::new(comm, Rule::default()), bytes.0, bytes.1, parallel))
}

#[test]
fn all_pairs_in_parallel_cost_a_seventh_and_are_as_exact() {
    let cluster = platform("cluster:16");
    // Empty, eager, and beyond the eager size; there and back differ.
    for (out, back) in [(0, 0), (8, 8), (4096, 0), (1000, 60_000), (200_000, 100_000)] {
        let (one_by_one, slow) = pairs(&cluster, (out, back), false);
        let (parallel, fast) = pairs(&cluster, (out, back), true);
        assert_eq!(parallel.pairs, one_by_one.pairs);
        let all = (0..16).flat_map(|i| (i + 1..16).map(move |j| (i, j)));
        assert_eq!(parallel.pairs, all.collect::<Vec<(Rank, Rank)>>());
        assert_eq!((parallel.estimates.len(), parallel.errors.len()), (120, 120));
        let formula = 2.0 * LATENCY + (out + back) as f64 / RATE;
        for (pair, (a, b)) in
            parallel.pairs.iter().zip(parallel.estimates.iter().zip(&one_by_one.estimates))
        {
            assert_near(*a, formula, 0.001, &format!("{out} + {back}, {pair:?}"));
            assert_near(*a, *b, 0.01, &format!("in parallel, {out} + {back}, {pair:?}"));
        }
        assert!(parallel.reps.iter().all(|&reps| reps >= 6), "{:?}", parallel.reps);
        assert!(parallel.errors.iter().all(|error| error.is_some_and(|error| error <= 0.01)));
        assert!(slow >= 7.0 * fast, "{out} + {back}: {slow} s one by one, {fast} s in parallel");
    }
}

/// A rank that waits for its turn sends nothing meanwhile: a receiver with a small buffer would
/// lose what it is just getting, and the round trip take a timeout more.
#[test]
fn a_pair_that_is_measured_alone_is_undisturbed() {
    let cluster = platform("mpiblib16");
    let alone = |pairs: &[[u32; 2]]| {
        let plan = Plan::of(pairs.iter().map(|pair| pair.to_vec()).collect()).expect("pairs");
        let (found, _) = on(&cluster, |comm| {
            let (mut out, mut back) = (vec![1; 64 << 10], vec![2; 64 << 10]);
            let lab = Lab::new(comm, Rule::fixed(5));
            lab.run(&plan, |members| round_trip(members, &mut out, &mut back))
        });
        found[0].value
    };
    let (one, beside) = (alone(&[[0, 1]]), alone(&[[0, 1], [2, 3]]));
    assert!((one / beside - 1.0).abs() < 0.01, "{one} alone, {beside} beside another");
}

#[test]
fn each_pair_stops_by_its_own_rule() {
    // One pair's times differ from call to call, so its rule is content much later.
    let (found, _) = on(&platform("cluster:4"), |comm| {
        let rule = Rule { max_reps: 60, ..Rule::default() };
        let mut calls = 0;
        Lab::new(comm, rule).run(&Plan::pairs(4), |members| {
            calls += 1;
            let noisy = members.ranks == [0, 1];
            Ok(if noisy { 1.0 + f64::from(calls % 7) } else { 3.0 })
        })
    });
    let reps: Vec<u32> = found.iter().map(|estimate| estimate.reps).collect();
    assert_eq!(found.iter().filter(|estimate| estimate.reached).count(), 5, "{found:?}");
    assert_eq!(reps.iter().filter(|&&reps| reps == 6).count(), 5, "{reps:?}");
    assert_eq!(reps.iter().max(), Some(&60), "{reps:?}");
}

#[test]
fn any_closure_runs_on_any_disjoint_subsets() {
    // A ring of each subset: the message comes round after as many hops as there are members.
    let plan =
        Plan::of(vec![vec![0, 1, 2, 3], vec![4, 5], vec![3, 5, 7], vec![6]]).expect("a plan");
    assert_eq!(plan.rounds().len(), 2);
    let ring = |members: &Members| {
        let (at, count) = (members.position, members.ranks.len());
        let (left, right) =
            (members.ranks[(at + count - 1) % count], members.ranks[(at + 1) % count]);
        let begun = members.comm.clock().now();
        if members.leads() && count > 1 {
            members.comm.send(right, 99, &[])?;
        }
        if count > 1 {
            members.comm.recv(Some(left), Some(99), &mut [])?;
        }
        if !members.leads() {
            members.comm.send(right, 99, &[])?;
        }
        Ok(members.comm.clock().now() - begun)
    };
    let (found, _) =
        on(&platform("cluster:8"), |comm| Lab::new(comm, Rule::fixed(3)).run(&plan, ring));
    let hops: Vec<f64> = found.iter().map(|e| (e.value / LATENCY).round()).collect();
    let wanted: Vec<f64> =
        plan.subsets().map(|s| s.len() as f64).map(|n| if n > 1.0 { n } else { 0.0 }).collect();
    assert_eq!(hops, wanted);
    assert!(found.iter().all(|estimate| estimate.reps == 3 && estimate.reached));
}

#[test]
fn subsets_that_cannot_be_are_errors_on_every_rank() {
    let far = Plan::of(vec![vec![0, 3]]).expect("a plan");
    let ended = Program::new(&platform("cluster:3"), 3).run(|comm| {
        let lab = Lab::new(comm, Rule::default());
        let absent = lab.run(&far, |_| Ok(1.0));
        let pair_of_three = Plan::of(vec![vec![2, 0, 1]])
            .and_then(|plan| lab.run(&plan, |members| round_trip(members, &mut [1], &mut [1])));
        let two_of_three = point_to_two(&lab, &Plan::pairs(3), 8);
        [absent, pair_of_three, two_of_three]
    });
    for result in ended.expect("a program that ends").results.into_iter().flatten() {
        assert!(matches!(result, Err(CommError::Argument { .. })), "{result:?}");
    }
}

#[test]
fn point_to_two_is_that_of_the_model() {
    // The two messages share the sender's card; beyond the eager size they leave one by one.
    for bytes in [0usize, 1000, 50_000, 100_000] {
        let (found, _) = on(&platform("cluster:6"), |comm| {
            point_to_two(&Lab::new(comm, Rule::default()), &Plan::triples(6), bytes)
        });
        assert_eq!(found.len(), 60);
        let eager = bytes <= 64 << 10;
        let latencies = if eager { 2.0 } else { 3.0 };
        let formula = latencies * LATENCY + 2.0 * bytes as f64 / RATE;
        for estimate in found {
            assert_near(estimate.value, formula, 0.001, &format!("{bytes} bytes"));
        }
    }
}

/// A pattern between the given ranks of a platform.
fn pattern(
    (pattern, cache): (Pattern, Cache),
    ranks: Vec<Rank>,
    size: usize,
    window: usize,
) -> Estimate {
    let plan = Plan::of(vec![ranks]).expect("a plan");
    let (found, _) = on(&platform("cluster:4"), |comm| {
        let mut work = Work::new(pattern, size, window, cache);
        Lab::new(comm, Rule::default()).run(&plan, |members| pattern.once(members, &mut work))
    });
    found[0]
}

#[test]
fn patterns_take_what_their_formulas_say() {
    let (size, window) = (10_000, 32);
    let flow = size as f64 / RATE;
    // Latency out and back is paid once for a window.
    let windowed = flow + 2.0 * LATENCY / window as f64;
    for (which, ranks, wanted) in [
        (Pattern::Latency, vec![0, 1], LATENCY + flow),
        (Pattern::RoundTrip, vec![1, 3], 2.0 * (LATENCY + flow)),
        (Pattern::PointToTwo, vec![3, 0, 1], 2.0 * (LATENCY + flow)),
        (Pattern::Bandwidth, vec![2, 0], windowed),
        (Pattern::Rate, vec![0, 1], windowed),
        (Pattern::Bidirectional, vec![0, 1], windowed),
        (Pattern::Sendrecv, vec![0, 1, 2, 3], LATENCY + flow),
        (Pattern::Exchange, vec![0, 1, 2, 3], LATENCY + 2.0 * flow),
        (Pattern::Sendrecv, vec![3, 1], LATENCY + flow),
        (Pattern::Exchange, vec![3, 1], LATENCY + 2.0 * flow),
        (Pattern::Overlap, vec![0, 1], 1.0),
        (Pattern::Gap, vec![0, 1], flow),
        // The word to begin and the word of the end are paid once as well.
        (Pattern::MultiPair, vec![0, 1, 2, 3], windowed + 2.0 * LATENCY / window as f64),
    ] {
        // Where the messages lie costs nothing here, but each must be right in its own place.
        for cache in [Cache::Warm, Cache::Cold { bytes: 100_000 }] {
            let found = pattern((which, cache), ranks.clone(), size, window);
            assert_near(found.value, wanted, 0.001, which.name());
            assert!(found.reached && found.interval.is_some(), "{found:?}");
        }
        assert!(Pattern::ALL.contains(&which) && !which.sentence().is_empty());
    }
}

#[test]
fn what_goes_and_what_comes_home_may_differ() {
    let (found, _) = on(&platform("cluster:4"), |comm| {
        let mut work = Work::round_trip(4000, 500, Cache::Warm);
        Lab::new(comm, Rule::default())
            .run(&Plan::pairs(4), |members| Pattern::RoundTrip.once(members, &mut work))
    });
    assert_eq!(found.len(), 6);
    for estimate in found {
        assert_near(estimate.value, 2.0 * LATENCY + 4500.0 / RATE, 0.001, "a round trip");
    }
}

#[test]
fn an_overlap_without_time_is_missing() {
    // Hosts that cost nothing, and no network between them: an empty message takes no time.
    let nowhere = platform("cluster:2,latency=0s");
    let (found, _) = on(&nowhere, |comm| {
        let mut work = Work::new(Pattern::Overlap, 0, 1, Cache::Warm);
        Lab::new(comm, Rule::fixed(3))
            .run(&Plan::pairs(2), |members| Pattern::Overlap.once(members, &mut work))
    });
    assert!(found[0].value.is_nan(), "{found:?}");
}

#[test]
fn overheads_gap_and_latency_are_those_of_the_hosts() {
    let spec = "cluster:3,send=7us,receive=4us,per-byte=1ns,in-order=true";
    let size = 2000;
    let (found, _) = on(&platform(spec), |comm| {
        logp(&Lab::new(comm, Rule::default()), &Plan::pairs(3), size, Cache::Warm)
    });
    let per_byte = size as f64 * 1e-9;
    for pair in &found {
        for (sent, received) in pair.send_overheads.iter().zip(pair.receive_overheads) {
            assert_near(sent.value, 7e-6 + per_byte, 0.001, "o_s");
            assert_near(received.value, 4e-6 + per_byte, 0.001, "o_r");
        }
        // The card is the slowest part of a train.
        assert_near(pair.gap.value, size as f64 / RATE, 0.001, "g");
        let latency = pair.latency.expect("L");
        assert_near(latency.value, LATENCY + size as f64 / RATE, 0.001, "L");
        let interval = latency.interval.expect("an interval");
        assert!(interval.holds(latency.value) && interval.level > 0.7, "{interval:?}");
    }
    assert_eq!(found.len(), 3);
    // Of short messages the sender is the slowest part.
    let (found, _) = on(&platform(spec), |comm| {
        logp(&Lab::new(comm, Rule::default()), &Plan::pairs(2), 8, Cache::Warm)
    });
    assert_near(found[0].gap.value, 7e-6 + 8e-9, 0.001, "g(8)");
    // Where the two ranks differ, each has its own overheads, and the rest is the network's.
    let of_two = |size: usize| {
        let found = on(&platform("mpiblib16"), |comm| {
            let plan = Plan::of(vec![vec![0, 15]])?;
            logp(&Lab::new(comm, Rule::default()), &plan, size, Cache::Warm)
        });
        found.0
    };
    let found = of_two(1000);
    let overhead = |clock: f64| (20e-6 + 1000.0 * 2e-9) * 3.4 / clock;
    for (which, clock) in [2.8, 1.8].into_iter().enumerate() {
        assert_near(found[0].send_overheads[which].value, overhead(clock), 0.001, "o_s");
        assert_near(found[0].receive_overheads[which].value, overhead(clock), 0.001, "o_r");
    }
    let latency = found[0].latency.expect("L");
    assert_near(latency.value, LATENCY + 1000.0 / RATE, 0.001, "L");
    // Beyond the eager size both wait while the bytes move: they are in o_s and in o_r, and what
    // is between the two is not time.
    let found = of_two(1 << 20);
    let [sent, received] = [found[0].send_overheads[0], found[0].receive_overheads[1]];
    assert!(sent.value + received.value > found[0].trip.value, "{found:?}");
    assert_eq!(found[0].latency, None);
}

#[test]
fn cold_buffers_are_used_too() {
    let (found, _) = on(&platform("cluster:2"), |comm| {
        let mut buffers = Buffers::new(Cache::Cold { bytes: 10_000 }, 3000, 3000);
        Lab::new(comm, Rule::default()).run(&Plan::pairs(2), |members| {
            let (out, into) = buffers.advance();
            round_trip(members, out, into)
        })
    });
    assert_near(found[0].value, 2.0 * (LATENCY + 3000.0 / RATE), 0.001, "cold");
}

/// A platform of a file of its own, which is gone when it has been read.
fn from_text(name: &str, text: &str) -> Platform {
    let file = format!("laneway-p2p-{name}-{}.toml", std::process::id());
    let file = std::env::temp_dir().join(file);
    std::fs::write(&file, text).expect("a file");
    let found = Platform::read(file.to_str().expect("a readable name"));
    std::fs::remove_file(&file).expect("removed");
    found.expect("a platform")
}

fn surveyed(platform: &Platform) -> (Verdict, Vec<String>) {
    let ranks = platform.hosts();
    let sites: Vec<u32> = (0..ranks).map(|host| platform.site_of(host).unwrap_or(0)).collect();
    let out = |pair: &[Rank]| {
        let [a, b] = [sites[pair[0] as usize], sites[pair[1] as usize]];
        if a == b { vec![] } else { vec![a, b] }
    };
    let all = Plan::pairs(ranks).subsets().map(<[Rank]>::to_vec).collect();
    let plan = Plan::without_shared(all, out).expect("a plan");
    let (found, _) = on(platform, |comm| {
        let sizes = Sizes { latency: 8, bandwidth: 1 << 20 };
        survey(&Lab::new(comm, Rule::default()), &plan, sizes)
    });
    assert_eq!(found.len() as u32, ranks * (ranks - 1) / 2);
    let limits = Limits::default();
    let verdict = verdict(&found, platform.host_names(), &sites, &limits);
    let sentences = verdict.sentences(platform.host_names(), &limits);
    (verdict, sentences)
}

#[test]
fn a_slowed_host_is_named_and_not_its_partners() {
    let slow = "include = [\"cluster:8\"]\n\
                [[event]]\nat = \"0s\"\nhost = \"node5\"\nfactor = 0.1\n";
    let (verdict, sentences) = surveyed(&from_text("node", slow));
    assert_eq!(verdict.slow_nodes.len(), 1, "{verdict:?}");
    let node = verdict.slow_nodes[0];
    assert_eq!((node.rank, node.slow, node.pairs, node.others_slow, node.others), (5, 7, 7, 0, 21));
    assert!((9.0..10.1).contains(&node.ratio), "{node:?}");
    assert!(verdict.slow_pairs.is_empty(), "{verdict:?}");
    assert!(sentences[0].starts_with("node5 (rank 5) is slow in all 7 pairs"), "{sentences:?}");
    // In one direction alone it shows as well.
    let half = slow.replace("factor", "direction = \"in\"\nfactor");
    let (verdict, _) = surveyed(&from_text("half", &half));
    let named: Vec<Rank> = verdict.slow_nodes.iter().map(|node| node.rank).collect();
    assert_eq!(named, [5], "{verdict:?}");
}

#[test]
fn a_slow_link_is_named_as_such() {
    let slow = "include = [\"cluster:8\"]\n\
                [[link]]\nname = \"bad\"\nrate = \"100Mbit\"\nlatency = \"50us\"\n\
                [[route]]\nfrom = \"node2\"\nto = \"node6\"\nlinks = [\"bad\"]\n";
    let (verdict, sentences) = surveyed(&from_text("link", slow));
    assert!(verdict.slow_nodes.is_empty(), "{verdict:?}");
    assert_eq!(verdict.slow_pairs.len(), 1);
    let pair = verdict.slow_pairs[0];
    assert_eq!((pair.from, pair.to, pair.measure), (2, 6, "bandwidth"));
    assert!(sentences[0].starts_with("the link between node2 (rank 2) and node6"), "{sentences:?}");
    // One that is only late is found by its latency.
    let late = slow.replace("100Mbit", "1Gbit").replace("50us", "500us");
    let (verdict, _) = surveyed(&from_text("late", &late));
    let found: Vec<_> = verdict.slow_pairs.iter().map(|p| (p.from, p.to, p.measure)).collect();
    assert_eq!(found, [(2, 6, "latency")], "{verdict:?}");
}

#[test]
fn nothing_is_suspicious_on_healthy_clusters() {
    for spec in ["cluster:7", "two-sites:4x4", "mpiblib16", "cluster:3"] {
        let (verdict, sentences) = surveyed(&platform(spec));
        assert!(verdict.is_healthy(), "{spec}: {sentences:?}");
        // Its two slowest hosts have three quarters of the usual bandwidth with each other.
        let says = if spec == "mpiblib16" { "slightly slow" } else { "none of" };
        assert!(sentences[0].contains(says), "{spec}: {sentences:?}");
    }
}
