//! Requests for 512 connections at once, and the messages that pass meanwhile.

use crate::hosts;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hosts::{Hosts, needs};
use laneway_connections::simulated::{Network, Simulated, Simulation};
use laneway_connections::{
    ConnectionId, Driver, Endpoint, LocalPath, NetError, Options, Secret, Setup, What,
};
use laneway_lab::within;
use laneway_path::{Event, MigrationState, OnArmed, OnMigrated, PathId, Policy};
use laneway_stats::{quantile, sorted};

const CONNECTIONS: usize = 512;
const BYTES: usize = 128;
/// Pairs of requests, and messages without any.
const ROUNDS: usize = 3;
const QUIET: usize = 4 * CONNECTIONS;
const LIMIT: Duration = Duration::from_secs(20);
const LOOKS: Duration = Duration::from_millis(20);

/// Nothing is done but what is requested here, or what the peer requests.
fn by_hand() -> Setup {
    let (on_armed, on_migrated) = (OnArmed::Nothing, OnMigrated::Nothing);
    let policy = Policy { leads: false, on_armed, on_migrated, fail_back: None };
    Setup { policy, arms: false, ..Setup::usual() }
}

fn endpoint(namespace: &str, last: u8) -> Endpoint {
    let path = |number: u8| LocalPath {
        device: Some(format!("p{number}")),
        ..LocalPath::at(SocketAddr::from(([10, 7, number, last], 0)))
    };
    let secret = Secret::from_bytes(b"what both ends of a test know").expect("long enough");
    let paths = vec![path(0), path(1)];
    let options = Options { paths, secret, accepts: last == 2, setup: by_hand() };
    within(namespace, || Endpoint::open(options)).expect("the namespace").expect("an endpoint")
}

/// Sends back what comes.
fn echo(mut endpoint: Endpoint, stop: &AtomicBool) -> Result<(), NetError> {
    while !stop.load(Ordering::Acquire) {
        endpoint.wait(LOOKS);
        while let Some(notice) = endpoint.poll() {
            let id = notice.connection;
            match notice.what {
                What::Accepted { .. } => endpoint.post_receive(id, 0, Vec::with_capacity(BYTES))?,
                What::Event(Event::Received { message, .. }) => endpoint.send(id, 0, message)?,
                What::Event(Event::Sent { message, .. }) => {
                    endpoint.post_receive(id, 0, message)?
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// The end that requests, and sends a message over one connection after the other.
struct Near {
    endpoint: Endpoint,
    ids: Vec<ConnectionId>,
    next: usize,
    states: BTreeMap<ConnectionId, MigrationState>,
}

impl Near {
    fn are(&self, state: MigrationState) -> bool {
        self.states.values().all(|one| *one == state)
    }

    /// A message there and back, in microseconds.
    fn trip(&mut self) -> f64 {
        let begun = Instant::now();
        let id = self.ids[self.next];
        self.next = (self.next + 1) % self.ids.len();
        self.endpoint.post_receive(id, 0, Vec::with_capacity(BYTES)).expect("room");
        self.endpoint.send(id, 0, vec![7; BYTES]).expect("sent");
        let mut came = false;
        while !came {
            assert!(begun.elapsed() < LIMIT, "no answer over {id:?}");
            self.endpoint.wait(LOOKS);
            while let Some(notice) = self.endpoint.poll() {
                let state = match notice.what {
                    What::Event(Event::Received { .. }) => {
                        came = true;
                        continue;
                    }
                    What::Event(Event::Armed { .. }) => MigrationState::Armed,
                    What::Event(Event::Migrated { .. }) => MigrationState::Migrated,
                    _ => continue,
                };
                self.states.insert(notice.connection, state);
            }
        }
        begun.elapsed().as_secs_f64() * 1e6
    }

    /// The messages from a request for all connections until the last of them is in a state.
    fn request(&mut self, until: MigrationState) -> Vec<f64> {
        let begun = Instant::now();
        match until {
            MigrationState::Armed => {
                let primary = self.endpoint.get(self.ids[0]).expect("known").primary();
                self.endpoint.specify(&self.ids, PathId(1 - primary.0)).expect("specified");
                self.endpoint.load(&self.ids).expect("requested");
            }
            _ => self.endpoint.migrate(&self.ids).expect("requested"),
        }
        let call = begun.elapsed().as_secs_f64() * 1e6;
        let mut samples = vec![call + self.trip()];
        while !self.are(until) {
            samples.push(self.trip());
        }
        samples
    }
}

/// Both ends in virtual time.
struct Virtual {
    network: Network,
    ends: [Simulated; 2],
    ids: Vec<ConnectionId>,
    next: usize,
    states: BTreeMap<ConnectionId, MigrationState>,
}

impl Virtual {
    fn new() -> Virtual {
        let [latency, packet_time] = [Duration::from_micros(5); 2];
        let connections = CONNECTIONS as u32;
        let simulation = Simulation { connections, paths: 2, latency, packet_time };
        let (network, mut ends) = simulation.build(&by_hand()).expect("two paths");
        for id in ends[1].connections() {
            ends[1].post_receive(id, 0, Vec::with_capacity(BYTES)).expect("room");
        }
        let ids = ends[0].connections();
        Virtual { network, ends, ids, next: 0, states: BTreeMap::new() }
    }

    /// A message there and back over the next connection, in microseconds.
    fn trip(&mut self) -> f64 {
        let begun = self.network.now();
        let id = self.ids[self.next];
        self.next = (self.next + 1) % CONNECTIONS;
        let [near, far] = &mut self.ends;
        near.post_receive(id, 0, Vec::with_capacity(BYTES)).expect("room");
        near.send(id, 0, vec![7; BYTES]).expect("sent");
        loop {
            near.progress();
            assert!(self.network.now() < begun + 1_000_000_000, "no answer over {id:?}");
            while let Some(notice) = far.poll() {
                let id = notice.connection;
                if let What::Event(Event::Received { message, .. }) = notice.what {
                    far.post_receive(id, 0, Vec::with_capacity(BYTES)).expect("room");
                    far.send(id, 0, message).expect("sent");
                }
            }
            while let Some(notice) = near.poll() {
                let state = match notice.what {
                    What::Event(Event::Received { .. }) => {
                        return (self.network.now() - begun) as f64 / 1e3;
                    }
                    What::Event(Event::Armed { .. }) => MigrationState::Armed,
                    What::Event(Event::Migrated { .. }) => MigrationState::Migrated,
                    _ => continue,
                };
                self.states.insert(notice.connection, state);
            }
        }
    }

    /// The messages from a request for all connections until the last event of it.
    fn request(&mut self, until: MigrationState) -> Vec<f64> {
        match until {
            MigrationState::Armed => {
                self.ends[0].specify(&self.ids, PathId(1)).expect("specified");
                self.ends[0].load(&self.ids).expect("requested");
            }
            _ => self.ends[0].migrate(&self.ids).expect("requested"),
        }
        self.states.clear();
        let mut trips = Vec::new();
        while self.states.len() < CONNECTIONS || self.states.values().any(|one| *one != until) {
            trips.push(self.trip());
        }
        trips
    }
}

#[test]
fn in_virtual_time_no_message_waits_a_millisecond_for_a_request() {
    let mut both = Virtual::new();
    let quiet: Vec<f64> = (0..CONNECTIONS).map(|_| both.trip()).collect();
    let usual = latency("virtual, no request", &quiet);
    for until in [MigrationState::Armed, MigrationState::Migrated] {
        let begun = both.network.now();
        let trips = both.request(until);
        let took = (both.network.now() - begun) as f64 / 1e6;
        println!("{took:.1} ms until the last event");
        let [median, _, most] = latency(&format!("virtual, until {until}"), &trips);
        assert!(most <= usual[2] + 1000.0 && median <= 2.0 * usual[0], "a message waited");
        // It goes on all the time: one request at least while two messages pass.
        assert!(trips.len() < 4 * CONNECTIONS, "{} messages", trips.len());
    }
}

/// Median, 99th percentile, and the longest.
fn latency(what: &str, samples: &[f64]) -> [f64; 3] {
    let all = sorted(samples);
    let [median, p99] = [0.5, 0.99].map(|part| quantile(&all, part).expect("samples"));
    let most = all.last().expect("samples");
    println!(
        "{what}: {} messages, median {median:.1}, 99 % {p99:.1}, longest {most:.1} us",
        all.len()
    );
    [median, p99, *most]
}

/// Messages of a run without requests, and while all connections are loaded and migrated.
fn measure(hosts: &Hosts) -> [[f64; 3]; 3] {
    let (endpoint, far) = (endpoint(&hosts.a, 1), endpoint(&hosts.b, 2));
    let (to, stop) = (far.addresses(), AtomicBool::new(false));
    thread::scope(|scope| {
        let far = scope.spawn(|| echo(far, &stop));
        let (ids, states) = (Vec::new(), BTreeMap::new());
        let mut near = Near { endpoint, ids, next: 0, states };
        for _ in 0..CONNECTIONS {
            let id = near.endpoint.connect(&to, 0, LIMIT).expect("a connection");
            near.ids.push(id);
            near.states.insert(id, MigrationState::Migrated);
        }
        (0..CONNECTIONS).for_each(|_| _ = near.trip());
        let (mut quiet, mut loading, mut migrating) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            quiet.extend((0..QUIET / ROUNDS).map(|_| near.trip()));
            loading.extend(near.request(MigrationState::Armed));
            migrating.extend(near.request(MigrationState::Migrated));
        }
        stop.store(true, Ordering::Release);
        far.join().expect("no panic").expect("it sends back");
        let all = [("no request", quiet), ("loading", loading), ("migration", migrating)];
        all.map(|(what, samples)| latency(what, &samples))
    })
}

#[test]
fn messages_pass_while_all_connections_are_loaded_and_migrated() {
    if !needs() {
        return;
    }
    let mut lines = Vec::new();
    for path in 0..2 {
        lines.push(format!("-n A link add p{path} type veth peer name p{path} netns B"));
        for (host, last) in [("A", 1), ("B", 2)] {
            lines.push(format!("-n {host} address add 10.7.{path}.{last}/24 dev p{path}"));
            lines.push(format!("-n {host} link set p{path} up"));
        }
    }
    let hosts = Hosts::new(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    // Other work on the machine stalls messages as well; it does not do so each time.
    let holds = (0..5).any(|_| {
        let [quiet, loading, migrating] = measure(&hosts);
        [loading, migrating]
            .iter()
            .all(|[median, p99, _]| *median <= 2.0 * quiet[0] && *p99 <= quiet[1] + 1000.0)
    });
    assert!(holds, "requests stop the traffic");
}
