//! Links are what the plan says: latency, the rate of one connection, and of several together.

use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use laneway_lab::{Arrivals, carried, connect};

use super::standing::{Standing, laneway, needs, refused, rows, succeed};

/// The number of tries on machines that are busy for a moment.
const TRIES: usize = 4;

#[test]
fn latency_and_rates_are_within_ten_percent() {
    if !needs() {
        return;
    }
    let platform = "two-sites:8x8,latency=5ms,connection=25Mbit,wan=100Mbit,rate=200Mbit";
    let lab = Standing::up("rates", &["--platform", platform, "--no-probe"]);
    let (name, plan) = (lab.lab(), lab.plan());
    // What a user sees of a rate is what headers leave of it.
    let payload = 1448.0 / 1500.0;
    let mut seen = Vec::new();
    for (count, planned) in [(1, 25e6), (4, 100e6), (8, 100e6)] {
        let holds = (0..TRIES).any(|_| {
            let pair = |at: usize| {
                let ends = connect(&name, &plan.hosts[at], &plan.hosts[8 + at], 0);
                ends.expect("a connection")
            };
            let rate = 8.0 * carried((0..count).map(pair).collect(), 0.5, 1.5);
            let part = rate / (payload * planned);
            seen.push((count, part));
            (0.9..=1.1).contains(&part)
        });
        assert!(holds, "connections and the part of their rate: {seen:?}");
    }
    let latency = (0..TRIES).map(|_| {
        let ends = connect(&name, &plan.hosts[0], &plan.hosts[8], 0);
        let (mut one, mut other) = ends.expect("a connection");
        let begun = Instant::now();
        one.write_all(&[1]).and_then(|_| other.read_exact(&mut [0])).expect("a byte there");
        begun.elapsed().as_secs_f64()
    });
    let least = latency.fold(f64::INFINITY, f64::min);
    assert!((4.5e-3..=5.5e-3).contains(&least), "{least} s one way");
}

#[test]
fn a_window_limits_a_connection_over_its_round_trip() {
    if !needs() {
        return;
    }
    // 64 KiB for each 20 ms.
    let platform = "two-sites:2x2,latency=10ms,window=64K,wan=1Gbit";
    let lab = Standing::up("window", &["--platform", platform, "--no-probe"]);
    let (name, plan) = (lab.lab(), lab.plan());
    let (planned, payload) = (f64::from(64 << 10) / 20e-3, 1448.0 / 1500.0);
    let mut seen = Vec::new();
    let holds = (0..TRIES).any(|_| {
        let ends = connect(&name, &plan.hosts[0], &plan.hosts[2], 0);
        let part = carried(vec![ends.expect("a connection")], 0.5, 1.5) / planned;
        seen.push(part);
        (0.9..=1.1).contains(&(part / payload))
    });
    assert!(holds, "parts of the rate: {seen:?}");
}

#[test]
fn a_card_carries_short_bursts_at_its_rate_after_any_pause() {
    if !needs() {
        return;
    }
    let lab = Standing::up("bursts", &["--sites", "1x3", "--no-probe"]);
    let (name, plan) = (lab.lab(), lab.plan());
    let (from, to, planned) = (&plan.hosts[1], &plan.hosts[2], 1e9 / 8.0);
    let arrivals = Arrivals::new(&name, to, 0).expect("what arrives");
    let mut ends = connect(&name, from, to, 0).expect("a connection");
    for (kib, tolerance) in [(16, 0.3), (64, 0.1), (256, 0.1), (1024, 0.1), (4096, 0.1)] {
        for pause in [0, 5, 100] {
            let mut seen = Vec::new();
            // A busy machine delays some, and hastens none: the fastest of some tells the rate.
            let holds = (0..TRIES).any(|_| {
                let parts = (0..5).map(|_| {
                    thread::sleep(Duration::from_millis(pause));
                    let rate = arrivals.rate_of_burst(&mut ends, kib << 10);
                    rate.expect("bytes that arrive") / planned
                });
                let fastest = parts.fold(0.0, f64::max);
                seen.push(fastest);
                (1.0 - tolerance..=1.0 + tolerance).contains(&fastest)
            });
            assert!(holds, "{kib} KiB after {pause} ms, parts of the rate: {seen:?}");
        }
    }
}

#[test]
fn the_probe_finds_a_card_that_saves_up_its_rate() {
    if !needs() {
        return;
    }
    let lab = Standing::up("saved", &["--sites", "1x2", "--no-probe"]);
    let (name, plan) = (lab.lab(), lab.plan());
    let probed = laneway_lab::probe(&name, &plan).expect("links as planned");
    let burst = probed[0].burst.expect("a burst was seen") * 8e-6;
    assert!((900.0..=1100.0).contains(&burst), "{burst} Mbit/s");
    // What 4 ms of a card carry may leave at once, in large packets.
    let lines = "tc class change dev eth0 parent 1: classid 1:1 htb rate 1gbit burst 500k cburst \
                 500k; ip link set eth0 gso_max_size 65536";
    assert!(lab.run(&["sh", "-c", lines]).status.success());
    let port = ["netns", "exec", &format!("laneway.{}.site.0", lab.name), "tc"];
    let class = "class change dev h1c0 parent 1: classid 1:1 htb rate 1gbit burst 500k cburst 500k";
    let change = std::process::Command::new("ip").args(port).args(class.split(' ')).status();
    assert!(change.expect("ip starts").success());
    let why = laneway_lab::probe(&name, &plan).expect_err("a card that saves up");
    assert!(why.to_string().contains("from node0 to node1 carries 64 KiB after a pause"), "{why}");
}

#[test]
fn a_second_card_carries_what_goes_to_other_sites() {
    if !needs() {
        return;
    }
    let platform = "two-sites:1x1,latency=1ms,wan-rate=20Mbit,rate=1Gbit,connection=1Gbit";
    let file = std::env::temp_dir().join(format!("laneway-lab-record-{}.json", std::process::id()));
    let file = file.display().to_string();
    let lab = Standing::up("second", &["--platform", platform, "--no-probe"]);
    let (name, plan) = (lab.lab(), lab.plan());
    thread::scope(|scope| {
        let record = ["lab", "record", &file, "--for", "1s", "--every", "50ms", "--lab", &lab.name];
        scope.spawn(move || succeed(&record));
        thread::sleep(Duration::from_millis(200));
        let mut seen = Vec::new();
        let holds = (0..TRIES).any(|_| {
            let ends = connect(&name, &plan.hosts[0], &plan.hosts[1], 0);
            let rate = 8.0 * carried(vec![ends.expect("a connection")], 0.2, 0.6);
            seen.push(rate);
            (15e6..=22e6).contains(&rate)
        });
        assert!(holds, "{seen:?} bit/s");
    });
    let text = std::fs::read_to_string(&file).expect("a record");
    _ = std::fs::remove_file(&file);
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["schema"], "laneway.links/1");
    let rows = document["rows"].as_array().expect("rows");
    let bytes = |link: &str, direction: &str| -> f64 {
        let of = rows.iter().filter(|row| row["link"] == link && row["direction"] == direction);
        of.filter_map(|row| row["bytes"].as_f64()).sum()
    };
    let (card, wan) = (bytes("s0n0:wan", "out"), bytes("site0:to:site1", "there"));
    assert!(card > 5e5 && (0.8..=1.1).contains(&(wan / card)), "{card} and {wan} bytes");
    assert!(bytes("s1n0:wan", "in") > 0.8 * card);
    assert!(bytes("s0n0", "out") < 0.1 * card, "the first card carries nothing of it");
}

#[test]
fn a_link_that_is_not_as_planned_is_named() {
    if !needs() {
        return;
    }
    let platform = "two-sites:2x2,latency=5ms,rate=20Mbit,connection=8Mbit";
    let lab = Standing::up("probe", &["--platform", platform, "--no-probe"]);
    lab.fault("delay site0-site1 0ms", &[]);
    let (name, plan) = (lab.lab(), lab.plan());
    let why = laneway_lab::probe(&name, &plan).expect_err("a WAN with the latency of a LAN");
    assert!(why.to_string().contains("from s0n0 to s1n0 takes 0."), "{why}");
    lab.fault("delay site0-site1 5ms", &[]);
    lab.fault("slow s0n0 4Mbit", &[]);
    let why = laneway_lab::probe(&name, &plan).expect_err("a slow card");
    assert!(why.to_string().contains("from s0n0 to s0n1 carries"), "{why}");
    lab.fault("slow s0n0 4Mbit", &["--heal"]);
    lab.fault("drop s1n1", &[]);
    let why = laneway_lab::probe(&name, &plan).expect_err("a host that nothing reaches");
    assert!(why.to_string().contains("s1n1"), "{why}");
}

#[test]
fn many_hosts_are_up_and_down_at_once() {
    if !needs() {
        return;
    }
    let build = || {
        let begun = Instant::now();
        let lab = Standing::up("many", &["--sites", "2x32", "--wan", "5ms", "--no-probe"]);
        (begun.elapsed(), lab)
    };
    let (mut up, mut lab) = build();
    for _ in 1..TRIES {
        if up.as_secs() < 1 {
            break;
        }
        drop(lab);
        (up, lab) = build();
    }
    let status = rows(&succeed(&["lab", "status", "--format", "json"]));
    let own = status.iter().filter(|row| row["lab"] == lab.name.as_str());
    assert_eq!(own.count(), 64);
    let begun = Instant::now();
    let name = lab.name.clone();
    drop(lab);
    let down = begun.elapsed();
    assert!(super::standing::left(&name).is_empty());
    assert!(up.as_secs() < 1 && down.as_secs() < 10, "up {up:?}, down {down:?}");
    refused(&laneway(&["lab", "run", "--lab", &name, "--", "true"]), 3, "does not exist");
}
