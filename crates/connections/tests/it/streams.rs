//! Connections whose data goes by a kernel stream on each path.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::hosts;
use crate::talk;

use hosts::{Hosts, needs};
use laneway_connections::{
    ConnectionId, Endpoint, LocalPath, Options, PathKind, Secret, Security, Setup, What,
};
use laneway_lab::within;
use laneway_path::{Event, MigrationState, PathId};
use talk::{MESSAGES, Pair, lose};

const LIMIT: Duration = Duration::from_secs(20);

fn setup() -> Setup {
    Setup { kind: Some(PathKind::Stream), ..Setup::usual() }
}

fn endpoint(local: SocketAddr, setup: Setup) -> Endpoint {
    let secret = Secret::from_bytes(b"the secret of both endpoints").expect("long enough");
    let options = Options { paths: vec![LocalPath::at(local); 2], secret, accepts: true, setup };
    Endpoint::open(options).expect("an endpoint")
}

fn local() -> SocketAddr {
    "127.0.0.1:0".parse().expect("an address")
}

/// Two endpoints of this process with connections from the first to the second.
struct Ends {
    ends: [Endpoint; 2],
    ids: Vec<[ConnectionId; 2]>,
    /// What each end was notified of.
    seen: [Vec<(ConnectionId, Event)>; 2],
}

impl Ends {
    fn new(at: SocketAddr, setups: [Setup; 2], connections: u64) -> Ends {
        let mut ends = setups.map(|setup| endpoint(at, setup));
        let mut ids = Vec::new();
        for label in 0..connections {
            let to = ends[1].addresses();
            let opened = ends[0].begin_open(&to, label, LIMIT).expect("begun");
            let (begun, mut connected, mut accepted) = (Instant::now(), false, None);
            while !connected || accepted.is_none() {
                assert!(begun.elapsed() < LIMIT, "no connection");
                ends.iter_mut().for_each(|end| _ = end.progress());
                while let Some(notice) = ends[0].poll() {
                    connected |= notice.what == What::Connected;
                }
                while let Some(notice) = ends[1].poll() {
                    if notice.what == (What::Accepted { label }) {
                        accepted = Some(notice.connection);
                    }
                }
            }
            ids.push([opened, accepted.expect("accepted")]);
        }
        Ends { ends, ids, seen: [Vec::new(), Vec::new()] }
    }

    fn step(&mut self) {
        for (end, seen) in self.ends.iter_mut().zip(&mut self.seen) {
            end.progress();
            while let Some(notice) = end.poll() {
                if let What::Event(event) = notice.what {
                    seen.push((notice.connection, event));
                }
            }
        }
    }

    fn until(&mut self, what: &str, done: impl Fn(&Ends) -> bool) {
        let begun = Instant::now();
        while !done(self) {
            assert!(begun.elapsed() < LIMIT, "{what}: {:?}", self.ends[0].dropped());
            self.step();
        }
    }

    /// The messages that an end has received over a connection.
    fn received(&self, end: usize, connection: usize) -> Vec<Vec<u8>> {
        let id = self.ids[connection][end];
        let message = |(of, event): &'_ (ConnectionId, Event)| match event {
            Event::Received { message, .. } if *of == id => Some(message.clone()),
            _ => None,
        };
        self.seen[end].iter().filter_map(message).collect()
    }

    fn are_armed(&self) -> bool {
        let all = self.ends.iter().flat_map(Endpoint::connections);
        all.into_iter().all(|connection| connection.migration() == MigrationState::Armed)
    }
}

const LENGTHS: [usize; 12] =
    [0, 1, 255, 256, 257, 1401, 65_535, 100_000, 262_144, 262_145, 1 << 20, 3 << 20];

fn message(k: usize) -> Vec<u8> {
    (0..LENGTHS[k]).map(|i| (i * 31 + k) as u8).collect()
}

#[test]
fn messages_of_every_length_arrive_in_order_under_every_kind_of_security() {
    let addresses = [local(), "[::1]:0".parse().expect("an address")];
    for (at, security) in addresses.into_iter().flat_map(|at| Security::ALL.map(|s| (at, s))) {
        let setup = Setup { security: Some(security), ..setup() };
        let mut ends = Ends::new(at, [setup; 2], 1);
        for k in 0..LENGTHS.len() {
            for end in 0..2 {
                let id = ends.ids[0][end];
                let room = Vec::with_capacity(3 << 20);
                ends.ends[end].post_receive(id, k as u64, room).expect("room");
                ends.ends[end].send(id, k as u64, message(k)).expect("sent");
            }
        }
        let count = LENGTHS.len();
        ends.until("all arrive", |ends| (0..2).all(|end| ends.received(end, 0).len() == count));
        for end in 0..2 {
            for (k, bytes) in ends.received(end, 0).into_iter().enumerate() {
                assert!(bytes == message(k), "{security:?}, end {end}, message {k}");
            }
        }
        ends.until("armed", Ends::are_armed);
        let dropped = ends.ends.each_ref().map(Endpoint::dropped);
        assert!(dropped.iter().all(|one| (one.forged, one.refused) == (0, 0)), "{dropped:?}");
    }
}

/// The end that opens a connection chooses; the other one follows, whatever it prefers itself.
#[test]
fn ends_that_prefer_different_kinds_talk() {
    let datagrams = Setup { kind: Some(PathKind::Datagram), ..setup() };
    for setups in [[setup(), datagrams], [datagrams, setup()]] {
        let mut ends = Ends::new(local(), setups, 1);
        let [here, there] = ends.ids[0];
        ends.ends[1].post_receive(there, 0, Vec::with_capacity(1 << 20)).expect("room");
        ends.ends[0].send(here, 0, message(10)).expect("sent");
        ends.until("it arrives", |ends| ends.received(1, 0).len() == 1);
        let streams = setups[0].kind == Some(PathKind::Stream);
        for (end, id) in ends.ends.iter().zip([here, there]) {
            assert_eq!(end.get(id).expect("it is there").has_streams(), streams);
        }
    }
}

#[test]
fn a_connection_without_receives_delays_no_other_and_keeps_little() {
    let mut ends = Ends::new(local(), [setup(); 2], 2);
    let [[stalled, far], [here, there]] = [ends.ids[0], ends.ids[1]];
    for k in 0..40 {
        ends.ends[0].send(stalled, k, message(10)).expect("sent");
    }
    for k in 0..100 {
        ends.ends[1].post_receive(there, k, Vec::with_capacity(256)).expect("room");
        ends.ends[0].send(here, k, message(3)).expect("sent");
        ends.until("it arrives", |ends| ends.received(1, 1).len() == 1 + k as usize);
    }
    // 40 MiB wait at the sender: no more than a few frames have left it for the other process.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(500) {
        ends.step();
    }
    let connection = ends.ends[0].get(stalled).expect("it is there");
    assert_eq!((connection.waiting(), connection.counters().migrations), (40, 0));
    for k in 0..40 {
        ends.ends[1].post_receive(far, k, Vec::with_capacity(1 << 20)).expect("room");
    }
    ends.until("all arrive", |ends| ends.received(1, 0).len() == 40);
    assert!(ends.received(1, 0).iter().all(|bytes| *bytes == message(10)));
    for one in ends.ends.iter().flat_map(Endpoint::connections) {
        assert_eq!(one.counters().migrations, 0, "{:?}", one.counters());
    }
}

/// Others on the network connect and say nothing, or something wrong; connections go on.
#[test]
fn strangers_are_refused_and_let_go() {
    let mut ends = Ends::new(local(), [setup(); 2], 1);
    ends.until("armed", Ends::are_armed);
    let at = ends.ends[1].addresses()[0];
    let mut strangers: Vec<TcpStream> =
        (0..100).map(|_| TcpStream::connect(at).expect("a backlog")).collect();
    let hello = |to: u32| {
        let mut bytes = vec![0, 0, 0, 32, 0x46, 0, 0, 0];
        bytes.extend(to.to_be_bytes());
        bytes.extend(u64::MAX.to_be_bytes());
        bytes.extend([7; 16]);
        bytes
    };
    let there = ends.ids[0][1].0;
    let wrong: [&[u8]; 4] =
        [b"GET / HTTP/1.1\r\n\r\n", &[0xff; 64], &hello(there), &hello(there ^ 1)];
    for (stranger, bytes) in strangers.iter_mut().zip(wrong) {
        stranger.write_all(bytes).expect("sent");
    }
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(1500) {
        ends.step();
    }
    for mut stranger in strangers {
        stranger.set_nonblocking(true).expect("an option");
        let read = stranger.read(&mut [0; 8]);
        let goes_on = read.as_ref().is_err_and(|e| e.kind() == std::io::ErrorKind::WouldBlock);
        assert!(!goes_on, "{read:?}: it was let go");
    }
    let dropped = ends.ends[1].dropped();
    assert_eq!((dropped.refused, dropped.forged), (2, 0), "both hellos");
    let [here, there] = ends.ids[0];
    assert!(ends.are_armed());
    ends.ends[1].post_receive(there, 0, Vec::with_capacity(1 << 20)).expect("room");
    ends.ends[0].send(here, 0, message(10)).expect("sent");
    ends.until("it arrives", |ends| ends.received(1, 0).len() == 1);
    assert_eq!(ends.ends[0].get(here).expect("there").counters().migrations, 0);
}

/// Two hosts with two links.
fn two_links() -> Hosts {
    let mut lines: Vec<String> = Vec::new();
    for path in 0..2 {
        lines.push(format!("-n A link add p{path} type veth peer name p{path} netns B"));
        for (number, host) in ["A", "B"].into_iter().enumerate() {
            lines.push(format!("-n {host} address add 10.7{path}.0.{}/24 dev p{path}", number + 1));
            lines.push(format!("-n {host} link set p{path} up"));
        }
    }
    Hosts::new(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

fn open(hosts: &Hosts) -> Pair {
    let end = |host: &String, last: u8| {
        let path = |path: u8| LocalPath {
            device: Some(format!("p{path}")),
            ..LocalPath::at(SocketAddr::from(([10, 70 + path, 0, last], 0)))
        };
        let options = talk::options(vec![path(0), path(1)], setup());
        within(host, || Endpoint::open(options)).expect("the namespace").expect("an endpoint")
    };
    Pair::new([end(&hosts.a, 1), end(&hosts.b, 2)], 1)
}

fn is_on(pair: &Pair, path: u8) -> bool {
    let on = |end: usize| pair.ends[end].get(pair.ids[end][0]).map(|one| one.primary());
    [0, 1].into_iter().all(|end| on(end) == Ok(PathId(path)))
}

/// Filters that lose all packets, those of TCP, and those above a length.
const EVERYTHING: &str = "1,6 0 0 2";
const STREAMS: &str = "4,48 0 0 23,21 0 1 6,6 0 0 2,6 0 0 4294967295";
const LONG: &str = "4,128 0 0 0,37 0 1 1300,6 0 0 2,6 0 0 4294967295";

#[test]
fn what_breaks_a_path_loses_nothing() {
    if !needs() {
        return;
    }
    let hosts = two_links();
    let mut pair = open(&hosts);
    pair.until("armed", Pair::are_armed);
    let mut on = 0;
    type Break = fn(&Hosts, u8, bool);
    let dropped: Break = |hosts, path, begins| {
        lose(&hosts.a, &format!("p{path}"), begins.then_some(EVERYTHING));
    };
    // The kernel's streams alone get nowhere, and datagrams do.
    let no_streams: Break = |hosts, path, begins| {
        lose(&hosts.b, &format!("p{path}"), begins.then_some(STREAMS));
    };
    let carrier: Break = |hosts, path, begins| {
        let state = if begins { "down" } else { "up" };
        hosts.ip(&[&format!("-n B link set p{path} {state}")]);
    };
    let short: Break = |hosts, path, begins| {
        lose(&hosts.a, &format!("p{path}"), begins.then_some(LONG));
    };
    for (name, breaks) in
        [("drop", dropped), ("streams", no_streams), ("carrier", carrier), ("mtu", short)]
    {
        for _ in 0..2 {
            assert!(is_on(&pair, on), "{name}: {:?}", pair.primaries());
            pair.send(MESSAGES / 4);
            breaks(&hosts, on, true);
            let begun = Instant::now();
            while !is_on(&pair, 1 - on) {
                assert!(begun.elapsed() < LIMIT, "{name}: it migrates");
                pair.send(MESSAGES / 10);
            }
            pair.send(MESSAGES);
            breaks(&hosts, on, false);
            pair.until(&format!("{name}: both paths are there again"), Pair::are_armed);
            on = 1 - on;
        }
    }
    assert_eq!(pair.arrived, pair.sent);
}

/// Nothing goes over either path for a while; the connection goes on by itself.
#[test]
fn an_outage_of_both_paths_ends_soon_after_they_return() {
    if !needs() {
        return;
    }
    let hosts = two_links();
    let mut pair = open(&hosts);
    pair.until("armed", Pair::are_armed);
    pair.send(MESSAGES);
    for _ in 0..3 {
        (0..2).for_each(|path| lose(&hosts.a, &format!("p{path}"), Some(EVERYTHING)));
        let ends = Instant::now() + Duration::from_millis(1500);
        pair.until("time passes", |_| Instant::now() >= ends);
        (0..2).for_each(|path| lose(&hosts.a, &format!("p{path}"), None));
        let begun = Instant::now();
        pair.send(MESSAGES / 10);
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
        pair.until("both paths are there again", Pair::are_armed);
    }
}

/// A connection has a few of the buffers that all share, and none while it is idle.
#[test]
fn messages_come_in_shared_buffers_while_these_are_given_back() {
    for kind in [PathKind::Datagram, PathKind::Stream] {
        let setup = Setup { kind: Some(kind), ..setup() };
        let mut ends = Ends::new(local(), [setup; 2], 2);
        let [first, second] = [0, 1].map(|connection| ends.ids[connection][1]);
        for id in [first, second] {
            ends.ends[1].share_receives(id, 2, 1000).expect("shared");
        }
        for (k, connection) in (0..6).flat_map(|k| [(k, 0), (k, 1)]) {
            let id = ends.ids[connection][0];
            ends.ends[0].send(id, k, vec![k as u8; 1000]).expect("sent");
        }
        let two = |ends: &Ends, connection| ends.received(1, connection).len() == 2;
        ends.until("two of each", |ends| two(ends, 0) && two(ends, 1));
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(30) {
            ends.step();
        }
        assert!(two(&ends, 0) && two(&ends, 1), "no more than two are lent");
        for count in 3..=6 {
            ends.ends[1].give_back(first, Vec::new()).expect("a connection");
            ends.until("another one", |ends| ends.received(1, 0).len() == count);
        }
        assert!(two(&ends, 1), "{kind:?}: what one gives back is not lent to the other");
        for count in 3..=6 {
            ends.ends[1].give_back(second, vec![1; 1000]).expect("a connection");
            ends.until("another one", |ends| ends.received(1, 1).len() == count);
        }
        for connection in 0..2 {
            for (k, message) in ends.received(1, connection).iter().enumerate() {
                assert!(*message == [k as u8; 1000], "{kind:?}, message {k}");
            }
        }
        let connections: Vec<_> = ends.ends[1].connections().collect();
        assert!(connections.iter().all(|one| !one.has_receive()), "an idle one holds no buffer");
    }
}
