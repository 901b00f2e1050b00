//! `laneway reproduce path-migration` with few queue pairs, over the real driver.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::standing::{laneway, left, needs};

const FIGURES: [&str; 4] = ["figure-5", "figure-6", "figure-7", "figure-8"];

#[test]
fn transitions_latency_and_faults_are_measured_and_no_lab_is_left() {
    if !needs() {
        return;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.args(["reproduce", "path-migration", "--pairs", "8", "--format", "json"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("it starts");
    let name = format!("drill-{}", child.id());
    let output = child.wait_with_output().expect("it ends");
    assert!(left(&name).is_empty(), "{:?}", left(&name));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let count = |name: &str| document["summary"][name].as_u64().expect("a count");
    let unknown = count("differ") > count("known");
    assert_eq!(output.status.code(), Some(i32::from(unknown)));
    assert_eq!(count("not_measured"), 0, "{}", document["params"]);
    let remarks = document["params"]["remarks"].as_str().expect("remarks");
    let rows = document["rows"].as_array().expect("rows");
    assert!(rows.iter().all(|row| row["how"] == "lab"));
    let figure = |part: &str, what: &str| {
        let row = rows.iter().find(|row| row["part"] == part && row["what"] == what);
        row.and_then(|row| row["ours"].as_f64()).unwrap_or_else(|| panic!("no `{what}` in {part}"))
    };
    for part in FIGURES.into_iter().chain(["completion"]) {
        assert!(remarks.contains(&format!("{part}: ")), "{part} explains nothing");
    }
    for (part, what) in [
        ("figure-5", "Armed-Migrated here over Migrated-Armed, all pairs"),
        ("figure-6", "Migrated-Armed: R2 of a straight line"),
        ("figure-6", "Armed-Migrated: time for a pair, most over an eighth of the pairs"),
        ("figure-7", "one pair, 128 B, undisturbed"),
        ("figure-7", "Armed-Migrated, requested: messages until the last event, all pairs"),
        ("figure-8", "network fault: largest over smallest of all sizes"),
        ("completion", "noticing by queries over events"),
    ] {
        assert!(figure(part, what) > 0.0, "{part}: {what}");
    }
    for (part, what, across, points) in [
        ("figure-5", "transitions: Migrated-Armed", "pairs", 4),
        ("figure-6", "transitions: Armed-Migrated, both ends", "pairs", 4),
        ("figure-7", "128 B: Migrated-Armed, requested", "pairs", 4),
        ("figure-8", "latency: original", "size_bytes", 6),
        ("figure-8", "latency: network fault", "size_bytes", 6),
    ] {
        let of = |row: &&Value| row["part"] == part && row["what"] == what;
        assert_eq!(rows.iter().filter(of).count(), points, "{part}: {what}");
        for row in rows.iter().filter(of) {
            let number = |name: &str| row[name].as_f64().expect("a number");
            assert!(number("ours") > 0.0 && row[across].as_u64() > Some(0), "{row}");
            assert!(number("ci_low") <= number("ours") && number("ours") <= number("ci_high"));
        }
    }
    // A migration that the far end has followed took at least as long as one that it has not.
    let here = figure("figure-6", "Armed-Migrated: time of all pairs");
    assert!(here <= figure("figure-6", "Armed-Migrated, both ends: time of all pairs"));
}

#[test]
fn numbers_of_pairs_that_cannot_be_are_refused() {
    for pairs in ["3", "4097", "many"] {
        let output = laneway(&["reproduce", "path-migration", "--pairs", pairs]);
        assert_eq!(output.status.code(), Some(2), "{pairs}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
    // Only a paper with queue pairs takes them.
    assert_eq!(laneway(&["reproduce", "mpiblib", "--pairs", "8"]).status.code(), Some(2));
}
