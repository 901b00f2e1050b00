//! `laneway measure coll` as a person or a script meets it.

use std::process::{Command, Output};

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
    document(args)["rows"].as_array().expect("rows").clone()
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
        let rows =
            rows(&[name, "--algorithm", "all", "--backend", "sim:cluster:4", "--sizes", "1K"]);
        assert_eq!(rows.len(), laneway_coll::algorithms(collective).count(), "{name}");
        assert!(rows.iter().all(|row| number(row, "time_us") > 0.0), "{name}");
    }
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
fn a_single_sample_has_no_interval_and_says_so() {
    let args = ["gather", "--backend", "sim:mpiblib16", "--sizes", "10K:100K:+10K", "--reps", "1"];
    for row in rows(&args) {
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

#[test]
fn what_cannot_be_measured_is_refused() {
    let sim = ["--backend", "sim:cluster:4"];
    for (args, code, says) in [
        (&["bcats"][..], 2, "laneway measure coll bcast"),
        (&["bcast", "--algorithm", "binomail"], 2, "binomial"),
        (&["bcast", "--sizes", "8:4"], 2, "before its beginning"),
        (&["bcast", "--isolation", "walls"], 2, "double-barrier"),
        (&["bcast", "--root", "4"], 2, "0 to 3"),
        (&["bcast", "--reps", "0"], 2, "repetitions"),
        (&["bcast", "--reps", "5", "--min-reps", "3"], 2, "exact"),
        (&["bcast", "--precision", "0"], 2, "above 0"),
        (&["bcast", "--alpha", "2"], 2, "below 1"),
        (&["bcast", "--budget", "-1"], 2, "budget"),
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
}
