//! `laneway reproduce fullmesh`: every table and figure of the paper, and that verdicts are earned.

use crate::papers_page;

use std::process::{Command, Output};

use papers_page::explains;
use serde_json::Value;

fn reproduce(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.args(["reproduce", "fullmesh"]).args(args).output().expect("the command starts")
}

fn rows(args: &[&str]) -> Vec<Value> {
    let output = reproduce(&[&["--format", "json"], args].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {said}");
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["schema"], "laneway.reproduce/1");
    assert_eq!(json["params"]["paper"], "fullmesh");
    assert_eq!(json["summary"]["differ"], json["summary"]["known"]);
    explains(&json);
    json["rows"].as_array().expect("rows").clone()
}

fn figure(rows: &[Value], what: &str) -> f64 {
    let row = rows.iter().find(|row| row["what"] == what && row["at"].is_null());
    row.and_then(|row| row["ours"].as_f64()).unwrap_or_else(|| panic!("no `{what}`"))
}

#[test]
fn every_part_is_there_and_holds() {
    let dir = std::env::temp_dir().join(format!("laneway-fullmesh-{}", std::process::id()));
    let rows = rows(&["--svg", dir.to_str().expect("a readable name")]);
    for part in [
        "table-1",
        "figure-4",
        "figure-7",
        "figure-8",
        "equations",
        "figure-9",
        "figure-10",
        "table-2",
        "table-3",
        "figure-13",
        "figure-14",
        "figure-15",
        "figure-16",
        "figure-17",
    ] {
        let held =
            rows.iter().filter(|row| row["part"] == part && row["verdict"] == "holds").count();
        assert!(held > 0, "{part} claims nothing");
    }
    // Figures 7 and 8: 24 lines of 12, as printed and by formula.
    for (part, first) in [("figure-7", 0), ("figure-8", 12)] {
        let cells = |of: &str| -> Vec<(u64, u64, u64)> {
            let own = rows.iter().filter(|row| row["part"] == part && !row["at"].is_null());
            let cell = |row: &Value| {
                let (op, source) = row["what"].as_str()?.rsplit_once(": ")?;
                let to = row["ours"].as_f64()? as u64;
                op.starts_with(of).then_some((row["at"].as_u64()?, source.parse().ok()?, to))
            };
            own.filter_map(cell).collect()
        };
        let (printed, ours) = (cells("as printed"), cells("by our formula"));
        assert_eq!(printed.len(), 144);
        assert_eq!(printed, ours);
        assert!(printed.contains(&if first == 0 { (0, 0, 3) } else { (12, 0, 18) }));
    }
    // The half tree is half as good, and the mesh is between the trees at random.
    for d in [4, 8, 18] {
        let mesh = figure(&rows, &format!("d = {d}: mesh over tree"));
        assert!((0.88..0.99).contains(&mesh), "d = {d}: {mesh}");
        let error = figure(&rows, &format!("d = {d}: its standard error"));
        assert!(error > 0.0 && error < 0.02, "d = {d}: {error}");
    }
    for (figure, marks, many) in [
        ("figure-10", "<polyline", 3),
        ("figure-13", "<title>", 9),
        ("figure-14", "<title>", 9),
        ("figure-17", "<title>", 30),
    ] {
        let text = std::fs::read_to_string(dir.join(format!("{figure}.svg"))).expect("a drawing");
        assert_eq!(text.matches(marks).count(), many, "{figure}");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{figure}");
    }
    assert!(!dir.join("figure-7.svg").exists(), "a table is not drawn");
    std::fs::remove_dir_all(&dir).expect("removed");
}

/// Counts that another program had found before.
#[test]
fn the_printed_equations_fail_as_was_found_elsewhere() {
    let rows = rows(&["--part", "equations"]);
    for (what, ours) in [
        ("d = 3, as printed: wrong destinations", 756.0),
        ("d = 3, as printed: of these, no node at all", 108.0),
        ("d = 3, as printed: phases that are no permutation, of 36", 33.0),
        ("d = 4, as printed, reduced mod n: phases that are no permutation", 64.0),
        ("d = 8, as printed, reduced mod n: phases that are no permutation", 512.0),
        ("d = 18, as printed, reduced mod n: phases that are no permutation", 5832.0),
    ] {
        assert_eq!(figure(&rows, what), ours, "{what}");
    }
}

#[test]
fn people_see_tables_and_notes() {
    let output = reproduce(&["--part", "figure-8,table-2"]);
    let text = String::from_utf8_lossy(&output.stdout);
    for said in [
        "12  18  22  17  21  13  20  12  16  23  15  19  14",
        "as printed: a line for each phase",
        "0.625",
        "0.600",
        "seed 1",
        "d-mod-k",
    ] {
        assert!(text.contains(said), "no `{said}` in {text}");
    }
    assert!(!text.contains("DIFFERS"), "{text}");
    let wrong = reproduce(&["--part", "figure-5"]);
    assert_eq!(wrong.status.code(), Some(2));
    let dir = std::env::temp_dir().join(format!("laneway-undrawn-{}", std::process::id()));
    let undrawn = reproduce(&["--part", "table-1", "--svg", dir.to_str().expect("a name")]);
    let _ = std::fs::remove_dir_all(&dir);
    assert_eq!(undrawn.status.code(), Some(2));
    // What it says to try is what the help shows, and another test draws it.
    let said = String::from_utf8_lossy(&undrawn.stderr).into_owned();
    let help = String::from_utf8_lossy(&reproduce(&["--help"]).stdout).into_owned();
    assert!(said.contains("figure-10") && help.contains("--part figure-10 --svg"), "{said}");
}
