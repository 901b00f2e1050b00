//! Several connections of one pair over both paths: each begins with a path of its own, leaves it
//! when it dies, and goes back when it is there again.

use crate::hosts;
use crate::talk;

use std::net::SocketAddr;
use std::time::Instant;

use hosts::{Hosts, needs};
use laneway_connections::{Endpoint, LocalPath, NetError, Setup};
use laneway_lab::within;
use laneway_path::{FailBack, PathId, Policy, Refusal};
use talk::{LIMIT, MESSAGE, MESSAGES, Pair, lose, options};

const CONNECTIONS: usize = 4;
/// Loses every packet.
const ALL: &str = "1,6 0 0 2";

fn spread() -> Setup {
    Setup { spread: true, ..Setup::usual() }
}

/// Two hosts with two paths between them.
fn two_paths() -> Hosts {
    let mut lines = Vec::new();
    for path in 0..2 {
        lines.push(format!("-n A link add p{path} type veth peer name p{path} netns B"));
        for (host, last) in [("A", 1), ("B", 2)] {
            lines.push(format!("-n {host} address add 10.7.{path}.{last}/24 dev p{path}"));
            lines.push(format!("-n {host} link set p{path} up"));
        }
    }
    Hosts::new(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

fn endpoint(namespace: &str, last: u8, setup: Setup) -> Endpoint {
    let path = |number: u8| LocalPath {
        device: Some(format!("p{number}")),
        ..LocalPath::at(SocketAddr::from(([10, 7, number, last], 0)))
    };
    let options = options(vec![path(0), path(1)], setup);
    within(namespace, || Endpoint::open(options)).expect("the namespace").expect("an endpoint")
}

/// Bytes that each of the first host's two interfaces has sent.
fn sent_bytes(hosts: &Hosts) -> [u64; 2] {
    let read = || std::fs::read_to_string("/proc/thread-self/net/dev").expect("counters");
    let text = within(&hosts.a, read).expect("the namespace");
    ["p0:", "p1:"].map(|name| {
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix(name));
        let word = line.and_then(|counters| counters.split_whitespace().nth(8));
        word.and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{name} in {text}"))
    })
}

/// Sends messages, and gives the part of their bytes that left by each interface.
fn shares(hosts: &Hosts, pair: &mut Pair) -> [f64; 2] {
    let before = sent_bytes(hosts);
    pair.send(MESSAGES);
    let after = sent_bytes(hosts);
    let all = (MESSAGES * MESSAGE as u64) as f64;
    [0, 1].map(|path| (after[path] - before[path]) as f64 / all)
}

#[test]
fn load_goes_over_both_paths_and_returns_to_both_after_faults() {
    if !needs() {
        return;
    }
    let hosts = two_paths();
    let ends = [endpoint(&hosts.a, 1, spread()), endpoint(&hosts.b, 2, Setup::usual())];
    let mut pair = Pair::new(ends, CONNECTIONS);
    pair.until("both carry", |pair| pair.primaries() == [[2; 2]; 2] && pair.are_armed());
    for silent in [false, true] {
        let [one, other] = shares(&hosts, &mut pair);
        assert!(one > 0.4 && other > 0.4, "{one:.2} and {other:.2} of the bytes");
        // It dies while messages are under way.
        pair.send(MESSAGES / 4);
        match silent {
            false => hosts.ip(&["-n B link set p1 down"]),
            true => [&hosts.a, &hosts.b].iter().for_each(|host| lose(host, "p1", Some(ALL))),
        }
        pair.send(MESSAGES);
        pair.until("one carries all", |pair| pair.primaries() == [[4, 0]; 2]);
        let [one, other] = shares(&hosts, &mut pair);
        assert!(one > 0.95 && other < 0.05, "{one:.2} and {other:.2} of the bytes");
        match silent {
            false => hosts.ip(&["-n B link set p1 up"]),
            true => [&hosts.a, &hosts.b].iter().for_each(|host| lose(host, "p1", None)),
        }
        pair.until("both carry again", |pair| pair.primaries() == [[2; 2]; 2] && pair.are_armed());
        let [one, other] = shares(&hosts, &mut pair);
        assert!(one > 0.4 && other > 0.4, "{one:.2} and {other:.2} of the bytes");
    }
    assert_eq!(pair.arrived, pair.sent);
}

#[test]
fn without_the_option_one_path_carries_all() {
    if !needs() {
        return;
    }
    let hosts = two_paths();
    let ends = [endpoint(&hosts.a, 1, Setup::usual()), endpoint(&hosts.b, 2, spread())];
    let mut pair = Pair::new(ends, CONNECTIONS);
    let [one, other] = shares(&hosts, &mut pair);
    assert!(one > 0.95 && other < 0.05, "{one:.2} and {other:.2}: the opener chooses");
}

fn loopback(paths: usize, setup: Setup) -> Endpoint {
    let local = LocalPath::at("127.0.0.1:0".parse().expect("address"));
    Endpoint::open(options(vec![local; paths], setup)).expect("an endpoint")
}

#[test]
fn the_opener_chooses_the_path_and_unknown_ones_are_refused() {
    let second = Setup { primary: PathId(1), ..Setup::usual() };
    let pair = Pair::new([loopback(2, second), loopback(2, Setup::usual())], 2);
    assert_eq!(pair.primaries(), [[0, 2]; 2]);
    let third = Setup { primary: PathId(2), ..Setup::usual() };
    let (mut opener, there) = (loopback(3, third), loopback(2, Setup::usual()));
    let refused = opener.begin_open(&there.addresses(), 1, LIMIT);
    assert_eq!(refused, Err(NetError::Refused(Refusal::UnknownPath { path: PathId(2) })));
    let mut odd = loopback(2, Setup { primary: PathId(9), ..spread() });
    assert!(odd.begin_open(&there.addresses(), 1, LIMIT).is_ok(), "spread begins anywhere");
}

/// Nothing can be sent over such a path, and so nothing is missed there.
#[test]
fn a_connection_that_begins_without_carrier_takes_the_other_path() {
    let second = Setup { primary: PathId(1), ..Setup::usual() };
    let mut ends = [loopback(2, second), loopback(2, Setup::usual())];
    ends[0].on_carrier(PathId(1), false);
    let mut pair = Pair::new(ends, 1);
    pair.send(50);
    assert_eq!(pair.primaries(), [[1, 0]; 2]);
}

#[test]
fn a_connection_takes_the_place_of_one_that_was_closed() {
    let mut pair = Pair::new([loopback(2, spread()), loopback(2, spread())], 3);
    assert_eq!(pair.primaries(), [[2, 1]; 2]);
    let second = pair.ids[0].remove(1);
    pair.ends[0].close(second).expect("open");
    pair.open();
    let opened = pair.ids[0][2];
    let begun = Instant::now();
    while pair.ends[0].get(opened).is_err() {
        assert!(begun.elapsed() < LIMIT);
        pair.ends.iter_mut().for_each(|end| _ = end.progress());
    }
    let first = pair.ends[0].get(opened).map(|connection| connection.primary());
    assert_eq!(first, Ok(PathId(1)));
}

/// While the path that it prefers is dead, another one is its alternate: it is tried all the same.
#[test]
fn a_preferred_path_of_three_is_taken_again() {
    let back = FailBack { hold: 20_000_000, ..FailBack::to(PathId(0)) };
    let policy = Policy { fail_back: Some(back), ..Policy::keep_armed(false) };
    let setup = Setup { policy, ..Setup::usual() };
    let mut pair = Pair::new([loopback(3, setup), loopback(3, setup)], 1);
    pair.until("armed", Pair::are_armed);
    pair.ends.iter_mut().for_each(|end| end.on_carrier(PathId(0), false));
    let ids = [pair.ids[0][0], pair.ids[1][0]];
    let has = move |pair: &Pair, primary: u8, alternate: u8| {
        pair.are_armed()
            && [0, 1].into_iter().all(|end| {
                let of = pair.ends[end].get(ids[end]).expect("it is there");
                (of.primary(), of.alternate()) == (PathId(primary), Some(PathId(alternate)))
            })
    };
    pair.until("the other two", |pair| has(pair, 1, 2));
    pair.send(50);
    pair.ends.iter_mut().for_each(|end| end.on_carrier(PathId(0), true));
    pair.until("back", |pair| has(pair, 0, 1));
    pair.send(50);
}
