//! The parts of a page that go row by row: how samples spread, flags, the table, and where each run
//! was made.

use std::collections::BTreeMap;
use std::fmt::Write;

use laneway_core::Value;
use laneway_core::units::{counted, format_size};
use laneway_report::figure::plain;
use laneway_report::run::Fields;
use laneway_report::table::{cell, significant};
use laneway_report::{Record, Run};

use crate::chart;
use crate::svg::escaped;

/// The number of points that are named beside a flag; the table has them all.
const NAMED: usize = 12;

/// What a row is called in a sentence.
fn name(run: &Run, row: &Record, several: bool) -> String {
    let words = [row.op(), row.get("algorithm")].into_iter().flatten().map(plain);
    let mut words: Vec<String> = words.collect();
    words.extend(row.number("ranks").map(|ranks| counted(ranks as u64, "rank")));
    words.extend(row.number("size_bytes").map(|size| format!("{} B", format_size(size as u64))));
    words.extend(several.then(|| format!("({})", run.name)));
    words.join(" ")
}

fn all(runs: &[Run]) -> impl Iterator<Item = (&Run, &Record)> {
    runs.iter().flat_map(|run| run.rows.iter().map(move |row| (run, row)))
}

/// A small histogram for each row whose samples were kept.
pub(super) fn spreads(runs: &[Run]) -> String {
    let mut cards = String::new();
    for (run, row) in all(runs).filter(|(_, row)| !row.samples_us.is_empty()) {
        let mut sorted = row.samples_us.clone();
        sorted.sort_by(f64::total_cmp);
        let [least, middle, most] =
            [0, sorted.len() / 2, sorted.len() - 1].map(|place| significant(sorted[place]));
        let _ = writeln!(
            cards,
            "<div class=\"card\"><h3>{}</h3>{}\
             <p>{} samples: {least} to {most} µs, middle {middle}</p></div>",
            escaped(&name(run, row, runs.len() > 1)),
            chart::strip(&row.samples_us),
            sorted.len(),
        );
    }
    if cards.is_empty() {
        return cards;
    }
    format!(
        "<section><h2>Distributions</h2><p>Each strip runs from its fastest sample to its slowest; \
         the last bar holds the slowest fiftieth.</p>\
         <div class=\"grid-of small\">\n{cards}</div></section>\n"
    )
}

/// The words of a row's flags.
pub(super) fn flags_of(row: &Record) -> Vec<String> {
    let text = row.get("flags").map(plain).unwrap_or_default();
    text.split([',', ';']).map(str::trim).filter(|w| !w.is_empty()).map(str::to_owned).collect()
}

/// Each flag with the rows that carry it.
pub(super) fn flags(runs: &[Run]) -> String {
    let mut rows: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (run, row) in all(runs) {
        for flag in flags_of(row) {
            rows.entry(flag).or_default().push(name(run, row, runs.len() > 1));
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<section><h2>Flags</h2><p>A flagged figure was measured, but something about it is to be \
         known before it is trusted.</p><div class=\"grid-of small\">\n",
    );
    for (flag, named) in rows {
        let shown = named.iter().take(NAMED).map(|name| escaped(name));
        let shown = shown.collect::<Vec<_>>().join("; ");
        let more = match named.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let _ = writeln!(
            html,
            "<div class=\"card flag\"><h3>{} ({})</h3><p>{shown}{more}</p></div>",
            escaped(&flag),
            named.len(),
        );
    }
    html + "</div></section>\n"
}

/// Every row; columns that are empty everywhere are left out.
pub(super) fn table(runs: &[Run]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (name, value) in all(runs).flat_map(|(_, row)| &row.fields) {
        if *value != Value::Nothing && !names.contains(&name.as_ref()) {
            names.push(name);
        }
    }
    let mut html = String::from(
        "<section><h2>All rows</h2><p>A click on a heading sorts by it.</p>\
         <div class=\"scroll\"><table><thead><tr>",
    );
    let several = runs.len() > 1;
    for name in several.then_some("run").iter().chain(&names) {
        let _ = write!(html, "<th><button type=\"button\">{}</button></th>", escaped(name));
    }
    html += "</tr></thead>\n<tbody>\n";
    for (run, row) in all(runs) {
        html += if flags_of(row).is_empty() { "<tr>" } else { "<tr class=\"flagged\">" };
        if several {
            let _ = write!(html, "<td>{}</td>", escaped(&run.name));
        }
        for name in &names {
            html += &table_cell(row.get(name));
        }
        html += "</tr>\n";
    }
    html + "</tbody></table></div></section>\n"
}

/// A figure stands to the right, shortened, and sorts by its whole value.
fn table_cell(value: Option<&Value>) -> String {
    match value {
        None => "<td></td>".into(),
        Some(value @ (Value::Whole(_) | Value::Real(_))) => {
            let exact = plain(value);
            let shown = escaped(&cell(value));
            format!("<td class=\"n\" data-v=\"{exact}\" title=\"{exact}\">{shown}</td>")
        }
        Some(value) => format!("<td>{}</td>", escaped(&cell(value))),
    }
}

/// Where and how each run was made.
pub(super) fn environments(runs: &[Run]) -> String {
    let mut html = String::from("<section><h2>Environment</h2><div class=\"grid-of\">\n");
    for run in runs {
        let _ = write!(html, "<div class=\"card\"><h3>{}</h3><dl>", escaped(&run.name));
        let mut term = |name: &str, value: &str| {
            if !value.is_empty() {
                let _ = write!(html, "<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value));
            }
        };
        term("source", &run.source);
        term("tool", &run.tool);
        let mut terms = |fields: &Fields| {
            fields.iter().for_each(|(name, value)| term(name, &plain(value)));
        };
        terms(&run.env);
        terms(&run.params);
        html += "</dl></div>\n";
    }
    html + "</div></section>\n"
}
