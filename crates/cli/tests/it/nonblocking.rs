//! `laneway measure coll --form nonblocking` on simulated clusters, where the network carries on by
//! itself and computing takes exactly the time that it should.

use std::process::{Command, Output};

use serde_json::Value;

fn measure(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.args(["measure", "coll"]).args(args).output().expect("the command starts")
}

fn rows(args: &[&str]) -> Vec<Value> {
    let output = measure(&[args, &["--format", "json"]].concat());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    json["rows"].as_array().expect("rows").clone()
}

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("no {name} in {row}"))
}

#[test]
fn both_forms_of_a_schedule_take_the_same_time() {
    let args = ["bcast,allreduce,barrier", "--algorithm", "all", "--sizes", "1K,200K"];
    let args = [&args[..], &["--backend", "sim:cluster:6", "--form"]].concat();
    let both = rows(&[&args[..], &["blocking,nonblocking"]].concat());
    let (blocking, other): (Vec<&Value>, Vec<&Value>) =
        both.iter().partition(|row| row["form"] == "blocking");
    assert!(blocking.len() > 20 && blocking.len() == other.len(), "{}", both.len());
    for (a, b) in blocking.into_iter().zip(other) {
        let name = |row: &Value| (row["op"].clone(), row["algorithm"].clone());
        assert_eq!((name(a), &b["form"]), (name(b), &Value::from("nonblocking")));
        let (time, other) = (number(a, "time_us"), number(b, "time_us"));
        assert!((time / other - 1.0).abs() < 0.01, "{a}\n{b}");
        assert!(a["overlap_percent"].is_null(), "{a}");
        assert!((0.0..=100.0).contains(&number(b, "overlap_percent")), "{b}");
    }
    let alone = rows(&[&args[..], &["nonblocking"]].concat());
    assert!(alone.iter().all(|row| row["form"] == "nonblocking"));
    assert_eq!(2 * alone.len(), both.len());
}

#[test]
fn computing_hides_what_the_network_does_by_itself() {
    let overlap = |op: &str, algorithm: &str, size: &str| {
        let args = [op, "--algorithm", algorithm, "--sizes", size, "--form", "nonblocking"];
        number(&rows(&[&args[..], &["--backend", "sim:cluster:8"]].concat())[0], "overlap_percent")
    };
    // Everything is started at once: nothing waits for a test.
    for (op, size) in [("bcast", "32K"), ("bcast", "1M"), ("alltoall", "1M")] {
        let hidden = overlap(op, "linear", size);
        assert!(hidden > 99.0, "{op} {size}: {hidden}");
    }
    // Here a rank sends on what it was sent, seven times over, and each waits for the next test.
    let slice = 100.0 / f64::from(laneway_measure::overlap::SLICES);
    let hidden = overlap("bcast", "pipeline", "32K");
    assert!(hidden < 100.0 - slice && hidden > 100.0 - 7.0 * slice - 1.0, "{hidden}");
}

#[test]
fn unknown_forms_are_refused() {
    for form in ["both", "", "blocking,sometimes"] {
        let output = measure(&["bcast", "--backend", "sim:cluster:4", "--form", form]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{form}: {text}");
        assert!(text.contains("error: ") && text.contains("nonblocking"), "{form}: {text}");
        assert!(output.stdout.is_empty(), "{form}");
    }
    let native = ["bcast", "--backend", "sim:cluster:4", "--form", "nonblocking"];
    let output = measure(&[&native[..], &["--algorithm", "native"]].concat());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("no collectives of its own"), "{text}");
}
