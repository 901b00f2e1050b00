//! One judge for all papers: what a call of `laneway reproduce` ends with where something differs,
//! or was not measured.

use crate::papers_page;

use std::path::PathBuf;
use std::process::{Command, Output};

use papers_page::{explains, with_verdict};
use serde_json::Value;

fn reproduce(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.arg("reproduce").args(args);
    command
}

fn run(command: &mut Command) -> Output {
    command.output().expect("the command starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(output)))
}

#[test]
fn a_known_difference_passes_and_a_strict_call_refuses_it() {
    let args = ["fullmesh", "--part", "table-2", "--format", "json"];
    let output = run(&mut reproduce(&args));
    let found = document(&output);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    // The paper's bisection is not the least for d = 4, 8 and 18.
    let differ = with_verdict(&found, "differs");
    assert_eq!(differ.len(), 3);
    assert!(differ.iter().all(|row| row["known"] == true && row["reason"] == 2), "{differ:?}");
    assert_eq!((&found["summary"]["differ"], &found["summary"]["known"]), (&3.into(), &3.into()));
    explains(&found);
    let output = run(reproduce(&args).arg("--strict"));
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let text = run(&mut reproduce(&["fullmesh", "--part", "table-2"])).stdout;
    let text = String::from_utf8_lossy(&text).into_owned();
    for words in ["differs (reason 2)", "3 differ for reasons that docs/papers/fullmesh.md"] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
}

#[test]
fn equations_that_are_wrong_in_print_differ() {
    let output = run(&mut reproduce(&["fullmesh", "--part", "equations", "--format", "json"]));
    let found = document(&output);
    let differ = with_verdict(&found, "differs");
    let figures: Vec<(f64, f64)> = differ
        .iter()
        .filter_map(|row| Some((row["stated"].as_f64()?, row["ours"].as_f64()?)))
        .collect();
    assert_eq!(figures, [(1296.0, 540.0)]);
    explains(&found);
}

/// What a connection gets is the simulation's window, and a full link carries what it is given.
#[test]
fn inputs_of_a_simulation_are_shown_and_not_judged() {
    let parts = "window,figure-4,figure-7,figure-8,figure-9,figure-10";
    let output = run(&mut reproduce(&["multilane", "--part", parts, "--format", "json"]));
    let found = document(&output);
    let rows = found["rows"].as_array().expect("rows");
    let claims = || rows.iter().filter(|row| row["stated"].is_number());
    let judged = |part: &str| {
        claims().filter(|row| row["part"] == part && !row["verdict"].is_null()).count()
    };
    assert_eq!(judged("window"), 0);
    for (part, stated) in [("figure-4", 250.0), ("figure-7", 125.0), ("figure-8", 1000.0)] {
        let of = |row: &&Value| row["part"] == part && row["stated"] == stated;
        let inputs: Vec<&Value> =
            claims().filter(of).filter(|row| row["verdict"].is_null()).collect();
        assert!(!inputs.is_empty(), "{part}: {stated} is not shown");
    }
    // One formula's 32 is one claim.
    let wants_32 = |row: &&Value| row["stated"] == 32.0 && !row["verdict"].is_null();
    assert_eq!(claims().filter(wants_32).count(), 1);
    let verdict = |part: &str, what: &str| {
        let row = rows.iter().find(|row| row["part"] == part && row["what"] == what);
        row.map(|row| (row["verdict"].clone(), row["known"].clone()))
    };
    for (part, what) in
        [("figure-7", "32 lanes over a single lane"), ("figure-10", "own block at once: flat from")]
    {
        assert_eq!(verdict(part, what), Some(("differs".into(), true.into())), "{what}");
    }
}

/// The section's regimes are gone through at all numbers of lanes, and what is so is said.
#[test]
fn regimes_in_which_lanes_must_lose_and_figure_1_are_measured() {
    let parts = "section-3.2,figure-1";
    let output = run(&mut reproduce(&["multilane", "--part", parts, "--format", "json"]));
    let found = document(&output);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    explains(&found);
    let rows = found["rows"].as_array().expect("rows");
    let ours = |what: &str| {
        let row = rows.iter().find(|row| row["what"] == what);
        row.and_then(|row| row["ours"].as_f64()).unwrap_or_else(|| panic!("no `{what}`"))
    };
    let best = "scatter: best number of lanes over one, time";
    for (regime, low, high) in [
        ("B_WAN 200, b_WAN 250 Mbit/s", 0.84, 0.86),
        ("B_WAN 500, b_WAN 1000 Mbit/s", 0.69, 0.71),
        ("b_LAN = b_WAN = B_WAN = 1000 Mbit/s", 1.0, 1.05),
    ] {
        let ratio = ours(&format!("{regime}, {best}"));
        assert!((low..high).contains(&ratio), "{regime}: {ratio}");
    }
    // Another program's figures: 4.40 s and 0.346 s.
    let seconds =
        [ours("250 Mbit/s, scatter: a single lane, 4M"), ours("250 Mbit/s, scatter: 32 lanes, 4M")];
    assert!((seconds[0] / 4.40 - 1.0).abs() < 0.01 && (seconds[1] / 0.346 - 1.0).abs() < 0.01);
    let points = rows.iter().filter(|row| row["part"] == "section-3.2" && row["lanes"].is_u64());
    assert_eq!(points.count(), 8 * 31);
}

#[test]
fn nothing_measured_ends_with_3_and_the_reason() {
    let output = run(reproduce(&["multilane", "--part", "lab"]).env("PATH", ""));
    assert_eq!(output.status.code(), Some(3));
    let said = said(&output);
    assert!(said.contains("error: nothing was measured"), "{said}");
    assert!(said.contains("there is no mpirun on the path"), "{said}");
}

#[test]
fn what_was_measured_is_kept_where_something_was_not() {
    let args = ["multilane", "--part", "lab,figure-9", "--format", "json"];
    let output = run(reproduce(&args).env("PATH", ""));
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let found = document(&output);
    let missing = found["params"]["not_measured"].as_str().expect("what is missing");
    assert_eq!(missing, "multilane lab: there is no mpirun on the path");
    assert_eq!(found["summary"]["not_measured"], 1);
    assert_eq!(with_verdict(&found, "not measured").len(), 1);
    assert!(!with_verdict(&found, "holds").is_empty());
}

#[test]
fn a_budget_that_is_spent_lists_what_is_left() {
    let args = ["path-migration", "--budget", "1ms", "--quick", "--format", "json"];
    let output = run(&mut reproduce(&args));
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let found = document(&output);
    let missing = found["params"]["not_measured"].as_str().expect("what is missing");
    for part in ["figure-5", "figure-6", "figure-7", "figure-8", "completion"] {
        assert!(missing.contains(&format!("path-migration {part}: ")), "{missing}");
    }
    assert!(missing.contains("the budget is spent"), "{missing}");
    for budget in ["0", "soon"] {
        let refused = run(&mut reproduce(&["fullmesh", "--budget", budget]));
        assert_eq!(refused.status.code(), Some(2), "{budget}");
    }
}

/// A copy of the command that any user may run.
struct ForAll(PathBuf);

impl ForAll {
    fn new() -> ForAll {
        let copy = std::env::temp_dir().join(format!("laneway-papers-{}", std::process::id()));
        std::fs::copy(env!("CARGO_BIN_EXE_laneway"), &copy).expect("a copy");
        ForAll(copy)
    }

    /// As a user who is not root, where the tests are.
    fn command(&self) -> Command {
        let is_root = std::fs::metadata("/proc/self").is_ok_and(|metadata| {
            use std::os::unix::fs::MetadataExt;
            metadata.uid() == 0
        });
        let mut command = Command::new(if is_root { "setpriv".as_ref() } else { self.0.as_path() });
        if is_root {
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&self.0);
        }
        command.current_dir(std::env::temp_dir());
        command
    }
}

impl Drop for ForAll {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn without_root_queue_pairs_are_measured_over_loopback() {
    let copy = ForAll::new();
    let args = ["reproduce", "path-migration", "--pairs", "8", "--quick", "--format", "json"];
    let output = run(copy.command().args(args));
    let found = document(&output);
    assert_ne!(output.status.code(), Some(3), "{}", said(&output));
    assert!(found["params"]["not_measured"].is_null(), "{}", found["params"]);
    let rows = found["rows"].as_array().expect("rows");
    assert!(rows.iter().all(|row| row["how"] == "loopback"), "{found}");
    for (part, what, points) in [
        ("figure-5", "transitions: Migrated-Armed", 4),
        ("figure-6", "transitions: Armed-Migrated", 4),
        ("figure-7", "128 B: Migrated-Armed, requested", 4),
        ("figure-8", "latency: network fault", 6),
    ] {
        let of = |row: &&Value| row["part"] == part && row["what"] == what;
        assert_eq!(rows.iter().filter(of).count(), points, "{part}: {what}");
    }
    // Figure 5 has a verdict, and every reason stands in the page.
    let judged = |row: &&Value| row["part"] == "figure-5" && !row["verdict"].is_null();
    assert!(rows.iter().filter(judged).count() > 0);
    explains(&found);
    let remarks = found["params"]["remarks"].as_str().expect("remarks");
    assert!(remarks.contains("Over loopback, as there is no lab"), "{remarks}");
}
