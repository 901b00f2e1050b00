//! `laneway sites` from the outside: choices, lanes, placements, and what is refused.

use std::process::{Command, Output};

fn laneway(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_laneway")).args(words).output().expect("the command starts")
}

fn rows(words: &[&str]) -> Vec<serde_json::Value> {
    let mut words = words.to_vec();
    words.extend(["--format", "json"]);
    let output = laneway(&words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    document["rows"].as_array().expect("rows").clone()
}

fn number(row: &serde_json::Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("no number {name} in {row}"))
}

#[test]
fn choices_are_near_the_bound_and_run_as_they_are_spelled() {
    let platform = "two-sites:8x8,connection=250Mbit";
    let words = ["sites", "--platform", platform, "--op", "scatter,gather", "--sizes", "1K,1M"];
    let chosen = rows(&words);
    assert_eq!(chosen.len(), 4);
    for row in &chosen {
        assert!((1.0 - 1e-9..1.05).contains(&number(row, "over_bound")), "{row}");
        let (op, size) = (row["op"].as_str().expect("an operation"), number(row, "size_bytes"));
        let spelled = row["spelled"].as_str().expect("a name");
        let size = format!("{size}");
        let run = ["sim", op, "--platform", platform, "--algorithm", spelled, "--sizes", &size];
        let simulated = number(&rows(&run)[0], "time_us");
        assert!((simulated / number(row, "predicted_us") - 1.0).abs() < 1e-6, "{row}");
    }
    let all = rows(&["sites", "--platform", platform, "--sizes", "1M", "--root", "9", "--all"]);
    assert!(all.len() >= 8, "every algorithm has its row");
}

#[test]
fn every_collective_has_a_choice_and_most_have_no_bound() {
    let ops = "bcast,allgather,allreduce,reduce_scatter,alltoall";
    let platform = "two-sites:8x8,connection=125Mbit";
    let chosen = rows(&["sites", "--platform", platform, "--op", ops, "--sizes", "1K,1M"]);
    assert_eq!(chosen.len(), 10);
    for row in &chosen {
        assert!(number(row, "predicted_us") > 5000.0 && row["bound_us"].is_null(), "{row}");
        let is_large = number(row, "size_bytes") > 1024.0;
        if is_large && row["op"] != "alltoall" {
            assert_eq!(row["choice"], "site-lanes", "{row}");
        }
    }
}

#[test]
fn real_bytes_cross_between_sites() {
    let ops = ["bcast", "allgatherv", "allreduce", "reduce_scatter", "alltoallv"];
    for sites in ["two-sites:2x4", "sites:3,1,2"] {
        let mut words = vec!["check"];
        words.extend(ops);
        words.extend(["--ranks", "6", "--backend", "local:shm", "--sizes", "0,3,5K"]);
        let names = "site-lanes,site-lanes:lanes=1,far-first";
        words.extend(["--algorithm", names, "--sites", sites]);
        let checked = rows(&words);
        for op in ops {
            let own = || checked.iter().filter(|row| row["op"] == op);
            assert!(own().any(|row| row["ok"] == true), "{op}");
            assert!(own().all(|row| row["ok"] == true), "{op}: {checked:?}");
        }
    }
}

#[test]
fn lanes_are_shown_with_their_model() {
    let lanes =
        rows(&["sites", "--platform", "two-sites:32x32", "--sizes", "4M", "--lanes", "1:32"]);
    assert_eq!(lanes.len(), 32);
    let best = |name: &str| {
        let least = |a: &&serde_json::Value, b: &&serde_json::Value| {
            number(a, name).total_cmp(&number(b, name))
        };
        number(lanes.iter().min_by(least).expect("rows"), "p")
    };
    // The paper's own answer, and what its formula gives where lanes share the link.
    assert_eq!((best("printed_us"), best("printed_shared_us")), (32.0, 4.0));
    for row in &lanes {
        let off = number(row, "corrected_us") / number(row, "simulated_us") - 1.0;
        assert!(off.abs() < 0.01, "{row}");
    }
}

#[test]
fn ranks_know_their_sites_when_they_are_measured() {
    let backend = "sim:two-sites:4x4,connection=25Mbit,wan=100Mbit";
    let words = ["measure", "coll", "gather", "--backend", backend, "--sizes", "256K"];
    let mut all = words.to_vec();
    all.extend(["--algorithm", "single-lane,chosen"]);
    let measured = rows(&all);
    let gain = number(&measured[0], "time_us") / number(&measured[1], "time_us");
    assert!(gain > 2.0, "{measured:?}");
}

/// 7 MiB leave the root's card of 1 Gbit/s.
#[test]
fn one_site_is_chosen_for_like_several() {
    let ops = "scatter,bcast,allreduce";
    let chosen = rows(&["sites", ops, "--platform", "cluster:8", "--sizes", "1M"]);
    assert_eq!(chosen.len(), 3);
    assert!((1.0 - 1e-9..1.05).contains(&number(&chosen[0], "over_bound")), "{chosen:?}");
    assert!((number(&chosen[0], "bound_us") - (7 << 20) as f64 / 125.0 - 50.0).abs() < 1.0);
    // Twice as long as the vector of 8.4 ms, at the very most.
    assert!(number(&chosen[1], "predicted_us") < 2.0 * 8389.0, "{chosen:?}");
}

#[test]
fn costs_events_and_switches_leave_a_bound() {
    let platform = "two-sites:4x4,send=5us,lan=2Gbit,clock-offset=+-1ms";
    let words = ["sites", "scatter", "--platform", platform, "--sizes", "1M", "--format", "json"];
    let output = laneway(&words);
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(notes.contains("the bound does not include: send, receive and per-byte"), "{notes}");
    let row = &rows(&words[..6])[0];
    assert!(number(row, "over_bound") >= 1.0, "{row}");
}

/// 4 ranks of the other site get 1 MiB, and the others next to nothing.
#[test]
fn blocks_may_differ() {
    let platform = "two-sites:4x4,wan=100Mbit";
    let blocks = "1K,1K,0,1K,1M,1M,1M,1M";
    let words = ["sites", "scatterv,gatherv", "--platform", platform, "--blocks", blocks];
    let chosen = rows(&words);
    assert_eq!(chosen.len(), 2);
    for row in &chosen {
        assert!((number(row, "bound_us") / ((4 << 20) as f64 / 12.5) - 1.0).abs() < 0.05, "{row}");
        assert!((1.0 - 1e-9..1.05).contains(&number(row, "over_bound")), "{row}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (words, part) in [
        (&["sites", "--platform", "cluster:8", "--lanes", "2"][..], "at one site"),
        (&["sites", "gather", "--blocks", "1K,2K"], "no blocks of different lengths"),
        (&["sites", "--platform", "two-sites:4x4", "--root", "8"], "the ranks are 0 to 7"),
        (&["sites", "--platform", "two-sites:4x6", "--lanes", "5"], "the smaller site has 4"),
        (&["check", "bcast", "--ranks", "2", "--sites", "two-sties:2x2"], "two-sites"),
        (&["sites", "--lanes", "0:3"], "0:3 lanes are not possible"),
        (&["sites", "--lanes", "many"], "not a range of lanes"),
        (&["sites", "--platform", "sites:4,4,4", "--lanes", "1:2"], "there are more"),
        (&["sites", "--op", "bcast", "--lanes", "1:2"], "scatter and gather"),
        (&["sites", "--op", "scater"], "scater"),
        (&["sites", "--platform", "two-sites:4x4,wan=0Mbit"], "wan"),
        (&["measure", "coll", "bcast", "--algorithm", "chosen", "--ranks", "2"], "are unknown"),
        (&["measure", "coll", "bcast", "--ranks", "2", "--sites", "two-sites:1x1"], "is unknown"),
    ] {
        let output = laneway(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(part) && said.contains("try:"), "{words:?}: {said}");
    }
}
