//! `laneway path watch`, `drain` and `undrain` on programs that run: between two namespaces with
//! two paths, and on this machine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use laneway_needs::{Need, program};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(20);

/// Control sockets of one test, apart from those of others; goes with this value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("laneway-watch-{name}-{}", std::process::id());
        Folder(std::env::temp_dir().join(name))
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("LANEWAY_CONTROL_DIR", &self.0).env_remove("LANEWAY_FORMAT");
        command
    }

    fn path(&self, args: &[&str]) -> Output {
        let limited = ["--kill-after=5", "30", env!("CARGO_BIN_EXE_laneway"), "path"];
        self.command("timeout").args(limited).args(args).output().expect("timeout starts")
    }

    fn start(&self, words: &[&str]) -> Child {
        let mut command = self.command(words[0]);
        command.args(&words[1..]).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("it starts")
    }

    fn watch(&self) -> Value {
        json(&self.path(&["watch", "--once", "--format", "json"]))
    }

    /// Looks until `count` connections are armed.
    fn await_armed(&self, count: u64) -> Value {
        until(|| {
            let output = self.path(&["watch", "--once", "--format", "json"]);
            let document: Value = serde_json::from_slice(&output.stdout).ok()?;
            (document["summary"]["armed"] == count).then_some(document)
        })
    }

    fn is_empty(&self) -> bool {
        std::fs::read_dir(&self.0).is_ok_and(|mut files| files.next().is_none())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < LIMIT, "it took too long");
        std::thread::sleep(Duration::from_millis(30));
    }
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn json(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", said(output));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {}", said(output)))
}

fn refused(output: &Output, code: i32, parts: &[&str]) {
    let said = said(output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    for part in ["error: ", "cause: ", "try: "].iter().chain(parts) {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    assert!(output.stdout.is_empty(), "no rows with an error");
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
}

fn rows<'a>(document: &'a Value, what: &str, pid: u32) -> Vec<&'a Value> {
    let all = document["rows"].as_array().expect("rows");
    all.iter().filter(|row| row["what"] == what && row["pid"] == pid).collect()
}

fn sent_bytes(document: &Value, pid: u32, path: &str) -> u64 {
    let paths = rows(document, "path", pid);
    let row = paths.iter().find(|row| row["path"] == path).expect("a path");
    row["sent_bytes"].as_u64().expect("a number")
}

/// Whether a text is one that Prometheus reads: each metric with its help and type before its
/// samples, no sample twice, labels in quotes, values that are numbers. The samples.
fn check_prometheus(text: &str) -> BTreeSet<String> {
    let (mut metric, mut typed, mut samples) = (String::new(), String::new(), BTreeSet::new());
    let (mut metrics, mut is_histogram) = (BTreeSet::new(), false);
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            metric = help.split(' ').next().expect("a name").to_string();
            assert!(metrics.insert(metric.clone()), "{metric} twice");
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').expect("a name and a type");
            assert_eq!(name, metric);
            assert!(["gauge", "counter", "histogram"].contains(&kind), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            (typed, is_histogram) = (name.to_string(), kind == "histogram");
        } else {
            let end = line.find(['{', ' ']).expect("a value");
            let parts = ["_bucket", "_sum", "_count"];
            let part = parts.iter().find(|part| is_histogram && line[..end].ends_with(**part));
            let name = line[..end].strip_suffix(part.unwrap_or(&"")).expect("its part");
            assert_eq!((name, typed.as_str()), (metric.as_str(), metric.as_str()), "{line}");
            assert_eq!(is_histogram, part.is_some(), "{line}");
            // What is for the whole host has no numbers of processes.
            assert!(!(metric.contains("_host_") && line.contains("pid=")), "{line}");
            assert!(metric.starts_with("laneway_path_"), "{line}");
            let (name, value) = line.rsplit_once(' ').expect("a value");
            assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{line}");
            if let Some(labels) = name[end..].strip_prefix('{') {
                let labels = labels.strip_suffix('}').expect("labels end");
                for label in labels.split("\",") {
                    let (name, value) = label.split_once("=\"").expect("name and value");
                    assert!(name.chars().all(|c| c.is_ascii_lowercase()), "{line}");
                    assert!(!value.trim_end_matches('"').contains('"'), "{line}");
                }
            }
            assert!(samples.insert(line.to_string()), "{line} twice");
        }
    }
    assert!(metrics.len() > 10, "{metrics:?}");
    samples
}

/// Two namespaces with two cables between them, gone with this value.
struct Hosts([String; 2]);

impl Hosts {
    fn new() -> Hosts {
        let hosts = Hosts(["a", "b"].map(|end| format!("lwwatch{}{end}", std::process::id())));
        for (end, host) in hosts.0.iter().enumerate() {
            ip(&["netns", "add", host]);
            if end == 0 {
                continue;
            }
            let [a, b] = &hosts.0;
            for path in ["p0", "p1"] {
                let cable = ["link", "add", path, "netns", a, "type", "veth", "peer", "name"];
                ip(&[&cable[..], &[path, "netns", b]].concat());
            }
        }
        for (end, host) in hosts.0.iter().enumerate() {
            for path in 0..2 {
                let (device, address) = (format!("p{path}"), format!("10.7.{path}.{}/24", end + 1));
                ip(&["-n", host, "address", "add", &address, "dev", &device]);
                ip(&["-n", host, "link", "set", &device, "up"]);
            }
        }
        hosts
    }

    fn within<'a>(&'a self, host: usize, args: &[&'a str]) -> Vec<&'a str> {
        let laneway = ["ip", "netns", "exec", &self.0[host], env!("CARGO_BIN_EXE_laneway"), "path"];
        [&laneway[..], args].concat()
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for host in &self.0 {
            _ = Command::new("ip").args(["netns", "delete", host]).status();
        }
    }
}

fn ip(words: &[&str]) {
    let output = Command::new("ip").args(words).output().expect("ip starts");
    assert!(output.status.success(), "ip {words:?}: {}", said(&output));
}

fn secret(folder: &Path) -> PathBuf {
    use std::os::unix::fs::OpenOptionsExt;
    let file = folder.with_extension("secret");
    let mut options = std::fs::OpenOptions::new();
    let mut made = options.create(true).write(true).mode(0o600).open(&file).expect("a file");
    std::io::Write::write_all(&mut made, b"the secret of two namespaces").expect("written");
    file
}

/// What the server's end shows, by its path: connection, primary, drained paths.
fn is_on(document: &Value, pid: u32, path: &str) -> bool {
    let [row] = rows(document, "connections", pid)[..] else { panic!("{document}") };
    row["primary"] == path
}

/// The metrics of a server whose path p0 was drained.
fn check_metrics(folder: &Folder, at: u32) {
    let metrics = folder.0.with_extension("prom");
    json(&folder.path(&[
        "watch",
        "--once",
        "--format",
        "json",
        "--prometheus",
        metrics.to_str().expect("a name"),
    ]));
    let text = std::fs::read_to_string(&metrics).expect("written");
    let samples = check_prometheus(&text);
    let has = |parts: &[&str]| {
        let found = samples.iter().any(|line| parts.iter().all(|part| line.contains(part)));
        assert!(found, "{parts:?} is not in {text}");
    };
    let pid = format!("{{pid=\"{at}\",service=\"0\",program=\"laneway\"");
    has(&["laneway_path_drained", &pid, "device=\"p0\",address=\"10.7.0.1:7471\"} 1"]);
    has(&["laneway_path_drained", &pid, "device=\"p1\",address=\"10.7.1.1:7471\"} 0"]);
    has(&["laneway_path_connections", &pid, "state=\"RTS\"", "device=\"p1\"} 1"]);
    has(&["laneway_path_migrations_total", &pid, "} 1"]);
    has(&["laneway_path_processes 2"]);
    // Sums of both processes.
    let host = samples.iter().filter(|line| line.starts_with("laneway_path_host_connections{"));
    let counts = host.filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok());
    assert_eq!(counts.sum::<u64>(), 2, "{text}");
    has(&["laneway_path_host_migrations_total 2"]);
    has(&["laneway_path_host_round_trip_seconds_bucket{le=\"0.000008\"}"]);
    has(&["laneway_path_host_stall_seconds_bucket{le=\"+Inf\"} 0"]);
    let value = |name: &str| {
        let line = samples.iter().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.and_then(|value| value.parse::<f64>().ok()).unwrap_or_else(|| panic!("{name}: {text}"))
    };
    let [count, sum] =
        ["count", "sum"].map(|part| value(&format!("laneway_path_host_round_trip_seconds_{part}")));
    assert!(count > 10.0 && (1e-7..1.0).contains(&(sum / count)), "{count} trips in {sum} s");
    let table = said(&folder.path(&["watch", "--once"]));
    assert!(table.contains("10.7.0.1:7471") && table.contains(&at.to_string()), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    _ = std::fs::remove_file(metrics);
}

#[test]
fn a_path_is_drained_and_given_back_under_traffic() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let is_root = status.lines().any(|line| line.starts_with("Uid:\t0\t"));
    let root = if is_root { Ok(()) } else { Err("it takes root".to_string()) };
    if !Need::Namespaces.is_met(program("ip").and(root)) {
        return;
    }
    let (folder, hosts) = (Folder::new("lab"), Hosts::new());
    let file = secret(&folder.0);
    let secret = file.to_str().expect("a name");
    let serve = ["serve", "--paths", "p0,p1", "--secret", secret, "--seconds", "60"];
    let server = folder.start(&hosts.within(0, &[&serve[..], &["--format", "json"]].concat()));
    until(|| (!folder.is_empty() && folder.0.exists()).then_some(()));
    let drill = ["drill", "--to", "10.7.0.1,10.7.1.1", "--secret", secret, "--seconds", "8"];
    let more = ["--sizes", "4K", "--format", "json"];
    let client = folder.start(&hosts.within(1, &[&drill[..], &more].concat()));
    let (at, to) = (server.id(), client.id());

    let seen = folder.await_armed(2);
    assert_eq!(
        (&seen["summary"]["processes"], &seen["schema"]),
        (&2.into(), &"laneway.path/1".into())
    );
    let [row] = rows(&seen, "connections", at)[..] else { panic!("{seen}") };
    assert_eq!((&row["primary"], &row["alternate"]), (&"p0".into(), &"p1".into()), "{row}");
    assert_eq!(
        (&row["state"], &row["peer"].as_str().map(|peer| peer.starts_with("10.7.0.2:"))),
        (&"RTS".into(), &Some(true)),
        "{row}"
    );
    assert_eq!(rows(&seen, "path", to).len(), 2);

    let drained =
        json(&folder.path(&["drain", "p0", "--pid", &at.to_string(), "--format", "json"]));
    let [row] = &drained["rows"].as_array().expect("rows")[..] else { panic!("{drained}") };
    assert_eq!((&row["moved"], &row["stay"], &row["pid"]), (&1.into(), &0.into(), &at.into()));
    let before = until(|| {
        let seen = folder.watch();
        (is_on(&seen, at, "p1") && is_on(&seen, to, "p1")).then_some(seen)
    });
    std::thread::sleep(Duration::from_millis(400));
    let after = folder.watch();
    for pid in [at, to] {
        let [p0, p1] =
            ["p0", "p1"].map(|path| sent_bytes(&after, pid, path) - sent_bytes(&before, pid, path));
        assert!(p1 > 100_000 && p0 < p1 / 20, "{pid}: {p0} bytes over p0, {p1} over p1");
    }

    check_metrics(&folder, at);
    json(&folder.path(&["undrain", "10.7.0.1", "--pid", &at.to_string(), "--format", "json"]));
    folder.await_armed(2);
    let text = folder.path(&["drain", "p1"]);
    assert!(text.status.success() && said(&text).contains("0 stay"), "{}", said(&text));
    until(|| is_on(&folder.watch(), to, "p0").then_some(()));
    assert!(folder.path(&["undrain", "p1"]).status.success());
    folder.await_armed(2);

    refused(&folder.path(&["drain", "p7"]), 3, &["no process has a path `p7`", "are p0, p1"]);
    let row = &json(&client.wait_with_output().expect("it ends"))["rows"][0];
    for name in ["lost", "duplicated", "reordered", "damaged"] {
        assert_eq!(row[name], 0, "{row}");
    }
    assert!(row["messages"].as_u64().is_some_and(|count| count > 1000), "{row}");
    assert_eq!(row["migrations"], 2, "{row}");
    interrupt(&server);
    let served = json(&server.wait_with_output().expect("it ends"));
    assert_eq!(
        (&served["rows"][0]["broken"], &served["rows"][0]["migrations"]),
        (&0.into(), &2.into())
    );
    assert!(folder.is_empty(), "sockets go with their programs");
    _ = std::fs::remove_file(file);
}

#[test]
fn one_path_cannot_be_left_and_a_watch_ends_with_its_program() {
    let folder = Folder::new("one");
    let port = {
        let free = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
        free.local_addr().expect("an address").port().to_string()
    };
    let laneway = env!("CARGO_BIN_EXE_laneway");
    let server = folder.start(&[laneway, "path", "serve", "--port", &port, "--seconds", "60"]);
    until(|| folder.0.exists().then_some(()));
    let drill = [laneway, "path", "drill", "--to", "127.0.0.1", "--port", &port, "--seconds", "5"];
    let client = folder.start(&drill);
    until(|| {
        let output = folder.path(&["watch", "--once", "--format", "json"]);
        let document: Value = serde_json::from_slice(&output.stdout).ok()?;
        (document["summary"]["connections"] == 2).then_some(())
    });
    let pid = server.id().to_string();
    let live = folder.start(&[laneway, "path", "watch", "--every", "50ms", "--pid", &pid]);
    let metrics = folder.0.with_extension("prom");
    let name = metrics.to_str().expect("a name");
    let quiet = folder.start(&[laneway, "path", "watch", "--every", "50ms", "--prometheus", name]);
    let drained = folder.path(&["drain", "127.0.0.1", "--pid", &pid]);
    assert_eq!(drained.status.code(), Some(1), "{}", said(&drained));
    assert!(said(&drained).contains("some connections stay"), "{}", said(&drained));
    assert!(folder.path(&["undrain", "0", "--pid", &pid]).status.success());
    let text = folder.path(&["watch", "--once"]);
    for part in [
        "received_bytes",
        "waiting ",
        "2 processes have 2 connections, 0 of them armed",
        "MIGRATED",
    ] {
        assert!(said(&text).contains(part), "{part} is not in {}", said(&text));
    }
    check_prometheus(&std::fs::read_to_string(&metrics).expect("written"));

    assert!(client.wait_with_output().is_ok_and(|output| output.status.success()));
    interrupt(&server);
    assert!(server.wait_with_output().is_ok_and(|output| output.status.success()));
    let live = live.wait_with_output().expect("it ends with its program");
    assert_eq!(live.status.code(), Some(0), "{}", said(&live));
    let looks = said(&live).matches("sent_mb_s").count();
    assert!(looks > 10 && said(&live).contains(&pid), "{looks} looks");
    until(|| {
        let text = std::fs::read_to_string(&metrics).expect("written");
        text.contains("laneway_path_processes 0\n").then_some(())
    });
    interrupt(&quiet);
    let quiet = quiet.wait_with_output().expect("it ends");
    assert_eq!((quiet.status.code(), said(&quiet).as_str()), (Some(0), ""));
    _ = std::fs::remove_file(metrics);
}

#[test]
fn what_cannot_be_watched_or_drained_says_why() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("none");
    refused(&folder.path(&["watch", "--once"]), 3, &["no process with paths runs here"]);
    refused(&folder.path(&["watch", "--pid", "1"]), 3, &["process 1 does not run here"]);
    refused(&folder.path(&["drain", "eth0"]), 3, &["no process with paths runs here"]);
    refused(&folder.path(&["undrain", "eth0", "--pid", "1"]), 3, &["process 1 does not run"]);
    refused(&folder.path(&["drain"]), 2, &["PATH"]);
    refused(&folder.path(&["drain", ""]), 2, &["unknown path ``"]);
    refused(&folder.path(&["drain", "eth0 eth1"]), 2, &["unknown path `eth0 eth1`"]);
    refused(&folder.path(&["drain", &"x".repeat(1000)]), 2, &["unknown path `xxx"]);
    refused(&folder.path(&["watch", "--pid", "0"]), 2, &["0"]);
    for every in ["0", "1", "1ms", "5 days", "-1s", "nan"] {
        refused(&folder.path(&["watch", "--once", &format!("--every={every}")]), 2, &[every]);
    }
    let nowhere = folder.0.join("no/such/folder/file.prom");
    let nowhere = ["watch", "--once", "--prometheus", nowhere.to_str().expect("a name")];
    refused(&folder.path(&nowhere), 3, &["cannot write"]);
    std::fs::create_dir(&folder.0).expect("a folder");
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(&folder.0, open).expect("a mode");
    refused(&folder.path(&["watch", "--once"]), 3, &["others may write to it"]);
    refused(&folder.path(&["drain", "eth0"]), 3, &["others may write to it"]);
}
