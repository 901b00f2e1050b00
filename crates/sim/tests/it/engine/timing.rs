//! What a message costs, and when its two ends are over.

use laneway_core::{Rank, Step};
use laneway_sim::{
    Carrier, Delivery, HostCost, MessageId, Outcome, ResourceId, Route, Simulation, simulate,
};

use super::support::*;

const BYTES: u64 = 1_000_000;
/// Latency and bytes of one message alone.
const ALONE: f64 = LATENCY + BYTES as f64 / RATE;

fn run(network: &Flat, steps: Vec<Vec<Step>>) -> Outcome {
    simulate(network, &Script(steps), None).expect("a run that ends")
}

#[test]
fn a_message_costs_both_hosts_and_the_way() {
    let mut network = Flat::new(2);
    network.cost =
        HostCost { per_send: 2e-6, per_recv: 3e-6, per_byte_sent: 1e-10, per_byte_received: 1e-10 };
    let steps = || vec![vec![send(1, BYTES)], vec![recv(0, BYTES)]];
    let bytes = BYTES as f64 * 1e-10;
    let (sent, received) = (2e-6 + bytes, 3e-6 + bytes);
    let rendezvous = run(&network, steps());
    assert_close(rendezvous.per_rank[1], sent + ALONE + received);
    assert_close(rendezvous.per_rank[0], sent + ALONE);
    let eager = run(&network.eager(), steps());
    assert_close(eager.per_rank[1], sent + ALONE + received);
    assert_close(eager.per_rank[0], sent);
    assert_eq!((eager.messages, eager.bytes, eager.flows), (1, BYTES, 1));
}

#[test]
fn a_late_receiver_holds_up_a_rendezvous_and_no_eager_message() {
    let steps = || vec![vec![send(1, BYTES)], vec![copy(1), recv(0, BYTES)]];
    let second = |_: Rank, _: &Step| 1.0;
    let run = |network: &Flat| {
        let simulation = Simulation::new(network).local_cost(&second);
        simulation.run(&Script(steps())).expect("a run that ends")
    };
    let rendezvous = run(&Flat::new(2));
    assert_close(rendezvous.finish, 1.0 + ALONE);
    assert_close(rendezvous.per_rank[0], 1.0 + ALONE);
    let eager = run(&Flat::new(2).eager());
    assert_eq!(eager.per_rank, [0.0, 1.0]);
}

#[test]
fn a_local_step_delays_what_the_rank_starts_next() {
    let network = Flat::new(2).eager();
    let steps = vec![vec![copy(1), send(1, BYTES), copy(1)], vec![recv(0, BYTES)]];
    let quarter = |_: Rank, _: &Step| 0.25;
    let mut deliveries: Vec<Delivery> = Vec::new();
    let simulation = Simulation::new(&network).local_cost(&quarter).observed(&mut deliveries);
    let outcome = simulation.run(&Script(steps)).expect("a run that ends");
    assert_close(outcome.per_rank[0], 0.5);
    assert_close(outcome.per_rank[1], 0.25 + ALONE);
    let [delivery] = deliveries[..] else { panic!("{deliveries:?}") };
    assert_eq!((delivery.from, delivery.to, delivery.bytes), (0, 1, BYTES));
    assert_close(delivery.start, 0.25);
    assert_close(delivery.end, 0.25 + ALONE);
}

#[test]
fn a_processor_does_one_thing_after_another() {
    let mut network = Flat::new(5).eager();
    network.cost =
        HostCost { per_send: 1e-3, per_recv: 1e-3, per_byte_sent: 0.0, per_byte_received: 0.0 };
    let sends = (1..5).map(|to| send(to, 8)).collect();
    let mut steps = vec![sends];
    steps.extend((1..5).map(|_| vec![recv(0, 8)]));
    let outcome = run(&network, steps);
    assert_close(outcome.per_rank[0], 4e-3);
    for rank in 1..5 {
        let wanted = f64::from(rank) * 1e-3 + LATENCY + 8.0 / RATE + 1e-3;
        assert_close(outcome.per_rank[rank as usize], wanted);
    }
    // Four at once into one host: its processor takes them in turn.
    let mut steps: Vec<Vec<Step>> = vec![(1..5).map(|from| recv(from, 8)).collect()];
    steps.extend((1..5).map(|_| vec![send(0, 8)]));
    let outcome = run(&network, steps);
    assert_close(outcome.finish, 1e-3 + LATENCY + 4.0 * 8.0 / RATE + 4e-3);
}

#[test]
fn messages_of_a_channel_keep_their_order_and_channels_are_apart() {
    let network = Flat::new(2).eager();
    // The second channel's receive is posted first; lengths would tell of a wrong match.
    let steps = vec![
        vec![send_on(1, 0, 10), send_on(1, 0, 20), send_on(1, 1, 30)],
        vec![recv_on(0, 1, 30), DRAIN, recv_on(0, 0, 10), recv_on(0, 0, 20)],
    ];
    let outcome = run(&network, steps);
    assert_eq!((outcome.messages, outcome.bytes), (3, 60));
    assert_close(outcome.finish, LATENCY + 60.0 / RATE);
}

#[test]
fn windows_bound_what_is_under_way() {
    let window = |sends| Step::AtMost { sends, recvs: u32::MAX };
    for (outstanding, wanted) in [(1, 4.0 * ALONE), (2, 2.0 * (ALONE + BYTES as f64 / RATE))] {
        let gated = |to| [window(outstanding - 1), send(to, BYTES)];
        let mut steps = vec![(1..5).flat_map(gated).collect::<Vec<Step>>()];
        steps.extend((1..5).map(|_| vec![recv(0, BYTES)]));
        assert_close(run(&Flat::new(5), steps).finish, wanted);
    }
}

#[test]
fn a_connection_may_have_less_than_the_link() {
    let mut network = Flat::new(3);
    network.most = RATE / 4.0;
    let steps =
        vec![vec![send(1, BYTES), send(2, BYTES)], vec![recv(0, BYTES)], vec![recv(0, BYTES)]];
    assert_close(run(&network, steps).finish, LATENCY + 4.0 * BYTES as f64 / RATE);
}

#[test]
fn ranks_of_one_host_exchange_in_no_time() {
    let mut network = Flat::new(2);
    network.cost.per_send = 1.0;
    let steps = vec![vec![send(1, BYTES), DRAIN], vec![recv(0, BYTES), DRAIN]];
    let outcome = simulate(&network, &Script(steps), Some(&[1, 1])).expect("a run that ends");
    assert_eq!((outcome.finish, outcome.messages, outcome.flows), (0.0, 1, 0));
}

/// An engine of another kind: every message takes a second, whatever else is under way.
#[derive(Default)]
struct Second(Vec<(f64, MessageId)>);

impl Carrier for Second {
    fn start(&mut self, _now: f64, left: f64, message: MessageId, _bytes: u64, _route: &Route) {
        self.0.push((left + 1.0, message));
    }

    fn next(&mut self, _now: f64) -> Option<f64> {
        self.0.first().map(|(time, _)| *time)
    }

    fn arrived(&mut self, now: f64, messages: &mut Vec<MessageId>) {
        let due = self.0.iter().take_while(|(time, _)| *time <= now).count();
        messages.extend(self.0.drain(..due).map(|(_, message)| message));
    }

    fn stop(&mut self, _now: f64, message: MessageId) {
        self.0.retain(|(_, other)| *other != message);
    }

    fn set_rate(&mut self, _now: f64, _resource: ResourceId, _rate: f64) {}

    fn stands(&self, _message: MessageId) -> bool {
        false
    }

    fn load(&self, _resource: ResourceId) -> f64 {
        0.0
    }
}

#[test]
fn another_engine_can_carry_the_messages() {
    let relay = vec![recv(0, 8), DRAIN, send(2, 8)];
    let script = Script(vec![vec![send(1, 8), send(2, 8)], relay, vec![recv(1, 8), recv(0, 8)]]);
    let network = Flat::new(3).eager();
    let outcome = Simulation::new(&network).run_on(&script, &mut Second::default());
    assert_eq!(outcome.map(|outcome| outcome.per_rank), Ok(vec![0.0, 1.0, 2.0]));
}
