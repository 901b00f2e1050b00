//! The page of a paper beside the verdicts of the command.

use std::path::Path;

use serde_json::Value;

/// Every difference of a document is a known one, and every reason with its range stands in a table
/// of the paper's page, which has the words behind the number.
pub fn explains(document: &Value) {
    let rows = document["rows"].as_array().expect("rows");
    for row in rows.iter().filter(|row| !row["reason"].is_null()) {
        let [paper, part, what] =
            ["paper", "part", "what"].map(|name| row[name].as_str().expect("a text"));
        let file = format!("../../docs/papers/{paper}.md");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let page = std::fs::read_to_string(&file).expect("a page");
        let reason = row["reason"].as_u64().expect("a number");
        assert!(page.contains(&format!("\n{reason}. **")), "{paper} has no reason {reason}");
        let begins = format!("| {reason} | `{part}` | {what} | ");
        let line = page.lines().find_map(|line| line.strip_prefix(&begins));
        let range = line.unwrap_or_else(|| panic!("{paper}: no line begins with {begins}"));
        let (low, high) = range.trim_end_matches(" |").split_once(" to ").expect("a range");
        for (name, text) in [("range_low", low), ("range_high", high)] {
            assert_eq!(row[name].as_f64(), text.parse().ok(), "{paper}: {begins}{range}");
        }
    }
}

/// Claims with one verdict.
#[allow(dead_code, reason = "the test of fullmesh has rows alone")]
pub fn with_verdict<'d>(document: &'d Value, verdict: &str) -> Vec<&'d Value> {
    let rows = document["rows"].as_array().expect("rows");
    rows.iter().filter(|row| row["verdict"] == verdict).collect()
}
