//! `laneway topo cost` on damaged fabrics, and what it refuses.

use std::process::{Command, Output};

use serde_json::Value;

fn cost(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.args(["topo", "cost", "--format", "json"]).args(args).output().expect("it starts")
}

fn row(args: &[&str]) -> Value {
    let output = cost(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    json["rows"][0].clone()
}

#[test]
fn a_damaged_fabric_is_counted() {
    let whole = row(&["-t", "mlfm:d=4"]);
    assert_eq!((&whole["nodes"], &whole["disjoint_paths"]), (&Value::from(80), &Value::from(4)));
    assert_eq!(whole["is_sampled"], false);
    let left = row(&["-t", "mlfm:d=4", "--fail", "switch:vertex-0-3"]);
    assert_eq!((&left["nodes"], &left["ports"]), (&Value::from(76), &Value::from(8)));
    assert_eq!((&whole["switches"], &whole["switches_unplugged"]), (&30.into(), &0.into()));
    assert_eq!((&left["switches"], &left["switches_unplugged"]), (&29.into(), &1.into()));
    assert_eq!(left["port_efficiency"], 76.0 / (29.0 * 8.0));
    assert_eq!((&left["bisection"], &left["disjoint_paths"]), (&Value::Null, &Value::from(4)));
    let cut: Vec<String> = (5..=8).map(|port| format!("--fail=link:vertex-0-3/{port}")).collect();
    let cut: Vec<&str> = cut.iter().map(String::as_str).collect();
    let narrow = row(&[&["-t", "mlfm:d=4"], &cut[1..]].concat());
    assert_eq!(narrow["disjoint_paths"], 1);
    let apart = row(&[&["-t", "mlfm:d=4"], &cut[..]].concat());
    assert_eq!((&apart["switch_pairs_apart"], &apart["nodes"]), (&19.into(), &80.into()));
    assert_eq!((&apart["diameter_switches"], &apart["disjoint_paths"]), (&Value::Null, &0.into()));
}

/// Each draw takes out a part that is still there.
#[test]
fn switches_are_drawn_once() {
    let fail = ["--fail", "switch", "--fail", "switch", "--fail", "switch", "--fail", "switch"];
    for seed in 1..=20 {
        let seed = seed.to_string();
        let left = row(&[&["-t", "mlfm:d=4", "--fail-seed", &seed], &fail[..]].concat());
        assert_eq!(left["switches_unplugged"], 4, "seed {seed}");
    }
}

/// Where no formula gives it, it is left out, and why is said.
#[test]
fn no_bisection_is_said() {
    for args in [&["-t", "mlfm:d=4", "--fail", "link"][..], &["-t", "fat-tree-3:d=1"]] {
        assert_eq!(row(args)["bisection"], Value::Null, "{args:?}");
        let said = String::from_utf8_lossy(&cost(args).stderr).into_owned();
        assert!(said.contains("no bisection of"), "{args:?}: {said}");
    }
    assert!(!String::from_utf8_lossy(&cost(&["-t", "mlfm:d=4"]).stderr).contains("bisection"));
}

#[test]
fn what_cannot_be_is_refused() {
    for (args, word) in [
        (&["-t", "mlfm:d=4", "--switch-mtbf", "0"][..], "from 1 to"),
        (&["-t", "mlfm:d=4", "--cable-mtbf", "0.5"], "from 1 to"),
        (&["-t", "mlfm:d=4", "--switch-watts=-1"], "from 0 to"),
        (&["-t", "mlfm:d=4", "--switch-price", "nan"], "from 0 to"),
        (&["-t", "mlfm:d=4", "--lead-days", "1e300"], "from 0 to"),
        (&["-t", "mlfm:d=4,mlfm:d=5", "--fail", "link"], "one fabric"),
        (&["-t", "mlfm:d=4", "--fail", "link:nowhere/1"], "unknown switch `nowhere`"),
        (&["--nodes", "100", "--fail", "link"], "cannot be used"),
        (&["--fail", "link"], "no fabric"),
        (&[], "no fabric"),
    ] {
        let output = cost(args);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains("error: ") && text.contains(word), "{args:?}: {text}");
    }
}

/// A person sees a column for each fabric, within 80 columns; a script has a row for each.
#[test]
fn the_table_fits_the_terminal() {
    for fabrics in [&["--nodes", "6000"][..], &["-t", "mlfm:d=4"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
        command.args(["topo", "cost"]).args(fabrics).env("COLUMNS", "80");
        let output = command.output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && text.lines().count() > 5, "{text}");
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest.is_some_and(|width| width <= 80), "{widest:?}:\n{text}");
        for word in ["nodes", "switches", "port_efficiency", "disjoint_paths", "is_sampled"] {
            let line = text.lines().find(|line| line.contains(word));
            assert!(line.is_some(), "{word} in\n{text}");
        }
        assert!(!text.contains("NO") && !text.contains("false"), "{text}");
    }
}
