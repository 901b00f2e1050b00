//! `laneway sites measure` from the outside: rows, the platform that it saves, and what is refused.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

fn laneway(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_laneway")).args(words).output().expect("the command starts")
}

fn document(words: &[&str]) -> Value {
    let mut words = words.to_vec();
    words.extend(["--format", "json"]);
    let output = laneway(&words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("laneway-{}-{name}", std::process::id()))
}

const PLATFORM: &str = "two-sites:4x6,latency=5ms,connection=25Mbit,wan=60Mbit,rate=1Gbit";

#[test]
fn pairs_have_rates_and_choices_follow_from_the_platform() {
    let saved = file("found.toml");
    let name = saved.display().to_string();
    let backend = format!("sim:{PLATFORM}");
    let words = ["sites", "measure", "--backend", &backend, "--reps", "2", "-o", &name];
    let document = document(&words);
    let rows = document["rows"].as_array().expect("rows");
    let near = |value: &Value, wanted: f64| {
        let value = value.as_f64().expect("a number");
        assert!((value / wanted - 1.0).abs() < 0.01, "{value} is not {wanted}");
    };
    let pairs = |from: &str, to: &str| -> Vec<&Value> {
        let is = |row: &&Value| {
            row["kind"] == "pairs" && row["from_site"] == from && row["to_site"] == to
        };
        rows.iter().filter(is).collect()
    };
    for (from, to) in [("site0", "site1"), ("site1", "site0")] {
        let all = pairs(from, to);
        assert_eq!(all.len(), 4, "one for each P from 1 to 4");
        for (row, p) in all.iter().zip(1..) {
            assert_eq!(row["p"], p);
            let together = (f64::from(p) * 25e6).min(60e6) / 8.0;
            near(&row["rate_each"], together / f64::from(p));
            near(&row["rate_together"], together);
        }
        near(&all[0]["latency_us"], 5000.0);
        near(&all[0]["connection"], 25e6 / 8.0);
        near(&all[0]["capacity"], 60e6 / 8.0);
    }
    assert_eq!(document["params"]["rate_unit"], "bytes per second");
    assert!(rows.iter().any(|row| row["kind"] == "lanes" && row["printed_p"].is_u64()));
    let remarks = document["summary"]["remarks"].as_str().expect("sentences");
    assert!(remarks.contains("pairs share 60.0 Mbit/s from 3 concurrent pairs on"), "{remarks}");
    // What is chosen from the file is what is chosen from the truth.
    let chosen = |platform: &str| {
        let words = ["sites", "--platform", platform, "--op", "scatter,gather", "--sizes", "1M"];
        let rows = self::document(&words)["rows"].as_array().expect("rows").clone();
        rows.iter().map(|row| row["spelled"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(chosen(&name), chosen(PLATFORM));
    // It can be given to the next run, by the names of the hosts.
    let words = ["sites", "measure", "--backend", &backend, "--reps", "1", "--sites", &name];
    let again = self::document(&words);
    assert_eq!(again["params"]["sites"], "site0,site1");
    std::fs::remove_file(&saved).expect("the file was written");
}

#[test]
fn what_cannot_be_measured_is_refused_and_nothing_hangs() {
    let sim = "sim:two-sites:2x2";
    let folder = std::env::temp_dir().display().to_string();
    for (words, part) in [
        (&["--backend", "local:shm", "--ranks", "2"][..], "all ranks are on one host"),
        (&["--backend", sim, "--ranks", "1"], "all ranks are on one host"),
        (&["--backend", "sim:cluster:4"], "the 4 hosts are at one site"),
        (&["--backend", sim, "--ranks", "2"], "at one site"),
        (&["--backend", sim, "-o", "/nowhere/found.toml"], "there is no folder `/nowhere`"),
        (&["--backend", sim, "-o", "/proc/found.toml"], "cannot write `/proc/found.toml`"),
        (&["--backend", sim, "-o", &folder], "it is a folder"),
        (&["--backend", sim, "--message", "64K"], "too short to measure a rate"),
        (&["--backend", sim, "--message", "0"], "too short"),
        (&["--backend", sim, "--message", "much"], "`much` is not a size"),
        (&["--backend", sim, "--message", "1000000G"], "do not fit into memory"),
        (&["--backend", sim, "--sizes", "many"], "many"),
        (&["--backend", sim, "--sites", "cluster:2"], "is unknown"),
        (&["--backend", sim, "--sites", "nofile.toml"], "nofile.toml"),
        (&["--backend", sim, "--reps", "0"], "repetitions"),
        (&["--backend", sim, "--format", "osu"], "OSU"),
        (&["--pairs", "4"], "--pairs"),
        (&["--backend", "mars"], "mars"),
    ] {
        let all: Vec<&str> = ["sites", "measure"].iter().chain(words).copied().collect();
        let output = laneway(&all);
        let said = String::from_utf8_lossy(&output.stderr);
        let files = ["-o", "nofile.toml"];
        let code = if words.iter().any(|word| files.contains(word)) { 3 } else { 2 };
        assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
        assert!(said.contains(part), "{words:?}: {said}");
        assert!(said.contains("error: ") && said.contains("\ncause: "), "{said}");
    }
}

/// Hosts of b are 25 us from each other and 60 us from those of a.
const NEAR: &str = r#"
[[site]]
name = "a"
latency = "5us"
[[site]]
name = "b"
latency = "25us"
[[site]]
name = "c"
latency = "20us"
[[host]]
name = "a[0-3]"
site = "a"
rate = "10Gbit"
[[host]]
name = "b[0-3]"
site = "b"
rate = "10Gbit"
[[host]]
name = "c[0-3]"
site = "c"
rate = "10Gbit"
[wan]
latency = "5ms"
rate = "1Gbit"
[[between]]
sites = ["a", "b"]
latency = "60us"
rate = "1Gbit"
"#;

#[test]
fn hosts_that_are_no_site_are_measured_only_if_asked_for() {
    let (truth, saved) = (file("near.toml"), file("near-found.toml"));
    std::fs::write(&truth, NEAR).expect("a file");
    let backend = format!("sim:{}", truth.display());
    let name = saved.display().to_string();
    let words = ["sites", "measure", "--backend", &backend, "--reps", "1", "-o", &name];
    let output = laneway(&words);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("b0, b1, b2, b3 are 25.") && said.contains("--anyway"), "{said}");
    assert!(!saved.exists(), "no choice can be made from it");
    let output = laneway(&[&words[..], &["--anyway"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(&saved).expect("a file");
    assert_eq!(text.matches("[[site]]").count(), 3, "{text}");
    for file in [truth, saved] {
        std::fs::remove_file(file).expect("the file was written");
    }
}

/// What is chosen from a file that says that connections were not looked for is flagged, where one
/// connection is the limit.
#[test]
fn choices_that_depend_on_what_was_not_looked_for_are_flagged() {
    let saved = file("open.toml");
    let text = NEAR.replacen("[wan]", "[wan]\nconnection = \"20Mbit\"", 1);
    let flags = |text: &str| {
        std::fs::write(&saved, text).expect("a file");
        let name = saved.display().to_string();
        let words = ["sites", "--platform", &name, "--op", "scatter", "--sizes", "1M"];
        let rows = document(&words)["rows"].as_array().expect("rows").clone();
        rows.iter().map(|row| row["flags"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(flags(&text), [Value::Null]);
    let open = format!("not-looked-for = [\"connections\"]\n{text}");
    assert_eq!(flags(&open), ["not looked for: connections"]);
    std::fs::remove_file(&saved).expect("the file was written");
}
