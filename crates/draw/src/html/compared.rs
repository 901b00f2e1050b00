//! The part of a page that compares each further run with the first, as `laneway compare` does.

use std::fmt::Write;

use laneway_core::Value;
use laneway_report::compare::{Comparison, Rule, Verdict, compare};
use laneway_report::{Run, table};

use crate::svg::escaped;

/// The number of differing points that are listed.
const LISTED: usize = 60;

/// A card with the verdict and the points that differ, for each run but the first.
pub(super) fn comparisons(runs: &[Run]) -> String {
    let Some((first, others)) = runs.split_first().filter(|(_, others)| !others.is_empty()) else {
        return String::new();
    };
    let mut html = String::from("<section><h2>Comparison</h2>\n");
    for run in others {
        let heading = escaped(&format!("{} compared with {}", run.name, first.name));
        html += &match compare(first, run, &Rule::default()) {
            Ok(found) => card(&heading, &found),
            Err(nothing) => {
                let cause = escaped(&nothing.to_string());
                format!("<div class=\"card verdict\"><h3>{heading}</h3><p>{cause}</p></div>\n")
            }
        };
    }
    html + "</section>\n"
}

fn card(heading: &str, found: &Comparison) -> String {
    let class = if found.passes() { "good" } else { "bad" };
    let (answer, counts) = (escaped(&found.answer()), escaped(&found.sentence()));
    let mut html = format!(
        "<div class=\"card verdict {class}\"><h3>{heading}</h3><p>{answer}</p><p>{counts}</p>"
    );
    let differs = |verdict: Verdict| verdict != Verdict::Same;
    let rows = found.points.iter().zip(found.rows()).filter(|(point, _)| differs(point.verdict));
    let rows: Vec<_> = rows.map(|(_, row)| row).collect();
    if let Some(first) = rows.first() {
        let names: Vec<&str> = first.names().collect();
        html += "<div class=\"scroll\"><table><thead><tr>";
        for name in &names {
            let _ = write!(html, "<th>{}</th>", escaped(name));
        }
        html += "</tr></thead><tbody>\n";
        for row in rows.iter().take(LISTED) {
            html += "<tr>";
            for name in &names {
                let value = row.get(name);
                let is_number = matches!(value, Some(Value::Real(_) | Value::Whole(_)));
                let class = if is_number { " class=\"n\"" } else { "" };
                let value = value.map(table::cell).unwrap_or_default();
                let _ = write!(html, "<td{class}>{}</td>", escaped(&value));
            }
            html += "</tr>\n";
        }
        html += "</tbody></table></div>";
    }
    if let Some(rest) = rows.len().checked_sub(LISTED + 1) {
        let _ = write!(html, "<p>{} more points differ or are missing.</p>", rest + 1);
    }
    html + "</div>\n"
}
