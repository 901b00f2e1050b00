//! `laneway sim` as a person or a script meets it.

use std::process::{Command, Output};

use serde_json::Value;

fn sim(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.arg("sim").args(args).output().expect("the command starts")
}

fn rows(args: &[&str]) -> Vec<Value> {
    let args: Vec<&str> = args.iter().copied().chain(["--format", "json"]).collect();
    let output = sim(&args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["schema"], "laneway.sim/1");
    json["rows"].as_array().expect("rows").clone()
}

#[test]
fn every_operation_is_simulated_with_every_algorithm() {
    for collective in laneway_core::Collective::ALL {
        let name = collective.name();
        let rows = rows(&[name, "--platform", "cluster:8", "--sizes", "64,64K"]);
        let algorithms = laneway_coll::algorithms(collective).count();
        let sizes = if name == "barrier" { 1 } else { 2 };
        assert_eq!(rows.len(), algorithms * sizes, "{name}");
        for row in rows {
            assert_eq!(row["op"], name);
            assert_eq!(row["ranks"], 8);
            assert!(row["time_us"].as_f64().is_some_and(|time| time > 0.0), "{row}");
        }
    }
}

#[test]
fn the_same_digits_every_time() {
    let args = ["alltoall", "--platform", "two-sites:4x4", "--sizes", "100K"];
    assert_eq!(rows(&args), rows(&args));
}

#[test]
fn a_faster_network_takes_less_time() {
    let time = |platform: &str| {
        let rows = rows(&["scatter", "--algorithm", "linear", "--platform", platform]);
        rows.last().and_then(|row| row["time_us"].as_f64()).expect("a time")
    };
    assert!(time("two-sites:4x4,latency=1ms") < time("two-sites:4x4,latency=20ms"));
}

#[test]
fn a_timeline_and_a_platform_for_simgrid_are_written() {
    let dir = std::env::temp_dir().join(format!("laneway-sim-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    let svg = dir.join("t.svg");
    let output = sim(&[
        "bcast",
        "--algorithm",
        "binomial",
        "--sizes",
        "64K",
        "--platform",
        "two-sites:4x4",
        "--timeline",
        svg.to_str().expect("a readable name"),
        "--export-simgrid",
        dir.to_str().expect("a readable name"),
    ]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let picture = std::fs::read_to_string(&svg).expect("the picture");
    assert_eq!(picture.matches("<rect x=").count(), 7, "a bar for each message");
    let xml = std::fs::read_to_string(dir.join("platform.xml")).expect("the platform");
    assert!(xml.contains("<platform"), "{xml}");
    std::fs::remove_dir_all(&dir).expect("removed");
}

#[test]
fn wrong_words_are_refused() {
    for (args, says) in [
        (&["bcats"][..], "laneway sim bcast"),
        (&["bcast", "--platform", "clutser:16"], "cluster"),
        (&["bcast", "--platform", "cluster:0"], "cluster"),
        (&["bcast", "--platform", "no-such-file.toml"], "no-such-file.toml"),
        (&["bcast", "--platform", "cluster:4", "--ranks", "5"], "4 hosts"),
        (&["bcast", "--platform", "cluster:4", "--root", "4"], "root"),
        (&["bcast", "--algorithm", "binomail"], "binomial"),
        (&["bcast", "--sizes", "1Q"], "1Q"),
        (&["bcast", "--timeline", "x.svg"], "one run"),
    ] {
        let output = sim(args);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains("error: ") && text.contains("try: "), "{args:?}: {text}");
        assert!(text.contains(says), "{args:?} does not say `{says}`: {text}");
        assert!(output.stdout.is_empty());
    }
}
