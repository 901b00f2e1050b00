//! What holds of messages, clocks, events and the traffic of others is what the platform says.

use laneway_coll::find;
use laneway_core::{Collective, Shape};
use laneway_sim::simulate;

use super::*;

#[test]
fn what_holds_for_every_message() {
    let plain = Platform::read("cluster:2").expect("a cluster");
    assert_eq!((plain.header_bytes(), plain.in_order(), plain.overflow()), (0, true, None));
    assert_eq!(plain.connections(), 1);
    let several = Platform::read("cluster:2,connections=4").expect("connections");
    assert_eq!(several.connections(), 4);
    let spec = "cluster:2,header=16,in-order=false";
    let beside = Platform::read(spec).expect(spec);
    assert_eq!((beside.header_bytes(), beside.in_order(), beside.overflow()), (16, false, None));
    let lossy = Platform::read("cluster:2,receive-buffer=32K").expect("a buffer");
    let overflow = Overflow { buffer: 32 << 10, retransmit: 0.2, part: 1.0, seed: 1 };
    assert_eq!((lossy.in_order(), lossy.overflow()), (true, Some(overflow)));
    let text = "header = 40\nreceive-buffer = '1M'\nretransmit = '1ms'\n[[host]]\nname='h'\n";
    let file = read_text(text).expect("a file");
    let overflow = Overflow { buffer: 1 << 20, retransmit: 1e-3, part: 1.0, seed: 1 };
    assert_eq!((file.header_bytes(), file.in_order(), file.overflow()), (40, true, Some(overflow)));
}

#[test]
fn the_papers_cluster_loses_messages_by_default() {
    let of = |spec| {
        let platform = Platform::read(spec).expect(spec);
        (platform.in_order(), platform.overflow())
    };
    let overflow =
        |buffer, retransmit| (true, Some(Overflow { buffer, retransmit, part: 1.0, seed: 1 }));
    assert_eq!(of("mpiblib16"), overflow(64 << 10, 0.2));
    assert_eq!(of("mpiblib16,receive-buffer=1M,retransmit=50ms"), overflow(1 << 20, 0.05));
    assert_eq!(of("mpiblib16,receive-buffer=none"), (true, None));
    assert_eq!(of("mpiblib16,receive-buffer=none,in-order=false"), (false, None));
}

#[test]
fn clocks_are_given_or_drawn() {
    let text = "
include = ['two-sites:1x1,clock-offset=-3ms']
[[host]]
name = 'x[0-99]'
site = 'site0'
rate = '1Gbit'
clock-offset = '+-500ms'
clock-drift = '+-10ppm'
[[host]]
name = 'y'
site = 'site0'
rate = '1Gbit'
clock-drift = 1e-5
";
    let clocks = |text: &str| -> Vec<HostClock> {
        let platform = read_text(text).expect("a platform");
        (0..platform.hosts()).map(|host| platform.clock(host)).collect()
    };
    let first = clocks(text);
    assert_eq!(first[..2], [HostClock { offset: -3e-3, drift: 0.0 }; 2]);
    assert_eq!(first[102], HostClock { offset: 0.0, drift: 1e-5 });
    let own = &first[2..102];
    let ranges = own.iter().all(|clock| clock.offset.abs() <= 0.5 && clock.drift.abs() <= 1e-5);
    assert!(ranges, "{own:?}");
    for (number, clock) in own.iter().enumerate() {
        let other = own[..number].iter();
        assert!(other.clone().all(|other| other.offset != clock.offset), "{own:?}");
        assert!(clock.offset / 0.5 != clock.drift / 1e-5, "one draw for both: {clock:?}");
    }
    assert!(own.iter().any(|clock| clock.offset > 0.1) && own.iter().any(|c| c.offset < -0.1));
    assert_eq!(clocks(text), first);
    assert_eq!(clocks(&format!("seed = 1{text}")), first);
    assert_ne!(clocks(&format!("seed = 2{text}"))[2..102], *own);
    let generated = Platform::read("cluster:2,clock-drift=+-1ppm,seed=9").expect("a cluster");
    assert_ne!(generated.clock(0).drift, generated.clock(1).drift);
}

/// Time, name of the resource, Gbit/s.
fn story(platform: &Platform) -> Vec<(f64, &str, f64)> {
    let changes = platform.changes().iter().map(|change| {
        let name = platform.resources()[change.resource as usize].name.as_str();
        (change.at, name, change.rate * 8e-9)
    });
    changes.collect()
}

#[test]
fn events_are_changes_in_the_order_of_time() {
    let text = "
include = ['two-sites:2x2,wan-rate=2Gbit,uplink=8Gbit,aggregate=4Gbit']
event = [
  { at = '3s', sites = ['site0', 'site1'], rate = '250Mbit', until = '4s' },
  { at = '1s', host = 's0n[0-1]', card = 'lan', direction = 'in', down = true },
  { at = '2s', host = 's1n0', factor = 0.5 },
  { at = '2s', host = 's1n0', direction = 'out', up = true },
  { at = '4s', wan = true, factor = 0 },
  { at = '0', site = 'site1', rate = '16Gbit' },
]
";
    let platform = read_text(text).expect("a story");
    let expected = [
        (0.0, "site1:uplink-out", 16.0),
        (0.0, "site1:uplink-in", 16.0),
        (1.0, "s0n0:in", 0.0),
        (1.0, "s0n1:in", 0.0),
        (2.0, "s1n0:out", 0.5),
        (2.0, "s1n0:in", 0.5),
        (2.0, "s1n0:wan-out", 1.0),
        (2.0, "s1n0:wan-in", 1.0),
        (2.0, "s1n0:out", 1.0),
        (2.0, "s1n0:wan-out", 2.0),
        (3.0, "site0:to:site1", 0.25),
        (3.0, "site1:to:site0", 0.25),
        (4.0, "site0:to:site1", 1.0),
        (4.0, "site1:to:site0", 1.0),
        (4.0, "wan:all", 0.0),
    ];
    assert_eq!(story(&platform), expected);
}

/// Seconds of one message of 1,250,000 bytes, 10 Mbit, from host 0 to host 1.
fn one_message(platform: &Platform) -> f64 {
    let (linear, params) = find(Collective::Bcast, "linear").expect("an algorithm");
    let shape = Shape::new(Collective::Bcast, 2, 1_250_000);
    let schedule = linear.schedule(&shape, &params).expect("a schedule");
    simulate(platform, &*schedule, None).expect("a run").finish
}

/// 10 ms of latency, 0.19 s at 20 Mbit/s (3.8 Mbit), and the rest at 5 or 40 Mbit/s.
#[test]
fn the_limit_of_connections_changes_while_a_message_is_under_way() {
    let usual = "include = ['two-sites:1x1,latency=10ms,connection=20Mbit']\n";
    let event = |what: &str| {
        let text = format!("{usual}[[event]]\nat = '0.2s'\nsites = ['site0', 'site1']\n{what}\n");
        one_message(&read_text(&text).expect("an event"))
    };
    let close =
        |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-9, "{found} {wanted}");
    close(one_message(&read_text(usual).expect("two sites")), 0.01 + 10.0 / 20.0);
    close(event("connection = '5Mbit'"), 0.2 + 6.2 / 5.0);
    close(event("connection = '40Mbit'"), 0.2 + 6.2 / 40.0);
    // 1.25 Mbit until 0.45 s.
    close(event("connection = '5Mbit'\nuntil = '0.45s'"), 0.45 + 4.95 / 20.0);
    let none = "include = ['sites:1,1,window=1G']\n[[event]]\nat = '0'\n\
                sites = ['site0', 'site1']\nconnection = '10Mbit'\n";
    close(one_message(&read_text(none).expect("no limit before")), 0.005 + 1.0);
}

#[test]
fn two_sites_have_a_rate_in_each_direction() {
    let text = "site = [{ name = 'a' }, { name = 'b' }]\n\
                 host = [{ name = 'x', site = 'b', rate = '1Gbit' }, \
                 { name = 'y', site = 'a', rate = '1Gbit' }]\n[wan]\nrate = '1Gbit'\n"
        .to_string()
        + "[[between]]\nsites = ['b', 'a']\nrate-there = '10Mbit'\nrate-back = '40Mbit'\n";
    let platform = read_text(&text).expect("two directions");
    let rate = |name: &str| {
        let found = platform.resources().iter().find(|resource| resource.name == name);
        found.map(|resource| resource.rate * 8e-6)
    };
    assert_eq!((rate("b:to:a"), rate("a:to:b")), (Some(10.0), Some(40.0)));
    assert!((one_message(&platform) - 1.0).abs() < 1e-9);
    let text = text.replace("rate-back = '40Mbit'\n", "");
    let platform = read_text(&text).expect("the other direction as in [wan]");
    let back = platform.resources().iter().find(|resource| resource.name == "a:to:b");
    assert_eq!(back.map(|resource| resource.rate), Some(125e6));
}

#[test]
fn links_change_in_both_directions_or_one() {
    let text = "
host = [{ name = 'a' }, { name = 'b', rate = '1Gbit', duplex = 'half' }]
link = [{ name = 'l', rate = '1Gbit', duplex = 'full' }, { name = 'm', rate = '1Gbit' }]
route = [{ from = 'a', to = 'b', links = ['l', 'm'] }]
event = [
  { at = '1s', link = 'l', down = true },
  { at = '2s', link = 'l:back', up = true },
  { at = '3s', link = 'm', factor = 2 },
  { at = '4s', host = 'b', factor = 3 },
]
";
    let platform = read_text(text).expect("a graph");
    let expected = [
        (1.0, "l", 0.0),
        (1.0, "l:back", 0.0),
        (2.0, "l:back", 1.0),
        (3.0, "m", 2.0),
        (4.0, "b:card", 3.0),
    ];
    assert_eq!(story(&platform), expected);
}

#[test]
fn others_send_between_all_pairs() {
    let text = "
include = ['cluster:3']
[[background]]
from = 'node[0-1]'
to = 'node[0-2]'
rate = '800Mbit'
at = '1s'
until = '2s'
[[background]]
from = 'node[2,2]'
to = 'node[0-1]'
size = '1M'
every = '10ms'
random = true
[[background]]
from = 'node2'
to = 'node0'
size = 100
every = '1ns'
";
    let platform = read_text(text).expect("a cluster");
    let background = platform.background();
    let pairs: Vec<_> = background.iter().map(|source| (source.from, source.to)).collect();
    assert_eq!(pairs, [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1), (2, 0)]);
    assert_eq!(background[0].traffic, Traffic::Steady { rate: 1e8 });
    assert_eq!((background[0].start, background[0].until), (1.0, 2.0));
    assert_eq!((background[6].start, background[6].until), (0.0, f64::INFINITY));
    let each = Traffic::Messages { bytes: 100, every: 1e-9, seed: None };
    assert_eq!(background[6].traffic, each);
    let seed = |source: usize| match background[source].traffic {
        Traffic::Messages { bytes: 1048576, every: 0.01, seed: Some(seed) } => seed,
        other => panic!("{other:?}"),
    };
    assert_ne!(seed(4), seed(5));
    let other = read_text(&format!("seed = 2\n{text}")).expect("a cluster");
    assert_ne!(other.background()[4], background[4]);
    assert_eq!(read_text(text).expect("the same").background(), background);
}

#[test]
fn a_file_stands_over_what_it_includes() {
    let folder = Folder::new();
    folder.write("b.toml", "include = ['cluster:2,eager=1K,header=16,seed=7']\neager = '2K'\n");
    let path = folder.write("a.toml", "eager = '4K'\nin-order = false\ninclude = ['b.toml']\n");
    let platform = Platform::read(&path).expect("three platforms");
    assert_eq!((platform.eager_bytes(), platform.header_bytes()), (4096, 16));
    assert!(!platform.in_order());
    let ordered = folder.write("c.toml", "in-order = true\ninclude = ['a.toml']\n");
    assert!(Platform::read(&ordered).expect("four platforms").in_order());
    assert_eq!(platform.host_names(), ["node0", "node1"]);
    let calm = read_text("include = ['mpiblib16']\nreceive-buffer = 'none'\n").expect("no buffer");
    assert_eq!((calm.in_order(), calm.overflow()), (true, None));
}
