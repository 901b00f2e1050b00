//! `--backend net`: ranks over connections that migrate, on this host, and on the hosts of a lab
//! whose paths break under them.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use laneway_needs::{Need, program};
use serde_json::Value;

/// The command, ended after three minutes; nothing of a surrounding allocation is seen.
fn laneway(args: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "180"]).arg(env!("CARGO_BIN_EXE_laneway")).args(args);
    for name in ["LANEWAY_HOSTS", "LANEWAY_HOSTFILE", "LANEWAY_PATHS", "SLURM_JOB_NODELIST"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).output().expect("timeout starts")
}

fn said(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

fn document(output: &Output) -> Value {
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

/// Every case was right, and there were many.
fn all_right(document: &Value, ranks: u64) {
    let summary = &document["summary"];
    assert_eq!((&summary["failed"], &document["env"]["ranks"]), (&0.into(), &ranks.into()));
    assert!(summary["passed"].as_u64().is_some_and(|passed| passed > 100), "{summary}");
    assert_eq!(document["env"]["backend"], "net");
}

#[test]
fn every_algorithm_is_right_on_this_host() {
    let checked = laneway(&["check", "--backend", "net", "-n", "4", "--format", "json"]);
    let document = document(&checked);
    all_right(&document, 4);
    assert_eq!(document["env"]["paths"], "loopback");
    assert_eq!(document["env"]["clock_is_global"], true);
}

#[test]
fn every_kind_of_security_is_right_and_an_unknown_one_refused() {
    let run = |security: &str| {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", "180"]).arg(env!("CARGO_BIN_EXE_laneway"));
        command.args(["check", "alltoall", "bcast", "--backend", "net", "-n", "3"]);
        command.args(["--format", "json"]).env("LANEWAY_SECURITY", security);
        command.stdin(Stdio::null()).output().expect("timeout starts")
    };
    for security in ["encrypt", "authenticate", "trust"] {
        let document = document(&run(security));
        all_right(&document, 3);
        assert_eq!(document["env"]["security"], security);
    }
    refused(&run("none"), 2, &["LANEWAY_SECURITY is \"none\"", "LANEWAY_SECURITY=encrypt"]);
}

#[test]
fn both_kinds_of_paths_are_right_and_an_unknown_one_refused() {
    let run = |kind: &str| {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", "180"]).arg(env!("CARGO_BIN_EXE_laneway"));
        command.args(["check", "alltoall", "allreduce", "--backend", "net", "-n", "4"]);
        command.args(["--format", "json"]).env("LANEWAY_PATH_KIND", kind);
        command.stdin(Stdio::null()).output().expect("timeout starts")
    };
    for kind in ["datagram", "stream"] {
        let document = document(&run(kind));
        all_right(&document, 4);
        assert_eq!(document["env"]["path_kind"], kind);
    }
    refused(&run("tcp"), 2, &["LANEWAY_PATH_KIND is \"tcp\"", "LANEWAY_PATH_KIND=datagram"]);
}

#[test]
fn several_connections_serve_a_pair() {
    let words = ["check", "alltoall", "allreduce", "--backend", "net", "-n", "3"];
    let checked = laneway(&[&words[..], &["--connections", "3", "--format", "json"]].concat());
    let document = document(&checked);
    all_right(&document, 3);
    assert_eq!(document["env"]["connections_per_pair"], "3");
}

#[test]
fn messages_and_collectives_are_measured() {
    for verb in [&["p2p"][..], &["coll", "bcast"]] {
        let words = ["--backend", "net", "-n", "2", "--sizes", "8,1M", "--reps", "5"];
        let args = [&["measure"][..], verb, &words, &["--format", "json"]].concat();
        let measured = document(&laneway(&args));
        let rows = measured["rows"].as_array().expect("rows");
        assert!(rows.len() >= 2, "{measured}");
        assert_eq!(measured["env"]["backend"], "net");
    }
}

/// A file of this test alone, gone with this value.
struct Text(PathBuf);

impl Text {
    fn new(name: &str, text: &str) -> Text {
        let file = std::env::temp_dir().join(format!("laneway-{name}-{}", std::process::id()));
        std::fs::write(&file, text).expect("a file");
        Text(file)
    }

    fn name(&self) -> &str {
        self.0.to_str().expect("a plain name")
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn what_cannot_be_run_is_refused() {
    let net =
        |words: &[&str]| laneway(&[&["check", "barrier", "--backend", "net"], words].concat());
    refused(&net(&["--hosts", "a,b:2", "-n", "4"]), 2, &["no room for 4 ranks", "for 3 ranks"]);
    refused(&net(&["--hosts", "a,,b"]), 2, &["is not a list of hosts"]);
    refused(&net(&["--hosts=-oProxyCommand=x"]), 2, &["is not a host name"]);
    refused(&net(&["--hostfile", "no/such/file"]), 3, &["the hostfile no/such/file"]);
    let file = Text::new("hostfile", "node1 slots=2\nnode2 slots=many\n");
    refused(&net(&["--hostfile", file.name()]), 2, &["line 2: `many` is not a number of slots"]);
    refused(
        &net(&["-n", "2", "--paths", "no-such0"]),
        3,
        &["no-such0 cannot be a path", "ip -brief address"],
    );
    refused(&net(&["-n", "2", "--paths", "lo"]), 3, &["lo cannot be a path"]);
    refused(&net(&["-n", "2", "--paths", "eth0,eth0"]), 3, &["named twice", "eth0/2"]);
    refused(&net(&["-n", "2", "--paths", "eth0/0"]), 3, &["eth0/1 to eth0/8"]);
    refused(&net(&["-n", "2", "--spread"]), 2, &["one connection cannot be spread"]);
    let unknown = net(&["--hosts", "localhost,no-such-host.invalid"]);
    refused(&unknown, 3, &["rank 1 could not be started"]);
    let twice = laneway(&["check", "--backend", "net:eth0", "--paths", "eth1"]);
    refused(&twice, 2, &["paths are eth0 by --backend, and eth1 by --paths"]);
    let other = laneway(&["check", "--backend", "local", "--hosts", "a"]);
    refused(&other, 2, &["--hosts is for ranks over the network"]);
    let other = laneway(&["check", "--backend", "local", "--spread"]);
    refused(&other, 2, &["--spread is for ranks over the network"]);
    refused(&laneway(&["check", "--backend", "netz"]), 2, &["net[:DEV,DEV]"]);
}

/// Whether a lab can be built here.
fn needs_lab() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let is_root = status.lines().any(|line| line.starts_with("Uid:\t0\t"));
    let root = if is_root { Ok(()) } else { Err("it takes root".to_string()) };
    Need::Namespaces.is_met(program("ip").and(program("tc")).and(root))
}

/// A command of this program on the first of five hosts with two cards, or what `lab` says.
fn in_lab(lab: &[&str], words: &[&str]) -> Output {
    let shape = ["lab", "run", "--sites", "1x5", "--cards", "2", "--no-probe"];
    let own = ["--", env!("CARGO_BIN_EXE_laneway")];
    laneway(&[&shape[..], lab, &own, words].concat())
}

/// One path of one host is dead at any time: in silence or without its carrier, at either end.
#[test]
fn every_byte_is_right_while_paths_die_and_return() {
    if !needs_lab() {
        return;
    }
    let faults = (1..600).map(|k| {
        let (at, host, card) = (k as f64 * 0.2, k % 5, k % 2);
        let fault = match k % 3 {
            0 => format!("drop node{host}:eth{card}"),
            1 => format!("carrier node{host}:eth{card}"),
            _ => format!("drop node{host}:eth{card} in"),
        };
        format!("{at:.1}s {fault} for 200ms\n")
    });
    let timetable = Text::new("timetable", &faults.collect::<String>());
    let checked = in_lab(
        &["--timetable", timetable.name()],
        &["check", "--backend", "net", "--format", "json"],
    );
    let document = document(&checked);
    all_right(&document, 5);
    assert_eq!(document["env"]["paths"].as_str().map(|paths| paths.split(',').count()), Some(2));
    assert_eq!(document["env"]["clock_is_global"], false);
    let broken = said(&checked).matches("fault: ").count();
    assert!(broken >= 8, "{broken} faults while the check ran");
}

/// Longer than connections of half a minute would survive: a switch that is started anew.
#[test]
fn long_outages_of_all_paths_are_survived() {
    if !needs_lab() {
        return;
    }
    let faults = ["eth0", "eth1"].map(|card| format!("1s drop node1:{card} for 60s\n"));
    let timetable = Text::new("minute", &faults.concat());
    let words = ["check", "--backend", "net", "--format", "json"];
    let begun = Instant::now();
    let checked = in_lab(&["--timetable", timetable.name()], &words);
    all_right(&document(&checked), 5);
    assert!(begun.elapsed() > Duration::from_secs(60), "{}", said(&checked));
    assert_eq!(said(&checked).matches("begin drop").count(), 2);
}

/// Bytes that each card of the first host has sent in a run, and the rows.
fn cards_after(words: &str) -> ([u64; 2], String) {
    let shape = ["lab", "run", "--sites", "1x2", "--cards", "2", "--no-probe", "--", "sh", "-c"];
    let script = format!("{} {words} && cat /proc/net/dev", env!("CARGO_BIN_EXE_laneway"));
    let output = laneway(&[&shape[..], &[script.as_str()]].concat());
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let sent = ["eth0:", "eth1:"].map(|card| {
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix(card));
        let word = line.and_then(|counters| counters.split_whitespace().nth(8));
        word.and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{card} in {text}"))
    });
    (sent, text)
}

#[test]
fn load_is_spread_over_both_cards_where_it_is_asked_for() {
    if !needs_lab() {
        return;
    }
    let words = "check alltoall --backend net --sizes 1M --format json --connections 4";
    let ([one, other], _) = cards_after(words);
    assert!(other < one / 10, "{one} and {other} bytes without the option");
    let ([one, other], text) = cards_after(&format!("{words} --spread"));
    let all = one + other;
    assert!(one > all * 3 / 10 && other > all * 3 / 10, "{one} and {other} bytes with it");
    assert!(text.contains("\"spread\": \"yes\"") || text.contains("\"spread\":\"yes\""), "{text}");
    let alone = "check barrier --backend net:eth0 --connections 2 --spread";
    let shape = ["lab", "run", "--sites", "1x2", "--cards", "2", "--no-probe", "--"];
    let own = [env!("CARGO_BIN_EXE_laneway")];
    let alone: Vec<&str> = alone.split(' ').collect();
    refused(&laneway(&[&shape[..], &own, &alone].concat()), 2, &["one path cannot be spread"]);
}

/// One card, two paths that differ in their ports.
#[test]
fn ranks_have_several_paths_through_one_card() {
    if !needs_lab() {
        return;
    }
    let words = ["check", "alltoall", "bcast", "reduce", "--backend", "net:eth0,eth0/2"];
    let document = document(&in_lab(&[], &[&words[..], &["--format", "json"]].concat()));
    all_right(&document, 5);
    let paths = document["env"]["paths"].as_str().map(|paths| paths.split(',').count());
    assert_eq!(paths, Some(2));
}

#[test]
fn hosts_with_several_ranks_mix_loopback_and_paths() {
    if !needs_lab() {
        return;
    }
    let words = ["check", "alltoall", "bcast", "reduce", "--backend", "net"];
    let hosts = ["--hosts", "node0:2,node3:2,node1", "--format", "json"];
    all_right(&document(&in_lab(&[], &[&words[..], &hosts].concat())), 5);
}

#[test]
fn a_host_that_is_not_there_or_dies_ends_the_run() {
    if !needs_lab() {
        return;
    }
    let unknown = in_lab(&[], &["check", "--backend", "net", "--hosts", "node0,node9"]);
    refused(&unknown, 3, &["rank 1 could not be started on node9"]);
    let device = in_lab(&[], &["check", "--backend", "net:eth0,eth7"]);
    refused(&device, 3, &["eth7 cannot be a path", "this host has lo, eth0, eth1"]);
    let timetable = Text::new("kill", "1s kill node2\n");
    let long = ["check", "--backend", "net", "--sizes", "0,1,7,1K,64K+1,1M,4M"];
    let killed = in_lab(&["--timetable", timetable.name()], &long);
    refused(&killed, 3, &["rank 2 on node2 died: killed by signal 9 (SIGKILL)"]);
}
