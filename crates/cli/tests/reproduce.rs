//! `laneway reproduce` as a person or a script meets it: every claim of the paper, here.

use std::process::{Command, Output};

use serde_json::Value;

fn reproduce(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.arg("reproduce").args(args).output().expect("the command starts")
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn rows(args: &[&str]) -> Vec<Value> {
    let output = reproduce(&[&["mpiblib", "--format", "json"], args].concat());
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", words(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["schema"], "laneway.reproduce/1");
    assert_eq!(json["summary"]["differ"], 0);
    let rows = json["rows"].as_array().expect("rows").clone();
    let held = rows.iter().filter(|row| row["holds"] == true).count();
    assert!(held > 0 && json["summary"]["hold"] == held, "{held} hold: {}", json["summary"]);
    rows
}

fn ours(rows: &[Value], what: &str) -> f64 {
    let row = rows.iter().find(|row| row["what"] == what && row["size_bytes"].is_null());
    row.and_then(|row| row["ours"].as_f64()).unwrap_or_else(|| panic!("no `{what}`"))
}

#[test]
fn every_claim_of_the_paper_holds() {
    let dir = std::env::temp_dir().join(format!("laneway-reproduce-{}", std::process::id()));
    let folder = dir.to_str().expect("a readable name");
    let rows = rows(&["--svg", folder]);
    for part in ["figure-1", "table-1", "figure-2", "p2p"] {
        let own = || rows.iter().filter(|row| row["part"] == part);
        assert!(own().any(|row| row["holds"] == true), "{part} claims nothing");
    }
    for row in &rows {
        assert!(row["holds"].is_null() || row["holds"] == true, "{row}");
        let figure = row["ours"].as_f64().expect("a figure");
        assert!(figure.is_finite() && figure > 0.0, "{row}");
        if let Some(paper) = row["paper"].as_f64() {
            let ratio = row["ratio"].as_f64().expect("a ratio");
            assert!((ratio * paper / figure - 1.0).abs() < 1e-9, "{row}");
        }
    }
    // The paper's table, and that ours adds up: what it costs is what its calls take, and more.
    let table: Vec<f64> = rows
        .iter()
        .filter(|row| row["part"] == "table-1" && row["unit"] == "s")
        .filter_map(|row| row["paper"].as_f64())
        .collect();
    assert_eq!(table, [28.7, 0.8, 0.8, 44.7, 15.6, 15.7]);
    for op in ["scatter", "gather"] {
        let calls: f64 = rows
            .iter()
            .filter(|row| row["what"] == format!("{op}: maximum") && row["part"] == "figure-2")
            .filter_map(|row| row["ours"].as_f64())
            .sum();
        let whole = ours(&rows, &format!("{op} by maximum"));
        assert!((1.0..1.2).contains(&(whole / (calls * 1e-6))), "{op}: {whole} s, {calls} us");
    }
    for (figure, curves) in [("figure-1", 18), ("figure-2", 8)] {
        let file = dir.join(format!("{figure}.svg"));
        let drawing = std::fs::read_to_string(file).expect("a drawing");
        assert_eq!(drawing.matches("<polyline").count(), curves, "{figure}");
        assert!(!drawing.contains("NaN") && !drawing.contains("inf"), "{figure}");
    }
    std::fs::remove_dir_all(&dir).expect("removed");
}

#[test]
fn a_part_alone_is_the_same_every_time_and_for_people_too() {
    let one = rows(&["--part", "p2p"]);
    assert!(one.iter().all(|row| row["part"] == "p2p"));
    assert_eq!(one, rows(&["--part", "p2p"]));
    let output = reproduce(&["mpiblib", "--part", "p2p"]);
    let text = words(&output.stdout);
    for said in ["paper", "ours", "3.50 s", "holds: at least 5", "note: the cluster is simulated"] {
        assert!(text.contains(said), "no `{said}` in {text}");
    }
}

#[test]
fn what_is_not_there_is_refused() {
    for args in [
        &["mpiblib", "--part", "figure-3"][..],
        &["mpiblib", "--format", "xml"],
        &["mpiblib", "table-1"],
        &["hockney"],
        &[],
    ] {
        let output = reproduce(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", words(&output.stderr));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args:?}");
    }
    let output = reproduce(&["mpiblib", "--part", "p2p", "--svg", "/dev/null/figures"]);
    assert_eq!(output.status.code(), Some(3), "{}", words(&output.stderr));
}
