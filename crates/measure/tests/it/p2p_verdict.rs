//! Verdicts over figures that are written down: who is to blame, in which direction, and who not.

use laneway_core::Rank;
use laneway_measure::p2p::{
    Direction, Estimate, LeastRate, Limits, Pair, Scope, SlowPair, Verdict, verdict,
};

fn estimate(value: f64) -> Estimate {
    Estimate { value, interval: None, error: None, reps: 6, reached: true }
}

/// All pairs of ranks, with what a long and a short message take from one to the other. Each rank
/// has a host and the site given.
fn judge(
    sites: &[u32],
    long: impl Fn(Rank, Rank) -> f64,
    short: impl Fn(Rank, Rank) -> f64,
) -> Verdict {
    let ranks = sites.len() as Rank;
    let pairs = (0..ranks).flat_map(|from| (from + 1..ranks).map(move |to| (from, to)));
    let pair = |(from, to)| Pair {
        from,
        to,
        latency: estimate(short(from, to)),
        there: estimate(long(from, to)),
        back: estimate(long(to, from)),
    };
    let pairs: Vec<Pair> = pairs.map(pair).collect();
    let hosts: Vec<String> = (0..ranks).map(|rank| format!("n{rank}")).collect();
    verdict(&pairs, &hosts, sites, &Limits::default())
}

/// The same with the same time both ways and a latency of 1; the last two are another site.
fn all(ranks: u32, time: impl Fn(Rank, Rank) -> f64) -> Verdict {
    let sites: Vec<u32> = (0..ranks).map(|rank| u32::from(rank + 2 >= ranks)).collect();
    judge(&sites, |a, b| time(a.min(b), a.max(b)), |_, _| 1.0)
}

fn names(verdict: &Verdict) -> Vec<Rank> {
    verdict.slow_nodes.iter().map(|node| node.rank).collect()
}

fn ends(pairs: &[SlowPair]) -> Vec<(Rank, Rank, bool)> {
    pairs.iter().map(|pair| (pair.from, pair.to, pair.both_ways)).collect()
}

#[test]
fn one_or_several_slow_nodes_are_named() {
    for ranks in 5..12 {
        for slow in 0..ranks - 2 {
            let found = all(ranks, |a, b| if a == slow || b == slow { 10.0 } else { 1.0 });
            assert_eq!((names(&found), found.slow_pairs.len()), (vec![slow], 0), "{ranks}");
            assert_eq!(found.slow_nodes[0].slow, ranks as usize - 1);
            assert_eq!(found.slow_nodes[0].others_slow, 0);
            assert_eq!(found.slow_nodes[0].direction, Direction::Both);
        }
    }
    let slow = [1, 4, 6];
    let found = all(16, |a, b| if slow.contains(&a) || slow.contains(&b) { 3.0 } else { 1.0 });
    assert_eq!(names(&found), slow);
}

#[test]
fn a_direction_is_named() {
    for (direction, slow) in [(Direction::In, false), (Direction::Out, true)] {
        let is_slow = |from: Rank, to: Rank| if slow { from == 0 } else { to == 0 };
        let found = judge(&[0; 6], |a, b| if is_slow(a, b) { 1.4 } else { 1.0 }, |_, _| 1.0);
        assert_eq!(names(&found), [0], "{found:?}");
        assert_eq!(found.slow_nodes[0].direction, direction);
        assert!(found.slow_pairs.is_empty() && found.count_slow() == 5, "{found:?}");
    }
    let found = judge(&[0; 5], |a, b| if (a, b) == (3, 1) { 2.0 } else { 1.0 }, |_, _| 1.0);
    assert_eq!((names(&found), ends(&found.slow_pairs)), (vec![], vec![(3, 1, false)]));
}

#[test]
fn a_slow_pair_is_not_a_slow_node() {
    let found = all(8, |a, b| if (a, b) == (2, 5) { 10.0 } else { 1.0 });
    assert_eq!((names(&found), ends(&found.slow_pairs)), (vec![], vec![(2, 5, true)]));
    assert!((found.slow_pairs[0].ratio - 10.0).abs() < 1e-12);
}

#[test]
fn a_link_that_is_a_little_too_slow_is_still_the_link() {
    let little = |rank: Rank| if rank == 1 { 1.05 } else { 1.0 };
    let bad = |a: Rank, b: Rank| if (a, b) == (1, 4) { 1.3 } else { 1.0 };
    let found = all(8, |a, b| little(a) * little(b) * bad(a, b));
    assert_eq!((found.slow_pairs.len(), found.slow_together.len()), (1, 0), "{found:?}");
    assert_eq!((found.slow_pairs[0].from, found.slow_pairs[0].to), (1, 4));
}

#[test]
fn two_that_are_a_little_slow_are_so_together() {
    let little = |rank: Rank| if rank == 1 || rank == 3 { 1.2 } else { 1.0 };
    let found = all(8, |a, b| little(a) * little(b));
    assert!(found.is_healthy(), "{found:?}");
    assert_eq!(ends(&found.slow_together), [(1, 3, true)]);
    assert!(found.sentences(&[], &Limits::default())[0].contains("slightly slow"));
}

#[test]
fn far_pairs_are_not_slow_pairs() {
    let far = |a: Rank, b: Rank| (a >= 6) != (b >= 6);
    let found = all(8, |a, b| if far(a, b) { 100.0 } else { 1.0 });
    assert!(found.is_healthy(), "{found:?}");
}

#[test]
fn ways_that_hide_a_slow_card_say_nothing_for_it() {
    // Two sites of seven; the way between them is slower than the slow card.
    let site = |rank: Rank| u32::from(rank >= 7);
    let sites: Vec<u32> = (0..14).map(site).collect();
    let card = |rank: Rank| if rank == 9 { 1.0 / 0.36 } else { 1.0 };
    let way = |a: Rank, b: Rank| if site(a) == site(b) { 1.0 } else { 4.0 };
    let long = |a: Rank, b: Rank| f64::max(card(a), card(b)).max(way(a, b));
    let found = judge(&sites, long, |a, b| if site(a) == site(b) { 1.0 } else { 40.0 });
    assert_eq!((names(&found), found.slow_pairs.len()), (vec![9], 0), "{found:?}");
    assert_eq!((found.slow_nodes[0].slow, found.slow_nodes[0].pairs), (6, 13));
    // And so with a latency, which adds up.
    let late = |a: Rank, b: Rank| {
        let own = if a == 9 || b == 9 { 5.0 } else { 0.0 };
        own + if site(a) == site(b) { 1.0 } else { 40.0 }
    };
    let found = judge(&sites, |_, _| 1.0, late);
    assert_eq!((names(&found), found.slow_pairs.len()), (vec![9], 0), "{found:?}");
    assert_eq!(found.slow_nodes[0].measure, "latency");
    // A pair that is late is slow, as the verdict is.
    assert_eq!(found.marks.iter().filter(|marks| marks.is_slow()).count(), 6);
}

#[test]
fn a_card_for_other_sites_is_slow_with_them_alone() {
    let site = |rank: Rank| u32::from(rank >= 4);
    let sites: Vec<u32> = (0..9).map(site).collect();
    for (scope, far) in [(Scope::Far, true), (Scope::Near, false)] {
        let slow = |a: Rank, b: Rank| (a == 6 || b == 6) && (site(a) != site(b)) == far;
        let found = judge(&sites, |a, b| if slow(a, b) { 3.0 } else { 1.0 }, |_, _| 1.0);
        assert_eq!((names(&found), found.slow_pairs.len()), (vec![6], 0), "{found:?}");
        assert_eq!(found.slow_nodes[0].scope, scope);
    }
}

#[test]
fn two_late_hosts_and_a_late_link_are_distinguished() {
    let own = |rank: Rank| if rank == 1 || rank == 4 { 2.0 } else { 0.0 };
    let link = |a: Rank, b: Rank| if (a.min(b), a.max(b)) == (0, 6) { 4.0 } else { 0.0 };
    let found = judge(&[0; 9], |_, _| 1.0, |a, b| 1.0 + own(a) + own(b) + link(a, b));
    assert_eq!(names(&found), [1, 4], "{found:?}");
    assert_eq!(ends(&found.slow_pairs), [(0, 6, true)], "{found:?}");
}

#[test]
fn half_of_a_small_cluster_may_be_slow() {
    let slow = |rank: Rank| if rank < 2 { 3.0 } else { 1.0 };
    let found = judge(&[0; 4], |a, b| f64::max(slow(a), slow(b)), |_, _| 1.0);
    assert_eq!((names(&found), found.slow_pairs.len()), (vec![0, 1], 0), "{found:?}");
    // Each of two sites of two has one, and the way between them is wide.
    let slow = |rank: Rank| if rank == 0 || rank == 2 { 3.0 } else { 1.0 };
    let found = judge(&[0, 0, 1, 1], |a, b| f64::max(slow(a), slow(b)), |_, _| 1.0);
    assert_eq!((names(&found), found.slow_pairs.len()), (vec![0, 2], 0), "{found:?}");
}

#[test]
fn a_slower_link_of_a_slow_host_is_named_beside_it() {
    let long = |a: Rank, b: Rank| match (a.min(b), a.max(b)) {
        (2, 5) => 6.0,
        (2, _) | (_, 2) => 2.0,
        _ => 1.0,
    };
    let found = judge(&[0; 7], long, |_, _| 1.0);
    assert_eq!((names(&found), ends(&found.slow_pairs)), (vec![2], vec![(2, 5, true)]));
}

#[test]
fn what_cannot_be_decided_is_said_so_without_blame() {
    // One direction within a site of two, where the way to the others hides everything.
    let long = |a: Rank, b: Rank| match ((a < 2) == (b < 2), (a, b)) {
        (_, (1, 0)) => 2.0,
        (true, _) => 1.0,
        (false, _) => 10.0,
    };
    let found = judge(&[0, 0, 1, 1, 1], long, |_, _| 1.0);
    assert!(found.slow_nodes.is_empty() && found.slow_pairs.is_empty(), "{found:?}");
    assert_eq!(ends(&found.unclear_pairs), [(1, 0, false)]);
    assert!(!found.is_healthy());
    let words = &found.sentences(&[], &Limits::default())[0];
    assert!(words.contains("host or link: cannot tell"), "{words}");
}

#[test]
fn a_narrow_switch_is_not_a_heap_of_links() {
    let long = |a: Rank, b: Rank| if (a < 5) == (b < 5) { 1.0 } else { 2.0 };
    let found = judge(&[0; 10], long, |_, _| 1.0);
    assert!(found.slow_nodes.is_empty() && found.slow_pairs.is_empty(), "{found:?}");
    assert_eq!((found.scattered_pairs.len(), found.is_healthy()), (25, false));
    let words = &found.sentences(&[], &Limits::default())[0];
    assert!(words.starts_with("25 pairs are slow without a common host"), "{words}");
}

#[test]
fn ranks_of_one_host_are_blamed_as_one() {
    let hosts: Vec<String> = (0..8).map(|rank| format!("h{}", rank / 2)).collect();
    let pairs = (0..8u32).flat_map(|from| (from + 1..8).map(move |to| (from, to)));
    let pair = |(from, to): (Rank, Rank)| {
        let slow = from / 2 != to / 2 && (from / 2 == 1 || to / 2 == 1);
        let long = estimate(if slow { 3.0 } else { 1.0 });
        Pair { from, to, latency: estimate(1.0), there: long, back: long }
    };
    let found = verdict(&pairs.map(pair).collect::<Vec<_>>(), &hosts, &[0; 8], &Limits::default());
    assert_eq!(found.slow_nodes.len(), 1, "{found:?}");
    assert_eq!((found.slow_nodes[0].rank, found.slow_nodes[0].ranks), (2, 2));
    let words = &found.sentences(&hosts, &Limits::default())[0];
    assert!(words.starts_with("h1 (2 ranks from rank 2) is slow in all 12 pairs"), "{words}");
}

#[test]
fn a_rate_is_a_limit_whatever_is_usual() {
    let pair = |from, to, seconds| Pair {
        from,
        to,
        latency: estimate(1.0),
        there: estimate(seconds),
        back: estimate(1.0),
    };
    let limits = |bytes_per_second| Limits {
        least_rate: Some(LeastRate { bytes_per_second, bytes: 1000 }),
        ..Limits::default()
    };
    let pairs = [pair(0, 1, 1.0), pair(0, 2, 1.1), pair(1, 2, 1.0)];
    let found = verdict(&pairs, &[], &[0; 3], &limits(950.0));
    assert_eq!((found.count_slow(), found.is_healthy()), (1, true), "{found:?}");
    let words = &found.sentences(&[], &limits(950.0))[0];
    assert!(words.starts_with("1 of 3 pairs are below the requested bandwidth"), "{words}");
    assert_eq!(verdict(&pairs, &[], &[0; 3], &limits(900.0)).count_slow(), 0);
    assert_eq!(verdict(&pairs[..1], &[], &[0; 2], &limits(2000.0)).count_slow(), 1);
}

#[test]
fn few_or_no_pairs_are_accepted() {
    let limits = Limits::default();
    assert!(verdict(&[], &[], &[], &limits).is_healthy());
    let two = all(2, |_, _| 5.0);
    assert!(two.sentences(&[], &limits)[0].starts_with("a single pair"), "{two:?}");
    // What was not measured is not judged, and does not affect a judgement.
    for nothing in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let found = judge(&[0; 5], |a, _| if a == 1 { nothing } else { 1.0 }, |_, _| 1.0);
        assert!(found.is_healthy() && found.count_slow() == 0, "{nothing}: {found:?}");
    }
}
