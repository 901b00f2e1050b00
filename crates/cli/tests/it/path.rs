//! `laneway path`: what it says of interfaces, on this machine and in namespaces whose interfaces
//! are known; drills in a lab, and with a server on this machine.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use laneway_connections::{Endpoint, LocalPath, NetError, Notice, Options, Secret, Setup, What};
use laneway_needs::{Need, amount, program};
use laneway_path::Event;
use serde_json::Value;

fn laneway(args: &[&str]) -> Output {
    run(Command::new(env!("CARGO_BIN_EXE_laneway")).arg("path").args(args))
}

fn run(command: &mut Command) -> Output {
    command.env_remove("LANEWAY_FORMAT").output().expect("the command starts")
}

fn json(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {said}"))
}

fn refused(output: &Output, code: i32, parts: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{said}");
    for part in ["error: ", "cause: ", "try: "].iter().chain(parts) {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    assert!(output.stdout.is_empty(), "no rows with an error");
}

#[test]
fn every_format_lists_the_loopback() {
    let output = laneway(&["info", "lo"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    for part in [
        "device  ",
        "kind  ",
        "why_not",
        " lo\n",
        "it is a loopback interface",
        "\nUDP: ",
        "\nInfiniBand: ",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let document = json(&laneway(&["info", "lo", "--format", "json"]));
    assert_eq!(document["schema"], "laneway.path/1");
    let [row] = &document["rows"].as_array().expect("rows")[..] else { panic!("{document}") };
    assert_eq!((&row["device"], &row["usable"]), (&"lo".into(), &false.into()));
    assert!(row["findings"].as_str().is_some_and(|said| said.contains("lo cannot be a path")));
    for name in ["udp_segmentation", "udp_receive_offload", "infiniband"] {
        assert!(!document["env"][name].is_null(), "{name} is not in {document}");
    }
    let csv = laneway(&["info", "lo", "--format", "csv"]);
    let csv = String::from_utf8_lossy(&csv.stdout).into_owned();
    assert!(csv.starts_with("device,kind,driver,state,carrier,mtu,addresses,"), "{csv}");
    assert_eq!(csv.lines().count(), 2, "{csv}");
}

#[test]
fn what_is_not_there_is_refused() {
    refused(&laneway(&["info", "lo", "lo9"]), 3, &["unknown interface `lo9`", "info lo"]);
    refused(&laneway(&["info", "--peer", "10.0.0"]), 2, &["10.0.0"]);
    refused(&laneway(&["inf"]), 2, &["inf"]);
    refused(&laneway(&["info", "lo", "lo"]), 2, &["named twice", "lo/2"]);
    refused(&laneway(&["info", "lo/9"]), 2, &["lo/1 to lo/8"]);
    refused(&laneway(&["info", "lo9/2"]), 3, &["unknown interface `lo9`"]);
}

/// A namespace that goes with this value.
struct Namespace(String);

impl Namespace {
    fn ip(&self, line: &str) {
        let words = ["-n", &self.0].into_iter().chain(line.split(' '));
        let output = Command::new("ip").args(words).output().expect("ip starts");
        assert!(output.status.success(), "ip {line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let status = Command::new("ip").args(["netns", "delete", &self.0]).status();
        assert!(status.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}

#[test]
fn paths_to_a_peer_and_obstacles_are_reported() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let is_root = status.lines().any(|line| line.starts_with("Uid:\t0\t"));
    let root = if is_root { Ok(()) } else { Err("it takes root".to_string()) };
    if !Need::Namespaces.is_met(program("ip").and(root)) {
        return;
    }
    let host = Namespace(format!("lwpath{}", std::process::id()));
    let made = Command::new("ip").args(["netns", "add", &host.0]).status();
    assert!(made.is_ok_and(|status| status.success()));
    for line in [
        "link add p0 type veth peer name q0",
        "link add p1 type veth peer name q1",
        "address add 10.7.0.1/24 dev p0",
        "address add 10.7.1.1/24 dev p1",
        "link set p0 up",
        "link set q0 up",
        "link set p1 up",
        "link set q1 up",
    ] {
        host.ip(line);
    }
    let inside = |args: &[&str]| {
        let laneway = ["netns", "exec", &host.0, env!("CARGO_BIN_EXE_laneway"), "path", "info"];
        run(Command::new("ip").args(laneway).args(args))
    };
    let peers = ["--peer", "10.7.0.2,10.7.1.2"];
    let output = inside(&peers);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    for part in
        ["p1 leads from 10.7.1.1 to 10.7.1.2.", "can be p0 and p1.", "2 of 5 devices are usable."]
    {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(text.contains("p0 and p0/2."), "several paths through one interface: {text}");
    let text = String::from_utf8_lossy(&inside(&["p0", "p0/2"]).stdout).into_owned();
    for part in
        ["p0 and p0/2 go through one interface", "1 of 1 device is usable.", "can be p0 and p0/2."]
    {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    // Findings about one device name the others, which are not listed.
    host.ip("link set p1 mtu 9000");
    let text = String::from_utf8_lossy(&inside(&["p1"]).stdout).into_owned();
    assert!(text.contains("\n1 of 1 device is usable."), "{text}");
    assert!(text.contains("p0 has an MTU of 1500 and p1 of 9000"), "{text}");
    host.ip("link set q1 down");
    let output = inside(&[&peers[..], &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(1), "a peer's address without an interface");
    let document = json(&output);
    assert_eq!(document["summary"]["unreached"], "10.7.1.2");
    let rows = document["rows"].as_array().expect("rows");
    let row = |name: &str| rows.iter().find(|row| row["device"] == name).expect("a row");
    assert_eq!((&row("p0")["peer"], &row("p1")["peer"]), (&"10.7.0.2".into(), &Value::Null));
    assert!(row("p1")["why_not"].as_str().is_some_and(|why| why.contains("no carrier")));
    assert_eq!(row("q1")["state"], "off");
}

#[test]
fn a_drill_loses_nothing() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let is_root = status.lines().any(|line| line.starts_with("Uid:\t0\t"));
    let root = if is_root { Ok(()) } else { Err("it takes root".to_string()) };
    if !Need::Namespaces.is_met(program("tc").and(root)) {
        return;
    }
    let output = laneway(&[
        "drill",
        "--kinds",
        "drop,carrier-receiver,one-way-back,flap",
        "--sizes",
        "64,256K",
        "--faults",
        amount("2", "3"),
        "--seed",
        "5",
        "--format",
        "json",
    ]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let document = json(&output);
    let rows = document["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 8);
    for row in rows {
        for name in ["lost", "duplicated", "reordered", "damaged"] {
            assert_eq!(row[name], 0, "{row}");
        }
        let number = |name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name} in {row}"));
        assert!(number("messages") > 20.0 && number("bandwidth_after") > 0.0, "{row}");
        // Not how fast it is, which a busy machine decides, but that it moved before the repair.
        assert!(
            number("migrations") >= amount(2.0, 3.0) && number("stall_max_ms") < 2000.0,
            "{row}"
        );
    }
}

#[test]
fn a_drill_over_both_paths_loses_nothing_and_has_more_than_one_path() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let is_root = status.lines().any(|line| line.starts_with("Uid:\t0\t"));
    let root = if is_root { Ok(()) } else { Err("it takes root".to_string()) };
    if !Need::Namespaces.is_met(program("tc").and(root)) {
        return;
    }
    let faults = amount(2, 3);
    let words = "drill --spread --kinds drop,carrier-receiver --sizes 64K --rate 40Mbit --faults";
    let count = faults.to_string();
    let words: Vec<&str> = words.split(' ').chain([&*count]).collect();
    // A busy machine may keep both paths waiting; it does not do so each time.
    let is_fast = (0..3).any(|_| {
        let output = laneway(&[&words[..], &["--connections", "8", "--format", "json"]].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        let document = json(&output);
        assert_eq!(document["params"]["connections"], 8);
        let rows = document["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), 2);
        for row in rows {
            for name in ["lost", "duplicated", "reordered", "damaged"] {
                assert_eq!(row[name], 0, "{row}");
            }
        }
        // Four connections leave a path and go back to it, at each fault.
        let moved = rows[1]["migrations"].as_u64();
        assert!(moved.is_some_and(|moved| moved >= 4 * faults), "{document}");
        // One path carries 5 MB/s at most.
        let before = |row: &Value| row["bandwidth_before"].as_f64().unwrap_or(0.0);
        rows.iter().all(|row| before(row) > 5.5)
    });
    assert!(is_fast, "two paths carry more than one");
}

/// A server of this machine and a drill against it with these words and this number of connections.
fn drill_with_a_server(serve: &str, drill: &str, connections: u64) {
    let port = {
        let free = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
        free.local_addr().expect("an address").port().to_string()
    };
    let mut server = Command::new(env!("CARGO_BIN_EXE_laneway"));
    server.args(["path", "serve", "--seconds", "4", "--format", "json", "--port", &port]);
    server.args(serve.split_whitespace());
    let server = server.stdout(std::process::Stdio::piped()).spawn().expect("a server");
    let words = drill.split(' ').chain("--seconds 1 --format json --port".split(' '));
    let words: Vec<&str> = words.chain([port.as_str()]).collect();
    let output = laneway(&words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let row = &json(&output)["rows"][0];
    assert!(row["messages"].as_u64().is_some_and(|count| count > 100), "{row}");
    assert_eq!(row["unfinished"], false, "{row}");
    assert_eq!((&row["lost"], &row["damaged"]), (&0.into(), &0.into()));
    let served = server.wait_with_output().expect("it ends");
    assert_eq!(served.status.code(), Some(0));
    assert_eq!(json(&served)["rows"][0]["connections"], connections);
}

#[test]
fn a_drill_with_a_server_of_this_machine() {
    drill_with_a_server("", "drill --to 127.0.0.1 --connections 3", 3);
}

#[test]
fn a_drill_with_a_server_over_two_paths_at_once() {
    let drill = "drill --to 127.0.0.1,127.0.0.1/2 --paths lo,lo/2 --spread --connections 4";
    drill_with_a_server("--paths lo,lo/2", drill, 4);
}

#[test]
fn drills_that_cannot_be_say_why() {
    refused(&laneway(&["drill", "--kinds", "smoke"]), 2, &["unknown fault `smoke`", "drop"]);
    refused(&laneway(&["drill", "--sizes", "4"]), 2, &["messages of 4"]);
    refused(&laneway(&["drill", "--rate", "fast"]), 2, &["fast"]);
    refused(&laneway(&["drill", "--connections", "0"]), 2, &["0"]);
    let one = laneway(&["drill", "--spread", "--connections", "1"]);
    refused(&one, 2, &["nothing to spread", "--connections 4"]);
    let one = laneway(&["drill", "--to", "127.0.0.1", "--spread"]);
    refused(&one, 2, &["nothing to spread", "--to A,B"]);
    refused(&laneway(&["drill", "--compute", "long"]), 2, &["long"]);
    refused(&laneway(&["serve", "--paths", "eth99"]), 3, &["unknown interface `eth99`"]);
    refused(&laneway(&["serve", "--paths", "eth0,eth0"]), 2, &["named twice", "eth0/2"]);
    let twice = laneway(&["drill", "--to", "127.0.0.1,127.0.0.1"]);
    refused(&twice, 2, &["127.0.0.1 is named twice", "127.0.0.1,127.0.0.1/2"]);
    refused(&laneway(&["drill", "--to", "127.0.0.1/0"]), 2, &["127.0.0.1/1 to 127.0.0.1/8"]);
    let last = laneway(&["drill", "--to", "127.0.0.1/2", "--port", "65535"]);
    refused(&last, 2, &["no port for path 2"]);
    refused(&laneway(&["serve", "--secret", "no-such-file"]), 3, &["no-such-file"]);
    // No server listens there.
    refused(&laneway(&["drill", "--to", "127.0.0.1", "--port", "9"]), 3, &["did not answer"]);
}

/// Sends messages back for a while, then none for 0.4 s, and closes the connection.
fn serve_until_it_stops(mut endpoint: Endpoint, limit: Duration) -> Result<(), NetError> {
    let (begun, mut connection) = (Instant::now(), None);
    while connection.is_none() || begun.elapsed() < limit {
        endpoint.wait(Duration::from_millis(20));
        while let Some(Notice { connection: id, what, .. }) = endpoint.poll() {
            match what {
                What::Accepted { .. } => {
                    connection = Some(id);
                    endpoint.post_receive(id, 0, Vec::with_capacity(64))?;
                }
                What::Event(Event::Received { message, .. }) => endpoint.send(id, 0, message)?,
                What::Event(Event::Sent { message, .. }) => {
                    endpoint.post_receive(id, 0, message)?
                }
                _ => {}
            }
        }
    }
    std::thread::sleep(Duration::from_millis(400));
    connection.map_or(Ok(()), |id| endpoint.close(id))
}

#[test]
fn a_stall_that_has_not_ended_is_counted() {
    let paths = vec![LocalPath::at(([127, 0, 0, 1], 0).into())];
    let options = Options { paths, secret: Secret::none(), accepts: true, setup: Setup::usual() };
    let endpoint = Endpoint::open(options).expect("an endpoint");
    let port = endpoint.addresses()[0].port().to_string();
    let serves = std::thread::spawn(|| serve_until_it_stops(endpoint, Duration::from_secs(1)));
    let output = laneway(&["drill", "--to", "127.0.0.1", "--port", &port, "--format", "json"]);
    serves.join().expect("no panic").expect("the connection stood");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("unfinished"), "{said}");
    let row = &json(&output)["rows"][0];
    assert_eq!((&row["unfinished"], &row["lost"]), (&true.into(), &1.into()), "{row}");
    assert!(row["messages"].as_u64().is_some_and(|count| count > 10), "{row}");
    assert!(row["stall_max_ms"].as_f64().is_some_and(|stall| stall >= 390.0), "{row}");
}
