//! Connections that outlive their path, as programs in C use them: without any MPI, and over paths
//! that die.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use laneway_needs::{Need, program};

use crate::mpis::{Installed, finished, source, text};

/// Builds a program with the plain compiler, runs it, and looks for a line.
pub fn run(name: &str, program: &str, line: &str) -> String {
    run_with(name, program, &[], line)
}

/// The same with arguments; without any, it gets the folder of the installation.
pub fn run_with(name: &str, program: &str, arguments: &[String], line: &str) -> String {
    let installed = Installed::new(name);
    let program = installed.compile(Path::new("cc"), name, &source(program));
    let mut command = Command::new(program);
    if arguments.is_empty() {
        command.arg(&installed.0);
    }
    command.args(arguments).env("LD_LIBRARY_PATH", installed.0.join("lib"));
    let output = finished(&mut command);
    let said = text(&output);
    assert!(output.status.success(), "{:?}\n{said}", output.status);
    assert_eq!(said.matches(line).count(), 1, "{said}");
    said
}

#[test]
fn the_ping_pong_migrates_half_way() {
    let said = run("ping-pong", "examples/ping_pong.c", "1000 round trips, every message right");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = said.lines().map(words).collect();
    assert_eq!(
        lines[..5],
        [
            "connected RTS MIGRATED primary 0 alternate -1",
            "load requested RTS REARM primary 0 alternate 1",
            "loaded RTS ARMED primary 0 alternate 1",
            "migrated RTS MIGRATED primary 1 alternate -1",
            "at the peer RTS MIGRATED primary 1 alternate -1",
        ]
    );
}

#[test]
fn errors_are_reported_and_connections_go_on() {
    run("paths", "tests/library/paths.c", "paths as promised");
}

#[test]
fn load_goes_over_both_paths_and_strangers_are_counted() {
    run("spread", "tests/library/spread.c", "spread as promised");
}

#[test]
fn the_header_serves_programs_without_mpi() {
    let installed = Installed::new("without");
    for language in ["c", "c++"] {
        let mut command = Command::new("cc");
        command.args(["-x", language, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I"]);
        command.arg(installed.0.join("include")).arg("-DLANEWAY_WITHOUT_MPI");
        let output = finished(command.args(["-include", "laneway.h", "/dev/null"]));
        assert!(output.status.success(), "{language}: {}", text(&output));
    }
}

/// Two hosts, each a namespace, with two cables between them; all go with this value.
struct Hosts {
    a: String,
    b: String,
}

impl Hosts {
    fn new(mark: &str) -> Hosts {
        let mark = format!("lwc{}n{mark}", std::process::id());
        let hosts = Hosts { a: format!("{mark}a"), b: format!("{mark}b") };
        hosts.ip("netns add A");
        hosts.ip("netns add B");
        for path in 0..2 {
            let (here, there) =
                (format!("p{path} index 5{path}"), format!("p{path} index 6{path}"));
            hosts.ip(&format!("-n A link add {here} type veth peer name {there} netns B"));
            for (host, number) in [("A", 1), ("B", 2)] {
                hosts.ip(&format!("-n {host} address add 10.7{path}.0.{number}/24 dev p{path}"));
                hosts.ip(&format!("-n {host} link set p{path} up"));
            }
        }
        hosts
    }

    /// Runs `ip`; `A` and `B` stand for the hosts.
    fn ip(&self, line: &str) {
        let named = |word: &str| match word {
            "A" => self.a.clone(),
            "B" => self.b.clone(),
            word => word.to_owned(),
        };
        let words: Vec<String> = line.split(' ').map(named).collect();
        let output = finished(Command::new("ip").args(&words));
        assert!(output.status.success(), "ip {line}: {}", text(&output));
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in [&self.a, &self.b] {
            let status = Command::new("ip").args(["netns", "delete", name]).status();
            assert!(status.is_ok_and(|status| status.success()) || std::thread::panicking());
        }
    }
}

/// A program that is ended with this value.
struct Running(Child);

impl Running {
    fn start(host: &str, installed: &Installed, words: &[&str]) -> Running {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", "60", "ip", "netns", "exec", host]);
        command.arg(installed.0.join("numbered")).args(words);
        command.env("LD_LIBRARY_PATH", installed.0.join("lib"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        Running(command.spawn().expect("timeout starts"))
    }

    /// All that it still has to say, and whether it ended well.
    fn end(&mut self, out: &mut impl Read) -> (String, bool) {
        let mut said = String::new();
        out.read_to_string(&mut said).expect("its words");
        (said, self.0.wait().expect("its end").success())
    }
}

impl Drop for Running {
    /// `timeout` leads a group of its own, with the program in it.
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(Some(_))) {
            return;
        }
        let group = format!("-{}", self.0.id());
        _ = Command::new("kill").args(["-KILL", "--", &group]).output();
        _ = self.0.wait();
    }
}

/// How often a program says it has migrated.
fn migrations(said: &str) -> u32 {
    let words: Vec<&str> = said.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "migrations").expect("a number of migrations");
    words[at - 1].parse().expect("a number")
}

/// Bytes that a program says it has sent over each path.
fn sent(said: &str) -> [f64; 2] {
    ["path 0 sent ", "path 1 sent "].map(|begin| {
        let number = said.lines().find_map(|line| line.strip_prefix(begin));
        number.and_then(|number| number.parse().ok()).expect("a number of bytes")
    })
}

/// Sends messages over a number of connections while one path after the other dies; what the sender
/// said. Without what it takes, none.
fn numbered(name: &str, connections: &str) -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let is_root = status.lines().any(|line| line.starts_with("Uid:\t0\t"));
    let root = if is_root { Ok(()) } else { Err("it takes root".to_string()) };
    if !Need::Namespaces.is_met(program("ip").and(root)) {
        return None;
    }
    const COUNT: &str = "16000";
    let installed = Installed::new(name);
    installed.compile(Path::new("cc"), "numbered", &source("tests/library/numbered.c"));
    let secret = installed.0.join("secret");
    std::fs::write(&secret, "what both processes of this job know\n").expect("a file");
    std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o600)).expect("a mode");
    let secret = secret.display().to_string();
    let hosts = Hosts::new(connections);
    let words = ["receive", &secret, COUNT, connections, "10.70.0.2", "p0", "10.71.0.2", "p1"];
    let mut receiver = Running::start(&hosts.b, &installed, &words);
    let mut received = BufReader::new(receiver.0.stdout.take().expect("its output"));
    let mut line = String::new();
    received.read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n");
    let words = ["send", &secret, COUNT, connections, "10.70.0.1", "p0", "10.71.0.1", "p1"];
    let words = [&words[..], &["10.70.0.2", "10.71.0.2"]].concat();
    let mut sender = Running::start(&hosts.a, &installed, &words);
    let mut out = BufReader::new(sender.0.stdout.take().expect("its output"));
    while line != "connected\n" {
        line.clear();
        assert!(out.read_line(&mut line).expect("a line") > 0, "it ended before it was connected");
    }
    sleep(Duration::from_millis(400));
    hosts.ip("-n A link set p0 down");
    sleep(Duration::from_millis(400));
    hosts.ip("-n A link set p0 up");
    // The kernel takes a second to use it again.
    sleep(Duration::from_millis(1500));
    hosts.ip("-n B link set p1 down");
    assert!(sender.0.try_wait().expect("a child").is_none(), "it ended before the last fault");
    let (said, well) = sender.end(&mut out);
    let (heard, fully) = receiver.end(&mut received);
    println!("sender: {said}receiver: {heard}");
    assert!(well && fully, "sender: {said}\nreceiver: {heard}");
    let line = format!("{COUNT} messages, each once and in order");
    assert!(said.contains(&line) && heard.contains(&line), "{said}{heard}");
    assert!(migrations(&said) >= 2 && migrations(&heard) >= 2, "{said}{heard}");
    Some(said)
}

#[test]
fn numbered_messages_arrive_once_and_in_order_while_paths_die() {
    numbered("numbered", "1");
}

#[test]
fn spread_connections_use_both_paths_while_they_die() {
    let Some(said) = numbered("numbered-spread", "4") else { return };
    let [first, second] = sent(&said);
    let part = first / (first + second);
    assert!((0.05..=0.95).contains(&part), "{part} of the bytes over the first path: {said}");
    // Two leave the first path and go back, and two leave the second.
    assert!(migrations(&said) >= 4, "{said}");
}
