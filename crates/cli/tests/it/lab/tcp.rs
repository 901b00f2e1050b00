//! Real TCP in a lab: windows of sockets limit connections, lanes gain by them, shallow queues of a
//! switch make gathers escalate; what a run that was cut off has measured is kept.

use laneway_lab::{carried, connect};
use laneway_needs::{Need, file};
use serde_json::Value;

use super::standing::{Standing, laneway, needs, refused};

/// The number of tries on machines that are busy for a moment.
const TRIES: usize = 4;

fn has_mpi() -> bool {
    needs() && Need::Mpi.is_met(file("/usr/bin/mpirun.openmpi"))
}

/// A part of a paper, on few hosts.
fn reproduced(paper: &str, part: &str) -> Vec<Value> {
    let words = ["reproduce", paper, "--part", part, "--quick", "--format", "json"];
    let output = laneway(&words);
    let text = String::from_utf8_lossy(&output.stdout);
    let document: Value = serde_json::from_str(&text).unwrap_or_else(|why| {
        panic!("{why}: {text} {}", String::from_utf8_lossy(&output.stderr));
    });
    let rows = document["rows"].as_array().cloned().unwrap_or_default();
    let missing: Vec<&Value> = rows.iter().filter(|row| row["verdict"] == "not measured").collect();
    assert!(missing.is_empty(), "{missing:?} {}", String::from_utf8_lossy(&output.stderr));
    rows
}

fn figure(rows: &[Value], what: &str) -> f64 {
    let row = rows.iter().find(|row| row["what"].as_str().is_some_and(|it| it.starts_with(what)));
    row.and_then(|row| row["ours"].as_f64()).unwrap_or_else(|| panic!("no `{what}`: {rows:?}"))
}

#[test]
fn a_receive_buffer_limits_each_connection_and_not_their_sum() {
    if !needs() {
        return;
    }
    let platform = "two-sites:2x2,latency=2500us,rate=250Mbit,wan=250Mbit,window=39062";
    let words = ["--platform", platform, "--receive-buffer", "68K", "--no-probe"];
    let lab = Standing::up("buffers", &words);
    let (name, plan) = (lab.lab(), lab.plan());
    let mut seen = Vec::new();
    // A window for each round trip of 5 ms.
    for count in [1, 2] {
        let planned = count as f64 * 39_062.0 / 5e-3;
        let holds = (0..TRIES).any(|_| {
            let pair = |at: usize| connect(&name, &plan.hosts[at], &plan.hosts[2 + at], 0);
            let pairs = (0..count).map(|at| pair(at).expect("a connection"));
            let part = carried(pairs.collect(), 0.5, 1.5) / planned;
            seen.push(part);
            (0.9..=1.1).contains(&part)
        });
        assert!(holds, "{count} connections, parts of their rate: {seen:?}");
    }
}

#[test]
fn lanes_gain_over_real_windows() {
    if !has_mpi() {
        return;
    }
    let rows = reproduced("multilane", "tcp-figure-9");
    let measured: Vec<(u64, f64)> = rows
        .iter()
        .filter(|row| row["what"] == "scatter: measured")
        .filter_map(|row| Some((row["lanes"].as_u64()?, row["ours"].as_f64()?)))
        .collect();
    let lanes: Vec<u64> = measured.iter().map(|point| point.0).collect();
    assert_eq!(lanes, [1, 2, 4], "{rows:?}");
    // Four blocks over one connection take 0.27 s; two connections take half of that.
    assert!(measured[0].1 > 0.25, "{measured:?}");
    assert!(figure(&rows, "one link over the best") > 1.2, "{measured:?}");
}

#[test]
fn what_crosses_is_recorded_call_by_call() {
    if !has_mpi() {
        return;
    }
    let rows = reproduced("multilane", "tcp-figure-8");
    let (one, all) = (
        figure(&rows, "single lane: mean while it crosses"),
        figure(&rows, "all lanes: mean while it crosses"),
    );
    // In the paper's rates: a window in 20 ms makes 62.5 Mbit/s, and four make four times that.
    assert!((40.0..75.0).contains(&one) && all > 1.5 * one, "{one} and {all} Mbit/s");
}

#[test]
fn gathers_escalate_where_a_switch_drops_and_only_there() {
    if !has_mpi() {
        return;
    }
    let rows = reproduced("mpiblib", "incast");
    let shallow = figure(&rows, "medium sizes, shallow queues: the longest");
    let deep = figure(&rows, "medium sizes, deep queues: the longest");
    assert!(shallow > 200.0, "no timeout of TCP in 10 gathers: {shallow} ms");
    assert!(deep < shallow, "{deep} and {shallow} ms");
}

#[test]
fn too_short_a_time_is_a_failure() {
    if !has_mpi() {
        return;
    }
    let part = ["reproduce", "multilane", "--part", "tcp-figure-9"];
    let words: Vec<&str> = part.into_iter().chain(["--quick", "--budget", "1s"]).collect();
    refused(&laneway(&words), 3, "not measured");
}

#[test]
fn buffers_and_queues_that_hold_nothing_are_refused() {
    for (option, part) in [("--receive-buffer", "receive buffer"), ("--switch-queue", "switch")] {
        let words = ["lab", "up", "--lab", "never", "--sites", "1x2", option, "100"];
        refused(&laneway(&words), 2, part);
    }
}
