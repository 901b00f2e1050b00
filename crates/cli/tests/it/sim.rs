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
    assert_eq!(picture.matches("</title></rect>").count(), 7, "a bar for each message");
    for word in ["use of the busiest links", "site0:to:site1", "to site1"] {
        assert!(picture.contains(word), "no {word} in the picture");
    }
    let xml = std::fs::read_to_string(dir.join("platform.xml")).expect("the platform");
    assert!(xml.contains("<platform"), "{xml}");
    std::fs::remove_dir_all(&dir).expect("removed");
}

#[test]
fn a_pipeline_is_one_because_messages_of_a_pair_go_in_order() {
    let time = |algorithm: &str, platform: &str| {
        let args = ["bcast", "--algorithm", algorithm, "--sizes", "1M", "--platform", platform];
        rows(&args)[0]["time_us"].as_f64().expect("a time")
    };
    let (linear, pipeline) = (time("linear", "cluster:16"), time("pipeline", "cluster:16"));
    assert!((linear - 125_929.0).abs() < 1.0, "{linear}");
    // 16 segments of 64 KiB pass 15 links, each 50 us and 524.288 us away from the next.
    let wanted = 15.0 * 50.0 + (15.0 + 15.0) * 524.288;
    assert!((pipeline - wanted).abs() < 1.0, "{pipeline}, not {wanted}");
    assert_eq!(time("pipeline", "cluster:16,in-order=true"), pipeline);
    // In SimGrid's way all segments share the links and arrive at the end.
    let beside = time("pipeline", "cluster:16,in-order=false");
    assert!((beside - 126_579.0).abs() < 1.0, "{beside}");
}

#[test]
fn wrong_words_are_refused() {
    for (args, says) in [
        (&["bcats"][..], "laneway sim bcast"),
        (&["bcast", "--platform", "clutser:16"], "cluster"),
        (&["bcast", "--platform", "cluster:0"], "cluster"),
        (&["bcast", "--platform", "cluster:4", "--ranks", "5"], "4 hosts"),
        (&["bcast", "--platform", "cluster:4", "--root", "4"], "root"),
        (&["bcast", "--algorithm", "binomail"], "binomial"),
        (&["bcast", "--sizes", "1Q"], "1Q"),
        (&["bcast,reduce", "--timeline", "x.svg"], "one run"),
    ] {
        let output = sim(args);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains("error: ") && text.contains("try: "), "{args:?}: {text}");
        assert!(text.contains(says), "{args:?} does not say `{says}`: {text}");
        assert!(output.stdout.is_empty());
    }
    let missing = sim(&["bcast", "--platform", "no-such-file.toml"]);
    let text = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert_eq!(missing.status.code(), Some(3), "{text}");
    assert!(text.contains("no-such-file.toml") && text.contains("try: "), "{text}");
}

/// A platform that is a generator and events, in a file of its own.
fn with_events(name: &str, events: &str) -> std::path::PathBuf {
    let file = format!("laneway-{name}-{}.toml", std::process::id());
    let file = std::env::temp_dir().join(file);
    let text = format!("include = [\"cluster:4,in-order=true\"]\n{events}");
    std::fs::write(&file, text).expect("a file");
    file
}

#[test]
fn a_link_that_dies_and_returns_delays_the_run_by_that_long() {
    let file = with_events(
        "delay",
        "[[event]]\nat = \"1ms\"\nhost = \"node1\"\ndown = true\nuntil = \"51ms\"\n",
    );
    let time = |platform: &str| {
        let args = ["allgather", "--algorithm", "ring", "--sizes", "1M", "--platform", platform];
        rows(&args)[0]["time_us"].as_f64().expect("a time")
    };
    let delay = time(file.to_str().expect("a readable name")) - time("cluster:4,in-order=true");
    std::fs::remove_file(&file).expect("removed");
    assert!((delay - 50_000.0).abs() < 1.0, "{delay}");
}

#[test]
fn a_partition_is_an_error_that_names_the_ranks() {
    let events = "[[event]]\nat = \"1ms\"\nhost = \"node1\"\ndirection = \"out\"\n\
                  down = true\n";
    let file = with_events("partition", events);
    let platform = file.to_str().expect("a readable name");
    let output =
        sim(&["bcast", "--algorithm", "pipeline", "--sizes", "1M", "--platform", platform]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    // The same for a program in virtual time.
    let mut check = Command::new(env!("CARGO_BIN_EXE_laneway"));
    check.args(["check", "bcast", "--sizes", "1M", "--algorithm", "pipeline"]);
    let check = check.args(["--backend", &format!("sim:{platform}")]).output().expect("a start");
    std::fs::remove_file(&file).expect("removed");
    let checked = String::from_utf8_lossy(&check.stderr).into_owned();
    for (output, text) in [(&output, text), (&check, checked)] {
        assert_eq!(output.status.code(), Some(3), "{text}");
        for word in ["partitioned", "`node1:out` down", "blocked", "try: "] {
            assert!(text.contains(word), "no `{word}` in {text}");
        }
        assert!(output.stdout.is_empty());
    }
    let missing = sim(&["bcast", "--platform", "no-such-file.toml"]);
    let text = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert_eq!(missing.status.code(), Some(3), "{text}");
    assert!(text.contains("no-such-file.toml") && text.contains("try: "), "{text}");
}

#[test]
fn every_check_passes_on_a_simulated_cluster() {
    let laneway = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
        let output = command.args(args).output().expect("the command starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, out, err) = laneway(&["check", "--backend", "sim:two-sites:3x2"]);
    assert_eq!(code, Some(0), "{err}");
    let summary = out.lines().last().expect("a summary");
    assert!(summary.contains(" 0 failed") && !summary.starts_with("0 "), "{summary}");

    let (code, out, err) = laneway(&["info", "--backend", "sim:two-sites:3x2", "--ranks", "4"]);
    assert_eq!(code, Some(0), "{err}");
    for word in ["sim:two-sites:3x2", "ranks            4", "s0n0,s0n1,s0n2,s1n0"] {
        assert!(out.contains(word), "no `{word}` in {out}");
    }
    for (args, says) in [
        (["--backend", "sim:clutser:4", "--ranks", "2"], "did you mean cluster"),
        (["--backend", "sim", "--ranks", "2"], "sim:PLATFORM"),
        (["--backend", "sim:cluster:4", "--ranks", "5"], "4 hosts"),
    ] {
        let (code, out, err) = laneway(&[&["check", "barrier"][..], &args].concat());
        assert_eq!(code, Some(2), "{args:?}: {err}");
        assert!(err.contains(says) && err.contains("try: ") && out.is_empty(), "{args:?}: {err}");
    }
}
