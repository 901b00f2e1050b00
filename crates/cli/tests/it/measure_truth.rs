//! The promises of `laneway measure` on a simulated cluster, as the command itself keeps them: five
//! operations, three sizes, sixteen hosts of two kinds at two sites.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const OPS: &str = "bcast,scatter,gather,allreduce,alltoall";

/// The two sites as a file; where asked for, with clocks that are off and drift.
fn sites(skewed: bool) -> PathBuf {
    let own =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../measure/tests/it/accuracy/sites.toml");
    if !skewed {
        return own;
    }
    let clocks = "clock-offset = \"+-500ms\"\nclock-drift = \"+-10ppm\"\n";
    let text = std::fs::read_to_string(own).expect("the platform");
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("skewed-sites.toml");
    let text = text.replace("[[host]]\n", &format!("[[host]]\n{clocks}"));
    std::fs::write(&file, text).expect("a file");
    file
}

fn rows(platform: impl AsRef<Path>, args: &[&str]) -> Vec<Value> {
    let platform = platform.as_ref();
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    let backend = format!("sim:{}", platform.display());
    command.args(["measure", "coll"]).args(args);
    command.args(["--backend", &backend, "--truth", "--format", "json"]);
    let output = command.output().expect("the command starts");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = json["rows"].as_array().expect("rows").clone();
    assert!(!rows.is_empty(), "{args:?}");
    rows
}

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("no {name} in {row}"))
}

fn ensure_true(row: &Value) {
    let error = (number(row, "time_us") / number(row, "truth_us") - 1.0).abs();
    assert!(error < 0.002, "{error}: {row}");
    assert_eq!(row["timing"], "start-time", "{row}");
}

#[test]
fn a_point_without_variance_is_true_and_soon_done() {
    let rows = rows(sites(false), &[OPS, "--sizes", "8,1K,64K"]);
    assert_eq!(rows.len(), 15);
    for row in &rows {
        ensure_true(row);
        let (cost, truth) = (number(row, "cost_us"), number(row, "truth_us"));
        assert!(cost <= 10.0 * truth + 30e3, "{row}");
        assert!(number(row, "size_bytes") > 1024.0 || cost <= 50e3, "{row}");
        assert!(number(row, "reps") >= 6.0 && row["flags"] == "", "{row}");
    }
}

#[test]
fn forty_samples_cost_at_most_three_times_their_sum() {
    for row in rows(sites(false), &[OPS, "--sizes", "8,1K,64K", "--reps", "40"]) {
        ensure_true(&row);
        assert!(number(&row, "cost_us") <= 3.0 * 40.0 * number(&row, "truth_us"), "{row}");
    }
}

#[test]
fn clocks_that_drift_for_many_seconds_change_nothing() {
    let rows = rows(sites(true), &[OPS, "--sizes", "8,1K,64K", "--reps", "60"]);
    rows.iter().for_each(ensure_true);
    // The points come one after the other on the same clocks.
    assert!(rows.iter().map(|row| number(row, "cost_us")).sum::<f64>() > 7e6);
}

#[test]
fn clocks_set_wrong_by_the_command_change_nothing_either() {
    let wrong = ["--clock-offset", "0.5", "--clock-drift", "10"];
    let args = ["bcast,alltoall", "--sizes", "8,64K", "--reps", "60"];
    let right = rows(sites(false), &args);
    let wrong = rows(sites(false), &[&args[..], &wrong].concat());
    wrong.iter().for_each(ensure_true);
    // Clocks that differ have to be compared, and that takes messages.
    for row in wrong.iter().chain(&right) {
        let [low, high, truth] =
            ["bound_low_us", "bound_high_us", "truth_us"].map(|name| number(row, name));
        // Virtual time is rounded.
        assert!(low - 1e-3 <= truth && truth <= high + 1e-3, "{row}");
    }
    let width = |row: &&Value| number(row, "bound_high_us") - number(row, "bound_low_us");
    assert!(wrong.iter().all(|row| width(&row) > 100.0), "{wrong:?}");
    assert!(right.iter().all(|row| width(&row) < 1e-3), "{right:?}");
    // What needs no common clock waits by the clock that it reads.
    for seed in ["1", "2", "3"] {
        let tasks = ["bcast", "--algorithm", "linear", "--sizes", "8", "--timing", "tasks"];
        let more = ["--reps", "6", "--clock-offset", "0.5", "--seed", seed];
        let row = &rows(sites(false), &[&tasks[..], &more].concat())[0];
        let part = number(row, "time_us") / number(row, "truth_us");
        assert!((part - 1.0).abs() < 0.01 && number(row, "cost_us") < 200e3, "{row}");
    }
}

#[test]
fn a_series_is_as_long_as_it_was_asked_to_be() {
    let args = ["scatter", "--algorithm", "linear", "--sizes", "20K", "--timing", "loop"];
    let rows = rows(sites(false), &[&args[..], &["--reps", "6", "--keep"]].concat());
    let samples = rows[0]["samples_us"].as_array().expect("samples");
    assert_eq!(samples.len(), 6);
    // All alike, since nothing varies; and the ranks' means are of all of them.
    let first = samples[0].as_f64().expect("a number");
    let alike = |sample: &Value| (sample.as_f64().expect("a number") / first - 1.0).abs() < 0.01;
    assert!(samples.iter().all(alike), "{}", rows[0]);
    let longest = number(&rows[0], "rank_max_us");
    assert!((longest / first - 1.0).abs() < 0.01, "{}", rows[0]);
}

#[test]
fn what_a_root_cannot_see_is_flagged() {
    let args = ["scatter", "--timing", "root", "--sizes", "8"];
    let row = &rows(sites(false), &args)[0];
    let flags = row["flags"].as_str().expect("flags");
    let wrong = (number(row, "time_us") / number(row, "truth_us") - 1.0).abs() > 0.01;
    assert!(wrong && (flags.contains("confirmation") || flags.contains("skewed")), "{row}");
    assert!(number(row, "start_skew_us") > 0.0, "{row}");
}

#[test]
fn no_figure_is_without_an_interval_or_a_word() {
    for (reps, word) in [("1", "single"), ("2", "student"), ("5", "student"), ("6", "")] {
        let row = &rows(sites(false), &["bcast", "--sizes", "1K", "--reps", reps])[0];
        assert_eq!(row["ci_low_us"].is_null(), reps == "1", "{row}");
        assert_eq!(row["flags"], word, "{row}");
    }
}

#[test]
fn the_start_is_a_choice_beside_the_isolation() {
    let args = ["alltoall", "--sizes", "64K", "--timing", "global", "--isolation"];
    let skew = |more: &[&str]| {
        let row = rows(sites(false), &[&args[..], more].concat()).remove(0);
        assert_eq!(row["isolation"], more.join("+").replace("+--start+", "+"), "{row}");
        number(&row, "start_skew_us")
    };
    // A reduction lets the leaves go long before the root; a barrier after it does not.
    assert!(skew(&["reduce"]) > 2.0 * skew(&["reduce", "--start", "barrier:dissemination"]));
    let bad = ["measure", "coll", "bcast", "--ranks", "2", "--start", "barriers"];
    let output = Command::new(env!("CARGO_BIN_EXE_laneway")).args(bad).output();
    let output = output.expect("the command starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--start barrier:dissemination"));
}

#[test]
fn tasks_cost_about_as_much_as_the_maximum_method_and_are_true() {
    let platform = "mpiblib16,clock-offset=+-500ms,clock-drift=+-10ppm";
    for op in ["bcast", "scatter"] {
        for algorithm in ["linear", "binomial"] {
            let args = [op, "--algorithm", algorithm, "--sizes", "1K,16K", "--reps", "20"];
            let by = |method| rows(platform, &[&args[..], &["--timing", method]].concat());
            for (tasks, maximum) in by("tasks").iter().zip(&by("maximum")) {
                let error = number(tasks, "time_us") / number(tasks, "truth_us") - 1.0;
                assert!(error.abs() < 0.001, "{error}: {tasks}");
                let cost = number(tasks, "cost_us") / number(maximum, "cost_us");
                assert!(cost < 1.1, "{cost}: {tasks} {maximum}");
            }
        }
    }
}

#[test]
fn a_barrier_confirms_best_and_is_the_default() {
    let args = ["scatter", "--algorithm", "linear", "--sizes", "64,1K,16K", "--timing", "root"];
    let error = |more: &[&str]| {
        let rows = rows("mpiblib16", &[&args[..], more].concat());
        rows.iter().map(|row| number(row, "time_us") / number(row, "truth_us") - 1.0).collect()
    };
    let default: Vec<f64> = error(&[]);
    assert_eq!(default, error(&["--confirmation", "barrier"]));
    for (size, error) in default.iter().enumerate() {
        // What the root itself took is left, whatever is subtracted.
        assert!((-0.25..0.0).contains(error), "size {size}: {error}");
    }
    for other in ["reduce", "messages"] {
        let others = error(&["--confirmation", other]);
        let worse = others.iter().zip(&default).all(|(other, own)| other.abs() > own.abs() - 1e-9);
        assert!(worse, "{other}: {others:?}, barrier: {default:?}");
    }
}

#[test]
fn more_round_trips_between_clocks_cost_more_and_change_nothing() {
    let platform = "mpiblib16,clock-offset=+-500ms,clock-drift=+-10ppm";
    let args = ["scatter", "--sizes", "8", "--timing", "global", "--resync", "1", "--reps", "6"];
    let by = |trips| {
        let more = ["--sync", "offset", "--trips", trips];
        rows(platform, &[&args[..], &more].concat()).remove(0)
    };
    let (few, usual, many) = (by("1"), by("10"), by("40"));
    for row in [&few, &usual, &many] {
        let error = number(row, "time_us") / number(row, "truth_us") - 1.0;
        assert!(error.abs() < 0.001, "{error}: {row}");
    }
    assert!(number(&usual, "cost_us") > 3.0 * number(&few, "cost_us"), "{few} {usual}");
    assert!(number(&many, "cost_us") > 3.0 * number(&usual, "cost_us"), "{usual} {many}");
}
