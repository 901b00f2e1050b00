//! `laneway measure pairs --sample` as a person or a script meets it.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

fn pairs(args: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "100", env!("CARGO_BIN_EXE_laneway"), "measure", "pairs"]);
    command.args(args).env("COLUMNS", "250").output().expect("the command starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The document of a run that ends with `code`.
fn document(args: &[&str], code: i32) -> Value {
    let args: Vec<&str> = args.iter().copied().chain(["--format", "json"]).collect();
    let output = pairs(&args);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", said(&output));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

/// A file that is gone when the test is over.
struct File(PathBuf);

impl File {
    fn with(name: &str, text: &str) -> File {
        let path = std::env::temp_dir().join(format!("laneway-{}-{name}", std::process::id()));
        std::fs::write(&path, text).expect("a file");
        File(path)
    }

    fn name(&self) -> &str {
        self.0.to_str().expect("a readable name")
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A cluster of 80 hosts: one receives slowly, and one link is slow.
const DAMAGED: &str = r#"
include = ["cluster:80"]
[[event]]
at = "0s"
host = "node7"
direction = "in"
factor = 0.4
[[link]]
name = "bad"
rate = "300Mbit"
latency = "50us"
duplex = "full"
[[route]]
from = "node20"
to = "node71"
links = ["bad"]
"#;

#[test]
fn a_sample_names_a_host_and_a_link_and_fails_the_gate() {
    let platform = File::with("fleet.toml", DAMAGED);
    let backend = format!("sim:{}", platform.name());
    let file = File::with("fleet.prom", "");
    let metrics = file.name();
    let args = ["--backend", &backend, "--sample", "4", "--seed", "9", "--min-bw", "90%"];
    let found = document(&[&args[..], &["--prometheus", metrics]].concat(), 1);
    let summary = &found["summary"];
    assert_eq!(summary["suspects"], "node7 bandwidth in,node20:node71 bandwidth both", "{summary}");
    let count = |name: &str| summary[name].as_u64().expect(name);
    assert_eq!((count("all_pairs"), count("quick_pairs"), count("unseen_pairs")), (3160, 3160, 0));
    assert!((160..400).contains(&count("pairs")), "{summary}");
    // The slow host stands out with all others, and the link.
    assert_eq!((count("stand_out_pairs"), count("open_pairs")), (80, 0), "{summary}");
    assert_eq!((&found["params"]["sample"], &found["params"]["seed"]), (&4.into(), &9.into()));
    let text = std::fs::read_to_string(metrics).expect("metrics");
    for line in ["laneway_pairs_quick_pairs 3160", "laneway_pairs_host_slow{host=\"node7\"} 1"] {
        assert!(text.lines().any(|other| other == line), "{line} is not in {text}");
    }
    // Another seed takes other pairs, and the same one the same.
    let rows =
        |seed: &str| document(&["--backend", "sim:cluster:20", "--sample", "3", "--seed", seed], 0);
    assert_eq!(rows("1")["rows"], rows("1")["rows"]);
    assert_ne!(rows("1")["rows"], rows("2")["rows"]);
}

#[test]
fn a_table_of_a_sample_has_what_is_slow() {
    let platform = File::with("fleet2.toml", DAMAGED);
    let backend = format!("sim:{}", platform.name());
    let output = pairs(&["--backend", &backend, "--sample"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = printed(&output);
    assert!(text.contains("sample (seed 1): ") && text.contains("--all lists them"), "{text}");
    assert!(text.contains("node7 (rank 7) receives slowly in all 16 pairs"), "{text}");
    assert!(text.contains("the link between node20 (rank 20) and node71 (rank 71)"), "{text}");
    assert!(text.lines().count() < 40, "{text}");
    let output = pairs(&["--backend", &backend, "--sample", "--all"]);
    let ranks = |line: &&str| line.trim_start().starts_with(|c: char| c.is_ascii_digit());
    assert_eq!(printed(&output).lines().filter(ranks).count(), 80, "{}", printed(&output));
}

#[test]
fn nothing_suspicious_says_what_was_examined() {
    let output = pairs(&["--backend", "sim:two-sites:6x6", "--sample", "3", "--min-bw", "90%"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = printed(&output);
    let wanted = "measured pairs is slow; 66 of all 66 pairs had a quick look";
    assert!(text.contains("nothing suspicious: none of ") && text.contains(wanted), "{text}");
    // One pair at a time there are no quick looks: a slow link may be missed.
    let output = pairs(&["--backend", "sim:cluster:12", "--sample", "3", "--sequential"]);
    let text = printed(&output);
    let wanted = ["no quick looks", "not seen: 48 pairs", "0 of all 66 pairs had a quick look"];
    assert!(wanted.iter().all(|words| text.contains(words)), "{text}");
}

#[test]
fn mistakes_of_a_sample_are_usage_errors() {
    for (args, wanted) in [
        (&["--backend", "sim:cluster:8", "--sample", "0"][..], "--sample 7"),
        (&["--backend", "sim:cluster:8", "--sample", "1"], "2 partners at least"),
        (&["--backend", "sim:cluster:8", "--sample", "8"], "each of 8 ranks has 7 partners"),
        (&["--backend", "sim:cluster:8", "--sample", "few"], "--sample 8"),
        (&["--backend", "sim:cluster:8", "--sample", "-1"], "--sample"),
        (&["--backend", "sim:cluster:1", "--sample"], "--ranks 4"),
        (&["--backend", "sim:cluster:8", "--seed", "7"], "--sample"),
    ] {
        let output = pairs(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
        assert!(said(&output).contains(wanted), "{args:?}: {}", said(&output));
        assert!(output.stdout.is_empty(), "{args:?}");
    }
    // A default that is more than there are is all there are.
    for ranks in ["2", "3", "5"] {
        let backend = format!("sim:cluster:{ranks}");
        let summary = &document(&["--backend", &backend, "--sample"], 0)["summary"];
        assert_eq!(summary["pairs"], summary["all_pairs"], "{summary}");
    }
}
