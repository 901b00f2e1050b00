//! A page for people: charts, the spread of samples, flags, every row and the environment, in one
//! file that needs no network.

use std::collections::BTreeMap;
use std::fmt::Write;

use laneway_core::Value;
use laneway_core::units::format_size;

use crate::chart;
use crate::figure::{Chart, charts, plain};
use crate::map::Map;
use crate::run::{Fields, Record, Run};
use crate::svg::escaped;
use crate::table::{cell, significant};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// So many points are named beside a flag; the table has them all.
const NAMED: usize = 12;

/// A drawing that its maker wants on the page of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub heading: String,
    /// A whole drawing, whose text is escaped.
    pub svg: String,
    /// What a reader must know of it, a paragraph each.
    pub remarks: Vec<String>,
}

/// The page for some runs.
pub fn render(title: &str, runs: &[Run]) -> String {
    pictured(title, runs, &[])
}

/// The page for some runs, with pictures before all else.
pub fn pictured(title: &str, runs: &[Run], shown: &[Picture]) -> String {
    let title = escaped(title);
    let rows: usize = runs.iter().map(|run| run.rows.len()).sum();
    let count = match runs {
        [run] => format!("{} · {rows} rows", escaped(&run.source)),
        runs => format!("{} runs · {rows} rows", runs.len()),
    };
    let body = [
        pictures(shown),
        maps(runs),
        figures(&charts(runs)),
        spreads(runs),
        flags(runs),
        table(runs),
        environments(runs),
    ];
    frame(&title, &count, &body.concat())
}

/// A whole page around its body; title and count are escaped already.
pub(crate) fn frame(title: &str, count: &str, body: &str) -> String {
    // The policy lets a browser prove that nothing is fetched.
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>{title}</h1><p>{count}</p></header>\n\
         {body}<footer>Written by laneway {}.</footer>\n<script>\n{SCRIPT}</script>\n\
         </body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
    )
}

fn pictures(shown: &[Picture]) -> String {
    let mut html = String::new();
    for picture in shown {
        // A page knows that what is in it is a drawing, and must name no address.
        let drawing = picture.svg.replace(" xmlns=\"http://www.w3.org/2000/svg\"", "");
        let _ = write!(html, "<figure><h3>{}</h3>{drawing}", escaped(&picture.heading));
        for remark in &picture.remarks {
            let _ = write!(html, "<p>{}</p>", escaped(remark));
        }
        html += "</figure>\n";
    }
    match html.is_empty() {
        true => html,
        false => format!("<section><h2>Figures</h2>\n{html}</section>\n"),
    }
}

/// The map of each run of `laneway measure pairs`.
fn maps(runs: &[Run]) -> String {
    let mut html = String::new();
    for (run, map) in runs.iter().filter_map(|run| Some((run, Map::of(run)?))) {
        let heading = if runs.len() > 1 { escaped(&run.name) } else { String::new() };
        let verdict = run.summary.iter().find(|(name, _)| name == "verdict");
        let verdict = verdict.map(|(_, text)| escaped(&plain(text))).unwrap_or_default();
        let _ = write!(html, "<figure><h3>{heading}</h3><p>{verdict}</p>{}</figure>", map.draw());
    }
    match html.is_empty() {
        true => html,
        false => format!("<section><h2>Map</h2><div class=\"grid-of\">\n{html}</div></section>\n"),
    }
}

fn figures(charts: &[Chart]) -> String {
    if charts.is_empty() {
        return String::new();
    }
    let banded = charts.iter().flat_map(|chart| &chart.curves).flat_map(|curve| &curve.points);
    let banded = banded.into_iter().any(|point| point.interval.is_some());
    let note = if banded { "Bands and bars are the intervals of the figures." } else { "" };
    let mut html = format!("<section><h2>Charts</h2><p>{note}</p><div class=\"grid-of\">\n");
    for chart in charts {
        let _ = write!(
            html,
            "<figure><h3>{}: {}</h3>\n{}<ul class=\"legend\">",
            escaped(&chart.op),
            chart.metric.title(),
            chart::draw(chart)
        );
        for (number, curve) in chart.curves.iter().enumerate() {
            let class = chart::class(number);
            let _ = write!(html, "<li class=\"{class}\">{}</li>", escaped(&curve.label));
        }
        html += "</ul></figure>\n";
    }
    html + "</div></section>\n"
}

/// What a row is called in a sentence.
fn name(run: &Run, row: &Record, several: bool) -> String {
    let words = [row.op(), row.get("algorithm")].into_iter().flatten().map(plain);
    let mut words: Vec<String> = words.collect();
    words.extend(row.get("ranks").map(|ranks| format!("{} ranks", plain(ranks))));
    words.extend(row.number("size_bytes").map(|size| format!("{} B", format_size(size as u64))));
    words.extend(several.then(|| format!("({})", run.name)));
    words.join(" ")
}

fn all(runs: &[Run]) -> impl Iterator<Item = (&Run, &Record)> {
    runs.iter().flat_map(|run| run.rows.iter().map(move |row| (run, row)))
}

/// A small histogram for each row whose samples were kept.
fn spreads(runs: &[Run]) -> String {
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
fn flags_of(row: &Record) -> Vec<String> {
    let text = row.get("flags").map(plain).unwrap_or_default();
    text.split([',', ';']).map(str::trim).filter(|w| !w.is_empty()).map(str::to_owned).collect()
}

/// Each flag with the rows that carry it.
fn flags(runs: &[Run]) -> String {
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
fn table(runs: &[Run]) -> String {
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
fn environments(runs: &[Run]) -> String {
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
        terms(&run.summary);
        html += "</dl></div>\n";
    }
    html + "</div></section>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::tests::document;

    fn run() -> Run {
        let mut run = Run::from(&document());
        run.rows[0].push("samples_us", vec![19.0, 20.0, 21.5].into());
        run.rows[1].push("flags", "barrier skew, <few>".into());
        run
    }

    #[test]
    fn every_part_is_on_the_page() {
        let html = render("A & B", &[run()]);
        for part in [
            "<title>A &amp; B</title>",
            "<h3>bcast: time (µs)</h3>",
            "<h3>stream: bandwidth (MB/s)</h3>",
            "<li class=\"c1\">linear's</li>",
            "3 samples: 19.00 to 21.50 µs, middle 20.00",
            "<h3>barrier skew (1)</h3><p>bcast binomial 16 ranks 8 B</p>",
            "<tr class=\"flagged\">",
            "<td class=\"n\" data-v=\"0.004\" title=\"0.004\">0.004000</td>",
            "<dt>host</dt><dd>node&lt;1&gt;</dd>",
            "<dt>seed</dt><dd>7</dd>",
        ] {
            assert!(html.contains(part), "{part} is missing in\n{html}");
        }
        assert_eq!(html.matches("<tr").count(), 1 + 5);
    }

    #[test]
    fn nothing_is_fetched_and_nothing_breaks_out() {
        let evil = "</script><script>alert('x')</script>\"'&<img src=x onerror=y>";
        let mut run = run();
        run.name = evil.into();
        run.source = evil.into();
        run.env.push((evil.into(), evil.into()));
        for row in &mut run.rows {
            row.fields.iter_mut().for_each(|(name, value)| {
                if matches!(value, Value::Text(_)) {
                    *value = evil.into();
                }
                *name = name.replace("ranks", evil).into();
            });
        }
        let html = render(evil, &[run.clone(), run]);
        assert_eq!(html.matches("<script>").count(), 1);
        assert_eq!(html.matches("</script>").count(), 1);
        assert!(!html.contains("<img") && !html.contains("\"'&<"));
        for link in ["http://", "https://", "src=\"", "href=", "url(", "@import"] {
            assert!(!html.contains(link), "{link}");
        }
    }

    #[test]
    fn several_runs_are_told_apart() {
        let (mut old, mut new) = (run(), run());
        (old.name, new.name) = ("old".into(), "new".into());
        let html = render("two", &[old, new]);
        assert!(
            html.contains("2 runs · 10 rows") && html.contains("<li class=\"c2\">binomial (new)")
        );
        assert!(html.contains("<td>old</td>") && html.contains("<button type=\"button\">run<"));
    }

    #[test]
    fn pictures_come_first_and_name_no_address() {
        let picture = Picture {
            heading: "a < b".into(),
            svg: crate::svg::document(2.0, 1.0, "<g/>"),
            remarks: vec!["c & d".into()],
        };
        let html = pictured("one", &[run()], &[picture]);
        let at = html.find("<h3>a &lt; b</h3><svg viewBox").expect("a picture");
        assert!(at < html.find("<h2>Charts").expect("charts"), "{html}");
        assert!(html.contains("<p>c &amp; d</p>") && !html.contains("http://"), "{html}");
    }

    #[test]
    fn a_page_without_rows_is_a_page() {
        let html = render("empty", &[Run::default()]);
        assert!(html.contains("</html>") && !html.contains("Charts"));
    }
}
