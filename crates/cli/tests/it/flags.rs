//! Every flag that a row can carry is explained: by `laneway info flags` and in docs/measure.md.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use laneway_measure::flags::{FLAGS, find};
use serde_json::Value;

fn laneway(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    // Sentences in one line each.
    let command = command.args(args).env("COLUMNS", "200").stdin(Stdio::null());
    let output = command.output().expect("the command starts");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn rows(args: &[&str]) -> Vec<Value> {
    let output = laneway(&[args, &["--format", "json"]].concat());
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    json["rows"].as_array().expect("rows").clone()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_page_explains_each_in_two_lines() {
    let page = laneway(&["info", "flags"]).stdout;
    let page = String::from_utf8_lossy(&page);
    let lines: Vec<&str> = page.lines().skip(1).collect();
    assert_eq!(lines.len(), 2 * FLAGS.len(), "{page}");
    for (flag, lines) in FLAGS.iter().zip(lines.chunks(2)) {
        assert!(lines[0].starts_with(flag.name) && lines[0].ends_with(flag.sentence), "{page}");
        assert_eq!(lines[1].trim(), flag.advice);
    }
    let rows = rows(&["info", "flags"]);
    assert_eq!(rows.len(), FLAGS.len());
    for (flag, row) in FLAGS.iter().zip(&rows) {
        assert_eq!((&row["flag"], &row["what"]), (&flag.name.into(), &flag.sentence.into()));
        assert_eq!(row["what_to_do"], flag.advice);
    }
}

#[test]
fn the_manual_says_the_same() {
    let manual = fs::read_to_string(root().join("docs/measure.md")).expect("the manual");
    for flag in FLAGS {
        let line = format!("| `{}` | {} | {} |", flag.name, flag.sentence, flag.advice);
        assert!(manual.lines().any(|other| other == line), "docs/measure.md lacks: {line}");
    }
}

/// Where flags are put on rows, and the words before their text.
const ROOMS: [&str; 3] = ["crates/measure/src", "crates/cli/src/measure", "bindings/c/src"];
const BEFORE: [&str; 5] =
    ["note(\"", "notes.push(\"", "flags.push(\"", ".then_some(\"", "=> Some(\""];

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => sources(&path, into),
            false => into.extend(path.extension().is_some_and(|end| end == "rs").then_some(path)),
        }
    }
}

#[test]
fn no_code_puts_another_word_on_a_row() {
    let mut files = Vec::new();
    ROOMS.iter().for_each(|room| sources(&root().join(room), &mut files));
    assert!(files.len() > 50, "{}", files.len());
    for file in files {
        let text = fs::read_to_string(&file).expect("readable source");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        // What is noted on the screen is not a flag.
        for line in code.lines().filter(|line| !line.contains("output::note(")) {
            for before in BEFORE {
                let Some((_, rest)) = line.split_once(before) else { continue };
                let word = rest.split('"').next().unwrap_or_default();
                assert!(find(word).is_some(), "{}: `{word}` is not explained", file.display());
            }
        }
    }
}

#[test]
fn rows_carry_what_is_explained() {
    let sim = ["measure", "coll", "bcast", "--backend", "sim:two-sites:2x2", "--sizes", "8"];
    let cases: [&[&str]; 4] = [
        &["--reps", "1"],
        &["--reps", "3"],
        &["--timing", "root", "--confirmation", "barrier"],
        &["--timing", "maximum", "--isolation", "barrier:linear"],
    ];
    let mut seen = 0;
    for case in cases {
        for row in rows(&[&sim[..], case].concat()) {
            let flags = row["flags"].as_str().expect("flags");
            for flag in flags.split(',').filter(|flag| !flag.is_empty()) {
                assert!(find(flag).is_some(), "{case:?}: {row}");
                seen += 1;
            }
        }
    }
    assert!(seen >= 3, "{seen} flags");
}
