//! Interfaces, carriers and advice on the real kernel: pairs of veth devices between namespaces
//! that each test makes and removes.

use crate::hosts;

use std::io::Write;
use std::net::IpAddr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hosts::{Hosts, needs};
use laneway_connections::advice::{self, Finding, WhyNot};
use laneway_connections::interfaces::{self, OperationalState};
use laneway_connections::{Carrier, Change, Interface, InterfaceError};
use laneway_lab::within;
use laneway_needs::Need;

impl Hosts {
    /// In the first host, on a thread of its own.
    fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        within(&self.a, work).expect("the namespace")
    }
}

/// A path between the hosts: `p0` at each end, with these indexes.
fn pair(indexes: [u32; 2]) -> Hosts {
    let [a, b] = indexes;
    Hosts::new(&[
        &format!("-n A link add p0 index {a} type veth peer name p0 index {b} netns B"),
        "-n A address add 10.7.0.1/24 dev p0",
        "-n A address add fd07::1/64 dev p0 nodad",
        "-n A link set p0 mtu 9000 up",
        "-n B link set p0 up",
    ])
}

fn find(interfaces: &[Interface], name: &str) -> Interface {
    let found = interfaces.iter().find(|interface| interface.name == name);
    found.unwrap_or_else(|| panic!("{name} is not in {interfaces:?}")).clone()
}

#[test]
fn interfaces_are_listed_with_all_that_they_have() {
    if !needs() {
        return;
    }
    let hosts = pair([40, 41]);
    let found = hosts.inside(interfaces::list).expect("interfaces");
    assert_eq!(found.len(), 2, "{found:?}");
    let p0 = find(&found, "p0");
    assert_eq!((p0.index, p0.mtu, p0.kind.as_str()), (40, 9000, "veth"));
    assert_eq!((p0.driver.as_deref(), p0.speed_mbit), (Some("veth"), Some(10_000)));
    assert!(p0.is_up && p0.has_carrier && !p0.is_loopback);
    let addresses: Vec<String> = p0.addresses.iter().map(ToString::to_string).collect();
    assert_eq!(addresses[0], "10.7.0.1/24");
    assert!(addresses.contains(&"fd07::1/64".to_string()), "{addresses:?}");
    let lo = find(&found, "lo");
    assert!(lo.is_loopback && !lo.is_up && lo.kind == "loopback" && lo.addresses.is_empty());
    hosts.ip(&["-n B link set p0 down"]);
    let p0 = find(&hosts.inside(interfaces::list).expect("interfaces"), "p0");
    assert!(p0.is_up && !p0.has_carrier, "{p0:?}");
    hosts.ip(&["-n A link set p0 down"]);
    let p0 = find(&hosts.inside(interfaces::list).expect("interfaces"), "p0");
    assert!(!p0.is_up && !p0.has_carrier, "{p0:?}");
    assert_eq!(p0.state, OperationalState::Down);
}

/// The first change, within the seconds that the kernel may take to use a link again.
fn first_change(carrier: &mut Carrier) -> Vec<Change> {
    let begun = Instant::now();
    loop {
        let said = carrier.query().expect("an answer");
        if !said.is_empty() || begun.elapsed() > Duration::from_secs(5) {
            return said;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn the_first_query_after_a_fault_reports_it() {
    if !needs() {
        return;
    }
    for indexes in [[40, 41], [40, 40]] {
        let hosts = pair(indexes);
        let mut carrier = hosts.inside(|| Carrier::new(&["p0"])).expect("a carrier");
        assert!(carrier.is_up("p0"));
        assert_eq!(carrier.query().expect("an answer"), []);
        let changed = |is_up| [Change { name: "p0".into(), index: 40, is_up }];
        // Events follow each other at once, so that the kernel delays most of them.
        for end in ["A", "B", "B", "A", "B", "A"] {
            for (word, is_up) in [("down", false), ("up", true)] {
                hosts.ip(&[&format!("-n {end} link set p0 {word}")]);
                let begin = Instant::now();
                let said = match is_up {
                    false => carrier.query().expect("an answer"),
                    true => first_change(&mut carrier),
                };
                let took = begin.elapsed();
                assert_eq!(said, changed(is_up), "{end} {word}, indexes {indexes:?}");
                println!("{indexes:?} {end} {word}: reported in {took:?}");
                assert_eq!(carrier.query().expect("an answer"), [], "reported once");
            }
        }
    }
}

#[test]
fn events_wake_a_poll() {
    if !needs() {
        return;
    }
    use std::os::fd::{AsFd, AsRawFd};
    let hosts = pair([40, 41]);
    let mut carrier = hosts.inside(|| Carrier::new(&["p0", "later"])).expect("a carrier");
    assert!(!carrier.is_up("later"), "one that is not there is down");
    while !carrier.poll().expect("a poll").is_empty() {}
    hosts.ip(&["-n B link set p0 down"]);
    let descriptor = carrier.as_fd().as_raw_fd();
    let mut watched = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which is our own.
    let ready = unsafe { libc::poll(&mut watched, 1, 5_000) };
    assert_eq!(ready, 1, "an event comes");
    let down = Change { name: "p0".into(), index: 40, is_up: false };
    assert_eq!(carrier.poll().expect("a poll"), [down]);
    hosts.ip(&[
        "-n A link add later index 50 type veth peer name later netns B",
        "-n A link set later up",
        "-n B link set later up",
    ]);
    let later = Change { name: "later".into(), index: 50, is_up: true };
    assert_eq!(first_change(&mut carrier), [later]);
    while !carrier.poll().expect("a poll").is_empty() {}
    assert_eq!(carrier.poll().expect("a poll"), [], "no event, no change");
    assert_eq!(carrier.lost_events(), 0);
}

#[test]
fn an_interface_that_is_made_again_is_up_again() {
    if !needs() {
        return;
    }
    let hosts = pair([40, 41]);
    let mut carrier = hosts.inside(|| Carrier::new(&["p0"])).expect("a carrier");
    let changed = |index, is_up| Change { name: "p0".into(), index, is_up };
    let again = [
        "-n A link add p0 index 60 type veth peer name p0 index 41 netns B",
        "-n A link set p0 up",
        "-n B link set p0 up",
    ];
    hosts.ip(&["-n A link delete p0"]);
    assert_eq!(carrier.query().expect("an answer"), [changed(40, false)]);
    assert_eq!(carrier.query().expect("an answer"), []);
    hosts.ip(&again);
    assert_eq!(first_change(&mut carrier), [changed(60, true)]);
    // Gone and back between two questions: sockets of the old one are of no use.
    hosts.ip(&["-n A link delete p0"]);
    hosts.ip(&[&again[0].replace("60", "61"), again[1], again[2]]);
    assert_eq!(carrier.query().expect("an answer"), [changed(60, false), changed(61, true)]);
}

#[test]
fn when_events_are_lost_everything_is_asked() {
    if !needs() {
        return;
    }
    let hosts = pair([40, 41]);
    let mut carrier = hosts.inside(|| Carrier::new(&["p0"])).expect("a carrier");
    let lines: String =
        (0..2_000).map(|i| format!("link set p0 mtu {}\n", 2_000 + i % 100)).collect();
    let mut ip = Command::new("ip");
    ip.args(["-n", &hosts.a, "-b", "-"]).stdin(Stdio::piped());
    let mut ip = ip.spawn().expect("ip starts");
    let mut input = ip.stdin.take().expect("its input");
    input.write_all((lines + "link set p0 down\n").as_bytes()).expect("its lines");
    drop(input);
    assert!(ip.wait().expect("ip ends").success());
    let down = Change { name: "p0".into(), index: 40, is_up: false };
    assert_eq!(carrier.poll().expect("a poll"), [down]);
    assert_eq!(carrier.lost_events(), 1, "more events than a socket holds");
    hosts.ip(&["-n A link set p0 up"]);
    let up = Change { name: "p0".into(), index: 40, is_up: true };
    // The kernel may report it up to a second late.
    let (begun, mut heard) = (Instant::now(), Vec::new());
    while heard.is_empty() && begun.elapsed() < Duration::from_secs(3) {
        heard = carrier.poll().expect("a poll");
    }
    assert_eq!(heard, [up], "later events are heard");
}

/// The driver of `ifb` says nothing of a link, so that the kernel's flags must.
#[test]
fn a_driver_that_says_nothing_is_judged_by_its_flags() {
    if !needs() {
        return;
    }
    let hosts = pair([40, 41]);
    let words = ["-n", &hosts.a, "link", "add", "p1", "index", "50", "type", "ifb"];
    let made = Command::new("ip").args(words).output().expect("ip starts");
    let found = if made.status.success() { Ok(()) } else { Err("no ifb devices".to_string()) };
    if !Need::Namespaces.is_met(found) {
        return;
    }
    let mut carrier = hosts.inside(|| Carrier::new(&["p1"])).expect("a carrier");
    for (word, is_up) in [("up", true), ("down", false), ("up", true)] {
        hosts.ip(&[&format!("-n A link set p1 {word}")]);
        let changed = [Change { name: "p1".into(), index: 50, is_up }];
        assert_eq!(carrier.query().expect("an answer"), changed, "{word}");
    }
    hosts.ip(&["-n A link delete p1"]);
    let gone = [Change { name: "p1".into(), index: 50, is_up: false }];
    assert_eq!(carrier.query().expect("an answer"), gone);
}

#[test]
fn names_that_cannot_be_are_refused() {
    for name in ["", "sixteen-letters-", "a/b", "a\0b"] {
        let refused = Carrier::new(&["lo", name]);
        assert!(matches!(refused, Err(InterfaceError::Name(said)) if said == name));
    }
    assert!(Carrier::new(&["lo", "fifteen-letters"]).is_ok_and(|c| !c.is_up("fifteen-letters")));
}

/// Two paths from the first host, with these addresses at its end.
fn two_paths(addresses: [&str; 2]) -> Hosts {
    let [one, other] = addresses;
    Hosts::new(&[
        "-n A link add p0 type veth peer name p0 netns B",
        "-n A link add p1 type veth peer name p1 netns B",
        "-n B link set p0 up",
        "-n B link set p1 up",
        &format!("-n A address add {one} dev p0"),
        &format!("-n A address add {other} dev p1"),
        "-n A link set p0 up",
        "-n A link set p1 up",
    ])
}

fn set(name: &str, value: u32) {
    std::fs::write(format!("/proc/sys/net/ipv4/conf/{name}"), value.to_string())
        .expect("a setting");
}

/// What is found about the paths, and which pairs are left.
fn examined(hosts: &Hosts) -> (Vec<Finding>, usize) {
    hosts.inside(|| {
        let interfaces = interfaces::list().expect("interfaces");
        let mut findings = advice::examine(&interfaces).expect("advice");
        let pairs = advice::pairs(&interfaces, &findings).len();
        findings.retain(|finding| finding.devices() != ["lo"]);
        (findings, pairs)
    })
}

#[test]
fn two_interfaces_in_one_subnet_are_found() {
    if !needs() {
        return;
    }
    let apart = two_paths(["10.7.0.1/24", "10.7.1.1/24"]);
    apart.inside(|| ["all/rp_filter", "p0/rp_filter", "p1/rp_filter"].map(|name| set(name, 1)));
    assert_eq!(examined(&apart), (vec![], 1), "each has its own subnet");

    let hosts = two_paths(["10.7.0.1/24", "10.7.0.2/16"]);
    let names = ["all", "p0", "p1"];
    let settings = |what: &str, value| names.map(|name| set(&format!("{name}/{what}"), value));
    hosts.inside(|| settings("rp_filter", 0));
    let (found, pairs) = examined(&hosts);
    assert!(matches!(&found[..], [Finding::OneSubnet { .. }]), "{found:?}");
    let said = found[0].to_string();
    assert!(said.contains("arp_ignore=1") && said.contains("10.7.0.2/16"), "{said}");
    assert_eq!(pairs, 0);
    hosts.inside(|| [settings("arp_ignore", 1), settings("arp_announce", 2)]);
    let (found, pairs) = examined(&hosts);
    assert!(!found[0].is_obstacle() && found[0].to_string().contains("own addresses"), "{found:?}");
    assert_eq!(pairs, 1, "settings that keep them apart");
}

#[test]
fn strict_reverse_path_filters_and_other_obstacles_are_found() {
    if !needs() {
        return;
    }
    let hosts = two_paths(["10.7.0.1/24", "10.7.0.2/24"]);
    let filter = |value| ["all/rp_filter", "p0/rp_filter", "p1/rp_filter"].map(|n| set(n, value));
    hosts.inside(|| filter(1));
    let strict = |found: Vec<Finding>| {
        found.into_iter().find(|finding| matches!(finding, Finding::StrictReversePath { .. }))
    };
    let found = strict(examined(&hosts).0).expect("the second of two routes is filtered");
    assert_eq!(found.devices(), ["p1"]);
    let said = found.to_string();
    assert!(said.contains("by p0 (rp_filter 1)") && said.contains("p1.rp_filter=2"), "{said}");
    hosts.inside(|| set("p1/rp_filter", 2));
    assert_eq!(strict(examined(&hosts).0), None, "a loose filter lets them pass");

    hosts.ip(&["-n A link set p1 mtu 9000", "-n A address flush dev p0"]);
    let why = |device: &str, why| Finding::Unusable { device: device.into(), why };
    assert_eq!(examined(&hosts), (vec![why("p0", WhyNot::NoAddress)], 0));
    hosts.ip(&["-n A address add 10.9.0.1/24 dev p0"]);
    let (found, pairs) = examined(&hosts);
    assert!(matches!(&found[..], [Finding::UnequalMtu { mtu: [1500, 9000], .. }]), "{found:?}");
    assert_eq!(pairs, 1, "the smaller one serves both");
    hosts.ip(&["-n A link set p0 down", "-n B link set p1 down"]);
    let expected = vec![why("p0", WhyNot::Off), why("p1", WhyNot::NoCarrier)];
    let sorted = |mut found: Vec<Finding>| {
        found.sort_by_key(|finding| finding.devices().to_vec());
        found
    };
    assert_eq!(sorted(examined(&hosts).0), expected);
}

#[test]
fn each_address_of_a_peer_gets_an_interface_of_its_own() {
    if !needs() {
        return;
    }
    let hosts = two_paths(["10.7.0.1/16", "10.7.1.1/24"]);
    hosts.inside(|| ["all/rp_filter", "p0/rp_filter", "p1/rp_filter"].map(|name| set(name, 0)));
    hosts.ip(&["-n A route add 192.0.2.0/24 via 10.7.1.9"]);
    let choose_among = |devices: &[&str], peers: &[&str]| {
        let peers: Vec<IpAddr> = peers.iter().map(|peer| peer.parse().expect("one")).collect();
        let choice = hosts.inside(|| {
            let interfaces = interfaces::list().expect("interfaces");
            advice::choose(&interfaces, devices, &peers).expect("a choice")
        });
        let pairs = choice.pairs.iter();
        let pairs = pairs.map(|pair| format!("{} {} {}", pair.device, pair.local, pair.peer));
        (pairs.collect::<Vec<_>>(), choice.findings)
    };
    let choose = |peers: &[&str]| {
        let (pairs, findings) = choose_among(&[], peers);
        (pairs, findings.len())
    };
    let (pairs, found) = choose(&["10.7.0.9", "10.7.1.9"]);
    assert_eq!(pairs, ["p0 10.7.0.1 10.7.0.9", "p1 10.7.1.1 10.7.1.9"]);
    assert_eq!(found, 0);
    // Both subnets hold the first, one alone the second.
    assert_eq!(choose(&["10.7.1.9", "10.7.0.9"]).0.len(), 2);
    // The only interface that may be chosen is not the one of the route, and filters strictly.
    hosts.inside(|| set("p0/rp_filter", 1));
    let (pairs, found) = choose_among(&["p0"], &["10.7.1.9"]);
    assert_eq!(pairs, ["p0 10.7.0.1 10.7.1.9"]);
    let [Finding::StrictReversePath { goes_by, .. }] = &found[..] else { panic!("{found:?}") };
    assert_eq!(goes_by.as_deref(), Some("p1"));
    hosts.inside(|| set("p0/rp_filter", 0));
    let routed = choose(&["10.7.0.9", "192.0.2.1"]);
    assert_eq!(routed.0, ["p0 10.7.0.1 10.7.0.9", "p1 10.7.1.1 192.0.2.1"]);
    // No interface is left, or none leads there.
    assert_eq!(choose(&["10.7.0.9", "10.7.0.8"]), (vec!["p0 10.7.0.1 10.7.0.9".into()], 1));
    let said = choose_among(&[], &["10.7.0.9", "10.7.0.8"]).1[0].to_string();
    assert!(said.contains("left for 10.7.0.8: p0 would"), "{said}");
    assert_eq!(choose(&["198.51.100.1", "fd00::1"]), (vec![], 2));
}
