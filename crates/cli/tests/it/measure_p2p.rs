//! `laneway measure p2p` and `laneway measure pairs` as a person or a script meets them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use laneway_needs::{Need, file};
use serde_json::Value;

fn measure(args: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "100", env!("CARGO_BIN_EXE_laneway"), "measure"]);
    command.args(args).env("COLUMNS", "250").output().expect("the command starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The document of a run that ends with `code`.
fn document(args: &[&str], code: i32) -> Value {
    let args: Vec<&str> = args.iter().copied().chain(["--format", "json"]).collect();
    let output = measure(&args);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", said(&output));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

fn rows(args: &[&str]) -> Vec<Value> {
    let rows = document(args, 0)["rows"].as_array().expect("rows").clone();
    assert!(!rows.is_empty(), "{args:?}");
    rows
}

fn flags(row: &Value) -> &str {
    row["flags"].as_str().unwrap_or_else(|| panic!("no flags: {row}"))
}

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("no {name}: {row}"))
}

/// Of `cluster:N`: microseconds of a message, one way.
fn formula(bytes: f64) -> f64 {
    50.0 + bytes / 125.0
}

#[test]
fn all_pairs_have_the_time_of_the_platform() {
    let args = ["p2p", "--backend", "sim:cluster:8", "--pairs", "all", "--sizes", "8,4K,1M"];
    for more in [&["--parallel"][..], &[]] {
        let rows = rows(&[&args[..], more].concat());
        assert_eq!(rows.len(), 3 * 28);
        for row in rows {
            let wanted = formula(number(&row, "size_bytes"));
            let time = number(&row, "time_us");
            assert!((time / wanted - 1.0).abs() < 0.001, "{wanted}: {row}");
            assert!(number(&row, "ci_low_us") <= time && time <= number(&row, "ci_high_us"));
            assert!(number(&row, "ci_level") >= 0.95 && number(&row, "reps") >= 6.0);
            assert_eq!((&row["pattern"], &row["ranks"]), (&Value::from("latency"), &2.into()));
        }
    }
}

const PATTERNS: [&str; 8] =
    ["latency", "bandwidth", "bibw", "rate", "multi-pair", "sendrecv", "exchange", "overlap"];

#[test]
fn every_pattern_has_its_figures() {
    let patterns = PATTERNS.join(",") + ",logp";
    let real = ["p2p", "--ranks", "4", "--budget", "0.2", "--max-reps", "50"];
    let simulated = ["p2p", "--backend", "sim:mpiblib16,receive-buffer=none"];
    for backend in [&real[..], &simulated] {
        let args = [backend, &["--pattern", &patterns, "--sizes", "2000"]].concat();
        let output = measure(&[&args[..], &["--format", "json"]].concat());
        let found: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        let rows = found["rows"].as_array().expect("rows").clone();
        assert_eq!(output.status.code(), Some(0), "{rows:?}: {}", said(&output));
        let names: Vec<&str> = rows.iter().filter_map(|row| row["pattern"].as_str()).collect();
        let models = ["o_s", "o_r", "o_s", "o_r", "gap", "latency", "L"];
        assert_eq!(names, [&PATTERNS[..], &models].concat());
        for row in &rows {
            let name = row["pattern"].as_str().unwrap_or_default();
            let overlap = name == "overlap";
            let figure = if overlap { "overlap_percent" } else { "time_us" };
            // Through shared memory nothing may be left for L, and that is reported.
            if name == "L" && flags(row).contains("overlapping") {
                assert!(row["time_us"].is_null() && row["ci_low_us"].is_null(), "{row}");
                continue;
            }
            // Real computing may disturb a message.
            assert!(overlap || number(row, figure) > 0.0, "{row}");
            assert!(number(row, figure).is_finite(), "{row}");
            let low = if overlap { "overlap_low_percent" } else { "ci_low_us" };
            assert!(number(row, low) <= number(row, figure), "{row}");
            let has_bandwidth = PATTERNS.contains(&name) && !overlap;
            assert!(!has_bandwidth || row["bandwidth_mb_s"].is_f64(), "{row}");
            assert_eq!(row["messages_per_s"].is_f64(), name == "rate", "{row}");
        }
    }
}

#[test]
fn an_overhead_is_that_of_the_rank_that_pays_it() {
    // Hosts 0 and 15 have 2.8 and 1.8 GHz; a message costs 20 us and 2 ns a byte at 3.4.
    let overhead = |clock: f64| (20.0 + 1000.0 * 2e-3) * 3.4 / clock;
    let args = ["p2p", "--backend", "sim:mpiblib16", "--sizes", "1000", "--keep", "--pairs"];
    let found = rows(&[&args[..], &["0:15", "--pattern", "o_s,o_r,logp"]].concat());
    let wanted = [("o_s", 0, 2.8), ("o_r", 0, 1.8)];
    let both = [("o_s", 0, 2.8), ("o_r", 0, 1.8), ("o_s", 15, 1.8), ("o_r", 15, 2.8)];
    for (row, (name, from, clock)) in found.iter().zip(wanted.into_iter().chain(both)) {
        assert_eq!((&row["pattern"], &row["from"]), (&Value::from(name), &from.into()), "{row}");
        let part = number(row, "time_us") / overhead(clock);
        assert!((part - 1.0).abs() < 0.001, "{clock} GHz: {row}");
    }
    // All but L, which comes from the others, have their samples.
    for row in &found {
        let samples = row["samples_us"].as_array().map_or(0, Vec::len);
        let wanted = if row["pattern"] == "L" { 0.0 } else { number(row, "reps") };
        assert_eq!(samples as f64, wanted, "{row}");
    }
    assert_eq!(found.len(), 9);
}

/// The example of the help: its sizes are on both sides of the eager one.
#[test]
fn there_is_no_l_where_both_ends_are_busy_at_the_same_time() {
    let found =
        rows(&["p2p", "--pattern", "logp", "--backend", "sim:mpiblib16", "--pairs", "0:15"]);
    assert_eq!(found.len(), 4 * 7);
    for row in &found {
        let (name, size) = (row["pattern"].as_str().unwrap_or_default(), number(row, "size_bytes"));
        if name == "L" && size > 65536.0 {
            assert!(row["time_us"].is_null() && flags(row) == "overlapping", "{row}");
        } else {
            assert!(number(row, "time_us") > 0.0 && flags(row).is_empty(), "{row}");
        }
    }
    let network = |size: f64| 50.0 + size / 125.0;
    for row in found.iter().filter(|row| row["pattern"] == "L" && row["flags"] == "") {
        let (time, wanted) = (number(row, "time_us"), network(number(row, "size_bytes")));
        assert!((time / wanted - 1.0).abs() < 0.001, "{wanted}: {row}");
    }
}

#[test]
fn bandwidths_are_those_of_the_cards() {
    let patterns = "bandwidth,bibw,sendrecv,exchange,multi-pair";
    let args = ["p2p", "--backend", "sim:cluster:4", "--pattern", patterns, "--sizes", "1M"];
    // A card's 125 MB/s each way; half of four ranks send in pairs.
    let (rows, rates) = (rows(&args), [125.0, 250.0, 250.0, 250.0, 250.0]);
    assert_eq!(rows.len(), rates.len());
    for (row, wanted) in rows.iter().zip(rates) {
        let found = number(row, "bandwidth_mb_s");
        assert!((found / wanted - 1.0).abs() < 0.02, "{wanted}: {row}");
    }
}

#[test]
fn an_mpi_library_is_a_layer_where_there_is_one() {
    let args = ["p2p", "--backend", "local:memcpy,mpi,shm", "--sizes", "8,64K", "--budget", "0.3"];
    let mut nowhere = Command::new(env!("CARGO_BIN_EXE_laneway"));
    let output = nowhere.arg("measure").args(args).env("PATH", "/nonexistent").output();
    let output = output.expect("the command starts");
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    for words in ["error: no MPI to measure over", "mpirun nor mpiexec", "try: "] {
        assert!(said(&output).contains(words), "{}", said(&output));
    }
    let missing = [&args[..], &["--launcher", "no-such-launcher -n 2"]].concat();
    let output = measure(&missing);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("no-such-launcher"), "{}", said(&output));
    let launcher = "/usr/bin/mpirun.mpich";
    if !Need::Mpi.is_met(file(launcher)) {
        return;
    }
    let launcher = format!("{launcher} -n 2");
    let rows = rows(&[&args[..], &["--launcher", &launcher]].concat());
    let layers: Vec<&str> = rows.iter().filter_map(|row| row["layer"].as_str()).collect();
    assert_eq!(layers, ["memcpy", "memcpy", "mpi", "mpi", "shm", "shm"]);
    assert!(rows.iter().all(|row| number(row, "time_us") > 0.0), "{rows:?}");
}

#[test]
fn layers_of_this_machine_stand_side_by_side() {
    let args = ["p2p", "--backend", "local:memcpy,shm,unix,tcp", "--sizes", "64,256K"];
    let args = [&args[..], &["--budget", "0.3", "--pattern", "latency,bandwidth"]].concat();
    let rows = rows(&args);
    let layers: Vec<&str> = rows.iter().filter_map(|row| row["layer"].as_str()).collect();
    let wanted: Vec<&str> =
        ["memcpy", "shm", "unix", "tcp"].into_iter().flat_map(|l| [l; 4]).collect();
    assert_eq!(layers, wanted);
    for row in &rows {
        assert!(number(row, "time_us") > 0.0 && number(row, "bandwidth_mb_s") > 0.0, "{row}");
        assert!(number(row, "ci_low_us") <= number(row, "ci_high_us"), "{row}");
        assert!(!flags(row).contains("no interval"), "{row}");
        assert!(row["mean_us"].is_f64(), "{row}");
        assert!(row["samples_us"].is_null(), "{row}");
    }
    let table = measure(&args);
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    let heading = table.lines().next().unwrap_or_default();
    for column in ["memcpy_us", "shm_us", "unix_us", "tcp_us", "tcp_mb_s"] {
        assert!(heading.contains(column), "{table}");
    }
    let rows = table.split("\n\n").next().unwrap_or_default();
    assert_eq!(rows.lines().count(), 5, "{table}");
    // Patterns without a time of their own have their figures too, and each pair its line.
    let more = ["p2p", "--backend", "local:shm,unix", "--sizes", "8K", "--budget", "0.1"];
    let more = [&more[..], &["--ranks", "3", "--pairs", "0:1,1:2", "--pattern", "overlap,rate"]];
    let output = measure(&more.concat());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    let heading = table.lines().next().unwrap_or_default();
    for column in ["from", "to", "shm_percent", "unix_percent", "unix_messages_per_s"] {
        assert!(heading.split_whitespace().any(|word| word == column), "{table}");
    }
    let rows = table.split("\n\n").next().unwrap_or_default();
    assert_eq!(rows.lines().count(), 5, "{table}");
}

#[test]
fn samples_are_kept_and_agree_with_their_statistics() {
    let file = File::new("kept.json");
    let args = ["p2p", "--ranks", "3", "--pairs", "0:1,2:1", "--pattern", "latency,rate,overlap"];
    let args = [&args[..], &["--sizes", "8,4K", "--budget", "0.1", "--seed", "5"]].concat();
    let kept = rows(&[&args[..], &["--keep", "--export", file.name()]].concat());
    assert_eq!(kept.len(), 12);
    for row in &kept {
        assert_eq!(row["seed"], 5, "{row}");
        assert!(number(row, "warm_up") >= 0.0 && number(row, "outliers") >= 0.0, "{row}");
        if row["pattern"] == "overlap" {
            // A part is not a time.
            assert!(row["samples_us"].is_null() && row["mean_us"].is_null(), "{row}");
            continue;
        }
        let samples = row["samples_us"].as_array().expect("samples");
        let samples: Vec<f64> = samples.iter().filter_map(Value::as_f64).collect();
        assert_eq!(samples.len() as f64, number(row, "reps"), "{row}");
        let mean = samples.iter().sum::<f64>() / samples.len() as f64;
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
        assert!(near(number(row, "mean_us"), mean), "{row}");
        assert!(near(number(row, "median_us"), number(row, "time_us")), "{row}");
        assert!(near(number(row, "min_us"), samples.iter().copied().fold(f64::MAX, f64::min)));
        assert!(near(number(row, "max_us"), samples.iter().copied().fold(0.0, f64::max)));
        assert!(number(row, "p99_us") <= number(row, "max_us") && number(row, "stddev_us") >= 0.0);
    }
    // Without the option they are absent.
    let short = rows(&args);
    assert!(short.iter().all(|row| row.get("samples_us").is_none()), "{short:?}");
    assert!(short[0]["mean_us"].is_f64(), "{short:?}");
    // Who reads the file can draw and compare them.
    let laneway = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
        let output = command.args(args).output().expect("the command starts");
        assert!(output.status.success(), "{args:?}: {}", said(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let page = laneway(&["report", file.name()]);
    assert_eq!(page.matches(" samples: ").count(), 8, "a distribution for each time");
    let compared = laneway(&["compare", file.name(), file.name(), "--format", "json"]);
    let compared: Value = serde_json::from_str(&compared).expect("one JSON object");
    assert!(compared["rows"][0]["ratio_low"].is_f64(), "{compared}");
}

#[test]
fn points_are_shuffled_by_the_seed_and_shown_in_order() {
    // A host that becomes slow in the middle shows what was measured after that.
    let text = "include = [\"cluster:2\"]\n\
                [[event]]\nat = \"6ms\"\nhost = \"node1\"\nfactor = 0.1\n";
    let platform = File::with("late.toml", text);
    let backend = format!("sim:{}", platform.name());
    let late = |seed: &str| -> Vec<f64> {
        let args = ["p2p", "--backend", &backend, "--sizes", "1000:1011:+1", "--seed", seed];
        let rows = rows(&args);
        let sizes: Vec<f64> = rows.iter().map(|row| number(row, "size_bytes")).collect();
        assert_eq!(sizes, (1000..1012).map(f64::from).collect::<Vec<_>>());
        let slow = |row: &&Value| number(row, "time_us") > 1.2 * formula(1000.0);
        rows.iter().filter(slow).map(|row| number(row, "size_bytes")).collect()
    };
    let [one, two] = ["1", "2"].map(late);
    for sizes in [&one, &two] {
        assert!((2..=10).contains(&sizes.len()), "{sizes:?}");
        let last = (1012 - sizes.len()..1012).map(|size| size as f64).collect::<Vec<_>>();
        assert_ne!(*sizes, last, "in the order of the command line");
    }
    assert_ne!(one, two);
    assert_eq!(one, late("1"));
}

#[test]
fn too_few_repetitions_for_an_interval_are_flagged() {
    let args = ["p2p", "--backend", "sim:cluster:2", "--sizes", "8", "--reps"];
    for (reps, flag) in [("1", "single"), ("5", "student"), ("6", "")] {
        let found = rows(&[&args[..], &[reps]].concat());
        assert_eq!(flags(&found[0]), flag, "{reps}");
        assert_eq!(found[0]["ci_low_us"].is_null(), flag == "single", "{reps}");
    }
    // A simulated host that costs nothing has no overhead, hence exit 4.
    let found = document(&[&args[..], &["5", "--pattern", "logp"]].concat(), 4);
    let found = found["rows"].as_array().expect("rows");
    assert!(found.iter().all(|row| flags(row).contains("student")), "{found:?}");
    assert!(found.iter().all(|row| !row["ci_low_us"].is_null()), "{found:?}");
    for (reps, flag) in [("1", "single"), ("5", "student"), ("6", "")] {
        let found = rows(&["pairs", "--backend", "sim:cluster:3", "--reps", reps]);
        assert_eq!(flags(&found[0]), flag, "{reps}");
        assert_eq!(found[0]["latency_ci_low_us"].is_null(), flag == "single", "{reps}");
    }
}

#[test]
fn figures_without_time_are_never_a_success() {
    // A simulated host that costs nothing keeps no caller.
    let args = ["p2p", "--backend", "sim:cluster:4", "--pattern", "logp", "--sizes", "8"];
    let found = document(&args, 4);
    let rows = found["rows"].as_array().expect("rows");
    let flagged: Vec<&str> = rows
        .iter()
        .filter(|row| row["flags"] == "no time")
        .filter_map(|row| row["pattern"].as_str())
        .collect();
    assert_eq!(flagged, ["o_s", "o_r", "o_s", "o_r"]);
}

#[test]
fn round_trips_and_triples_have_the_time_of_the_platform() {
    let args = ["p2p", "--backend", "sim:cluster:5", "--pairs", "all", "--parallel"];
    let trips = [&args[..], &["--pattern", "round-trip", "--sizes", "4000", "--back", "0"]];
    let found = rows(&trips.concat());
    assert_eq!(found.len(), 10);
    for row in &found {
        assert!((number(row, "time_us") - 100.0 - 32.0).abs() < 0.1, "{row}");
        assert_eq!((&row["back_bytes"], &row["and"]), (&0.into(), &Value::Null));
    }
    // Each of five leads with six pairs of others; both messages leave by one card.
    let found = rows(&[&args[..], &["--pattern", "point-to-two", "--sizes", "4000"]].concat());
    assert_eq!(found.len(), 30);
    for row in &found {
        assert!((number(row, "time_us") - 100.0 - 64.0).abs() < 0.2, "{row}");
        let ranks = ["from", "to", "and"].map(|name| number(row, name));
        assert!(ranks[0] != ranks[1] && ranks[1] < ranks[2] && ranks[2] != ranks[0], "{row}");
    }
}

/// A file that is gone at the end.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> File {
        File(std::env::temp_dir().join(format!("laneway-{}-{name}", std::process::id())))
    }

    fn with(name: &str, text: &str) -> File {
        let file = File::new(name);
        std::fs::write(&file.0, text).expect("a file");
        file
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

#[test]
fn a_slow_host_is_named_drawn_and_fails_the_gate() {
    let text = "include = [\"cluster:6\"]\n\
                [[event]]\nat = \"0s\"\nhost = \"node4\"\nfactor = 0.1\n";
    let (platform, svg) = (File::with("slow.toml", text), File::new("pairs.svg"));
    let backend = format!("sim:{}", platform.name());
    let metrics = File::new("pairs.prom");
    let args = ["pairs", "--backend", &backend, "--svg", svg.name()];
    let args = [&args[..], &["--prometheus", metrics.name()]].concat();
    let found = document(&[&args[..], &["--min-bw", "90%"]].concat(), 1);
    assert_eq!(found["schema"], "laneway.measure-pairs/1");
    assert_eq!(found["rows"].as_array().map(Vec::len), Some(15));
    assert_eq!(found["summary"]["slow_nodes"], "node4");
    assert_eq!(
        (&found["summary"]["slow_pairs"], &found["summary"]["healthy"]),
        (&5.into(), &false.into())
    );
    let text = std::fs::read_to_string(metrics.name()).expect("the metrics");
    for line in [
        "laneway_pairs_healthy 0",
        "laneway_pairs_slow_pairs 5",
        "laneway_pairs_host_slow{host=\"node3\"} 0",
        "laneway_pairs_host_slow{host=\"node4\"} 1",
        "laneway_pairs_host_slow_pairs{host=\"node4\"} 5",
        "laneway_pairs_slow{from=\"3\",to=\"4\",from_host=\"node3\",to_host=\"node4\"} 1",
    ] {
        assert!(text.lines().any(|other| other == line), "{line} is not in {text}");
    }
    assert_eq!(text.matches("\nlaneway_pairs_bandwidth_bytes_per_second{").count(), 30, "{text}");
    assert_eq!(text.matches("\nlaneway_pairs_latency_seconds{").count(), 15, "{text}");
    let picture = std::fs::read_to_string(svg.name()).expect("the picture");
    assert_eq!(picture.matches("</title></rect>").count(), 30, "a cell for each pair and way");
    assert!(picture.contains("fill=\"#b00020\">node4 4"), "{picture}");
    // Without a gate it is reported all the same, and is not a failure.
    let output = measure(&args);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("node4 (rank 4) is slow in all 5 pairs"), "{text}");
    assert!(text.contains("@@@@\\@"), "no shades: {text}");
}

#[test]
fn a_slow_link_is_distinguished_from_a_slow_host() {
    let text = "include = [\"cluster:6\"]\n\
                [[link]]\nname = \"bad\"\nrate = \"50Mbit\"\nlatency = \"50us\"\n\
                [[route]]\nfrom = \"node1\"\nto = \"node3\"\nlinks = [\"bad\"]\n";
    let platform = File::with("link.toml", text);
    let found = document(&["pairs", "--backend", &format!("sim:{}", platform.name())], 0);
    assert_eq!(
        (&found["summary"]["slow_nodes"], &found["summary"]["slow_pairs"]),
        (&"".into(), &1.into())
    );
    let verdict = found["summary"]["verdict"].as_str().unwrap_or_default();
    assert!(
        verdict.starts_with("the link between node1 (rank 1) and node3 (rank 3) is slow"),
        "{verdict}"
    );
}

/// A cluster with something wrong, and what is found there.
fn damaged(name: &str, text: &str, more: &[&str], code: i32) -> Value {
    let platform = File::with(name, text);
    let backend = format!("sim:{}", platform.name());
    let found = document(&[&["pairs", "--backend", &backend][..], more].concat(), code);
    if let Some(rows) = found["rows"].as_array().filter(|rows| rows[0]["slow"].is_boolean()) {
        let slow = rows.iter().filter(|row| row["slow"] == true).count();
        assert_eq!(found["summary"]["slow_pairs"], slow, "{found}");
        assert_eq!(found["summary"]["healthy"], slow == 0, "{found}");
    }
    found
}

#[test]
fn a_slow_host_of_one_of_two_sites_is_named() {
    let text = "include = [\"two-sites:7x7,latency=2ms\"]\n\
                [[event]]\nat = \"0s\"\nhost = \"s1n4\"\nfactor = 0.36\n";
    let found = damaged("two-sites.toml", text, &[], 0);
    let summary = &found["summary"];
    assert_eq!((&summary["slow_nodes"], &summary["slow_links"]), (&"s1n4".into(), &"".into()));
    assert_eq!(summary["suspects"], "s1n4 bandwidth both");
    assert_eq!(summary["slow_pairs"], 6);
}

#[test]
fn a_card_that_is_slow_in_one_direction_fails_the_gate() {
    let text = "include = [\"cluster:6\"]\n[[event]]\nat = \"0s\"\nhost = \"node0\"\n\
                direction = \"in\"\nfactor = 0.71\n";
    let found = damaged("inward.toml", text, &["--min-bw", "80%"], 1);
    assert_eq!(found["summary"]["suspects"], "node0 bandwidth in");
    let verdict = found["summary"]["verdict"].as_str().unwrap_or_default();
    assert!(verdict.starts_with("node0 (rank 0) receives slowly in all 5 pairs"), "{verdict}");
    for row in found["rows"].as_array().expect("rows") {
        let slow = row["from"] == 0;
        assert_eq!(row["slow"], slow, "{row}");
        assert_eq!(row["slow_in"], if slow { "back" } else { "" }, "{row}");
        let percent = if slow { 71.0 } else { 100.0 };
        assert!((number(row, "back_percent") - percent).abs() < 0.1, "{row}");
        assert!((number(row, "usual_percent") - percent).abs() < 0.1, "{row}");
        assert!((number(row, "there_percent") - 100.0).abs() < 0.1, "{row}");
        assert!((number(row, "there_mb_s") - 125.0).abs() < 0.1, "{row}");
    }
}

#[test]
fn a_late_pair_is_slow_and_fails_the_gate() {
    let text = "include = [\"cluster:5\"]\n\
                [[link]]\nname = \"bad\"\nrate = \"10Gbit\"\nlatency = \"80us\"\n\
                [[route]]\nfrom = \"node1\"\nto = \"node3\"\nlinks = [\"bad\"]\n";
    let found = damaged("late.toml", text, &["--min-bw", "80%"], 0);
    assert_eq!(found["summary"]["healthy"], true);
    let more = ["--min-bw", "80%", "--max-latency", "1.5"];
    let found = damaged("late.toml", text, &more, 1);
    assert_eq!(found["summary"]["suspects"], "node1:node3 latency both");
    let late = text.replace("80us", "200us");
    let found = damaged("late.toml", &late, &["--min-bw", "80%"], 1);
    let rows = found["rows"].as_array().expect("rows");
    let slow: Vec<&Value> = rows.iter().filter(|row| row["slow"] == true).collect();
    assert_eq!((slow.len(), &slow[0]["slow_in"]), (1, &"latency".into()));
}

#[test]
fn a_gate_may_be_a_rate() {
    let run = |rate: &str, code: i32| {
        document(&["pairs", "--backend", "sim:cluster:3", "--min-bw", rate], code)
    };
    assert_eq!(run("124MB/s", 0)["summary"]["healthy"], true);
    let found = run("1.1Gbit", 1);
    assert_eq!(
        (&found["summary"]["slow_pairs"], &found["summary"]["suspects"]),
        (&3.into(), &"".into())
    );
    let verdict = found["summary"]["verdict"].as_str().unwrap_or_default();
    assert!(verdict.contains("below the requested bandwidth"), "{verdict}");
    // One pair cannot be compared, but it has a rate.
    let args = ["pairs", "--backend", "sim:cluster:2", "--min-bw", "2Gbit"];
    assert_eq!(document(&args, 1)["summary"]["slow_pairs"], 1);
}

#[test]
fn suspects_stand_alone_and_the_report_has_the_map() {
    let text = "include = [\"cluster:6\"]\n\
                [[event]]\nat = \"0s\"\nhost = \"node2\"\ndirection = \"out\"\nfactor = 0.3\n\
                [[link]]\nname = \"bad\"\nrate = \"300Mbit\"\nlatency = \"50us\"\n\
                [[route]]\nfrom = \"node1\"\nto = \"node4\"\nlinks = [\"bad\"]\n";
    let file = File::new("suspects.json");
    let found = damaged("suspects.toml", text, &["--suspects", "--export", file.name()], 0);
    let rows = found["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 2, "{rows:?}");
    let columns = |row: &Value| {
        ["suspect", "host", "to_host", "direction", "measure"].map(|name| row[name].clone())
    };
    let nothing = Value::Null;
    let words = |words: [&str; 5]| words.map(Value::from);
    let mut host = words(["host", "node2", "", "out", "bandwidth"]);
    host[2] = nothing;
    assert_eq!(columns(&rows[0]), host);
    assert_eq!(columns(&rows[1]), words(["link", "node1", "node4", "both", "bandwidth"]));
    assert!((number(&rows[0], "usual_percent") - 30.0).abs() < 0.1, "{}", rows[0]);
    // The file has all pairs, and so has the page that is made of it.
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    let output = command.args(["report", file.name()]).output().expect("the command starts");
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && page.contains("<h2>Map</h2>"), "{}", said(&output));
    assert_eq!(page.matches("</title></rect>").count(), 30, "a cell for each pair and way");
    assert!(page.contains("fill=\"#b00020\">node2 2"), "who is to blame is red");
    assert!(page.contains("2 to 0: 30.0 %") && page.contains("0 to 2: 100.0 %"));
    // Without a suspect there is no table.
    let output = measure(&["pairs", "--backend", "sim:cluster:3", "--suspects"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let wanted = ["slow: below 80 % of the usual", "nothing suspicious: none of 3 pairs is slow"];
    assert!(lines.len() == 2 && lines[0].starts_with(wanted[0]) && lines[1] == wanted[1], "{text}");
}

#[test]
fn sites_that_are_not_given_are_found_by_latency() {
    let text = "[[host]]\nname = \"a[0-3]\"\nrate = \"1Gbit\"\n\
                [[host]]\nname = \"b[0-2]\"\nrate = \"1Gbit\"\n\
                [[link]]\nname = \"near\"\nrate = \"10Gbit\"\nlatency = \"50us\"\nshared = false\n\
                [[link]]\nname = \"far\"\nrate = \"200Mbit\"\nlatency = \"3ms\"\n\
                [[route]]\nfrom = \"a[0-3]\"\nto = \"a[0-3]\"\nlinks = [\"near\"]\n\
                [[route]]\nfrom = \"b[0-2]\"\nto = \"b[0-2]\"\nlinks = [\"near\"]\n\
                [[route]]\nfrom = \"a[0-3]\"\nto = \"b[0-2]\"\nlinks = [\"far\"]\n";
    let found = damaged("graph.toml", text, &["--min-bw", "90%"], 0);
    assert_eq!(found["summary"]["healthy"], true, "{}", found["summary"]);
    let slow = format!("{text}[[event]]\nat = \"0s\"\nhost = \"a2\"\nfactor = 0.5\n");
    let found = damaged("graph.toml", &slow, &["--min-bw", "90%"], 1);
    assert_eq!(found["summary"]["suspects"], "a2 bandwidth both");
}

#[test]
fn every_format_shows_the_pairs_or_refuses() {
    let args = ["pairs", "--backend", "sim:cluster:5", "--format"];
    let shown = |format: &str| {
        let output = measure(&[&args[..], &[format]].concat());
        assert_eq!(output.status.code(), Some(0), "{format}: {}", said(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let page = shown("html");
    assert_eq!(page.matches("</title></rect>").count(), 20, "a cell for each pair and way");
    assert!(page.contains("<h2>Map</h2>") && page.ends_with("</html>\n"));
    assert_eq!(page.matches("<tr").count(), 1 + 10);
    let script = shown("gnuplot");
    for name in ["usual", "bandwidth"] {
        assert!(script.contains(&format!("plot ${name} matrix with image")), "{script}");
        let data = script.split(&format!("${name} << EOD\n")).nth(1).expect("its data");
        let data: Vec<&str> = data.lines().take_while(|line| *line != "EOD").collect();
        assert_eq!(data.len(), 5, "{script}");
        for (rank, line) in data.iter().enumerate() {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!((words.len(), words[rank]), (5, "NaN"), "{script}");
        }
    }
    assert_eq!(shown("csv").lines().count(), 11);
    let file = File::new("pairs.gp");
    let output = measure(&["pairs", "--backend", "sim:cluster:5", "--export", file.name()]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(std::fs::read_to_string(file.name()).expect("the script"), script);
}

#[test]
fn what_is_done_survives_a_crash() {
    let file = File::new("rounds.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.args(["measure", "pairs", "--backend", "sim:cluster:64", "--export", file.name()]);
    let mut child = command.stdout(Stdio::null()).spawn().expect("the command starts");
    // It is there long before all of the 63 rounds are, and never empty.
    let begun = Instant::now();
    while !Path::new(file.name()).exists() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().expect("it still runs");
    let ended = child.wait().expect("its end");
    assert_eq!(ended.code(), None, "it was killed");
    let text = std::fs::read_to_string(file.name()).expect("a file before the end");
    let found: Value = serde_json::from_str(&text).expect("a whole document");
    let rows = found["rows"].as_array().expect("rows");
    assert!(rows.len() >= 32 && rows.len() < 2016, "{}", rows.len());
    assert_eq!(found["summary"]["complete"], false);
    let verdict = found["summary"]["verdict"].as_str().unwrap_or_default();
    assert!(verdict.starts_with("unfinished: ") && verdict.contains(" of 63 rounds"), "{verdict}");
    // Figures are there, and what takes all pairs to tell is not.
    assert!(number(&rows[0], "bandwidth_mb_s") > 100.0 && rows[0]["slow"].is_null(), "{}", rows[0]);
    assert!(rows[0]["usual_percent"].is_null() && found["summary"]["healthy"].is_null());
    let part = format!("{}.{}.part", file.name(), child.id());
    let _ = std::fs::remove_file(part);
}

#[test]
fn a_map_that_cannot_be_drawn_loses_no_figures() {
    let output = measure(&["pairs", "--backend", "sim:cluster:3", "--svg", "/dev/full"]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("cannot write `/dev/full`"), "{}", said(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("nothing suspicious"));
}

#[test]
fn healthy_clusters_pass_the_gate() {
    for platform in ["sim:cluster:9", "sim:two-sites:3x4", "sim:sites:2,3,2"] {
        let found = document(&["pairs", "--backend", platform, "--min-bw", "90%"], 0);
        let verdict = found["summary"]["verdict"].as_str().unwrap_or_default();
        assert!(verdict.starts_with("nothing suspicious"), "{platform}: {verdict}");
    }
    // Sites that are not given look like slow nodes, and with them they do not.
    let hidden = ["pairs", "--backend", "sim:two-sites:3x4", "--sites", "7"];
    assert_eq!(document(&hidden, 0)["summary"]["healthy"], false);
    let given = [&hidden[..4], &["3,4"]].concat();
    assert_eq!(document(&given, 0)["summary"]["healthy"], true);
}

#[test]
fn real_pairs_have_figures() {
    let found = document(&["pairs", "--ranks", "3", "--budget", "0.1"], 0);
    let rows = found["rows"].as_array().expect("rows").clone();
    assert_eq!(rows.len(), 3);
    for row in &rows {
        assert!(number(row, "latency_us") > 0.0 && number(row, "bandwidth_mb_s") > 0.0, "{row}");
        assert!(["", "precision"].contains(&row["flags"].as_str().unwrap_or("?")), "{row}");
    }
}

#[test]
fn mistakes_are_usage_errors() {
    for (args, says) in [
        (&["p2p", "--ranks", "1"][..], "two ranks"),
        (&["pairs", "--backend", "sim:cluster:1"], "--ranks 4"),
        (&["p2p", "--pattern", "latencies"], "latency"),
        (&["p2p", "--backend", "sim:cluster:4", "--pairs", "0:4"], "0 to 3"),
        (&["p2p", "--ranks", "2", "--pairs", "1:1"], "two different ranks"),
        (&["p2p", "--ranks", "2", "--pairs", "one"], "--pairs 0:1"),
        (&["p2p", "--ranks", "2", "--sizes", "8:4"], "its end"),
        (&["p2p", "--ranks", "2", "--sizes", "900G"], "memory"),
        (&["p2p", "--ranks", "2", "--window", "0"], "--window 64"),
        (&["p2p", "--ranks", "2", "--window", "many"], "--window 64"),
        (&["p2p", "--ranks", "2", "--window", "99999999"], "65536"),
        (&["p2p", "--ranks", "2", "--pattern", "point-to-two"], "--ranks 3"),
        (&["p2p", "--ranks", "3", "--pairs", "0:1:2"], "point-to-two"),
        (&["p2p", "--ranks", "3", "--pairs", "0:1:1"], "two different ranks"),
        (&["p2p", "--ranks", "2", "--back", "8"], "round-trip"),
        (&["p2p", "--ranks", "2", "--pattern", "round-trip", "--back", "x"], "--back 8"),
        (&["p2p", "--ranks", "3", "--pattern", "multi-pair", "--pairs", "0:1,1:2"], "rank 1"),
        (&["p2p", "--backend", "sim:cluster:2", "--cache", "cold"], "no caches"),
        (&["p2p", "--ranks", "2", "--cache", "cold:900G"], "memory"),
        (&["p2p", "--ranks", "2", "--cache", "tepid"], "warm, cold or cold:SIZE"),
        (&["p2p", "--ranks", "2", "--reps", "0"], "repetitions"),
        (&["p2p", "--ranks", "2", "--reps", "x"], "--reps 40"),
        (&["p2p", "--ranks", "2", "--precision", "0"], "precision"),
        (&["p2p", "--ranks", "2", "--budget", "never"], "--budget"),
        (&["p2p", "--ranks", "2", "--pattern", "overlap", "--sizes", "0"], "size 0"),
        (&["p2p", "--backend", "local:memcpy,smoke"], "shm"),
        (&["p2p", "--backend", "local:memcpy", "--pattern", "exchange"], "latency"),
        (&["p2p", "--backend", "local:memcpy", "--sizes", "0"], "--sizes"),
        (&["p2p", "--backend", "local:memcpy", "--sizes", "900G"], "memory"),
        (&["p2p", "--backend", "local:shm,tcp,shm"], "twice"),
        (&["p2p", "--backend", "local:shm,mpi", "--launcher", " "], "mpirun -n 2"),
        (&["p2p", "--backend", "local:shm,tcp", "--launches", "2"], "once each"),
        (&["p2p", "--ranks", "2", "--seed", "x"], "seed"),
        (
            &["p2p", "--backend", "sim:cluster:2", "--pattern", "overlap", "--format", "osu"],
            "nothing to write as osu",
        ),
        (&["pairs", "--backend", "sim:cluster:4", "--format", "osu"], "html or gnuplot"),
        (&["pairs", "--backend", "sim:cluster:4", "--export", "no/rows.txt"], "html or gnuplot"),
        (&["pairs", "--ranks", "2", "--size", "900G"], "memory"),
        (&["pairs", "--ranks", "2", "--min-bw", "90%"], "--ranks 3"),
        (&["pairs", "--ranks", "4", "--min-bw", "90"], "--min-bw"),
        (&["pairs", "--ranks", "4", "--sites", "2,1"], "4 ranks"),
        (&["pairs", "--ranks", "4", "--size", "0"], "--size 1M"),
        (&["pairs", "--ranks", "4", "--size", "100"], "1024 bytes"),
        (&["pairs", "--ranks", "4", "--min-bw", "12GB"], "--min-bw 12GB/s"),
        (&["pairs", "--ranks", "4", "--min-bw", "0Gbit"], "above 0"),
        (&["pairs", "--ranks", "4", "--max-latency", "1"], "--max-latency 1.5"),
        (&["pairs", "--ranks", "4", "--max-latency", "nan"], "--max-latency 1.5"),
        (&["pairs", "--ranks", "4", "--suspects", "--format", "gnuplot"], "--suspects"),
        (&["pairs", "--backend", "sim:clutser:4"], "cluster"),
    ] {
        let output = measure(args);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains("error: ") && text.contains("try: "), "{args:?}: {text}");
        assert!(text.contains(says), "{args:?} does not say `{says}`: {text}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn a_folder_that_is_missing_is_reported_before_anything_is_measured() {
    for args in [
        ["p2p", "--ranks", "2", "--export", "no-such-folder/rows.json"],
        ["pairs", "--ranks", "2", "--svg", "no-such-folder/map.svg"],
        ["pairs", "--ranks", "2", "--export", "no-such-folder/rows.json"],
    ] {
        let output = measure(&args);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(3), "{args:?}: {text}");
        assert!(
            text.contains("no-such-folder") && text.contains("try:   mkdir -p"),
            "{args:?}: {text}"
        );
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn a_precision_that_is_missed_is_reported_by_the_exit() {
    let args = ["p2p", "--ranks", "2", "--sizes", "64K", "--max-reps", "7", "--precision", "0.01%"];
    let found = document(&args, 4);
    assert_eq!(found["rows"][0]["flags"], "precision");
}

#[test]
fn the_same_over_mpi() {
    let launcher = "/usr/bin/mpirun.openmpi";
    if !Need::Mpi.is_met(file(launcher)) {
        return;
    }
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "100"]).arg(launcher).args(["--oversubscribe", "-n", "2"]);
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.args([env!("CARGO_BIN_EXE_laneway"), "measure", "p2p", "--format", "json"]);
    command.args(["--pattern", "latency,bandwidth,exchange,overlap", "--sizes", "8,128K"]);
    let output = command.args(["--budget", "0.3"]).output().expect("the launcher starts");
    assert!(output.status.success(), "{}", said(&output));
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let rows = document["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 8);
    for row in rows.iter().filter(|row| row["pattern"] != "overlap") {
        assert!(number(row, "time_us") > 0.0 && number(row, "bandwidth_mb_s") > 0.0, "{row}");
    }
}
