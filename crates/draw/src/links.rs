//! Rates of links over time as pictures: a chart for each link, in it a curve for each direction
//! and record.

use std::collections::BTreeMap;
use std::fmt::Write;

use laneway_core::units::counted;
use laneway_report::links::Interval;
pub use laneway_report::links::LinkRecord;

use crate::axis::{Axis, time_unit};
use crate::html;
use crate::svg::{self, escaped, ruled};

/// The number of links that are drawn, the busiest first.
const CHARTS: usize = 12;
/// The number of other links that are named.
const NAMED: usize = 24;

const WIDTH: f64 = 480.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 456.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 190.0;
const LINE: f64 = 15.0;
/// The heading above the charts.
const HEAD: f64 = 30.0;

/// The ratio to the highest rate above which a capacity would flatten the curves.
const FAR_ABOVE: f64 = 5.0;

/// A curve of a chart.
struct Curve<'a> {
    label: String,
    intervals: &'a [Interval],
    capacity_mbit: Option<f64>,
}

/// What there is to draw of one link.
struct Chart<'a> {
    link: &'a str,
    bytes: f64,
    curves: Vec<Curve<'a>>,
}

/// All records over each other, as one drawing.
pub fn draw(title: &str, records: &[LinkRecord]) -> String {
    let charts = charts(records);
    let (shown, rest) = charts.split_at(charts.len().min(CHARTS));
    let end_us = end_us(records);
    let columns = shown.len().clamp(1, 2);
    let curves = shown.iter().map(|chart| chart.curves.len()).max().unwrap_or(0);
    let height = chart_height(curves);
    let mut body = format!(
        "<g fill=\"#444\">\n<text x=\"{LEFT}\" y=\"22\" font-size=\"14\">{}</text>\n",
        escaped(title)
    );
    for (number, chart) in shown.iter().enumerate() {
        let (column, row) = (number % columns, number / columns);
        let (x, y) = (column as f64 * WIDTH, HEAD + row as f64 * height);
        // Writing to a string cannot fail.
        let _ =
            writeln!(body, "<g transform=\"translate({x},{y})\">\n{}</g>", draw_one(chart, end_us));
    }
    let mut bottom = HEAD + shown.len().div_ceil(columns) as f64 * height;
    for line in svg::wrap(&note(shown.len(), rest), columns as f64 * WIDTH - LEFT, 11.0) {
        bottom += LINE;
        let _ = writeln!(body, "<text x=\"{LEFT}\" y=\"{bottom}\">{}</text>", escaped(&line));
    }
    let title = LEFT + svg::width_of(title, 14.0) + 20.0;
    let width = (columns as f64 * WIDTH).max(title).ceil();
    svg::document(width, bottom + LINE, &(body + "</g>\n"))
}

/// All records over each other, as a page.
pub fn page(title: &str, records: &[LinkRecord]) -> String {
    let charts = charts(records);
    let (shown, rest) = charts.split_at(charts.len().min(CHARTS));
    let end_us = end_us(records);
    let mut html = String::from("<section><h2>Links</h2><div class=\"grid-of\">\n");
    for chart in shown {
        let body = format!("<g fill=\"#444\">\n{}</g>\n", draw_one(chart, end_us));
        let drawing = svg::document(WIDTH, chart_height(chart.curves.len()), &body);
        let _ = writeln!(html, "<figure>{}</figure>", svg::inline(&drawing));
    }
    let note = escaped(&note(shown.len(), rest));
    let _ = writeln!(html, "</div><p>{note}</p></section>");
    let count = match records {
        [_] => counted(charts.len() as u64, "link"),
        records => {
            let links = counted(charts.len() as u64, "link");
            format!("{} · {links}", counted(records.len() as u64, "record"))
        }
    };
    html::frame(&escaped(title), &count, &html)
}

/// The links that carried something, the busiest first.
fn charts(records: &[LinkRecord]) -> Vec<Chart<'_>> {
    let mut charts: Vec<Chart<'_>> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for record in records {
        for of in &record.uses {
            let place = *places.entry(&of.link).or_insert(charts.len());
            if place == charts.len() {
                charts.push(Chart { link: &of.link, bytes: 0.0, curves: Vec::new() });
            }
            let words = [if records.len() > 1 { &record.name } else { "" }, &of.direction];
            let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
            let label = if words.is_empty() { "both directions".into() } else { words.join(", ") };
            let (intervals, capacity_mbit) = (&of.intervals[..], of.capacity_mbit);
            charts[place].bytes += of.bytes();
            charts[place].curves.push(Curve { label, intervals, capacity_mbit });
        }
    }
    charts.retain(|chart| chart.bytes > 0.0);
    // Links that carried the same but for rounding keep their order.
    charts.sort_by(|a, b| b.bytes.round().total_cmp(&a.bytes.round()));
    charts
}

fn end_us(records: &[LinkRecord]) -> f64 {
    let intervals = records.iter().flat_map(|record| &record.uses).flat_map(|of| &of.intervals);
    intervals.map(Interval::end_us).fold(0.0, f64::max)
}

fn chart_height(curves: usize) -> f64 {
    BOTTOM + 40.0 + LINE * curves as f64
}

fn note(shown: usize, rest: &[Chart]) -> String {
    if shown == 0 {
        return "No link carried anything.".into();
    }
    if rest.is_empty() {
        return String::new();
    }
    let named: Vec<&str> = rest.iter().take(NAMED).map(|chart| chart.link).collect();
    let more = match rest.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("Not drawn, as they carried no more: {}{more}.", named.join(", "))
}

/// Time to the right and rates upwards, both from 0.
struct Axes {
    /// In the unit of `unit_us` microseconds.
    across: Axis,
    unit: &'static str,
    unit_us: f64,
    /// In 10^6 bit/s, up to `top_mbit`.
    up: Axis,
    top_mbit: f64,
}

impl Axes {
    /// Room for all rates and, where it is not far above them, for the capacity.
    fn over(chart: &Chart, end_us: f64) -> Axes {
        let intervals = chart.curves.iter().flat_map(|curve| curve.intervals);
        let peak = intervals.map(Interval::rate_mbit).fold(0.0, f64::max).max(1e-9);
        let near = |capacity: &f64| *capacity <= peak * FAR_ABOVE;
        let capacities = chart.curves.iter().filter_map(|curve| curve.capacity_mbit).filter(near);
        let top_mbit = capacities.fold(peak, f64::max) * 1.05;
        let (unit, unit_us) = time_unit(end_us);
        let across = Axis::even(end_us / unit_us, (LEFT, RIGHT));
        Axes { across, unit, unit_us, up: Axis::even(top_mbit, (BOTTOM, TOP)), top_mbit }
    }

    fn across(&self, at_us: f64) -> f64 {
        self.across.at(at_us / self.unit_us)
    }

    fn up(&self, rate_mbit: f64) -> f64 {
        self.up.at(rate_mbit)
    }
}

fn draw_one(chart: &Chart, end_us: f64) -> String {
    let axes = Axes::over(chart, end_us);
    let (lines, capacity) = capacities(chart, &axes);
    // The link's name has what the capacity leaves.
    let room = RIGHT - LEFT - svg::width_of(&capacity, 11.0) - 14.0;
    let mut text = format!(
        "<text x=\"{LEFT}\" y=\"20\" font-weight=\"bold\">{}</text>\n\
         <text x=\"{RIGHT}\" y=\"20\" text-anchor=\"end\">{capacity}</text>\n\
         <text x=\"{}\" y=\"36\" text-anchor=\"end\">Mbit/s</text>\n{}{lines}",
        shortened(chart.link, room / 1.1),
        LEFT - 6.0,
        grid(&axes)
    );
    for (number, curve) in chart.curves.iter().enumerate() {
        text += &draw_curve(curve, number as u32, &axes);
    }
    text
}

fn grid(axes: &Axes) -> String {
    let mut text = String::new();
    for tick in axes.up.ticks() {
        text += &ruled(LEFT, RIGHT, tick.place, &tick.label);
    }
    for tick in axes.across.ticks() {
        let _ = writeln!(
            text,
            "<path d=\"M{0:.1} {BOTTOM}v4\" stroke=\"#999\"/>\
             <text x=\"{0:.1}\" y=\"{1}\" text-anchor=\"middle\">{2} {3}</text>",
            tick.place,
            BOTTOM + 16.0,
            tick.label,
            axes.unit
        );
    }
    text
}

/// A text that fits, and the whole of it for who points at it where it was cut.
fn shortened(text: &str, room: f64) -> String {
    let short = svg::shorten(text, room, 11.0);
    match short == text {
        true => escaped(text),
        false => format!("{}<title>{}</title>", escaped(&short), escaped(text)),
    }
}

/// A dashed line for each capacity that is not far above the chart, and the largest in words.
fn capacities(chart: &Chart, axes: &Axes) -> (String, String) {
    let mut all: Vec<f64> = chart.curves.iter().filter_map(|curve| curve.capacity_mbit).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    let mut text = String::new();
    for &capacity in all.iter().filter(|capacity| **capacity <= axes.top_mbit) {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "<path d=\"M{LEFT} {:.1}H{RIGHT}\" stroke=\"#777\" class=\"capacity\" \
             stroke-dasharray=\"12 5\">\
             <title>capacity: {capacity} Mbit/s</title></path>",
            axes.up(capacity)
        );
    }
    let largest = all.last().map(|capacity| format!("capacity {} Mbit/s", rounded(*capacity)));
    (text, largest.unwrap_or_default())
}

/// At most two digits behind the point, and none that are 0.
fn rounded(figure: f64) -> f64 {
    (figure * 100.0).round() / 100.0
}

/// Steps from interval to interval, and what they are called.
fn draw_curve(curve: &Curve, number: u32, axes: &Axes) -> String {
    let (colour, dashes) = (svg::colour(number), svg::dashes(number as usize));
    // The second of two directions that carry the same leaves the first visible below it.
    let width = if number.is_multiple_of(2) { 1.8 } else { 1.1 };
    let (mut path, mut reached_us) = (String::new(), f64::NEG_INFINITY);
    for interval in curve.intervals {
        let y = axes.up(interval.rate_mbit());
        // What was not recorded is a gap and not a rate.
        let joined = (interval.at_us - reached_us).abs() <= interval.length_us * 0.01;
        let _ = match joined {
            true => write!(path, "V{y:.1}"),
            false => write!(path, "M{:.2} {y:.1}", axes.across(interval.at_us)),
        };
        reached_us = interval.end_us();
        let _ = write!(path, "H{:.2}", axes.across(reached_us));
    }
    let y = BOTTOM + 36.0 + LINE * f64::from(number);
    format!(
        "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" \
         stroke-dasharray=\"{dashes}\"/>\n\
         <path d=\"M{LEFT} {y}h36\" stroke=\"{colour}\" stroke-width=\"2\" \
         stroke-dasharray=\"{dashes}\"/><text x=\"{}\" y=\"{}\">{}</text>\n",
        LEFT + 42.0,
        y + 4.0,
        shortened(&curve.label, WIDTH - LEFT - 54.0)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::uses;
    use laneway_report::links::LinkUse;

    fn record(name: &str) -> LinkRecord {
        LinkRecord { name: name.into(), uses: uses() }
    }

    /// Every tag that opens is closed, in order, and quotes are even.
    fn assert_well_formed(text: &str) {
        let mut open: Vec<&str> = Vec::new();
        for part in text.split('<').skip(1) {
            let (tag, after) = part.split_once('>').expect(part);
            assert!(!after.contains('>') && tag.matches('"').count() % 2 == 0, "{part}");
            let name = tag.split([' ', '/']).find(|word| !word.is_empty()).expect(tag);
            match (tag.starts_with('/'), tag.ends_with('/')) {
                (true, _) => assert_eq!(open.pop(), Some(name), "{part}"),
                (false, false) => open.push(name),
                (false, true) => {}
            }
        }
        assert!(open.is_empty() && text.starts_with("<svg xmlns"), "{open:?}");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }

    #[test]
    fn a_link_is_a_chart_and_a_direction_is_a_curve() {
        let svg = draw("a <title>", &[record("x")]);
        assert_well_formed(&svg);
        assert_eq!(svg.matches("fill=\"none\"").count(), 3, "{svg}");
        for part in
            [">site0:to:site1<", ">there<", ">back<", ">both directions<", "a &lt;title&gt;"]
        {
            assert!(svg.contains(part), "{part} is missing in\n{svg}");
        }
        // 1000 bytes in 100 us are 80 Mbit/s: far below what the link can carry.
        assert!(
            svg.contains("capacity 1000 Mbit/s") && !svg.contains("class=\"capacity\""),
            "{svg}"
        );
        assert!(svg.contains(">100 µs<") && svg.contains(">Mbit/s<"), "{svg}");
    }

    #[test]
    fn records_lie_over_each_other() {
        let mut lab = record("lab & co");
        lab.uses[0].capacity_mbit = Some(81.0);
        let svg = draw("both", &[record("sim"), lab.clone()]);
        assert_well_formed(&svg);
        assert_eq!(svg.matches("fill=\"none\"").count(), 6);
        assert!(svg.contains(">sim, there<") && svg.contains(">lab &amp; co, there<"), "{svg}");
        assert_eq!(svg.matches("class=\"capacity\"").count(), 1);
        let html = page("both", &[record("sim"), lab]);
        // The page colours curves by their class, and leaves the capacity as it is.
        assert!(html.contains("svg g[class^=c]") && !html.contains("svg [class"), "{html}");
        assert_eq!(html.matches("<figure>").count(), 2);
        assert!(html.contains("2 records · 2 links") && !html.contains("http://"), "{html}");
    }

    #[test]
    fn the_busiest_links_are_drawn_and_the_others_named() {
        let link = |number: u32| {
            let bytes = f64::from(number);
            let intervals = vec![Interval { at_us: 0.0, length_us: 1.0, bytes }];
            LinkUse { link: format!("n{number}"), intervals, ..LinkUse::default() }
        };
        let all = LinkRecord { name: String::new(), uses: (0..50).map(link).collect() };
        let svg = draw("many", std::slice::from_ref(&all));
        assert_well_formed(&svg);
        assert_eq!(svg.matches("font-weight").count(), CHARTS);
        assert!(svg.contains(">n49<") && svg.contains("n37, n36"), "{svg}");
        let records = [all];
        let note = note(CHARTS, &charts(&records)[CHARTS..]);
        assert!(note.ends_with("n15, n14 and 13 more."), "{note}");
        let none = draw("none", &[LinkRecord::default()]);
        assert_well_formed(&none);
        assert!(none.contains("No link carried anything."));
    }

    #[test]
    fn a_gap_is_not_drawn_as_a_rate() {
        let mut record = record("x");
        record.uses.truncate(1);
        record.uses[0].intervals.remove(1);
        let svg = draw("gap", &[record]);
        let path = svg.split("<path d=\"").find(|p| p.contains("fill=\"none\"")).expect("a curve");
        assert_eq!(path.matches('M').count(), 2, "{path}");
    }
}
