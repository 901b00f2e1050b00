//! Rates and times of a few flows that can be worked out on paper.

use laneway_sim::{Carrier, Fairness, Flows, MessageId, Route};

use super::support::{assert_close, links, route};

const NO_LIMIT: f64 = f64::INFINITY;
const RATE: f64 = 1.25e9;

/// Rates of flows that all start at once, by their number.
fn rates(capacities: &[f64], routes: &[Route]) -> Vec<f64> {
    let mut flows = Flows::new(&links(capacities));
    for (message, route) in routes.iter().enumerate() {
        flows.start(0.0, 0.0, message as MessageId, 1000, route);
    }
    assert!(flows.next(0.0).is_some());
    let mut rates: Vec<(MessageId, f64)> = flows.rates().collect();
    rates.sort_by_key(|(message, _)| *message);
    rates.into_iter().map(|(_, rate)| rate).collect()
}

/// Runs until nothing is under way; the time at which each message arrived.
fn times(flows: &mut Flows, count: usize) -> Vec<f64> {
    let (mut now, mut times, mut arrived) = (0.0, vec![f64::NAN; count], Vec::new());
    while let Some(next) = flows.next(now) {
        now = next;
        flows.arrived(now, &mut arrived);
        for message in arrived.drain(..) {
            times[message as usize] = now;
        }
    }
    times
}

#[test]
fn one_flow_takes_its_latency_and_its_bytes() {
    let mut flows = Flows::new(&links(&[2e9, 1e9, 4e9]));
    flows.start(0.0, 0.0, 0, 3_000, &route(&[0, 1, 2], 5e-6, NO_LIMIT));
    assert_close(times(&mut flows, 1)[0], 5e-6 + 3_000.0 / 1e9);
}

#[test]
fn an_empty_message_takes_its_latency() {
    let mut flows = Flows::new(&links(&[1e9]));
    flows.start(0.0, 0.0, 0, 0, &route(&[0], 5e-6, NO_LIMIT));
    flows.start(0.0, 0.0, 1, 0, &route(&[], 0.0, NO_LIMIT));
    assert_eq!(times(&mut flows, 2), [5e-6, 0.0]);
}

#[test]
fn two_flows_share_while_both_are_there() {
    let mut flows = Flows::new(&links(&[100.0]));
    flows.start(0.0, 0.0, 0, 100, &route(&[0], 0.0, NO_LIMIT));
    flows.start(0.0, 0.0, 1, 300, &route(&[0], 0.0, NO_LIMIT));
    // 50 each until 2 s; then the second has the link alone for its last 200 bytes.
    assert_eq!(times(&mut flows, 2), [2.0, 4.0]);
    // A late one: alone for 1 s, then three seconds of halves.
    flows = Flows::new(&links(&[100.0]));
    flows.start(0.0, 0.0, 0, 250, &route(&[0], 0.0, NO_LIMIT));
    flows.start(0.0, 0.0, 1, 150, &route(&[0], 1.0, NO_LIMIT));
    assert_eq!(times(&mut flows, 2), [4.0, 4.0]);
}

#[test]
fn a_limited_flow_leaves_the_rest_to_others() {
    let way = route(&[0], 0.0, NO_LIMIT);
    let limited = route(&[0], 0.0, 2.0);
    assert_eq!(rates(&[10.0], &[limited.clone(), way.clone(), way.clone()]), [2.0, 4.0, 4.0]);
    // A limit above the fair share changes nothing.
    let high = route(&[0], 0.0, 6.0);
    assert_eq!(rates(&[9.0], &[high, way.clone(), way]), [3.0, 3.0, 3.0]);
    assert_eq!(rates(&[10.0], &[limited.clone(), limited]), [2.0, 2.0]);
}

#[test]
fn a_pipe_that_is_not_shared_limits_each_flow_alone() {
    let mut resources = links(&[100.0, 30.0]);
    resources[1].shared = false;
    let mut flows = Flows::new(&resources);
    for message in 0..3 {
        flows.start(0.0, 0.0, message, 60, &route(&[0, 1], 0.0, NO_LIMIT));
    }
    flows.start(0.0, 0.0, 3, 300, &route(&[1], 0.0, NO_LIMIT));
    assert_eq!(times(&mut flows, 4), [2.0, 2.0, 2.0, 10.0]);
}

#[test]
fn water_fills_three_links_as_in_the_textbook() {
    let ways = [&[0][..], &[0, 1], &[1, 2], &[1], &[2]].map(|way| route(way, 0.0, NO_LIMIT));
    // The middle link is full first: 2 each. The others take what is left.
    assert_eq!(rates(&[12.0, 6.0, 10.0], &ways), [10.0, 2.0, 2.0, 2.0, 8.0]);
}

#[test]
fn fan_in_is_bound_by_the_receiver() {
    for n in [2u32, 3, 7, 100] {
        let mut flows = Flows::new(&links(&vec![RATE; n as usize + 1]));
        for message in 0..n {
            flows.start(0.0, 0.0, message, 1 << 20, &route(&[message + 1, 0], 1e-6, NO_LIMIT));
        }
        let times = times(&mut flows, n as usize);
        assert!(times.iter().all(|time| *time == times[0]), "equal shares end together");
        assert_close(times[0], 1e-6 + f64::from(n) * f64::from(1 << 20) / RATE);
    }
}

#[test]
fn equal_shares_of_awkward_numbers_end_in_one_instant() {
    // 1/3, 1/7 and 1/21 of a link are not numbers; their flows end together all the same.
    let mut flows = Flows::new(&links(&[1.0, 1.0, 1.0]));
    let mut message = 0;
    for way in [&[0][..], &[0, 1], &[1, 2]] {
        for _ in 0..7 {
            flows.start(0.0, 0.0, message, 1_000_003, &route(way, 0.1, NO_LIMIT));
            message += 1;
        }
    }
    let times = times(&mut flows, 21);
    let mut instants = times.clone();
    instants.sort_by(f64::total_cmp);
    instants.dedup();
    // Links 0 and 1 carry fourteen each, so that each on them has 1/14; the same holds for
    // the seven that link 1 stops on link 2.
    assert_eq!(instants.len(), 1, "{instants:?}");
    assert_close(instants[0], 0.1 + 14.0 * 1_000_003.0);
}

#[test]
fn equal_shares_are_equal_to_the_last_bit() {
    // (1 - 1/3) / 2 is not 1/3 by an ulp, and must be: both links are full at the same level.
    let ways = [&[0][..], &[0], &[0, 1], &[1], &[1]].map(|way| route(way, 0.0, NO_LIMIT));
    assert_eq!(rates(&[1.0, 1.0], &ways), [1.0 / 3.0; 5]);
}

#[test]
fn instants_that_differ_by_rounding_are_one() {
    let mut flows = Flows::new(&links(&[1.0]));
    flows.start(0.0, 0.0, 0, 10, &route(&[0], 0.1 + 0.2, NO_LIMIT));
    flows.start(0.0, 0.0, 1, 10, &route(&[0], 0.3, NO_LIMIT));
    assert_ne!(0.1 + 0.2, 0.3);
    assert_eq!(times(&mut flows, 2), [20.3, 20.3]);
    assert_eq!(flows.shares(), 2, "both begin, and both end, in one instant");
}

#[test]
fn flows_of_different_pasts_end_together_where_the_sums_say_so() {
    // The same work on two links in opposite orders: the long flow of each ends when all is done.
    let count = 800u32;
    let mut flows = Flows::new(&links(&[3.0, 3.0]));
    flows.start(0.0, 0.0, 0, 70_000_001, &route(&[0], 0.0, NO_LIMIT));
    flows.start(0.0, 0.0, 1, 70_000_001, &route(&[1], 0.0, NO_LIMIT));
    for i in 0..count {
        let way = |link| route(&[link], f64::from(i) * 3.7, NO_LIMIT);
        flows.start(0.0, 0.0, 2 + i, 1 + u64::from(i), &way(0));
        flows.start(0.0, 0.0, 2 + count + i, u64::from(count - i), &way(1));
    }
    let times = times(&mut flows, 2 + 2 * count as usize);
    let work = 70_000_001.0 + f64::from(count) * f64::from(count + 1) / 2.0;
    assert_close(times[0], work / 3.0);
    assert_eq!(times[0], times[1]);
}

#[test]
fn near_flows_can_be_favoured_as_in_simgrid() {
    // What SimGrid 3.32 prints with CM02 and its defaults: two flows of 1,000 bytes on a link of
    // 100 bytes a second, of these latencies.
    for (latencies, wanted) in [
        ([0.001, 0.001], [20.001, 20.001]),
        ([0.001, 0.003], [13.333666667, 20.001]),
        ([0.0, 0.0], [20.0, 20.0]),
        ([0.0, 0.003], [20.0, 10.033]),
    ] {
        let mut flows = Flows::with(&links(&[100.0]), Fairness::ByLatency);
        for (message, latency) in latencies.into_iter().enumerate() {
            let way = route(&[0], latency, NO_LIMIT);
            flows.start(0.0, 0.0, message as MessageId, 1_000, &way);
        }
        for (found, wanted) in times(&mut flows, 2).into_iter().zip(wanted) {
            assert!((found - wanted).abs() <= 1e-9, "{latencies:?}: {found} and {wanted}");
        }
    }
}

#[test]
fn only_what_a_change_reaches_is_worked_out_again() {
    let mut flows = Flows::new(&links(&vec![100.0; 2_000]));
    for message in 0..1_000 {
        let way = route(&[2 * message, 2 * message + 1], 0.0, NO_LIMIT);
        flows.start(0.0, 0.0, message, 100 + u64::from(message), &way);
    }
    times(&mut flows, 1_000);
    assert_eq!(flows.shares(), 1_000, "a flow alone is worked out once");
}

#[test]
fn a_message_flows_once_it_is_on_the_network_and_its_latency_is_over() {
    // It left before it was put there at 2 s, right then, or leaves later.
    for (left, latency, begins) in
        [(1.0, 0.0, 2.0), (1.0, 0.5, 2.0), (1.0, 3.0, 4.0), (2.0, 0.0, 2.0), (3.0, 0.0, 3.0)]
    {
        for way in [&[][..], &[0]] {
            let mut flows = Flows::new(&links(&[100.0]));
            flows.start(2.0, left, 0, 100, &route(way, latency, 100.0));
            let (mut now, mut arrived) = (2.0, Vec::new());
            while let Some(next) = flows.next(now) {
                now = next;
                flows.arrived(now, &mut arrived);
            }
            assert_eq!((now, arrived), (begins + 1.0, vec![0]), "{left} {latency} {way:?}");
        }
    }
}
