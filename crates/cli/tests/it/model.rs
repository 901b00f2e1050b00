//! `laneway model` from the outside: a model is fitted, saved, shown, asked, and made a platform.

use std::path::PathBuf;
use std::process::{Command, Output};

use laneway_needs::{Need, file};
use serde_json::Value;

fn laneway(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_laneway")).args(words).output().expect("the command starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn document(words: &[&str]) -> Value {
    let output = laneway(&[words, &["--format", "json"]].concat());
    assert!(output.status.success(), "{words:?}: {}", said(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// A file of this test, removed at its end.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Temporary {
        Temporary::ending(&format!("{name}.toml"))
    }

    fn ending(name: &str) -> Temporary {
        let name = format!("laneway-model-{}-{name}", std::process::id());
        Temporary(std::env::temp_dir().join(name))
    }

    fn name(&self) -> &str {
        self.0.to_str().expect("a readable name")
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // It may never have been written.
        _ = std::fs::remove_file(&self.0);
    }
}

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("no {name} in {row}"))
}

const PLATFORM: &str = "cluster:6,send=5us,receive=4us,per-byte=1ns,latency=20us";

#[test]
fn some_algorithms_are_predicted_and_an_operation_without_them_is_named() {
    let model = Temporary::new("some");
    let words = ["model", "fit", "--backend", &format!("sim:{PLATFORM}"), "-o", model.name()];
    document(&words);
    let words = ["model", "predict", "bcast,reduce", "--model", model.name(), "--sizes", "64K"];
    let some = [&words[..], &["--algorithm", "scatter-ring,knomial:radix=3"]].concat();
    let predicted = document(&some);
    let rows = predicted["rows"].as_array().expect("rows");
    let of = |op: &str| rows.iter().filter(|row| row["op"] == op).count();
    assert!(of("bcast") == 2 && of("reduce") < 2, "{rows:?}");
    let output = laneway(&[&words[..], &["--algorithm", "scatter-ring"]].concat());
    assert!(said(&output).contains("left out reduce"), "{}", said(&output));
    for (algorithm, says) in
        [("scatter-rin", "unknown algorithm"), ("knomial:radix=0", "invalid parameter")]
    {
        let output = laneway(&[&words[..], &["--algorithm", algorithm]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(says), "{}", said(&output));
    }
}

#[test]
fn a_cluster_is_measured_modelled_and_simulated() {
    let (model, platform) = (Temporary::new("chain"), Temporary::new("platform"));
    let backend = format!("sim:{PLATFORM}");
    let words = ["model", "fit", "--backend", &backend, "-o", model.name()];
    let fitted = document(&[&words[..], &["--platform", platform.name()]].concat());
    assert_eq!(fitted["summary"]["holds"], true);
    let rows = fitted["rows"].as_array().expect("rows");
    let sends: Vec<&Value> = rows.iter().filter(|row| row["parameter"] == "C_send").collect();
    assert_eq!(sends.len(), 6);
    for row in sends {
        assert!((number(row, "value") - 5.0).abs() < 0.1, "{row}");
        assert!(number(row, "ci_low") <= number(row, "value"), "{row}");
        assert!(number(row, "value") <= number(row, "ci_high"), "{row}");
    }
    assert_eq!(document(&["model", "show", model.name()])["rows"], fitted["rows"]);

    let sizes = ["--sizes", "1,4K,1M"];
    let words = ["model", "predict", "scatter", "--model", model.name()];
    let predicted = document(&[&words[..], &sizes].concat());
    let predicted = predicted["rows"].as_array().expect("rows");
    assert!(predicted.len() >= 9, "{predicted:?}");
    // What the platform itself takes, and the platform that was made of the model: but for
    // algorithms that ask where hosts are, which a model does not know.
    let asks = |name: &Value| {
        let placed = ["lane", "relay", "far-first", "third-site"];
        placed.iter().any(|word| name.as_str().is_some_and(|name| name.contains(word)))
    };
    for file in [PLATFORM, platform.name()] {
        let simulated = document(&[&["sim", "scatter", "--platform", file][..], &sizes].concat());
        let simulated = simulated["rows"].as_array().expect("rows");
        let mut compared = 0;
        for row in predicted.iter().filter(|row| !asks(&row["algorithm"])) {
            let same = |other: &&Value| {
                other["algorithm"] == row["algorithm"] && other["size_bytes"] == row["size_bytes"]
            };
            let Some(other) = simulated.iter().find(same) else { continue };
            let off = number(row, "time_us") / number(other, "time_us") - 1.0;
            assert!(off.abs() < 0.02, "{off:+.4} on {file}: {row} {other}");
            compared += 1;
        }
        assert!(compared >= 6, "{compared} of {} were simulated", predicted.len());
    }
}

#[test]
fn every_model_is_fitted_and_shown() {
    for kind in ["hockney", "hockney-pairs", "hockney-segments", "loggp", "plogp"] {
        let file = Temporary::new(kind);
        let backend = format!("sim:{PLATFORM}");
        let words = ["model", "fit", "--backend", &backend, "--model", kind, "-o", file.name()];
        let fitted = document(&words);
        assert_eq!(fitted["params"]["model"], kind);
        assert!(!fitted["rows"].as_array().expect("rows").is_empty());
        let shown = laneway(&["model", "show", file.name()]);
        assert!(shown.status.success(), "{kind}: {}", said(&shown));
    }
}

/// On a busy machine one search in five ended at 288 to 2304 B.
#[test]
fn the_eager_limit_of_an_mpi_repeats() {
    let mpirun = "/usr/bin/mpirun.openmpi";
    if !Need::Mpi.is_met(file(mpirun)) {
        return;
    }
    let limit = || {
        let mut command = Command::new("timeout");
        command.args(["60", mpirun, "--oversubscribe", "-n", "2", env!("CARGO_BIN_EXE_laneway")]);
        command.args(["model", "fit", "--model", "hockney-segments", "--sizes", "1K,64K,256K"]);
        command.args(["--precision", "20%", "--format", "json"]);
        command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
        let output = command.output().expect("timeout starts");
        // The lines need not hold; where they change is what this is about.
        let document: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", said(&output)));
        let text = document.to_string();
        let (_, limit) = text.split_once("\"eager_bytes\":").unwrap_or_else(|| panic!("{text}"));
        limit.split([',', '}']).next().expect("a number").parse::<u64>().expect("a number")
    };
    let limits = [limit(), limit(), limit()];
    assert!(limits[0] >= 1024 && limits.iter().all(|other| *other == limits[0]), "{limits:?}");
}

#[test]
fn where_no_model_can_hold_nothing_is_predicted() {
    let file = Temporary::new("shared");
    let backend = "sim:cluster:8,lan=2Gbit";
    let output = laneway(&["model", "fit", "--backend", backend, "-o", file.name()]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("does not hold"), "{}", said(&output));
    let output = laneway(&["model", "predict", "bcast", "--model", file.name()]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("predicts nothing"), "{}", said(&output));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let wrong = Temporary::new("wrong");
    std::fs::write(&wrong.0, "schema = \"laneway.model/1\"\nmodel = \"lmo\"\n").expect("written");
    let here = ["model", "fit", "--backend", "sim:cluster:4"];
    let with = |more: &[&'static str]| [&here[..], more].concat();
    let cases: [(Vec<&str>, i32, &str); 12] = [
        // Before any experiment: the budget would end them at once, with code 4.
        (with(&["--model", "plogp", "--platform", "p.toml", "--budget", "1e-7"]), 2, "p.toml"),
        (with(&["--model", "hockney-segments", "--platform", "p.toml"]), 2, "p.toml"),
        (with(&["--model", "logp"]), 2, "unknown model"),
        (with(&["--sizes", "0"]), 2, "no size"),
        (with(&["--total-budget", "0"]), 2, "--total-budget 5s"),
        (with(&["--budget", "1e-7"]), 4, "--total-budget 0.1,"),
        (with(&["--sizes", "8,8"]), 2, "round trips of a second size are missing"),
        (with(&["--precision", "2"]), 2, "precision"),
        (with(&["-o", "/no/such/folder/m.toml"]), 3, "/no/such/folder"),
        (vec!["model", "fit", "--backend", "sim:cluster:1"], 2, "too few ranks"),
        (vec!["model", "show", "/no/such/model.toml"], 3, "does not exist"),
        (vec!["model", "predict", "scatter", "--model", wrong.name()], 2, "not a model"),
    ];
    for (words, code, part) in cases {
        let output = laneway(&words);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
        assert!(said.contains(part) && said.contains("try:"), "{words:?}: {said}");
    }
}

/// Without the places of ranks, what is called `single-lane` would be the time of another schedule.
#[test]
fn algorithms_that_ask_where_ranks_are_take_sites() {
    let model = Temporary::new("placed");
    let backend = "sim:two-sites:2x2,latency=5ms";
    document(&["model", "fit", "--backend", backend, "-o", model.name()]);
    let asked = ["model", "predict", "scatter", "--model", model.name(), "--sizes", "64K"];
    let output = laneway(&asked);
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && !table.contains("single-lane"), "{table}");
    assert!(said(&output).contains("single-lane") && said(&output).contains("--sites"));
    let placed = document(&[&asked[..], &["--sites", "two-sites:2x2,latency=5ms"]].concat());
    let simulated = ["sim", "scatter", "--platform", "two-sites:2x2,latency=5ms"];
    let simulated = document(&[&simulated[..], &["--sizes", "64K"]].concat());
    let rows = |found: &Value| found["rows"].as_array().expect("rows").clone();
    let lane = |row: &&Value| row["algorithm"].as_str().is_some_and(|name| name.contains("lane"));
    let mut compared = 0;
    for row in rows(&placed).iter().filter(lane) {
        let same = |other: &&Value| other["algorithm"] == row["algorithm"];
        let Some(other) = rows(&simulated).iter().find(same).cloned() else { continue };
        let off = number(row, "time_us") / number(&other, "time_us") - 1.0;
        assert!(off.abs() < 0.02, "{off:+.4}: {row} {other}");
        compared += 1;
    }
    assert!(compared >= 2, "{placed}");
    let alone = laneway(&[&asked[..], &["--algorithm", "single-lane"]].concat());
    assert_eq!(alone.status.code(), Some(2), "{}", said(&alone));
    assert!(said(&alone).contains("--sites"), "{}", said(&alone));
}

#[test]
fn more_ranks_are_predicted_on_copies_of_a_host() {
    let model = Temporary::new("copies");
    let backend = format!("sim:{PLATFORM}");
    document(&["model", "fit", "--backend", &backend, "-o", model.name()]);
    let asked = ["model", "predict", "bcast", "--model", model.name(), "--sizes", "1K"];
    let twice = laneway(&[&asked[..], &["--ranks", "12"]].concat());
    assert_eq!(twice.status.code(), Some(2), "{}", said(&twice));
    assert!(said(&twice).contains("--like"), "{}", said(&twice));
    let width = |more: &[&str]| {
        let found = document(&[&asked[..], more].concat());
        let row = found["rows"][0].clone();
        (number(&row, "ci_high_us") - number(&row, "ci_low_us")) / number(&row, "time_us")
    };
    assert!(width(&["--ranks", "12", "--like", "0"]) > 2.0 * width(&[]));
    let unknown = laneway(&[&asked[..], &["--ranks", "12", "--like", "nowhere"]].concat());
    assert_eq!(unknown.status.code(), Some(2), "{}", said(&unknown));
    assert!(said(&unknown).contains("unknown host `nowhere`"), "{}", said(&unknown));
}

#[test]
fn what_is_measured_stands_beside_what_is_predicted() {
    let (model, drawing) = (Temporary::new("beside"), Temporary::ending("drawing.svg"));
    let backend = format!("sim:{PLATFORM}");
    document(&["model", "fit", "--backend", &backend, "-o", model.name()]);
    let asked = ["model", "predict", "gather", "--model", model.name(), "--sizes", "1K,64K"];
    let measured = ["--measure", "--backend", &backend, "--svg", drawing.name()];
    let found = document(&[&asked[..], &measured].concat());
    let rows = found["rows"].as_array().expect("rows");
    assert!(rows.len() >= 6, "{found}");
    for row in rows {
        let (low, high) = (number(row, "measured_low_us"), number(row, "measured_high_us"));
        let time = number(row, "measured_us");
        assert!(low <= time && time <= high && number(row, "off").abs() < 0.02, "{row}");
    }
    let svg = std::fs::read_to_string(&drawing.0).expect("a drawing");
    let curves = svg.matches("<polyline").count();
    assert!(curves >= 3 && svg.matches("class=\"measured\"").count() == 2 * curves, "{svg}");
    // Nothing is measured for a picture that cannot be saved.
    let words = ["--measure", "--backend", &backend, "--svg", "/no/such/folder/g.svg"];
    let output = laneway(&[&asked[..], &words].concat());
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("/no/such/folder") && output.stdout.is_empty());
    // Others than the model's hosts, and as many of other names.
    let more = format!("sim:{}", PLATFORM.replace("cluster:6", "cluster:7"));
    for (backend, ranks, says) in
        [(more.as_str(), "7", "6 hosts"), ("sim:two-sites:3x3", "6", "on other hosts")]
    {
        let words = ["--measure", "--backend", backend, "--ranks", ranks];
        let output = laneway(&[&asked[..], &words].concat());
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(says), "{}", said(&output));
    }
}

/// Several operations and `all` mean what they mean to other verbs: a row for each algorithm and
/// size of each.
#[test]
fn several_operations_are_predicted_at_once() {
    let model = Temporary::new("several");
    let backend = format!("sim:{PLATFORM}");
    document(&["model", "fit", "--backend", &backend, "-o", model.name()]);
    let predict = |ops: &str| {
        let words = ["model", "predict", ops, "--model", model.name(), "--sizes", "1,1M"];
        document(&words)
    };
    let (both, bcast, scatter) = (predict("bcast,scatter"), predict("bcast"), predict("scatter"));
    let rows = |found: &Value| found["rows"].as_array().expect("rows").clone();
    assert_eq!(rows(&both), [rows(&bcast), rows(&scatter)].concat());
    let crossovers = |found: &Value| found["summary"]["crossovers"].as_str().map(str::to_string);
    let (all, one) = (crossovers(&both).expect("text"), crossovers(&bcast).expect("text"));
    assert!(one.starts_with("From ") && all.contains("bcast: from "), "{all}\n{one}");
    let every = rows(&predict("all"));
    for op in laneway_core::Collective::ALL {
        assert!(every.iter().any(|row| row["op"] == op.name()), "{} is missing", op.name());
    }
    let asked = ["model", "predict", "bcast,scatter", "--model", model.name()];
    let output = laneway(&[&asked[..], &["--svg", "two.svg"]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("2 operations do not fit into one picture"));
    assert!(said(&output).contains("try:   laneway model predict bcast --svg two.svg"));
}

#[test]
fn all_models_are_compared_in_one_table() {
    let backend = format!("sim:{PLATFORM}");
    let asked = ["model", "compare", "--backend", &backend, "--sizes", "1K,64K"];
    let found = document(&asked);
    let rows = found["rows"].as_array().expect("rows");
    let off = |model: &str| {
        let row = rows.iter().find(|row| row["model"] == model);
        number(row.unwrap_or_else(|| panic!("no {model} in {found}")), "p95_off")
    };
    assert!(rows.len() == 6 && off("lmo") < 0.02 && off("hockney") > 5.0 * off("lmo"), "{found}");
    let cells = document(&[&asked[..], &["--cells"]].concat());
    let cells = cells["rows"].as_array().expect("rows");
    assert!(cells.len() > 20, "{}", cells.len());
    for cell in cells {
        assert!((number(cell, "lmo") / number(cell, "time_us") - 1.0).abs() < 0.02, "{cell}");
    }
    for (words, code, says) in [
        (["--ops", "shout"], 2, "operation `shout`"),
        (["--fit-sizes", "0"], 2, "size"),
        (["--total-budget", "0"], 2, "budget"),
        (["--export", "/no/such/folder/rows.json"], 3, "/no/such/folder"),
    ] {
        let output = laneway(&[&asked[..], &words].concat());
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", said(&output));
        assert!(said(&output).contains(says), "{words:?}: {}", said(&output));
    }
}
