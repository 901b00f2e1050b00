//! A budget ends a point, and not a number of repetitions that was not asked for.

use serde_json::Value;

use super::{laneway, said};

/// The repetitions of one point that cannot become as precise as is asked for, and its cost.
fn reps(words: &[&str]) -> (f64, f64) {
    let point = ["measure", "coll", "bcast", "--sizes", "8", "--ranks", "2", "--format", "json"];
    let mut command = laneway();
    let output = command.args(point).args(["--precision", "0.001%"]).args(words).output();
    let output = output.expect("timeout starts");
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let number = |name: &str| document["rows"][0][name].as_f64().expect("a number");
    // What was rejected was repeated all the same.
    let seconds = (number("cost_us") + number("paused_us")) / 1e6;
    (number("reps") + number("rejected") + number("warm_up"), seconds)
}

#[test]
fn a_budget_lifts_the_limit_on_repetitions() {
    let (count, seconds) = reps(&["--budget", "1s", "--timing", "loop"]);
    assert!(count > 1000.0 || seconds > 0.9, "{count} repetitions in {seconds} s");
    assert!(seconds < 5.0, "{seconds} s");
    let (count, _) = reps(&["--budget", "1s", "--timing", "loop", "--max-reps", "200"]);
    assert_eq!(count, 200.0);
}
