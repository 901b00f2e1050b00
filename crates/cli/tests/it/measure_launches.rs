//! `laneway measure` with `--launches` and `--refine`, and what it refuses before it begins.

use std::process::{Command, Output};

use laneway_needs::{Need, file};
use serde_json::Value;

fn measure(args: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "100", env!("CARGO_BIN_EXE_laneway"), "measure"]);
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    command.args(args).output().expect("the command starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn document(args: &[&str]) -> Value {
    let output = measure(&[args, &["--format", "json"]].concat());
    assert!(output.status.success(), "{args:?}: {}", said(&output));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

fn rows(args: &[&str]) -> Vec<Value> {
    let rows = document(args)["rows"].as_array().expect("rows").clone();
    assert!(!rows.is_empty(), "{args:?}");
    rows
}

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("no {name} in {row}"))
}

fn numbers(row: &Value, name: &str) -> Vec<f64> {
    let list = row[name].as_array().unwrap_or_else(|| panic!("no {name} in {row}"));
    list.iter().filter_map(Value::as_f64).collect()
}

/// The launcher of the distribution's Open MPI, where it is installed.
fn mpirun() -> Option<&'static str> {
    let launcher = "/usr/bin/mpirun.openmpi";
    Need::Mpi.is_met(file(launcher)).then_some(launcher)
}

#[test]
fn launches_of_mpirun_have_an_interval_over_them() {
    let Some(mpirun) = mpirun() else { return };
    let launcher = format!("{mpirun} --oversubscribe -n 2");
    let args = ["coll", "bcast", "--sizes", "64K", "--budget", "0.2", "--launcher", &launcher];
    let found = document(&[&args[..], &["--launches", "3", "--keep"]].concat());
    let row = &found["rows"][0];
    let named = ("range of launches".into(), 3.into());
    assert_eq!((&row["ci_scope"], &row["launches"]), (&named.0, &named.1), "{row}");
    assert!(row["flags"].as_str().is_some_and(|flags| flags.contains("range")), "{row}");
    let (time, times) = (number(row, "time_us"), numbers(row, "launch_times_us"));
    let (low, high) = (number(row, "ci_low_us"), number(row, "ci_high_us"));
    assert!(0.0 < low && low <= time && time <= high, "{row}");
    assert_eq!(times.len(), 3);
    let shorter = times.iter().filter(|own| **own < time).count();
    assert!(times.contains(&time) && shorter == 1, "the median is {time}: {times:?}");
    let [least, most] = [f64::min, f64::max].map(|of| times.iter().copied().reduce(of));
    assert_eq!((Some(low), Some(high), number(row, "ci_level")), (least, most, 0.75), "{row}");
    let samples = numbers(row, "samples_us").len() as f64;
    assert_eq!(samples, number(row, "reps"), "{row}");
    assert_eq!(numbers(row, "launch_reps").iter().sum::<f64>(), samples);
    for name in ["error", "stddev_us", "mean_us", "median_us", "p99_us", "seed", "warm_up"] {
        assert!(row[name].is_number(), "no {name} in {row}");
    }
    // The launches' own words, and ours.
    let env = &found["env"];
    assert_eq!((&env["launcher"], &env["ranks"]), (&launcher.as_str().into(), &2.into()));
    assert!(env["host"].is_string() && env["mpi_flavour"] == "open-mpi", "{env}");
    assert_eq!(
        (&found["params"]["launches"], &found["params"]["sizes"]),
        (&3.into(), &"64K".into())
    );

    let found = document(&[&args[..], &["--launches", "1"]].concat());
    let row = &found["rows"][0];
    assert_eq!((&row["ci_scope"], &row["launches"]), (&"launch".into(), &1.into()), "{row}");
    assert!(number(row, "ci_low_us") <= number(row, "time_us"), "{row}");
    assert!(number(row, "time_us") <= number(row, "ci_high_us"), "{row}");
}

/// A row of several launches says everything that one of a single launch says, and more.
#[test]
fn no_column_is_lost_between_launches() {
    let sim = ["coll", "bcast,gather", "--backend", "sim:two-sites:2x2", "--seed", "7"];
    for more in [
        &["--truth", "--keep"][..],
        &["--timing", "loop", "--keep"],
        &["--timing", "maximum", "--form", "nonblocking"],
        &["--reps", "3"],
    ] {
        let args = [&sim[..], more].concat();
        let (alone, several) = (rows(&args), rows(&[&args[..], &["--launches", "2"]].concat()));
        assert_eq!(alone.len(), several.len());
        for (alone, several) in alone.iter().zip(&several) {
            let [alone, all] = [alone, several].map(|row| row.as_object().expect("an object"));
            for (name, value) in alone {
                let other = all.get(name).unwrap_or_else(|| panic!("no {name} in {several}"));
                let gained = name.starts_with("ci_") || name == "error";
                assert!(other.is_null() <= value.is_null(), "{name}: {value} is lost");
                assert!(gained || other.is_null() == value.is_null(), "{name}: {other}");
            }
            assert_eq!(several["ci_scope"], "range of launches");
            assert!(!several["flags"].as_str().expect("flags").contains("no interval"));
            assert_eq!((&several["seed"], &several["launches"]), (&7.into(), &2.into()));
            for name in ["reps", "rejected"] {
                // Each launch draws its own instants, and stops by itself.
                let both = number(several, name);
                assert!(both >= 1.5 * alone[name].as_f64().expect("a count"), "{name}: {both}");
            }
            let kept = more.contains(&"--keep");
            assert_eq!(several.get("samples_us").is_some(), kept);
            assert!(
                !kept || numbers(several, "samples_us").len() as f64 == number(several, "reps")
            );
            if more.contains(&"--truth") {
                let part = number(several, "time_us") / number(several, "truth_us") - 1.0;
                assert!(part.abs() < 0.002, "{several}");
            }
        }
    }
}

/// The first launch finds the sizes, and the others have them too.
#[test]
fn launches_share_the_sizes_that_were_added() {
    let args = ["coll", "gather", "--algorithm", "linear", "--sizes", "1K,32K,128K"];
    let args = [&args[..], &["--backend", "sim:mpiblib16", "--refine", "2"]].concat();
    let sizes = |rows: &[Value]| rows.iter().map(|r| number(r, "size_bytes")).collect::<Vec<_>>();
    let (alone, several) = (rows(&args), rows(&[&args[..], &["--launches", "2"]].concat()));
    assert_eq!(sizes(&alone), sizes(&several));
    assert_eq!(several.len(), 5);
    assert!(several.iter().all(|row| row["launches"] == 2), "{several:?}");
}

#[test]
fn a_launcher_that_fails_is_reported_with_its_end() {
    for (launcher, code, says) in [
        ("false", 3, "false ended with exit status: 1, and said: nothing"),
        ("/nosuch", 3, "/nosuch: No such file"),
        ("echo", 3, "echo printed no valid rows"),
    ] {
        let args = ["coll", "bcast", "--sizes", "8", "--launches", "2", "--launcher", launcher];
        let output = measure(&args);
        assert_eq!(output.status.code(), Some(code), "{launcher}: {}", said(&output));
        for says in ["error: launch 1 failed", "cause: ", says, "try: "] {
            assert!(
                said(&output).contains(says),
                "{launcher} does not say {says}: {}",
                said(&output)
            );
        }
        assert!(output.stdout.is_empty(), "{launcher}");
    }
    // What is wrong usage in a launch is so for all of them.
    let args = ["coll", "bcast", "--sizes", "8", "--launches", "2", "--truth", "--ranks", "2"];
    let output = measure(&args);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("only a simulated cluster"), "{}", said(&output));
}

/// The sizes of the rows that have these words.
fn curve(rows: &[Value], words: &[(&str, Value)]) -> Vec<f64> {
    let own = |row: &&Value| words.iter().all(|(name, word)| row[name] == *word);
    rows.iter().filter(own).map(|row| number(row, "size_bytes")).collect()
}

#[test]
fn each_curve_is_refined_for_itself_and_stays_in_order() {
    // Medium messages of a linear gather escalate on 16 hosts; a broadcast only bends a little.
    let args = ["coll", "bcast,gather", "--algorithm", "linear,binomial", "--refine", "4"];
    let more = ["--sizes", "1K,32K,128K", "--backend", "sim:mpiblib16", "--ranks", "8,16"];
    let rows = rows(&[&args[..], &more].concat());
    let mut counts = Vec::new();
    for ranks in [8, 16] {
        for op in ["bcast", "gather"] {
            for algorithm in ["linear", "binomial"] {
                let words =
                    [("op", op.into()), ("algorithm", algorithm.into()), ("ranks", ranks.into())];
                let sizes = curve(&rows, &words);
                assert!(sizes.is_sorted() && sizes.len() >= 3, "{words:?}: {sizes:?}");
                assert!([1024.0, 32768.0, 131072.0].iter().all(|size| sizes.contains(size)));
                counts.push(((op, algorithm, ranks), sizes.len()));
            }
        }
    }
    // One that bends does not wait for the others, and one that does not bend adds nothing.
    let of = |key| counts.iter().find(|(other, _)| *other == key).map(|(_, count)| *count);
    assert_eq!(of(("gather", "linear", 16)), Some(7), "{counts:?}");
    assert_eq!(of(("bcast", "linear", 16)), Some(3), "{counts:?}");
    // The table has all rows of an operation by size.
    let gathers = curve(&rows, &[("op", "gather".into()), ("ranks", 16.into())]);
    assert!(gathers.is_sorted(), "{gathers:?}");
}

#[test]
fn two_sizes_get_a_third_and_a_straight_line_is_reported() {
    let args = ["coll", "bcast", "--algorithm", "binomial", "--backend", "sim:cluster:4"];
    let two = rows(&[&args[..], &["--sizes", "1K,64K", "--refine", "3"]].concat());
    assert_eq!(curve(&two, &[]), [1024.0, 33280.0, 65536.0]);
    let three = measure(&[&args[..], &["--sizes", "1K,32K,64K", "--refine", "3"]].concat());
    assert!(
        three.status.success() && said(&three).contains("nothing was refined"),
        "{}",
        said(&three)
    );
    for verb in [&args[..], &["p2p", "--backend", "sim:cluster:4"]] {
        let one = measure(&[verb, &["--sizes", "1K", "--refine", "3"]].concat());
        assert_eq!(one.status.code(), Some(2), "{}", said(&one));
        assert!(said(&one).contains("two sizes at least"), "{}", said(&one));
    }
}

#[test]
fn messages_are_refined_where_the_protocol_changes() {
    // Beyond 48 KiB a message is lost at first.
    let backend = "sim:cluster:4,receive-buffer=48K";
    let args = ["p2p", "--backend", backend, "--sizes", "1K,64K"];
    let patterns = ["--pattern", "latency,sendrecv"];
    let plain = rows(&[&args[..], &patterns].concat());
    let more = rows(&[&args[..], &patterns, &["--refine", "6"]].concat());
    let latency = [("pattern", "latency".into())];
    let sizes = curve(&more, &latency);
    assert_eq!(curve(&plain, &latency).len(), 2);
    assert!(sizes.len() == 8 && sizes.is_sorted(), "{sizes:?}");
    // Half of what is between two sizes is asked for each time, towards the step.
    let least = sizes.windows(2).map(|two| two[1] - two[0]).fold(f64::INFINITY, f64::min);
    assert!(least < 64_512.0 / 32.0 && (sizes[6] - 49_152.0).abs() < 1024.0, "{sizes:?}");
    let mut patterns: Vec<&str> = more.iter().filter_map(|row| row["pattern"].as_str()).collect();
    patterns.dedup();
    assert_eq!(patterns, ["latency", "sendrecv"]);
    let pairs = ["p2p", "--backend", "sim:cluster:4", "--sizes", "1K,64K", "--pairs", "0:1,2:3"];
    let rows = rows(&[&pairs[..], &["--refine", "6"]].concat());
    for from in [0, 2] {
        // A third size, on which both agree; then they are straight.
        assert_eq!(curve(&rows, &[("from", from.into())]), [1024.0, 33280.0, 65536.0], "{rows:?}");
    }
    let layers = measure(&["p2p", "--backend", "local:shm,unix", "--refine", "2"]);
    assert_eq!(layers.status.code(), Some(2), "{}", said(&layers));
}

/// Ends with 2 and one error, and nothing of a crash.
fn refused(args: &[&str], says: &str) {
    refused_with(2, args, says);
}

/// The same with another code.
fn refused_with(code: i32, args: &[&str], says: &str) {
    let output = measure(args);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
    assert_eq!(text.matches("error: ").count(), 1, "{args:?}: {text}");
    assert!(text.contains(says) && text.contains("try: "), "{args:?} says not {says}: {text}");
    assert!(!text.contains("panicked") && !text.contains("died"), "{args:?}: {text}");
    assert!(output.stdout.is_empty(), "{args:?}");
}

#[test]
fn what_does_not_fit_into_memory_is_refused_before_it_is_had() {
    let sim = ["--backend", "sim:cluster:4"];
    let (unfit, large) = ("do not fit into memory", "is too large");
    for (op, size, says) in
        [("bcast", "1000G", unfit), ("alltoall", "1000G", unfit), ("scan", "9000000000G", large)]
    {
        refused(&[&["coll", op, "--sizes", size][..], &sim].concat(), says);
        refused(&["coll", op, "--ranks", "2", "--sizes", size], says);
        refused(&["coll", op, "--ranks", "2", "--sizes", size, "--algorithm", "all"], says);
    }
    refused(&["p2p", "--ranks", "2", "--sizes", "1000G"], "do not fit into memory");
    // Blocks of all ranks count: each of these alone would fit.
    let memory = std::fs::read_to_string("/proc/meminfo").expect("Linux");
    let total = memory.lines().find_map(|line| line.strip_prefix("MemTotal:")).expect("a total");
    let kibibytes: u64 = total.trim().trim_end_matches(" kB").parse().expect("a number");
    let third = format!("{}K", kibibytes / 3);
    refused(&[&["coll", "alltoall", "--sizes", &third][..], &sim].concat(), "needs about");
    refused(&["coll", "alltoall", "--sizes", &third, "--ranks", "4"], "needs about");
    let Some(mpirun) = mpirun() else { return };
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "60", mpirun, "--oversubscribe", "-n", "2"]);
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    command.args([env!("CARGO_BIN_EXE_laneway"), "measure", "coll", "bcast"]);
    let output = command.args(["--sizes", "1000G"]).output().expect("timeout starts");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("do not fit into memory"), "{}", said(&output));
}

#[test]
fn a_folder_that_is_not_there_is_noticed_before_anything_is_measured() {
    let missing = std::env::temp_dir().join(format!("laneway-none-{}", std::process::id()));
    let file = missing.join("rows.json");
    let file = file.to_str().expect("a readable name");
    let export = ["--export", file];
    for args in [
        &["coll", "bcast", "--backend", "sim:cluster:4"][..],
        &["coll", "bcast", "--ranks", "2"],
        &["coll", "bcast", "--ranks", "2", "--launches", "2"],
        &["p2p", "--ranks", "2"],
    ] {
        let begun = std::time::Instant::now();
        refused_with(3, &[args, &export].concat(), "there is no folder");
        // Two launches of three sizes would take longer.
        assert!(begun.elapsed().as_secs_f64() < 5.0, "{args:?}");
    }
    assert!(!missing.exists());
    // A name without a folder is in this one.
    let mut here = Command::new(env!("CARGO_BIN_EXE_laneway"));
    std::fs::create_dir(&missing).expect("a folder");
    here.current_dir(&missing).args(["measure", "coll", "bcast", "--backend", "sim:cluster:2"]);
    let output = here.args(["--export", "rows.txt"]).output().expect("it starts");
    let written = missing.join("rows.txt").exists();
    std::fs::remove_dir_all(&missing).expect("removed");
    assert!(output.status.success() && written, "{}", said(&output));
}

#[test]
fn what_has_no_meaning_here_is_reported() {
    for isolation in ["barrier:native", "double-barrier:native"] {
        let args = ["coll", "bcast", "--isolation", isolation];
        let says = format!("the isolation `{isolation}` is not possible");
        refused(&[&args[..], &["--ranks", "2", "--timing", "maximum"]].concat(), &says);
        refused(&[&args[..], &["--backend", "sim:cluster:2"]].concat(), &says);
    }
    let sim = ["coll", "bcast", "--backend", "sim:cluster:2", "--sizes", "8"];
    let note = |more: &[&str]| said(&measure(&[&sim[..], more].concat()));
    let both = note(&["--timing", "maximum", "--confirmation", "reduce", "--resync", "7"]);
    assert_eq!(both.matches("has no effect").count(), 2, "{both}");
    assert!(both.contains("--confirmation has no effect: it is for --timing root"), "{both}");
    assert!(both.contains("--resync has no effect: it is for --timing global"), "{both}");
    assert_eq!(note(&["--timing", "root", "--confirmation", "reduce"]), "");
    assert_eq!(note(&["--timing", "global", "--resync", "7"]), "");
    assert_eq!(note(&["--timing", "maximum"]), "");
    // A launch's notes reach its user, once.
    let notes = note(&["--resync", "7", "--launches", "2"]);
    assert_eq!(notes.matches("--resync has no effect").count(), 1, "{notes}");
}

#[test]
fn a_layer_is_named_once_and_no_more_than_all_is_hidden() {
    refused(&["p2p", "--backend", "local:shm,shm"], "a layer is given twice");
    let args = ["p2p", "--pattern", "overlap", "--backend", "sim:cluster:2", "--sizes", "8,1K,1M"];
    for row in rows(&args) {
        let high = number(&row, "overlap_high_percent");
        let (low, part) = (number(&row, "overlap_low_percent"), number(&row, "overlap_percent"));
        assert!(low <= part && part <= high && high <= 100.0, "{row}");
    }
}

#[test]
fn messages_are_launched_again_too() {
    let args = ["p2p", "--backend", "sim:cluster:4", "--sizes", "8,1K", "--keep"];
    let (one, three) = (rows(&args), rows(&[&args[..], &["--launches", "3"]].concat()));
    assert_eq!(three.len(), 2);
    for (one, three) in one.iter().zip(&three) {
        // Every column of one launch, and those of several.
        let columns = one.as_object().expect("a row").keys();
        let missing: Vec<&String> = columns.filter(|name| three.get(name).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
        for name in ["pattern", "from", "to", "size_bytes", "window", "seed"] {
            assert_eq!(one[name], three[name], "{name}");
        }
        assert_eq!(
            (&three["launches"], &three["ci_scope"]),
            (&3.into(), &"range of launches".into())
        );
        let time = |row: &Value| row["time_us"].as_f64().expect("a time");
        assert!((time(one) / time(three) - 1.0).abs() < 1e-6, "{one} {three}");
        let count = |row: &Value| row["samples_us"].as_array().expect("samples").len();
        assert_eq!(3 * count(one), count(three));
    }
}
