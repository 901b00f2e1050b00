//! Charts as drawings for a page: curves over logarithmic axes with the bands of their intervals,
//! and the spread of samples as small histograms.

use std::fmt::Write;

use laneway_core::units::format_size;

use crate::figure::{Chart, Curve};
use crate::svg::{escaped, round_step};
use crate::table::significant;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 624.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 312.0;

/// So many colours the page's style knows; beyond them lines are dashed.
pub const COLOURS: usize = 8;

/// A logarithmic axis from one place on the paper to another.
struct Axis {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Axis {
    /// Holds all values, which are positive, with a little room at both ends.
    fn over(values: impl Iterator<Item = f64>, base: f64, (start, end): (f64, f64)) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            low = low.min(value.log(base));
            high = high.max(value.log(base));
        }
        let room = ((high - low) * 0.04).max(0.15);
        Axis { from: low - room, to: high + room, start, end }
    }

    /// The place of a power of the base.
    fn at(&self, power: f64) -> f64 {
        self.start + (power - self.from) / (self.to - self.from) * (self.end - self.start)
    }
}

/// Where a size stands on its axis: 0, which has no logarithm, at a half.
fn size_power(size_bytes: f64) -> f64 {
    size_bytes.max(0.5).log2()
}

/// The class that gives the n-th curve its colour, and its dashes.
pub fn class(number: usize) -> String {
    let dashed = if number >= COLOURS { " dashed" } else { "" };
    format!("c{}{dashed}", number % COLOURS)
}

/// The figure over the size, every curve in its class.
pub fn draw(chart: &Chart) -> String {
    let points = || chart.curves.iter().flat_map(|curve| &curve.points);
    let sizes = points().map(|point| point.size_bytes.max(0.5));
    let ends = points().flat_map(|point| {
        let (low, high) = point.interval.unwrap_or((point.figure, point.figure));
        [low, high, point.figure]
    });
    let x = Axis::over(sizes, 2.0, (LEFT, RIGHT));
    let y = Axis::over(ends, 10.0, (BOTTOM, TOP));
    let name = escaped(&format!("{}: {} over size", chart.op, chart.metric.title()));
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{name}\">\n{}",
        grid(&x, &y, points().any(|point| point.size_bytes < 0.5))
    );
    let middle = (LEFT + RIGHT) / 2.0;
    let _ = writeln!(svg, "<text x=\"{middle}\" y=\"350\" class=\"mid\">size (bytes)</text>");
    let _ = writeln!(
        svg,
        "<text transform=\"translate(14 {}) rotate(-90)\" class=\"mid\">{}</text>",
        (TOP + BOTTOM) / 2.0,
        chart.metric.title()
    );
    for (number, curve) in chart.curves.iter().enumerate() {
        svg += &drawn(curve, &class(number), &x, &y);
    }
    svg + "</svg>\n"
}

/// One curve: the band of its intervals, the line, and a dot with its figures for each point.
fn drawn(curve: &Curve, class: &str, x: &Axis, y: &Axis) -> String {
    let place =
        |size: f64, value: f64| format!("{:.1},{:.1}", x.at(size_power(size)), y.at(value.log10()));
    let mut svg = format!("<g class=\"{class}\">");
    // A band spans neighbours that both have an interval; a lone interval is a bar.
    for pair in curve.points.windows(2) {
        if let (Some(a), Some(b)) = (pair[0].interval, pair[1].interval) {
            let (left, right) = (pair[0].size_bytes, pair[1].size_bytes);
            let corners =
                [place(left, a.0), place(left, a.1), place(right, b.1), place(right, b.0)];
            let _ = write!(svg, "<polygon class=\"band\" points=\"{}\"/>", corners.join(" "));
        }
    }
    let line: Vec<String> = curve.points.iter().map(|p| place(p.size_bytes, p.figure)).collect();
    let _ = write!(svg, "<polyline points=\"{}\"/>", line.join(" "));
    for point in &curve.points {
        let (across, up) = (x.at(size_power(point.size_bytes)), y.at(point.figure.log10()));
        let mut says = format!(
            "{}\n{} B: {}",
            curve.label,
            format_size(point.size_bytes as u64),
            significant(point.figure)
        );
        if let Some((low, high)) = point.interval {
            let _ = write!(says, " [{}, {}]", significant(low), significant(high));
            let (from, to) = (y.at(low.log10()), y.at(high.log10()));
            let _ = write!(svg, "<path d=\"M{across:.1} {from:.1}V{to:.1}\"/>");
        }
        let _ = write!(
            svg,
            "<circle cx=\"{across:.1}\" cy=\"{up:.1}\" r=\"3\"><title>{}</title></circle>",
            escaped(&says)
        );
    }
    svg + "</g>\n"
}

/// Lines at the ticks, and what they stand for.
fn grid(x: &Axis, y: &Axis, zero: bool) -> String {
    let mut svg = String::from("<g class=\"grid\">");
    let (first, last) = (x.from.ceil().max(0.0) as u32, x.to.floor().max(0.0) as u32);
    // At most ten labels, at equal steps of powers of two.
    let step = last.saturating_sub(first) / 10 + 1;
    let sizes = (first.next_multiple_of(step)..=last)
        .step_by(step as usize)
        .map(|power| (f64::from(power), format_size(1u64.checked_shl(power).unwrap_or(u64::MAX))));
    for (power, label) in sizes.chain(zero.then(|| (-1.0, "0".to_owned()))) {
        let across = x.at(power);
        let _ = write!(
            svg,
            "<path d=\"M{across:.1} {TOP}V{BOTTOM}\"/>\
             <text x=\"{across:.1}\" y=\"330\" class=\"mid\">{label}</text>"
        );
    }
    for (power, label) in figure_ticks(y) {
        let up = y.at(power);
        let _ = write!(
            svg,
            "<path d=\"M{LEFT} {up:.1}H{RIGHT}\"/>\
             <text x=\"{}\" y=\"{:.1}\" class=\"end\">{label}</text>",
            LEFT - 6.0,
            up + 4.0
        );
    }
    svg + "</g>\n"
}

/// Powers of ten; over a short range also their double and fivefold, and over a shorter one round
/// figures at equal steps.
fn figure_ticks(y: &Axis) -> Vec<(f64, String)> {
    let span = y.to - y.from;
    let digits: &[f64] = if span > 3.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let step = (span / 10.0).ceil().max(1.0) as usize;
    let powers = (y.from.floor() as i32..=y.to.ceil() as i32).step_by(step);
    let mut ticks: Vec<f64> = powers
        .flat_map(|power| digits.iter().map(move |digit| digit.log10() + f64::from(power)))
        .filter(|power| (y.from..=y.to).contains(power))
        .collect();
    if ticks.len() < 4 {
        let (low, high) = (10f64.powf(y.from), 10f64.powf(y.to));
        let step = round_step((high - low) / 5.0, &[1.0, 2.0, 2.5, 5.0]);
        let even = (0..8).map(|i| ((low / step).ceil() + f64::from(i)) * step);
        let even: Vec<f64> = even.filter(|tick| (low..=high).contains(tick)).collect();
        if even.len() > ticks.len() {
            ticks = even.into_iter().map(f64::log10).collect();
        }
    }
    let label = |power: f64| {
        let (value, round) = (10f64.powf(power), (power - power.round()).abs() < 1e-9);
        let text = significant(value);
        // 1000 and 0.0100 read better without what four digits add.
        let short = if text.contains('.') { text.trim_end_matches('0') } else { &text };
        if round && !(-4.0..=6.0).contains(&power) {
            format!("1e{}", power.round())
        } else {
            short.trim_end_matches('.').to_owned()
        }
    };
    ticks.into_iter().map(|power| (power, label(power))).collect()
}

/// How samples spread, as a strip of bars: the more samples the finer. The last bar holds the
/// slowest fiftieth, however slow: one stray sample would press all others into the first bar.
pub fn strip(samples: &[f64]) -> String {
    let mut sorted: Vec<f64> = samples.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let (Some(&low), Some(&high)) = (sorted.first(), sorted.get(sorted.len() * 49 / 50)) else {
        return String::new();
    };
    let bars = (2.0 * (sorted.len() as f64).sqrt()).clamp(6.0, 40.0) as usize;
    let mut counts = vec![0u32; bars];
    for sample in &sorted {
        let share = if high > low { (sample - low) / (high - low) } else { 0.0 };
        counts[((share * (bars - 1) as f64) as usize).min(bars - 1)] += 1;
    }
    let most = f64::from(counts.iter().copied().max().unwrap_or(1));
    let width = 160.0 / bars as f64;
    let mut svg = String::from("<svg class=\"strip\" viewBox=\"0 0 160 28\" role=\"img\">");
    for (bar, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let height = 2.0 + f64::from(*count) / most * 25.0;
        let (x, y) = (bar as f64 * width, 28.0 - height);
        let _ = write!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\"/>",
            width * 0.86
        );
    }
    svg + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::tests::document;
    use crate::figure::{Metric, Point, charts};
    use crate::run::Run;

    #[test]
    fn a_chart_has_bands_lines_and_dots() {
        let charts = charts(&[Run::from(&document())]);
        let svg = draw(&charts[0]);
        assert_eq!(svg.matches("class=\"band\"").count(), 1);
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert_eq!(svg.matches("<circle").count(), 3);
        assert!(svg.contains("1K B: 20.00 [19.00, 21.50]"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn no_figure_leaves_the_paper() {
        let extremes = [0.0, 1.0, 1e300];
        let figures = [5e-324, 1.0, f64::MAX];
        for (size_bytes, figure) in extremes.into_iter().flat_map(|s| figures.map(|f| (s, f))) {
            let point = |figure| Point { size_bytes, figure, interval: Some((figure, figure)) };
            let points = vec![point(figure), point(1.0)];
            let curve = Curve { label: "a".into(), points, ..Curve::default() };
            let chart = Chart { op: "x".into(), metric: Metric::Time, curves: vec![curve] };
            let svg = draw(&chart);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            assert!(svg.matches("class=\"end\"").count() < 40, "{svg}");
        }
    }

    #[test]
    fn ticks_are_round_figures() {
        let ticks = |low: f64, high: f64| -> Vec<String> {
            let y = Axis { from: low.log10(), to: high.log10(), start: 0.0, end: 1.0 };
            figure_ticks(&y).into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(ticks(0.09, 110.0), ["0.1", "1", "10", "100"]);
        assert_eq!(ticks(0.9, 11.0), ["1", "2", "5", "10"]);
        assert_eq!(ticks(310.0, 1300.0), ["400", "600", "800", "1000", "1200"]);
        assert_eq!(ticks(19.8, 20.4), ["19.8", "20", "20.2", "20.4"]);
    }

    #[test]
    fn a_stray_sample_does_not_flatten_the_strip() {
        let mut samples: Vec<f64> = (0..100).map(f64::from).collect();
        samples.push(1e9);
        let svg = strip(&samples);
        assert!(svg.matches("<rect").count() > 15, "{svg}");
        assert_eq!(strip(&[]), "");
        assert_eq!(strip(&[3.0; 9]).matches("<rect").count(), 1);
    }
}
