//! What is printed for several launches: an interval of their median from six on, below their range
//! under its name; never anything outside the bound.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{laneway, said};

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("no {name} in {row}"))
}

#[test]
fn few_launches_have_a_range_and_six_an_interval() {
    for (launches, scope, level) in [
        ("2", "range of launches", 0.5),
        ("3", "range of launches", 0.75),
        ("6", "launches", 0.96875),
    ] {
        let words = ["measure", "coll", "bcast", "--sizes", "8", "--reps", "9", "--ranks", "2"];
        let mut command = laneway();
        command.args(words).args(["--launches", launches, "--format", "json"]);
        let output = command.output().expect("timeout starts");
        let document: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|why| panic!("{why}: {}", said(&output)));
        let row = &document["rows"][0];
        let times = row["launch_times_us"].as_array().expect("a list");
        let times: Vec<f64> = times.iter().filter_map(Value::as_f64).collect();
        let [least, most] = [f64::min, f64::max].map(|of| times.iter().copied().reduce(of));
        let ends = ["ci_low_us", "ci_high_us"].map(|name| number(row, name));
        assert_eq!((Some(ends[0]), Some(ends[1])), (least, most), "{row}");
        assert_eq!((&row["ci_scope"], number(row, "ci_level")), (&scope.into(), level), "{row}");
        assert!(number(row, "bound_low_us") <= ends[0], "{row}");
        assert!(ends[1] <= number(row, "bound_high_us"), "{row}");
        let flags = row["flags"].as_str().expect("flags");
        assert_eq!(flags.contains("range"), scope != "launches", "{row}");
    }
}

/// A file of one point with these launches.
fn file(name: &str, times: &[f64]) -> String {
    let scope = if times.len() < 6 { "range of launches" } else { "launches" };
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high, launches) = (sorted[0], sorted[times.len() - 1], times.len());
    let time = sorted[times.len() / 2];
    let text = format!(
        "{{\"schema\": \"laneway.measure/1\", \"tool\": \"laneway\", \"env\": {{}}, \
         \"params\": {{}}, \"rows\": [{{\"op\": \"bcast\", \"size_bytes\": 8, \
         \"time_us\": {time}, \"ci_low_us\": {low}, \"ci_high_us\": {high}, \
         \"ci_level\": 0.9, \"ci_scope\": \"{scope}\", \"launches\": {launches}, \
         \"launch_times_us\": {times:?}}}]}}\n"
    );
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).expect("a file");
    path.display().to_string()
}

#[test]
fn ranges_of_few_launches_are_compared_as_such() {
    let old = file("two-old.json", &[10.0, 11.0]);
    let four = file("four-old.json", &[10.0, 11.0, 10.5, 10.2]);
    for (old, new, code, note) in [
        // Of two and two alike launches every third comparison would look so.
        (&old, vec![13.0, 14.0], 0, "range of launches, too few launches"),
        (&four, vec![13.0, 14.0, 13.5, 13.1], 1, "range of launches"),
        (&four, vec![10.9, 14.0, 13.5, 13.1], 0, "range of launches, not significant"),
        (&four, vec![13.0, 14.0, 13.5, 13.1, 13.2, 13.3], 1, "range of launches"),
    ] {
        let new = file(&format!("new-{}.json", new.len()), &new);
        let mut command = laneway();
        command.args(["compare", old, &new, "--format", "json"]);
        let output = command.output().expect("timeout starts");
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(document["rows"][0]["note"], note, "{document}");
    }
}
