//! The command as ranks of a cluster that SimGrid simulates.

#[path = "../../../../../benches/random/cell.rs"]
mod cell;
#[path = "../../../../../benches/random/claims.rs"]
mod claims;
use crate::common;
mod judge;
#[path = "../../../../../benches/random/kind.rs"]
mod kind;
mod measured;
mod random;
mod ranking;
#[path = "../../../../../benches/random/simgrid.rs"]
mod simgrid;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use common::{BARE_NETWORK, ENVELOPE_BYTES, object};
use laneway_needs::{Need, program};

/// Hosts of one switch, each with a link of its own.
const BYTES_PER_SECOND: f64 = 125e6;
const LINK_SECONDS: f64 = 5e-6;
const HOSTS: usize = 16;

/// A platform and the names of its hosts, in a folder that is removed at the end.
struct Cluster(PathBuf);

impl Cluster {
    /// `None` if SimGrid is not installed.
    fn new(name: &str) -> Option<Cluster> {
        if !Need::Simgrid.is_met(program("smpirun")) {
            return None;
        }
        let folder = format!("laneway-smpi-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let platform = format!(
            "<?xml version='1.0'?>\n\
             <!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
             <platform version=\"4.1\"><cluster id=\"c\" prefix=\"node-\" suffix=\"\" \
             radical=\"0-{}\" speed=\"1Gf\" bw=\"{BYTES_PER_SECOND}Bps\" lat=\"{LINK_SECONDS}s\"/>\
             </platform>\n",
            HOSTS - 1
        );
        let hosts: String = (0..HOSTS).map(|host| format!("node-{host}\n")).collect();
        std::fs::write(folder.join("platform.xml"), platform).expect("a file");
        std::fs::write(folder.join("hosts"), hosts).expect("a file");
        Some(Cluster(folder))
    }

    fn run(&self, ranks: u32, settings: &[&str], args: &[&str]) -> Outcome {
        self.run_on("platform.xml", ranks, settings, args)
    }

    fn run_on(&self, platform: &str, ranks: u32, settings: &[&str], args: &[&str]) -> Outcome {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", "240", "smpirun", "-np", &ranks.to_string()]);
        command.arg("-platform").arg(self.0.join(platform));
        command.arg("-hostfile").arg(self.0.join("hosts"));
        command.args(["--cfg=smpi/privatization:dlopen", "--cfg=smpi/simulate-computation:no"]);
        command.args(settings).arg(object()).args(args).stdin(Stdio::null());
        let output = command.output().expect("timeout starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Outcome { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// The time of one collective, seen to begin everywhere at one instant.
    fn seconds(&self, ranks: u32, operation: &str, algorithm: &str, size: u32) -> f64 {
        let args = ["virtual-time", operation, algorithm, &size.to_string()];
        let outcome = self.run(ranks, &BARE_NETWORK, &args);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        let start = format!("{operation},{algorithm},{ranks},{size},");
        let figures = outcome.out.lines().find_map(|line| line.strip_prefix(&start));
        let (seconds, skew) = figures.and_then(|line| line.split_once(',')).expect("two figures");
        assert_eq!(skew.parse(), Ok(0.0), "{outcome:?}");
        seconds.parse().expect("a number")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[derive(Debug)]
struct Outcome {
    code: Option<i32>,
    out: String,
    err: String,
}

#[test]
fn simulated_ranks_pass_every_check() {
    let Some(cluster) = Cluster::new("check") else { return };
    let env = cluster.run(2, &[], &["info", "env"]);
    assert_eq!(env.code, Some(0), "{env:?}");
    // Columns are as wide as their longest word.
    let words: Vec<&str> = env.out.split_whitespace().collect();
    let out = words.join(" ");
    for word in ["SMPI Version", "mpi_flavour smpi", "SimGrid smpirun", "node-0,node-1"] {
        assert!(out.contains(word), "no '{word}' in {env:?}");
    }

    let check = cluster.run(5, &[], &["check"]);
    assert_eq!(check.code, Some(0), "{check:?}");
    let summary = check.out.lines().last().expect("a summary");
    let passed = summary.split(' ').next().and_then(|word| word.parse::<u32>().ok());
    assert!(passed.is_some_and(|passed| passed > 2000), "{summary}");
    assert!(summary.contains(" 0 failed"), "{summary}");
    // Every operation also by SMPI's own collective.
    let natives = check.out.lines().filter(|line| line.contains(" native "));
    assert_eq!(natives.count(), 16, "{}", check.out);
}

#[test]
fn numbers_of_ranks_that_leave_some_without_data_work() {
    let Some(cluster) = Cluster::new("ranks") else { return };
    for ranks in [1, 7] {
        let check = cluster.run(ranks, &[], &["check", "--sizes", "0,1K"]);
        assert_eq!(check.code, Some(0), "{ranks} ranks: {check:?}");
    }
    let part = cluster.run(5, &[], &["check", "bcast", "--ranks", "3"]);
    assert_eq!(part.code, Some(0), "{part:?}");
}

#[test]
fn exit_codes_survive_the_simulator() {
    let Some(cluster) = Cluster::new("codes") else { return };
    for (args, code, word) in [
        (vec!["check", "--ranks", "9"], 2, "cannot use 9 ranks"),
        (vec!["check", "bcast", "--backend", "local"], 2, "simulated rank cannot start"),
        (vec!["virtual-time", "bcast"], 2, "it takes OP ALGORITHM"),
        // One rank gives up while the others wait for it.
        (vec!["virtual-time", "allgather", "neighbour", "1K"], 3, "even number of ranks"),
    ] {
        let outcome = cluster.run(3, &[], &args);
        assert_eq!(outcome.code, Some(code), "{args:?}: {outcome:?}");
        assert!(outcome.err.contains(word), "{args:?}: {outcome:?}");
    }
}

#[test]
fn a_host_that_fails_is_an_error_and_no_crash() {
    let Some(cluster) = Cluster::new("failure") else { return };
    const HOSTS_OF_TWO: &str = "node-0\nnode-1\n";
    // After one virtual second, while all ranks sleep until the tenth.
    let platform = "<?xml version='1.0'?>\n\
         <!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
         <platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\
         <host id=\"node-0\" speed=\"1Gf\"/>\
         <host id=\"node-1\" speed=\"1Gf\" state_file=\"fails\"/>\
         <link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\"/>\
         <route src=\"node-0\" dst=\"node-1\"><link_ctn id=\"l\"/></route></zone></platform>\n";
    for (name, text) in [("failing.xml", platform), ("fails", "1 0\n"), ("hosts", HOSTS_OF_TWO)] {
        std::fs::write(cluster.0.join(name), text).expect("a file");
    }
    let outcome = cluster.run_on("failing.xml", 2, &[], &["virtual-time", "bcast", "linear", "1"]);
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    assert!(outcome.err.contains("SimGrid ended a rank"), "{outcome:?}");
}

#[test]
fn virtual_time_is_that_of_the_links_and_no_more() {
    let Some(cluster) = Cluster::new("time") else { return };
    let latency = 2.0 * LINK_SECONDS;
    let bytes = |size: u32| (f64::from(size) + ENVELOPE_BYTES) / BYTES_PER_SECOND;
    let expect = |name: &str, seconds: f64, expected: f64| {
        // SimGrid steps in nanoseconds; a look at a request would cost 100 microseconds.
        assert!((seconds - expected).abs() < 3e-9, "{name}: {seconds} s for {expected} s");
    };
    for size in [1, 1 << 20] {
        let seconds = cluster.seconds(2, "bcast", "linear", size);
        expect("one message", seconds, latency + bytes(size));
    }
    let seconds = cluster.seconds(4, "scatter", "linear", 1 << 16);
    expect("one after the other", seconds, 3.0 * (latency + bytes(1 << 16)));
    // Three messages share the root's link, and the root waits for all of them at once.
    for size in [1, 1 << 16] {
        let seconds = cluster.seconds(4, "bcast", "linear", size);
        expect("three at once", seconds, latency + 3.0 * bytes(size));
        // The same to the last digit, because nothing is measured.
        assert_eq!(seconds, cluster.seconds(4, "bcast", "linear", size));
    }
}
