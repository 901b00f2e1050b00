//! Several paths through one interface that differ in their ports: a network that spreads flows by
//! their ports has a way for each, and one of them dies.

use crate::hosts;
use crate::talk;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use hosts::{Hosts, needs};
use laneway_connections::{Endpoint, LocalPath, NetError, Setup};
use laneway_lab::within;
use laneway_path::PathId;
use talk::{MESSAGES, Pair, lose, options};

/// Two hosts with one link between them.
fn one_link() -> Hosts {
    Hosts::new(&[
        "-n A link add p0 type veth peer name p0 netns B",
        "-n A address add 10.7.0.1/24 dev p0",
        "-n A link set p0 up",
        "-n B address add 10.7.0.2/24 dev p0",
        "-n B link set p0 up",
    ])
}

/// At the host whose address ends so, with several paths through the link, at any ports or at this.
fn open(namespace: &str, last: u8, paths: usize, port: u16) -> Result<Endpoint, NetError> {
    let address = SocketAddr::from(([10, 7, 0, last], port));
    let path = LocalPath { device: Some("p0".into()), ..LocalPath::at(address) };
    let options = options(vec![path; paths], Setup::usual());
    within(namespace, || Endpoint::open(options)).expect("the namespace")
}

fn pair(hosts: &Hosts, paths: usize) -> Pair {
    let ends = [(&hosts.a, 1), (&hosts.b, 2)];
    let ends = ends.map(|(host, last)| open(host, last, paths, 0).expect("an endpoint"));
    let mut pair = Pair::new(ends, 1);
    pair.until("armed", Pair::are_armed);
    pair
}

/// The port of a path at an end.
fn port(pair: &Pair, end: usize, path: usize) -> u16 {
    pair.ends[end].addresses()[path].port()
}

/// Loses packets that come from one of these ports: the way that the network has for them is dead.
/// The source port is the first half word behind the heads of Ethernet and IPv4.
fn from_ports(ports: &[u16]) -> String {
    let last = ports.len();
    let mut lines = vec!["40 0 0 34".to_string()];
    // Each comparison that fits jumps over the others and the end that lets packets go on.
    lines.extend(ports.iter().enumerate().map(|(i, port)| format!("21 {} 0 {port}", last - i)));
    lines.extend(["6 0 0 4294967295".to_string(), "6 0 0 2".to_string()]);
    format!("{},{}", lines.len(), lines.join(","))
}

fn is_on(pair: &Pair, path: u8) -> bool {
    let on = |end: usize| pair.ends[end].get(pair.ids[end][0]).map(|one| one.primary());
    [0, 1].into_iter().all(|end| on(end) == Ok(PathId(path)))
}

#[test]
fn a_connection_leaves_the_ports_whose_way_is_dead() {
    if !needs() {
        return;
    }
    let hosts = one_link();
    let mut pair = pair(&hosts, 2);
    for end in 0..2 {
        assert_ne!(port(&pair, end, 0), port(&pair, end, 1), "each path has ports of its own");
        let names: Vec<String> =
            pair.ends[end].path_status().iter().map(|path| path.name()).collect();
        assert_eq!(names, ["p0", "p0/2"]);
    }
    // Both directions, then one alone, back and forth between the two paths.
    for (round, ends) in [&[0, 1][..], &[0], &[1]].into_iter().enumerate() {
        let (dead, alive) = (round % 2, 1 - round % 2);
        assert!(is_on(&pair, dead as u8), "round {round}");
        pair.send(MESSAGES / 4);
        let names = [&hosts.a, &hosts.b];
        for &end in ends {
            lose(names[end], "p0", Some(&from_ports(&[port(&pair, end, dead)])));
        }
        // Answers over the other path acknowledge messages too: a path is left while some wait.
        let begun = Instant::now();
        while !is_on(&pair, alive as u8) {
            assert!(begun.elapsed() < Duration::from_secs(20), "round {round}: it migrates");
            pair.send(MESSAGES);
        }
        pair.send(MESSAGES);
        for &end in ends {
            lose(names[end], "p0", None);
        }
        pair.until("both ways are there again", Pair::are_armed);
    }
    assert_eq!(pair.arrived, pair.sent);
}

/// Two of three paths have the same way: when it dies, both do.
#[test]
fn a_third_path_is_found_when_two_share_the_way_that_dies() {
    if !needs() {
        return;
    }
    let hosts = one_link();
    let mut pair = pair(&hosts, 3);
    pair.send(MESSAGES / 4);
    for (end, host) in [&hosts.a, &hosts.b].into_iter().enumerate() {
        let ports = [0, 1].map(|path| port(&pair, end, path));
        lose(host, "p0", Some(&from_ports(&ports)));
    }
    pair.send(MESSAGES);
    pair.until("the third", |pair| is_on(pair, 2));
}

#[test]
fn all_paths_of_a_device_die_and_return_with_it() {
    if !needs() {
        return;
    }
    let hosts = one_link();
    let mut pair = pair(&hosts, 2);
    pair.send(MESSAGES / 4);
    hosts.ip(&["-n B link set p0 down"]);
    pair.until("no path is armed", |pair| !pair.are_armed());
    hosts.ip(&["-n B link set p0 up"]);
    pair.send(MESSAGES);
    pair.until("both are there again", Pair::are_armed);
}

#[test]
fn paths_of_one_port_are_refused() {
    if !needs() {
        return;
    }
    let hosts = one_link();
    let one = open(&hosts.a, 1, 1, 7471);
    assert!(one.is_ok());
    drop(one);
    let two = open(&hosts.a, 1, 2, 7471).err();
    assert!(matches!(two, Some(NetError::NoPort { first: 7471, .. })), "{two:?}");
}
