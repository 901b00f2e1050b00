//! Good platforms have the hosts, ways and limits that they say.

use super::*;

#[test]
fn a_cluster_is_cards_and_one_switch() {
    let platform = Platform::read("cluster:16").expect("a cluster");
    assert_eq!((platform.hosts(), platform.resources().len()), (16, 32));
    assert_eq!(platform.host_names()[15], "node15");
    let (names, latency, most) = route(&platform, 3, 15);
    assert_eq!(names, ["node3:out", "node15:in"]);
    assert_eq!((latency, most), (50e-6, f64::INFINITY));
    assert_eq!(platform.resources()[0].rate, 125e6);
    assert_eq!(platform.eager_bytes(), 65536);
}

#[test]
fn two_sites_are_the_testbed_of_the_paper() {
    let platform = Platform::read("two-sites:32x32").expect("two sites");
    assert_eq!(platform.hosts(), 64);
    assert_eq!((platform.site_of(31), platform.site_of(32)), (Some(0), Some(1)));
    let (names, latency, most) = route(&platform, 0, 63);
    // One card for LAN and WAN, and the paper's limit of one connection.
    assert_eq!(names, ["s0n0:out", "site0:to:site1", "s1n31:in"]);
    assert_eq!((latency, most), (5e-3, 31.25e6));
    assert!(platform.resources().iter().all(|resource| resource.rate == 125e6));
    let (names, latency, most) = route(&platform, 63, 62);
    assert_eq!(names, ["s1n31:out", "s1n30:in"]);
    assert_eq!((latency, most), (50e-6, f64::INFINITY));
}

#[test]
fn every_value_of_a_generator_can_be_given() {
    let spec = "two-sites:2x3,latency=20ms,connection=125Mbit,lan-latency=1us,rate-in=2Gbit,\
                rate-out=3Gbit,wan-rate=4Gbit,wan=5Gbit,aggregate=6Gbit,uplink=7Gbit,lan=8Gbit,\
                send=1us,receive=2us,per-byte=3ns,eager=1K";
    let platform = Platform::read(spec).expect("two sites");
    let rate = |name: &str| {
        let found = platform.resources().iter().find(|resource| resource.name == name);
        found.unwrap_or_else(|| panic!("no {name}")).rate * 8e-9
    };
    assert_eq!((rate("s1n2:in"), rate("s1n2:out"), rate("s0n0:wan-out")), (2.0, 3.0, 4.0));
    assert_eq!((rate("site1:to:site0"), rate("wan:all")), (5.0, 6.0));
    assert_eq!((rate("site1:uplink-out"), rate("site0:lan")), (7.0, 8.0));
    let (names, latency, most) = route(&platform, 4, 0);
    let far = ["s1n2:wan-out", "site1:uplink-out", "site1:to:site0", "wan:all", "site0:uplink-in"];
    assert_eq!(names[..5], far);
    assert_eq!((names[5], latency, most), ("s0n0:wan-in", 20e-3, 15.625e6));
    assert_eq!(route(&platform, 0, 1).0, ["s0n0:out", "site0:lan", "s0n1:in"]);
    assert_eq!(
        platform.cost(4),
        HostCost { per_send: 1e-6, per_recv: 2e-6, per_byte_sent: 3e-9, per_byte_received: 3e-9 }
    );
    assert_eq!(platform.eager_bytes(), 1024);
}

#[test]
fn a_window_limits_by_the_round_trip() {
    // What the multi-lane paper's 250 Mbit/s over 5 ms each way would be as a window.
    let platform = Platform::read("two-sites:1x1,window=312500").expect("two sites");
    assert_eq!(route(&platform, 0, 1).2, 31.25e6);
    let platform = Platform::read("two-sites:1x1,window=312500,latency=20ms").expect("two sites");
    assert_eq!(route(&platform, 0, 1).2, 7.8125e6);
    let both = "two-sites:1x1,window=312500,connection=1Mbit";
    assert_eq!(route(&Platform::read(both).expect("two sites"), 0, 1).2, 0.125e6);
}

#[test]
fn sites_and_the_heterogeneous_cluster() {
    let platform = Platform::read("sites:32,16,8,uplink=10Gbit").expect("three sites");
    assert_eq!((platform.hosts(), platform.site_names().len()), (56, 3));
    assert_eq!(
        route(&platform, 0, 55).0,
        ["s0n0:out", "site0:uplink-out", "site2:uplink-in", "s2n7:in"]
    );
    let platform = Platform::read("mpiblib16").expect("the paper's cluster");
    assert_eq!(platform.hosts(), 16);
    let count = |kind| platform.host_names().iter().filter(|name| name.starts_with(kind)).count();
    let kinds = ["xeon", "p4", "celeron", "opteron"].map(count);
    assert_eq!(kinds, [11, 2, 1, 2]);
    let (xeon, opteron) = (platform.cost(10), platform.cost(15));
    assert!((opteron.per_send / xeon.per_send - 2.0).abs() < 1e-12);
    let free = Platform::read("mpiblib16,send=0,receive=0,per-byte=0").expect("without costs");
    assert_eq!(free.cost(15), HostCost::default());
}

#[test]
fn a_graph_of_links_is_walked_both_ways() {
    let text = "
eager = 4096
host = [{ name = \"a[0-1]\", rate = \"1Gbit\" }, { name = \"b\" }]
[[link]]
name = \"cable\"
rate = \"10Gbit\"
latency = \"1us\"
duplex = \"full\"
[[link]]
name = \"hub\"
rate = \"100Mbit\"
latency = \"2us\"
[[link]]
name = \"air\"
rate = \"1Gbit\"
shared = false
[[route]]
from = \"a[0-1]\"
to = \"b\"
links = [\"cable\", \"hub\"]
[[route]]
from = \"a0\"
to = \"a1\"
links = [\"cable:back\"]
both-ways = false
[[route]]
from = \"a1\"
to = \"a0\"
links = [\"air\"]
both-ways = false
connection = \"1Mbit\"
";
    let platform = read_text(text).expect("a graph");
    assert_eq!(route(&platform, 1, 2).0, ["a1:out", "cable", "hub"]);
    assert_eq!(route(&platform, 2, 1).0, ["hub", "cable:back", "a1:in"]);
    assert!((route(&platform, 2, 1).1 - 3e-6).abs() < 1e-18);
    assert_eq!(route(&platform, 0, 1).0, ["a0:out", "cable:back", "a1:in"]);
    assert_eq!(route(&platform, 1, 0), (vec!["a1:out", "air", "a0:in"], 0.0, 0.125e6));
    let air = platform.resources().iter().find(|resource| resource.name == "air");
    assert_eq!(air.map(|air| air.shared), Some(false));
    assert_eq!((platform.eager_bytes(), platform.site_of(0)), (4096, None));
}

#[test]
fn two_sites_say_more_than_all_sites() {
    let text = "
site = [{ name = \"x\" }, { name = \"y\" }, { name = \"z\", latency = \"1us\" }]
wan = { latency = \"10ms\", connection = \"1Mbit\" }
[[host]]
name = \"h\"
site = \"x\"
rate = \"1Gbit\"
duplex = \"half\"
[[host]]
name = \"i\"
site = \"y\"
rate = \"1Gbit\"
[[host]]
name = \"j\"
site = \"z\"
rate = \"1Gbit\"
[[between]]
sites = [\"y\", \"x\"]
latency = \"1ms\"
rate = \"2Gbit\"
";
    let platform = read_text(text).expect("three sites");
    let near = (vec!["h:card", "x:to:y", "i:in"], 1e-3, 0.125e6);
    assert_eq!(route(&platform, 0, 1), near);
    assert_eq!(route(&platform, 1, 0).0, ["i:out", "y:to:x", "h:card"]);
    assert_eq!(route(&platform, 0, 2), (vec!["h:card", "j:in"], 10e-3, 0.125e6));
}

#[test]
fn included_hosts_come_first() {
    let folder = Folder::new();
    folder.write(
        "rack.toml",
        "site = [{ name = \"s\" }]\n[[host]]\nname='a'\nsite='s'\nrate='1Gbit'\n",
    );
    let text = "include = ['rack.toml']\n[[host]]\nname='b'\nsite='s'\nrate='1Gbit'\n";
    let platform = Platform::read(&folder.write("all.toml", text)).expect("two files");
    assert_eq!(platform.host_names(), ["a", "b"]);
}

/// The manual's own examples are platforms.
#[test]
fn the_examples_of_the_manual_are_read() {
    let manual = include_str!("../../../../../docs/platforms.md");
    let examples: Vec<&str> = manual
        .split("```toml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap_or(rest))
        .collect();
    assert!(examples.len() >= 2, "only {} examples", examples.len());
    for example in examples {
        if let Err(error) = read_text(example) {
            panic!("{error}\n{example}");
        }
    }
    for generator in GENERATORS {
        assert!(manual.contains(generator.example), "{} is not in the manual", generator.example);
        Platform::read(generator.example).expect("an example");
    }
}
