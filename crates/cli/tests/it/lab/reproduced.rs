//! `laneway reproduce multilane --part lab`: the paper's experiment with real MPI, within its time,
//! and nothing is left of its lab.

use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use laneway_needs::{Need, file};
use serde_json::Value;

use super::standing::{laneway, left, needs};

/// The part's own limit is below, and the lab's removal comes after it.
const LIMIT: Duration = Duration::from_secs(90);
/// How long a guard may take.
const REMOVAL: Duration = Duration::from_secs(20);
const MOMENT: Duration = Duration::from_millis(20);

fn has_mpi() -> bool {
    needs() && Need::Mpi.is_met(file("/usr/bin/mpirun.openmpi"))
}

fn start() -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.args(["reproduce", "multilane", "--part", "lab", "--format", "json"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().expect("the command starts")
}

/// The name of the lab that the command has built: that of its own child.
fn lab_of(child: &Child) -> String {
    let begun = Instant::now();
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    while begun.elapsed() < REMOVAL {
        let pids = std::fs::read_to_string(&children).unwrap_or_default();
        let name = pids.split_whitespace().next().map(|pid| format!("run-{pid}"));
        if let Some(name) = name.filter(|name| left(name).len() > 16) {
            return name;
        }
        thread::sleep(MOMENT);
    }
    panic!("no lab of 16 hosts stands");
}

fn figure(document: &Value, what: &str) -> f64 {
    let rows = document["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["what"] == what);
    row.and_then(|row| row["ours"].as_f64()).unwrap_or_else(|| panic!("no `{what}`: {document}"))
}

#[test]
fn long_the_papers_experiment_runs_with_real_mpi_and_agrees_with_the_simulator() {
    if !has_mpi() {
        return;
    }
    let begun = Instant::now();
    let child = start();
    let name = lab_of(&child);
    let output = child.wait_with_output().expect("it ends");
    assert!(begun.elapsed() < LIMIT, "it took {:?}", begun.elapsed());
    assert!(left(&name).is_empty(), "{:?}", left(&name));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let remarks = document["params"]["remarks"].as_str().expect("remarks");
    assert!(document["params"]["not_measured"].is_null(), "{}", document["params"]);
    for op in ["scatter", "gather"] {
        assert!(remarks.contains(&format!("{op}: 8 lanes gain ")), "{remarks}");
        let gain = figure(&document, &format!("{op} 512K: 8 lanes, gain over a single lane"));
        assert!((1.4..4.0).contains(&gain), "{op}: {gain}");
        let off = figure(&document, &format!("{op} 512K: simulation to measurement, largest"));
        assert!((0.0..25.0).contains(&off), "{op}: {off} %");
        let rows = document["rows"].as_array().expect("rows");
        for (curve, measured) in [
            ("lanes, measured", true),
            ("the library's own, measured", true),
            ("our choice, measured", true),
            ("lanes, simulated", false),
            ("lanes, predicted as printed", false),
        ] {
            let of = |row: &&Value| row["what"] == format!("{op}: {curve}");
            assert_eq!(rows.iter().filter(of).count(), 3, "{op}: {curve}");
            for row in rows.iter().filter(of) {
                let number = |name: &str| row[name].as_f64();
                assert_eq!(number("ci_low").is_some(), measured, "{row}");
                assert!(number("ci_low") <= number("ours"), "{row}");
                assert!(!measured || number("ours") <= number("ci_high"), "{row}");
            }
        }
    }
    let native = figure(&document, "gather 512K: the library's own over our choice");
    assert!(native > 1.5, "Open MPI's gather crosses on one connection: {native}");
}

#[test]
fn a_process_killed_while_it_runs_leaves_no_lab() {
    if !has_mpi() {
        return;
    }
    let mut child = start();
    let name = lab_of(&child);
    child.kill().expect("it is killed");
    child.wait().expect("it is gone");
    let begun = Instant::now();
    while !left(&name).is_empty() && begun.elapsed() < REMOVAL {
        thread::sleep(MOMENT);
    }
    let left = left(&name);
    laneway(&["lab", "down", "--lab", &name]);
    assert!(left.is_empty(), "{left:?}");
}
