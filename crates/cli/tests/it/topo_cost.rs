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
fn a_missing_bisection_is_reported() {
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

/// Kinds of fabrics are compared that are built of the same switches, partly filled.
#[test]
fn fabrics_of_switches_that_can_be_bought_are_compared() {
    let rows = |args: &[&str]| {
        let output = cost(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {said}");
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (json["rows"].as_array().expect("rows").clone(), said)
    };
    let (found, said) = rows(&["--ports", "64", "--nodes", "6000"]);
    let names: Vec<&str> = found.iter().filter_map(|row| row["topology"].as_str()).collect();
    assert_eq!(
        names,
        ["mlfm:d=18", "fat-tree-3:d=19", "fat-tree-3-max:d=15", "fat-tree-3-half:d=20"]
    );
    assert!(
        said.contains("left out fat-tree-2: with switches of 64 ports it has at most 2,048"),
        "{said}"
    );
    for row in &found {
        let number = |name: &str| row[name].as_f64().expect("a number");
        assert!(number("nodes") >= 6000.0 && number("ports") == 64.0, "{row}");
        let bought = 64.0 * number("switches");
        assert_eq!(number("ports_used") + number("ports_unused"), bought, "{row}");
        assert_eq!(number("port_efficiency"), number("nodes") / bought, "{row}");
    }
    let (own, said) = rows(&["--nodes", "6000"]);
    assert_eq!((own.len(), said.as_str()), (5, ""));
    assert_eq!(own[0]["ports_unused"], 0);
    // The same number of nodes in other words.
    for words in [&["6000"][..], &["6k"], &["--nodes", "6K"], &["--nodes", "6k"]] {
        assert_eq!(rows(words).0, own, "{words:?}");
    }
    assert_eq!(rows(&["mlfm:d=4"]).0, rows(&["-t", "mlfm:d=4"]).0);
    let (small, _) = rows(&["-t", "mlfm:d=4", "--ports", "64"]);
    assert_eq!((&small[0]["ports"], &small[0]["ports_unused"]), (&64.into(), &(30 * 56).into()));
    for (words, part) in [
        (&["-t", "mlfm:d=18", "--ports", "32"][..], "--ports 36"),
        (&["--nodes", "6000", "--ports", "8"], "no topology"),
        (&["6000", "--fail", "link"], "one fabric"),
        (&["6x"], "a number of nodes"),
    ] {
        let output = cost(words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(part), "{words:?}: {said}");
    }
}

/// Figures are taken with their units, and every line of the table has one.
#[test]
fn figures_and_columns_have_units() {
    let plain = ["--switch-watts", "1300", "--switch-mtbf", "876600", "--lead-days", "14"];
    let units = ["--switch-watts", "1.3kW", "--switch-mtbf", "100y", "--lead-days", "2w"];
    let prices = ["--switch-price", "12k"];
    let found = row(&[&["-t", "mlfm:d=4"], &units[..], &prices].concat());
    let same = row(&[&["-t", "mlfm:d=4"], &plain[..], &["--switch-price", "12000"]].concat());
    assert_eq!(found, same);
    assert_eq!((&found["power_w"], &found["price"]), (&39_000.0.into(), &360_000.0.into()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.args(["topo", "cost", "-t", "mlfm:d=4"]).args(units).args(prices);
    let text = String::from_utf8_lossy(&command.output().expect("it starts").stdout).into_owned();
    let (_, table) = text.split_once("\n\n").expect("an answer and a table");
    assert!(table.starts_with("topology "), "{table}");
    for line in table.lines() {
        let words = line.split("  ").filter(|word| !word.is_empty()).count();
        assert_eq!(words, 3, "a name, a unit and a value: {line}");
    }
    let named = |name: &str| table.lines().any(|line| line.starts_with(name));
    for name in found.as_object().expect("a row").keys() {
        let value = &found[name.as_str()];
        assert!(named(name) || value.is_null(), "{name}: {value} is not in\n{table}");
    }
    assert!(!cost(&["-t", "mlfm:d=4", "--switch-watts", "3m"]).status.success());
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
