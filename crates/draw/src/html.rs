//! A page for people: the verdict, charts, the spread of samples, flags, every row and the
//! environment, in one file that needs no network.

mod compared;
mod rows;

use std::fmt::Write;

use laneway_core::Value;
use laneway_core::units::{are, counted};
use laneway_report::figure::{Chart, charts, plain};
use laneway_report::table::significant;
use laneway_report::{Extent, Run};

use crate::chart;
use crate::map::Map;
use crate::svg::{escaped, inline};
use compared::comparisons;
use rows::{environments, flags, flags_of, spreads, table};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A drawing that its maker wants on the page of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// What it shows.
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

/// The page for some runs, with pictures before their charts.
pub fn pictured(title: &str, runs: &[Run], shown: &[Picture]) -> String {
    let title = escaped(title);
    let rows: usize = runs.iter().map(|run| run.rows.len()).sum();
    let count = match runs {
        [run] => format!("{} · {}", escaped(&run.source), counted(rows as u64, "row")),
        runs => {
            format!("{} · {}", counted(runs.len() as u64, "run"), counted(rows as u64, "row"))
        }
    };
    let body = [
        verdicts(runs),
        comparisons(runs),
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
        let drawing = inline(&picture.svg);
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

/// Fields of a summary that are sentences, one below the other.
const SAID: [&str; 3] = ["verdict", "crossovers", "remarks"];

/// Fields that say whether all is well, and those that count what is not.
const GOOD: [&str; 3] = ["healthy", "holds", "ok"];
const BAD: [&str; 3] = ["slower", "differ", "failed"];

/// Whether all is well, where a summary says so.
fn is_well(run: &Run) -> Option<bool> {
    run.summary.iter().find_map(|(name, value)| match value {
        Value::Truth(truth) if GOOD.contains(&name.as_ref()) => Some(*truth),
        Value::Whole(count) if BAD.contains(&name.as_ref()) => Some(*count == 0),
        _ => None,
    })
}

/// How many of what is not well, where a summary counts it.
fn how_many_bad(run: &Run) -> Option<String> {
    run.summary.iter().find_map(|(name, value)| match value {
        Value::Whole(count) if BAD.contains(&name.as_ref()) => Some(match count {
            0 => format!("none {name}"),
            count => format!("{count} {name}"),
        }),
        _ => None,
    })
}

/// What each run comes to, before all figures: sentences, what else its summary says, and how many
/// rows are flagged.
fn verdicts(runs: &[Run]) -> String {
    let mut cards = String::new();
    for run in runs {
        let flagged = run.rows.iter().filter(|row| !flags_of(row).is_empty()).count();
        if run.summary.is_empty() && flagged == 0 && !run.extent.is_incomplete() {
            continue;
        }
        let class = match is_well(run) {
            _ if run.extent.is_incomplete() => "card verdict bad",
            Some(true) => "card verdict good",
            Some(false) => "card verdict bad",
            None => "card verdict",
        };
        let heading = if runs.len() > 1 { escaped(&run.name) } else { String::new() };
        let _ = write!(cards, "<div class=\"{class}\"><h3>{heading}</h3>");
        if let Extent::Incomplete(done) = &run.extent {
            let done = if done.is_empty() { "it was stopped early" } else { done };
            let _ = write!(cards, "<p>This run is incomplete: {}.</p>", escaped(done));
        }
        let mut brief = String::new();
        let is_said = run.summary.iter().any(|(name, _)| SAID.contains(&name.as_ref()));
        if let Some(count) = how_many_bad(run).filter(|_| !is_said) {
            let _ = write!(cards, "<p>{count}</p>");
        }
        for (name, value) in &run.summary {
            match value {
                Value::Text(text) if SAID.contains(&name.as_ref()) => {
                    for sentence in text.lines().flat_map(|line| line.split("; ")) {
                        let _ = write!(cards, "<p>{}</p>", escaped(sentence));
                    }
                }
                value if plain(value).is_empty() => {}
                value => {
                    let (name, value) = (escaped(name), escaped(&display_text(value)));
                    let _ = write!(brief, "<dt>{name}</dt><dd>{value}</dd>");
                }
            }
        }
        if !brief.is_empty() {
            let _ = write!(cards, "<dl class=\"brief\">{brief}</dl>");
        }
        if flagged > 0 {
            let (flagged, all) = (flagged as u64, counted(run.rows.len() as u64, "row"));
            let are = are(flagged);
            let _ = write!(cards, "<p class=\"warn\">{flagged} of {all} {are} flagged.</p>");
        }
        cards += "</div>\n";
    }
    match cards.is_empty() {
        true => cards,
        false => format!("<section><h2>Verdict</h2>\n{cards}</section>\n"),
    }
}

/// A value as a person reads it.
fn display_text(value: &Value) -> String {
    match value {
        Value::Truth(true) => "yes".into(),
        Value::Truth(false) => "no".into(),
        Value::Real(number) => significant(*number),
        value => plain(value),
    }
}

/// The map of each run of pairs that were compared.
fn maps(runs: &[Run]) -> String {
    let mut html = String::new();
    let maps = runs.iter().filter_map(|run| Some((run, Map::of(run)?)));
    for (run, map) in maps.filter(|(_, map)| map.is_judged) {
        let heading = if runs.len() > 1 { escaped(&run.name) } else { String::new() };
        let _ = write!(html, "<figure><h3>{heading}</h3>{}</figure>", inline(&map.draw()));
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
    let note = match banded {
        true => {
            "Bands and bars are the intervals of the figures; of fewer than six launches, their \
             range."
        }
        false => "",
    };
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
            let label = escaped(&curve.label);
            let _ = write!(html, "<li class=\"{class}\">{}{label}</li>", chart::key(number));
        }
        html += "</ul></figure>\n";
    }
    html + "</div></section>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::document;

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
            "</svg>linear's</li>",
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
    fn several_runs_are_distinguishable() {
        let (mut old, mut new) = (run(), run());
        (old.name, new.name) = ("old".into(), "new".into());
        let html = render("two", &[old, new]);
        assert!(html.contains("2 runs · 10 rows") && html.contains("</svg>binomial (new)</li>"));
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
    fn the_verdict_stands_on_top() {
        let mut run = run();
        for (name, value) in [
            ("verdict", Value::from("rank 1 is slow; it sends at <half>")),
            ("healthy", false.into()),
            ("pairs", 6u32.into()),
        ] {
            run.summary.push((name.into(), value));
        }
        let html = render("one", &[run]);
        let at = html.find("<p>rank 1 is slow</p><p>it sends at &lt;half&gt;</p>");
        let at = at.unwrap_or_else(|| panic!("no verdict in\n{html}"));
        assert!(at < html.find("<h2>Charts").expect("charts"));
        for part in ["verdict bad", "<dt>healthy</dt><dd>no</dd>", "1 of 5 rows is flagged."] {
            assert!(html.contains(part), "{part} is missing in\n{html}");
        }
    }

    #[test]
    fn a_verdict_without_a_sentence_is_its_count() {
        for (count, says) in [(0u32, "<p>none slower</p>"), (3, "<p>3 slower</p>")] {
            let mut run = run();
            run.summary.push(("slower".into(), count.into()));
            run.summary.push(("same".into(), 9u32.into()));
            let html = render("one", &[run]);
            assert!(html.contains(says) && html.contains("<dt>same</dt><dd>9</dd>"), "{html}");
        }
    }

    #[test]
    fn a_page_without_rows_is_a_page() {
        let html = render("empty", &[Run::default()]);
        assert!(html.contains("</html>") && !html.contains("Charts"));
    }
}
