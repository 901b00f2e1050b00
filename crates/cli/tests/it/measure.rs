//! `laneway measure coll` as a person or a script meets it.

use std::io::Read;
use std::process::{Command, Output};

use laneway_needs::{Need, cores_at_most};
use serde_json::Value;

fn measure(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.args(["measure", "coll"]).args(args).output().expect("the command starts")
}

fn document(args: &[&str]) -> Value {
    let args: Vec<&str> = args.iter().copied().chain(["--format", "json"]).collect();
    let output = measure(&args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["schema"], "laneway.measure/1");
    json
}

fn rows(args: &[&str]) -> Vec<Value> {
    let rows = document(args)["rows"].as_array().expect("rows").clone();
    assert!(!rows.is_empty(), "{args:?}");
    rows
}

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("no {name} in {row}"))
}

#[test]
fn a_simulated_cluster_is_measured_to_its_truth() {
    let ops = "bcast,scatter,gather,allreduce,alltoall";
    let args = [ops, "--backend", "sim:two-sites:4x4", "--sizes", "8,1K,64K", "--truth"];
    let rows = rows(&args);
    assert_eq!(rows.len(), 15);
    for row in rows {
        let (time, truth) = (number(&row, "time_us"), number(&row, "truth_us"));
        assert!((time / truth - 1.0).abs() < 0.002, "{row}");
        assert!(number(&row, "ci_low_us") <= time && time <= number(&row, "ci_high_us"), "{row}");
        assert!(number(&row, "ci_level") >= 0.95 && row["ci_scope"] == "launch", "{row}");
        assert!(number(&row, "reps") >= 6.0 && row["timing"] == "start-time", "{row}");
    }
}

#[test]
fn every_operation_and_algorithm_can_be_measured() {
    for collective in laneway_core::Collective::ALL {
        let name = collective.name();
        let args = [name, "--algorithm", "all", "--backend", "sim:cluster:4", "--sizes", "1K"];
        let output = measure(&[&args[..], &["--format", "json"]].concat());
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let rows = json["rows"].as_array().expect("rows");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(rows.len(), laneway_coll::algorithms(collective).count(), "{name}: {said}");
        assert!(rows.iter().all(|row| number(row, "time_us") > 0.0), "{name}");
    }
}

#[test]
fn rows_of_one_algorithm_with_several_settings_are_distinguished() {
    let names = "knomial:radix=3,knomial:radix=4,binomial";
    let args = ["bcast", "--algorithm", names, "--backend", "sim:cluster:4", "--sizes", "16K"];
    let rows = rows(&args);
    let spelled: Vec<&str> = rows.iter().filter_map(|row| row["spelled"].as_str()).collect();
    assert_eq!(spelled, ["knomial:radix=3:segment=65536:window=8", "knomial", "binomial"]);
    assert_eq!(
        (&rows[0]["algorithm"], &rows[1]["algorithm"]),
        (&"knomial".into(), &"knomial".into())
    );
}

#[test]
fn every_method_and_isolation_gives_a_figure() {
    for timing in ["root", "maximum", "global", "start-time", "loop", "tasks"] {
        for isolation in ["none", "barrier:tree", "double-barrier", "reduce", "p2p"] {
            let args = [
                "bcast",
                "--algorithm",
                "binomial",
                "--backend",
                "sim:two-sites:3x3",
                "--sizes",
                "64K",
                "--root",
                "2",
                "--timing",
                timing,
                "--isolation",
                isolation,
                "--format",
                "json",
            ];
            let output = measure(&args);
            let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            let rows = json["rows"].as_array().expect("rows");
            let timed = rows[0]["time_us"].as_f64().is_some_and(|time| time > 0.0);
            // Without isolation repetitions overlap, and the median may be of ranks that only send.
            let code = if timed { 0 } else { 4 };
            assert_eq!(output.status.code(), Some(code), "{timing} {isolation}: {}", rows[0]);
            assert!(timed || isolation == "none", "{timing} {isolation}: {}", rows[0]);
            assert_eq!(rows.len(), 1, "{timing} {isolation}");
            assert_eq!(rows[0]["timing"], timing);
            let loops = rows[0].get("rank_avg_us").is_some();
            assert_eq!(loops, timing == "loop", "{}", rows[0]);
        }
    }
}

#[test]
fn processes_of_this_machine_are_measured() {
    let rows = rows(&["bcast,allreduce", "--ranks", "2", "--sizes", "8,64K", "--budget", "0.5"]);
    assert_eq!(rows.len(), 4);
    for row in rows {
        assert!(number(&row, "time_us") > 0.0 && number(&row, "reps") >= 6.0, "{row}");
        assert!(row.get("truth_us").is_none(), "{row}");
    }
}

#[test]
fn ranks_that_share_cores_fall_back_and_keep_every_sample() {
    let cores = std::thread::available_parallelism().expect("a count").get();
    if !Need::Cores.is_met(cores_at_most(30, cores as u32)) {
        return;
    }
    let ranks = (2 * cores + 1).to_string();
    // 25 repetitions are two times ten between two sleeps, and five.
    let args = ["bcast", "--ranks", &ranks, "--sizes", "8", "--reps", "25", "--keep"];
    let row = &rows(&args)[0];
    assert_eq!(row["timing"], "start-time>maximum", "{row}");
    assert!(row["flags"].as_str().is_some_and(|flags| flags.contains("start missed")), "{row}");
    let length = |name: &str| row[name].as_array().expect("a list").len();
    assert_eq!((number(row, "reps"), length("samples_us")), (25.0, 25), "{row}");
    assert_eq!(length("rank_exits_us"), 25 * (2 * cores + 1), "{row}");
}

#[test]
fn a_single_sample_has_no_interval_and_says_so() {
    let args = ["gather", "--backend", "sim:mpiblib16", "--sizes", "10K:100K:+10K", "--reps", "1"];
    let rows = rows(&args);
    assert_eq!(rows.len(), 10);
    for row in rows {
        assert!(row["ci_low_us"].is_null() && row["ci_scope"].is_null(), "{row}");
        assert!(row["flags"].as_str().is_some_and(|flags| flags.contains("single")), "{row}");
        assert_eq!(row["reps"], 1);
    }
}

#[test]
fn bends_are_refined_and_samples_kept() {
    // Medium messages escalate.
    let args = ["gather", "--algorithm", "linear", "--sizes", "1K,32K,128K", "--keep"];
    let args = [&args[..], &["--backend", "sim:mpiblib16"]].concat();
    let plain = rows(&args);
    let more = rows(&[&args[..], &["--refine", "3"]].concat());
    assert_eq!((plain.len(), more.len()), (3, 6));
    for row in more {
        let samples = row["samples_us"].as_array().expect("samples");
        assert_eq!(samples.len() as f64, number(&row, "reps"), "{row}");
        let taken = (number(&row, "reps") + number(&row, "rejected")) as usize;
        for name in ["rank_entries_us", "rank_exits_us"] {
            let all = row[name].as_array().expect("every rank's");
            assert_eq!(all.len(), 16 * taken, "{name} of {row}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_digits_and_an_export_has_them_too() {
    let file = std::env::temp_dir().join(format!("laneway-measure-{}.json", std::process::id()));
    let name = file.to_str().expect("a readable name");
    let args = ["bcast,gather", "--backend", "sim:two-sites:2x2", "--seed", "7", "--export", name];
    let (first, second) = (document(&args), document(&args));
    assert_eq!(first["rows"], second["rows"]);
    let text = std::fs::read_to_string(&file).expect("the export");
    std::fs::remove_file(&file).expect("removed");
    let exported: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(exported["rows"], second["rows"]);
}

/// The rows of one sweep over numbers of ranks.
fn swept(ranks: &str, more: &[&str]) -> Vec<Value> {
    let args = ["bcast,allgather", "--backend", "sim:two-sites:4x4", "--sizes", "1K", "--truth"];
    rows(&[&args[..], &["--ranks", ranks], more].concat())
}

#[test]
fn a_sweep_over_ranks_is_the_runs_that_it_stands_for() {
    let all = swept("2:8", &[]);
    let counts: Vec<f64> = all.iter().map(|row| number(row, "ranks")).collect();
    assert_eq!(counts, [2.0, 2.0, 4.0, 4.0, 8.0, 8.0]);
    for ranks in [2, 4, 8] {
        let alone = swept(&ranks.to_string(), &[]);
        let same = all.iter().filter(|row| row["ranks"] == ranks);
        for (row, alone) in same.zip(&alone) {
            assert_eq!((&row["op"], &row["algorithm"]), (&alone["op"], &alone["algorithm"]));
            for name in ["time_us", "truth_us"] {
                let part = number(row, name) / number(alone, name) - 1.0;
                assert!(part.abs() < 0.002, "{name}: {row} and alone {alone}");
            }
        }
    }
    for (ranks, counts) in [("2,3", 2), ("2:8:+3", 3), ("2:8:*4", 2)] {
        assert_eq!(swept(ranks, &["--algorithm", "ring,binomial"]).len(), 2 * counts, "{ranks}");
    }
}

#[test]
fn bends_are_refined_for_each_number_of_ranks() {
    let args = ["gather", "--algorithm", "linear", "--sizes", "1K,32K,128K", "--refine", "2"];
    let rows = rows(&[&args[..], &["--backend", "sim:mpiblib16", "--ranks", "8,16"]].concat());
    for ranks in [8.0, 16.0] {
        let own = rows.iter().filter(|row| number(row, "ranks") == ranks).count();
        assert_eq!(own, 5, "{ranks} ranks");
    }
}

#[test]
fn processes_are_swept_and_launched_again() {
    let args = ["bcast", "--ranks", "2:3:+1", "--sizes", "64K", "--budget", "0.1"];
    let rows = rows(&[&args[..], &["--launches", "2"]].concat());
    let counts: Vec<f64> = rows.iter().map(|row| number(row, "ranks")).collect();
    assert_eq!(counts, [2.0, 3.0]);
    assert!(rows.iter().all(|row| row["launches"] == 2), "{rows:?}");
}

/// Ranks that are not measured yet wait for longer than a message may take.
#[test]
fn ranks_that_wait_for_their_turn_are_not_given_up() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.args(["measure", "coll", "bcast", "--ranks", "2,3", "--sizes", "64K"]);
    command.args(["--precision", "0.001%", "--max-reps", "10000000", "--budget", "2.5"]);
    let output = command.env("LANEWAY_WAIT_LIMIT", "1").output().expect("the command starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "the precision cannot be reached: {text}");
    assert!(!text.contains("error: "), "{text}");
}

/// Eight hosts, and other traffic that makes times differ.
const NOISY: &str = r#"
[[site]]
name = "here"
latency = "50us"

[[host]]
name = "n[0-7]"
site = "here"
rate = "1Gbit"

[[background]]
from = "n0"
to = "n1"
size = "256K"
every = "8ms"
random = true
"#;

#[test]
fn an_algorithm_that_is_surely_slower_leaves_the_race() {
    let file = std::env::temp_dir().join(format!("laneway-noisy-{}.toml", std::process::id()));
    std::fs::write(&file, NOISY).expect("a file");
    let backend = format!("sim:{}", file.display());
    let args = ["bcast", "--algorithm", "linear,scatter-ring", "--sizes", "256K"];
    // Of virtual time, most of which are pauses.
    let more =
        ["--backend", &backend, "--precision", "1%", "--budget", "600", "--max-reps", "9999"];
    let args = [&args[..], &more].concat();
    let (alone, raced) = (rows(&args), rows(&[&args[..], &["--race"]].concat()));
    std::fs::remove_file(&file).expect("removed");
    let flags = |row: &Value| row["flags"].as_str().expect("flags").to_string();
    assert!(alone.iter().all(|row| !flags(row).contains("lost")), "{alone:?}");
    let (slow, fast) = (&raced[0], &raced[1]);
    assert_eq!((flags(slow), flags(fast)), ("stopped early: slower".into(), String::new()));
    assert!(number(slow, "reps") >= 6.0 && number(slow, "reps") < number(&alone[0], "reps"));
    assert!(number(slow, "ci_low_us") > number(fast, "ci_high_us"), "{slow} {fast}");
    assert_eq!(fast["timing"], "start-time");
    // The winner is measured as it is without a race.
    let (low, high) = (number(fast, "ci_low_us"), number(fast, "ci_high_us"));
    let other = (number(&alone[1], "ci_low_us"), number(&alone[1], "ci_high_us"));
    // The sums of virtual times differ in their last digits.
    let digits = 1e-9 * high;
    assert!(low <= other.1 + digits && other.0 <= high + digits, "{fast} {}", alone[1]);
}

#[test]
fn what_sends_nothing_is_left_out_and_no_failure_of_a_sweep() {
    let sim = ["--backend", "sim:mpiblib16", "--reps", "1", "--format", "json"];
    let output = measure(&[&["gather,barrier", "--sizes", "0:4K:+1K"][..], &sim].concat());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("left out gather") && text.contains("0 B: nothing is sent"), "{text}");
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = json["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 5, "four sizes and a barrier");
    assert!(rows.iter().all(|row| number(row, "time_us") > 0.0), "{rows:?}");
    let alone = measure(&[&["bcast", "--ranks", "1,2", "--sizes", "8"][..], &sim].concat());
    let text = String::from_utf8_lossy(&alone.stderr).into_owned();
    assert_eq!(alone.status.code(), Some(0), "{text}");
    assert!(text.contains("8 B on 1 rank: nothing is sent"), "{text}");
    let nothing = measure(&[&["bcast", "--sizes", "0"][..], &sim].concat());
    assert_eq!(nothing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("nothing was measured"));
    assert!(nothing.stdout.is_empty());
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let sim = ["--backend", "sim:cluster:4"];
    for (args, code, says) in [
        (&["bcats"][..], 2, "laneway measure coll bcast"),
        (&["bcast", "--algorithm", "binomail"], 2, "binomial"),
        (&["bcast", "--sizes", "8:4"], 2, "its end is below its start"),
        (&["bcast", "--isolation", "walls"], 2, "double-barrier"),
        (&["bcast", "--root", "4"], 2, "0 to 3"),
        (&["bcast", "--reps", "0"], 2, "repetitions"),
        (&["bcast", "--reps", "5", "--min-reps", "3"], 2, "exact"),
        (&["bcast", "--precision", "0"], 2, "0.001% to 99.99%"),
        (&["bcast", "--alpha", "2"], 2, "0.001% to 99.99%"),
        (&["bcast", "--level", "30%"], 2, "50% to"),
        (&["bcast", "--reps", "5", "--precision", "1%"], 2, "exact"),
        (&["bcast", "--max-reps", "many"], 2, "whole number"),
        (&["bcast", "--min-reps", "7", "--max-reps", "7", "--precision", "1%"], 2, "both 7"),
        (&["bcast", "--max-reps", "3", "--precision", "1%"], 2, "both 3"),
        (&["bcast", "--max-reps", "99999999999"], 2, "below 2^32"),
        (&["bcast", "--timing", "global", "--resync", "0"], 2, "--resync 50"),
        (&["bcast", "--sync", "offset", "--trips", "0"], 2, "--trips 10"),
        (&["bcast", "--sync", "offset", "--trips", "-3"], 2, "--trips"),
        (&["bcast", "--cache", "cold"], 2, "has no caches"),
        (&["bcast", "--cache", "tepid"], 2, "warm, cold or cold:SIZE"),
        (&["bcast", "--cache", "cold:0"], 2, "the size must be above 0"),
        (&["bcast", "--launches", "2", "--launcher", " "], 2, "mpirun -n 4"),
        (&["bcast", "--ranks", "4:2"], 2, "its end is below its start"),
        (&["bcast", "--ranks", "0,2"], 2, "1 to 1024"),
        (&["bcast", "--ranks", "2:5:"], 2, "a step is"),
        (&["bcast", "--ranks", "few"], 2, "--ranks 2:16"),
        (&["bcast", "--ranks", "2:8"], 2, "4 hosts"),
        (&["bcast", "--ranks", "2:4", "--root", "2"], 2, "0 to 1"),
        (&["bcast", "--race"], 2, "--algorithm all --race"),
        (&["bcast", "--race", "--algorithm", "binomial"], 2, "only one algorithm"),
        (&["bcast", "--race", "--algorithm", "all", "--reps", "5"], 2, "without --reps"),
        (&["bcast", "--budget", "-1"], 2, "budget"),
        (&["bcast", "--clock-offset", "-1"], 2, "0 to 86400 seconds"),
        (&["bcast", "--clock-drift", "300"], 2, "0 to 200 millionths"),
        (&["bcast", "--clock-drift", "nan"], 2, "0 to 200 millionths"),
        (&["bcast", "--clock-drift", "fast"], 2, "a number of millionths"),
        (&["bcast", "--algorithm", "native"], 2, "nothing was measured"),
        (&["alltoall", "--timing", "tasks"], 2, "nothing was measured"),
    ] {
        let output = measure(&[args, &sim].concat());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        assert!(text.contains("error: ") && text.contains("try: "), "{args:?}: {text}");
        assert!(text.contains(says), "{args:?} does not say `{says}`: {text}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
    let real = measure(&["bcast", "--ranks", "2", "--truth"]);
    assert_eq!(real.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&real.stderr).contains("only a simulated cluster"));
    for verb in [&["check", "bcast"][..], &["measure", "p2p"], &["info", "env"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
        let output = command.args(verb).args(["--ranks", "2:4"]).output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{verb:?}: {text}");
        assert!(
            text.contains("error: ") && text.contains("must be one number"),
            "{verb:?}: {text}"
        );
    }
}

/// What cannot be written while others are still measuring ends all of them at once.
#[test]
fn a_full_disk_is_reported_without_a_hang() {
    let file = std::env::temp_dir().join(format!("laneway-full-{}.json", std::process::id()));
    let _ = std::fs::remove_file(&file);
    std::os::unix::fs::symlink("/dev/full", &file).expect("a link");
    let name = file.to_str().expect("a readable name");
    for verb in [&["coll", "bcast"][..], &["p2p"], &["pairs"]] {
        for backend in [["--backend", "sim:cluster:3"], ["--ranks", "2"]] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
            command.arg("measure").args(verb).args(backend).args(["--export", name]);
            // Ranks that miss the precision tell no second error.
            command.args(["--precision", "0.001%", "--min-reps", "6", "--max-reps", "7"]);
            let output = command.output().expect("it starts");
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(3), "{verb:?} {backend:?}: {text}");
            assert_eq!(text.matches("error: ").count(), 1, "{verb:?} {backend:?}: {text}");
            assert!(text.contains("cannot write"), "{verb:?} {backend:?}: {text}");
        }
    }
    let _ = std::fs::remove_file(&file);
    // That a folder is not a file is seen before.
    std::fs::create_dir(&file).expect("a folder");
    let output = measure(&["bcast", "--backend", "sim:cluster:3", "--export", name]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let _ = std::fs::remove_dir(&file);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("it is a folder"), "{text}");
}

#[test]
fn a_reader_may_stop_early_but_must_begin() {
    let run = |begins: bool| {
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
        command.args(["info", "algorithms", "--format", "json"]).stdout(writer);
        if !begins {
            drop(reader);
            return command.status().expect("it ends").code();
        }
        let mut child = command.spawn().expect("it starts");
        reader.read_exact(&mut [0]).expect("results");
        drop(reader);
        child.wait().expect("it ends").code()
    };
    assert_eq!(run(true), Some(0));
    assert_eq!(run(false), Some(3));
}

#[test]
fn cold_buffers_are_measured_and_their_memory_is_asked_for() {
    let ops = "bcast,scatter,gather,allreduce,alltoall,barrier";
    let args = [ops, "--ranks", "2", "--sizes", "8,20K", "--reps", "20", "--cache", "cold:1M"];
    for more in [&[][..], &["--form", "nonblocking"]] {
        let output = measure(&[&args[..], &["--format", "json"], more].concat());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{text}");
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(json["params"]["cache"], "cold:1M");
        let rows = json["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), 11, "{text}");
        assert!(rows.iter().all(|row| row["time_us"].as_f64() > Some(0.0)));
    }
    let output = measure(&["bcast", "--ranks", "2", "--cache", "cold:900G"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("memory"));
}

#[test]
fn round_trips_of_another_procedure_are_reported_to_have_no_effect() {
    let output = measure(&["bcast", "--trips", "4", "--sizes", "8", "--backend", "sim:cluster:4"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("--trips has no effect"), "{text}");
}
