//! Links that die, return and slow, traffic of others, connections that keep their order and lose
//! what is too much: each against figures worked out by hand.

use laneway_core::{Collective, Step};
use laneway_sim::{
    Background, Change, Flows, HostCost, Network, Observer, Overflow, ResourceId, SimError,
    Simulation, Traffic, simulate,
};

use super::support::*;

const BYTES: u64 = 1_000_000;
/// Seconds of one megabyte.
const WHOLE: f64 = BYTES as f64 / RATE;

fn one_message() -> Vec<Vec<Step>> {
    vec![vec![send(1, BYTES), DRAIN], vec![recv(0, BYTES), DRAIN]]
}

fn finish(network: &Flat, steps: Vec<Vec<Step>>) -> f64 {
    simulate(network, &Script(steps), None).expect("a run that ends").finish
}

fn change(at: f64, resource: ResourceId, rate: f64) -> Change {
    Change { at, resource, rate }
}

#[test]
fn a_link_that_dies_and_returns_adds_the_time_between() {
    let mut network = Flat::new(2);
    let half = LATENCY + WHOLE / 2.0;
    network.changes = vec![change(half, up(0), 0.0), change(half + 0.25, up(0), RATE)];
    assert_close(finish(&network, one_message()), LATENCY + WHOLE + 0.25);
    // Dead before the message leaves, and while it waits for its latency.
    network.changes = vec![change(0.0, down(1), 0.0), change(2e-6, down(1), RATE)];
    assert_close(finish(&network, one_message()), LATENCY + WHOLE);
    network.changes = vec![change(0.0, down(1), 0.0), change(0.5, down(1), RATE)];
    assert_close(finish(&network, one_message()), 0.5 + WHOLE);
}

#[test]
fn a_link_that_slows_does_the_rest_slower_and_a_quicker_one_faster() {
    let mut network = Flat::new(2);
    let half = LATENCY + WHOLE / 2.0;
    network.changes = vec![change(half, down(1), RATE / 4.0)];
    assert_close(finish(&network, one_message()), half + 4.0 * WHOLE / 2.0);
    network.changes = vec![change(half, down(1), RATE * 4.0), change(half, up(0), RATE * 2.0)];
    assert_close(finish(&network, one_message()), half + WHOLE / 4.0);
    // The other flows of the link feel it too.
    let fan_in = || {
        vec![
            vec![send(2, BYTES)],
            vec![send(2, BYTES)],
            vec![recv(0, BYTES), recv(1, BYTES), DRAIN],
        ]
    };
    let mut network = Flat::new(3);
    network.changes = vec![change(LATENCY + WHOLE, down(2), RATE / 2.0)];
    assert_close(finish(&network, fan_in()), LATENCY + WHOLE + 2.0 * WHOLE);
}

#[test]
fn pipes_that_are_not_shared_change_as_well() {
    let mut network = Flat::with_links(2, false);
    let half = LATENCY + WHOLE / 2.0;
    network.changes = vec![change(half, up(0), 0.0), change(half + 1.0, up(0), RATE / 2.0)];
    assert_close(finish(&network, one_message()), half + 1.0 + 2.0 * WHOLE / 2.0);
}

#[test]
fn a_link_killed_in_mid_collective_delays_it_as_the_fluid_model_says() {
    // A ring: all links are busy all the time, so that no other link makes up for one that dies for
    // a while, and all wait for the one that is late. In order, or else the late rank would
    // send all that it owes side by side.
    let (ranks, seconds) = (8, 0.125);
    let ring = algorithm(Collective::Allgather, "ring", ranks, BYTES);
    let mut network = Flat::new(ranks);
    let before = simulate(&network, &*ring, None).expect("a run that ends").finish;
    assert_close(before, 7.0 * (LATENCY + WHOLE));
    let at = 3.5 * (LATENCY + WHOLE);
    network.changes = vec![change(at, up(3), 0.0), change(at + seconds, up(3), RATE)];
    let after = simulate(&network, &*ring, None).expect("a run that ends");
    assert_close(after.finish, before + seconds);
    // And slowed to a quarter from there on: from then on that link is never idle, so that the
    // latencies of its last three messages are hidden.
    network.changes = vec![change(at, up(3), RATE / 4.0)];
    let slowed = simulate(&network, &*ring, None).expect("a run that ends").finish;
    let sent = (at - 3.0 * (LATENCY + WHOLE) - LATENCY) / WHOLE;
    assert_close(slowed, at + 4.0 * WHOLE * (1.0 - sent + 3.0));
}

#[test]
fn a_partition_names_the_ranks_that_cannot_go_on() {
    let ring = algorithm(Collective::Allgather, "ring", 4, BYTES);
    let mut network = Flat::new(4);
    network.changes = vec![change(1e-6, up(2), 0.0)];
    // A steady flow of others goes on for ever, and must not keep the run alive.
    network.background = vec![steady(RATE / 100.0, f64::INFINITY)];
    let error = simulate(&network, &*ring, None).expect_err("a partition");
    let SimError::Partition { dead, cut, ranks, .. } = &error else { panic!("{error}") };
    assert_eq!(dead, &["link 4".to_string()]);
    assert_eq!(cut, &[(2, 3)]);
    assert!(ranks.contains(&2) && ranks.contains(&3), "{error}");
    for word in ["partitioned", "`link 4`", "2 to 3", "blocked"] {
        assert!(error.to_string().contains(word), "no {word} in {error}");
    }
}

fn steady(rate: f64, until: f64) -> Background {
    Background { from: 0, to: 1, traffic: Traffic::Steady { rate }, start: 0.0, until }
}

#[test]
fn traffic_of_others_takes_its_part_and_no_more() {
    let mut network = Flat::new(2);
    // A quarter, where half would be its fair part.
    network.background = vec![steady(RATE / 4.0, f64::INFINITY)];
    assert_close(finish(&network, one_message()), LATENCY + WHOLE / 0.75);
    // More than half is not to be had.
    network.background = vec![steady(RATE * 0.9, f64::INFINITY)];
    assert_close(finish(&network, one_message()), LATENCY + 2.0 * WHOLE);
    // It ends in the middle.
    let until = LATENCY + WHOLE / 2.0;
    network.background = vec![steady(RATE / 2.0, until)];
    assert_close(finish(&network, one_message()), until + 0.75 * WHOLE);
}

#[test]
fn messages_of_others_come_at_their_times() {
    let mut network = Flat::new(2);
    let message = |parts: f64, seed| Background {
        from: 0,
        to: 1,
        traffic: Traffic::Messages { bytes: BYTES / 10, every: WHOLE / parts, seed },
        start: LATENCY,
        until: f64::INFINITY,
    };
    // They leave after 0, 1/2, 1 whole, ...: two are through before ours is, each taking half of
    // the link for a fifth of WHOLE; the third comes after 1 whole and delays the rest too.
    network.background = vec![message(2.0, None)];
    let time = finish(&network, one_message());
    assert_close(time, LATENCY + WHOLE * 1.3);
    // At random: not the same, but the same again with the same seed.
    network.background = vec![message(8.0, Some(1))];
    let first = finish(&network, one_message());
    assert_eq!(first, finish(&network, one_message()));
    network.background = vec![message(8.0, Some(2))];
    assert_ne!(first, finish(&network, one_message()));
    // The first one is not certain to come at the start: whether it has after half a gap is chance.
    let is_early = |seed: &u64| {
        network.background = vec![message(0.5, Some(*seed))];
        finish(&network, one_message()) > LATENCY + WHOLE * 1.001
    };
    let early = (0..200).filter(is_early).count();
    assert!((60..100).contains(&early), "{early} of 200, 79 expected");
}

#[test]
fn every_message_carries_its_header() {
    let mut network = Flat::new(2);
    network.header_bytes = 1000;
    let outcome = simulate(&network, &Script(one_message()), None).expect("a run that ends");
    assert_close(outcome.finish, LATENCY + (BYTES + 1000) as f64 / RATE);
    assert_eq!(outcome.bytes, BYTES);
}

#[test]
fn messages_of_a_connection_keep_their_order_and_overlap_their_latencies() {
    let steps = |len: u64| {
        let all = 0..10u16;
        let sends: Vec<Step> = all.clone().map(|chan| send_on(1, chan, len)).collect();
        let recvs = all.map(|chan| recv_on(0, chan, len)).chain([DRAIN]).collect();
        vec![sends, recvs]
    };
    let network = Flat::new(2).eager();
    // In turn they take as long as together, for one latency.
    assert_close(finish(&network, steps(BYTES)), LATENCY + 10.0 * WHOLE);
    // But the first is there after a tenth of it, not with all the others.
    let mut seen = Vec::new();
    let run = Simulation::new(&network).observed(&mut seen).run(&Script(steps(BYTES)));
    run.expect("a run that ends");
    assert_close(seen[0].end, LATENCY + WHOLE);
    let beside = Flat::new(2).eager().beside();
    let mut seen = Vec::new();
    let run = Simulation::new(&beside).observed(&mut seen).run(&Script(steps(BYTES)));
    run.expect("a run that ends");
    assert_close(seen[0].end, LATENCY + 10.0 * WHOLE);
}

/// Eight hosts that lose what is above 64 KiB at once.
fn lossy() -> Flat {
    let mut network = Flat::new(8);
    network.eager_bytes = 64 << 10;
    network.overflow = Some(Overflow { buffer: 64 << 10, retransmit: 0.2, part: 1.0, seed: 1 });
    network.cost =
        HostCost { per_send: 1e-6, per_recv: 1e-6, per_byte_sent: 0.0, per_byte_received: 0.0 };
    network
}

#[test]
fn a_gather_of_medium_messages_loses_some_and_waits_for_the_timeout() {
    let gather = |size: u64| {
        let schedule = algorithm(Collective::Gather, "linear", 8, size);
        simulate(&lossy(), &*schedule, None).expect("a run that ends").finish
    };
    // Seven messages of 9 KiB are 63 KiB, and fit.
    assert!(gather(9 << 10) < 0.001, "{}", gather(9 << 10));
    for size in [10 << 10, 64 << 10] {
        let time = gather(size);
        assert!((0.2..0.21).contains(&time), "{size}: {time}");
    }
    // Longer ones are asked for, not sent at once.
    assert!(gather(65 << 10) < 0.01, "{}", gather(65 << 10));
    let scatter = algorithm(Collective::Scatter, "linear", 8, 64 << 10);
    let time = simulate(&lossy(), &*scatter, None).expect("a run that ends").finish;
    assert!(time < 0.001, "a scatter brings each host one message: {time}");
}

/// Who carries how much from when on.
#[derive(Default)]
struct Loads(Vec<(f64, ResourceId, f64)>);

impl Observer for Loads {
    fn delivered(&mut self, _delivery: &laneway_sim::Delivery) {}

    fn loaded(&mut self, at: f64, resource: ResourceId, rate: f64) {
        self.0.push((at, resource, rate));
    }

    fn loads(&self) -> bool {
        true
    }
}

#[test]
fn the_use_of_links_is_reported_as_it_changes() {
    let network = Flat::new(2);
    let mut loads = Loads::default();
    let run = Simulation::new(&network).observed(&mut loads);
    run.run_on(&Script(one_message()), &mut Flows::new(network.resources())).expect("a run");
    let end = LATENCY + WHOLE;
    let wanted = [(LATENCY, up(0), RATE), (LATENCY, down(1), RATE)];
    assert_eq!(loads.0[..2], wanted);
    let last: Vec<_> = loads.0[2..].iter().map(|(at, link, rate)| (*link, *rate, *at)).collect();
    assert_eq!(last.len(), 2);
    for ((link, rate, at), wanted) in last.into_iter().zip([up(0), down(1)]) {
        assert_eq!((link, rate), (wanted, 0.0));
        assert_close(at, end);
    }
}
