//! Schedules, placements and networks that cannot be run, and what the error names.

use laneway_core::Step;
use laneway_sim::{HostId, Network, Resource, Route, SimError, Stuck, simulate};

use super::support::*;

fn error(network: &dyn Network, steps: Vec<Vec<Step>>) -> SimError {
    simulate(network, &Script(steps), None).expect_err("a run that fails")
}

#[test]
fn a_deadlock_names_the_lanes_that_wait() {
    let steps = || {
        let both = |peer| vec![send(peer, 100), DRAIN, recv(peer, 100)];
        vec![both(1), both(0), vec![]]
    };
    // Both wait for the other's receive; with eager messages there is nothing to wait for.
    let stuck = |rank| Stuck { rank, lane: 0, round: 0, gate: Some(DRAIN) };
    let wanted = SimError::Deadlock { at: 0.0, stuck: vec![stuck(0), stuck(1)] };
    let found = error(&Flat::new(3), steps());
    assert_eq!(found, wanted);
    let text = found.to_string();
    assert!(text.contains("rank 0 lane 0") && text.contains("rank 1 lane 0"), "{text}");
    assert!(simulate(&Flat::new(3).eager(), &Script(steps()), None).is_ok());
}

#[test]
fn a_receive_without_a_send_is_a_deadlock() {
    let found = error(&Flat::new(2), vec![vec![recv(1, 8)], vec![]]);
    let stuck = vec![Stuck { rank: 0, lane: 0, round: 1, gate: None }];
    assert_eq!(found, SimError::Deadlock { at: 0.0, stuck });
}

#[test]
fn a_message_without_a_receive_is_an_error() {
    let found = error(&Flat::new(2).eager(), vec![vec![send_on(1, 3, 8)], vec![]]);
    assert_eq!(found, SimError::Unreceived { from: 0, to: 1, chan: 3, bytes: 8 });
}

#[test]
fn lengths_and_peers_must_be_right() {
    let found = error(&Flat::new(2), vec![vec![send(1, 8)], vec![recv(0, 9)]]);
    assert_eq!(found, SimError::Length { from: 0, to: 1, chan: 0, sent: 8, received: 9 });
    let found = error(&Flat::new(2), vec![vec![send(2, 8)], vec![]]);
    assert_eq!(found, SimError::Peer { rank: 0, peer: 2, ranks: 2 });
}

#[test]
fn a_placement_must_fit() {
    let script = Script(vec![vec![], vec![]]);
    let short = simulate(&Flat::new(2), &script, Some(&[0]));
    assert_eq!(short, Err(SimError::Placement { ranks: 2, placed: 1 }));
    let outside = simulate(&Flat::new(2), &script, Some(&[0, 2]));
    assert_eq!(outside, Err(SimError::Host { rank: 1, host: 2, hosts: 2 }));
    let too_many = simulate(&Flat::new(1), &script, None);
    assert_eq!(too_many, Err(SimError::Host { rank: 1, host: 1, hosts: 1 }));
}

/// A network of one resource and a way that may be wrong.
struct Wrong(Vec<Resource>, Route);

impl Network for Wrong {
    fn hosts(&self) -> u32 {
        2
    }

    fn resources(&self) -> &[Resource] {
        &self.0
    }

    fn route(&self, _from: HostId, _to: HostId, route: &mut Route) {
        route.clone_from(&self.1);
    }

    fn eager_bytes(&self) -> u64 {
        0
    }
}

#[test]
fn a_network_that_cannot_be_is_refused() {
    let ways = [
        (1.0, route(&[1], 0.0, 1.0)),
        (1.0, route(&[0], -1.0, 1.0)),
        (1.0, route(&[0], f64::NAN, 1.0)),
        (1.0, route(&[0], 0.0, 0.0)),
        (1.0, route(&[0], 0.0, f64::NAN)),
        (0.0, route(&[0], 0.0, 1.0)),
        (f64::NAN, route(&[0], 0.0, 1.0)),
    ];
    for (rate, way) in ways {
        let found = error(&Wrong(links(&[rate]), way), vec![vec![send(1, 8)], vec![recv(0, 8)]]);
        assert!(matches!(found, SimError::Network { .. }), "{found}");
    }
    // An endless rate is not an error: what it carries takes its latency alone.
    let endless = Wrong(links(&[f64::INFINITY]), route(&[0], 0.5, f64::INFINITY));
    let outcome = simulate(&endless, &Script(vec![vec![send(1, 8)], vec![recv(0, 8)]]), None);
    assert_eq!(outcome.map(|outcome| outcome.finish), Ok(0.5));
}
