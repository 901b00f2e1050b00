//! `laneway sites measure` in a lab: real messages over a WAN whose figures are known.

use laneway_needs::{Need, file};
use serde_json::Value;

use super::standing::{Standing, needs};

const TRIES: usize = 3;
const TOLERANCE: f64 = 0.15;

/// What differs from what the lab was asked for.
fn faults(lab: &Standing, hosts: u64) -> Vec<String> {
    let ours = env!("CARGO_BIN_EXE_laneway");
    let ranks = (2 * hosts).to_string();
    let mut words = vec!["timeout", "150", "mpirun.openmpi", "-n", &ranks, ours];
    words.extend(["sites", "measure"]);
    words.extend(["--reps", "3", "--format", "json"]);
    let output = lab.run(&words);
    let out = String::from_utf8_lossy(&output.stdout);
    let document: Value = serde_json::from_str(&out).unwrap_or_else(|why| {
        panic!("{why}: {out} {}", String::from_utf8_lossy(&output.stderr));
    });
    let mut faults = Vec::new();
    if document["params"]["sites"] != "site0,site1" {
        return vec![format!("sites {}", document["params"]["sites"])];
    }
    let rows = document["rows"].as_array().expect("rows");
    let mut hold = |what: &str, row: &Value, name: &str, mbit: f64| {
        let seen = row[name].as_f64().unwrap_or(0.0) * 8e-6;
        if (seen / mbit - 1.0).abs() > TOLERANCE {
            faults.push(format!("{what}: {seen:.1} Mbit/s for {mbit}"));
        }
    };
    let pairs = |p: u64| rows.iter().filter(move |row| row["kind"] == "pairs" && row["p"] == p);
    assert_eq!((pairs(1).count(), pairs(hosts).count()), (2, 2), "both directions");
    pairs(1).for_each(|row| hold("a connection", row, "rate_each", 25.0));
    // 25 Mbit/s a connection, and 100 Mbit/s for all.
    let together = (25.0 * hosts as f64).min(100.0);
    pairs(hosts).for_each(|row| hold("all pairs", row, "rate_together", together));
    // A long message has the card for itself now and then, on two cores for eight ranks.
    let inside: Vec<&Value> = rows.iter().filter(|row| row["kind"] == "inside").collect();
    let fast = |row: &&&Value| row["rate_each"].as_f64().is_some_and(|rate| rate > 40e6);
    if inside.iter().filter(fast).count() < inside.len() / 2 {
        faults.push("most cards look slow".into());
    }
    let late =
        pairs(1).any(|row| !(1800.0..4000.0).contains(&row["latency_us"].as_f64().unwrap_or(0.0)));
    faults.extend(late.then(|| "the latency is not 2 ms".to_string()));
    faults
}

/// Measuring four hosts takes a minute, and nothing else may run.
#[test]
fn long_rates_of_labs_are_found() {
    for hosts in [2, 4] {
        rates_are_found(hosts);
    }
}

/// In a lab of two sites with this number of hosts each.
fn rates_are_found(hosts: u64) {
    if !needs() || !Need::Mpi.is_met(file("/usr/bin/mpirun.openmpi")) {
        return;
    }
    let sites = format!("2x{hosts}");
    let words = ["--sites", &sites, "--wan", "2ms,25Mbit,100Mbit", "--no-probe"];
    let lab = Standing::up(&format!("sites-{hosts}"), &words);
    let mut seen = Vec::new();
    let found = (0..TRIES).any(|_| {
        seen.push(faults(&lab, hosts));
        seen.last().is_some_and(Vec::is_empty)
    });
    assert!(found, "{seen:?}");
}
