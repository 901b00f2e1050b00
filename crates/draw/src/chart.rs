//! Charts as drawings for a page: curves over logarithmic axes with the bands of their intervals,
//! and the spread of samples as small histograms.

use std::fmt::Write;

use laneway_core::units::format_size;
use laneway_report::figure::{Chart, Curve};
use laneway_report::table::significant;

use crate::axis::Axis;
use crate::svg::{self, escaped};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 624.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 312.0;

/// The number of colours in the page's style.
const COLOURS: usize = 8;

/// The class that gives the n-th curve its colour.
pub fn class(number: usize) -> String {
    format!("c{}", number % COLOURS)
}

/// The line and the mark of the n-th curve, for a legend beside the chart.
pub fn key(number: usize) -> String {
    format!(
        "<svg class=\"key\" viewBox=\"0 0 36 12\"><path d=\"M0 6h36\" \
         stroke-dasharray=\"{}\"/><path class=\"dot\" d=\"{}\"/></svg>",
        svg::dashes(number),
        svg::mark(number, 18.0, 6.0, 4.0)
    )
}

/// The figure over the size, every curve in its class: for a page, whose style knows the classes.
pub fn draw(chart: &Chart) -> String {
    let points = || chart.curves.iter().flat_map(|curve| &curve.points);
    let ends = points().flat_map(|point| {
        let (low, high) = point.interval.unwrap_or((point.figure, point.figure));
        [low, high, point.figure]
    });
    let gaps = chart.curves.iter().flat_map(|curve| &curve.gaps).copied();
    let x = Axis::sizes(points().map(|point| point.size_bytes).chain(gaps), (LEFT, RIGHT));
    let y = Axis::times(ends, (BOTTOM, TOP));
    let name = escaped(&format!("{}: {} over size", chart.op, chart.metric.title()));
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{name}\">\n{}",
        grid(&x, &y)
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
        svg += &draw_curve(curve, number, &x, &y);
    }
    svg + "</svg>\n"
}

/// One curve: the band of its intervals, the line, a mark with its figures for each point, and a
/// cross at the axis for each size that is missing, where the line is broken.
fn draw_curve(curve: &Curve, number: usize, x: &Axis, y: &Axis) -> String {
    let place = |size: f64, value: f64| format!("{:.1},{:.1}", x.at(size), y.at(value));
    let mut svg = format!("<g class=\"{}\">", class(number));
    // A band spans neighbours that both have an interval; a lone interval is a bar.
    let parts = curve.parts();
    for pair in parts.iter().flat_map(|part| part.windows(2)) {
        if let (Some(a), Some(b)) = (pair[0].interval, pair[1].interval) {
            let (left, right) = (pair[0].size_bytes, pair[1].size_bytes);
            let corners =
                [place(left, a.0), place(left, a.1), place(right, b.1), place(right, b.0)];
            let _ = write!(svg, "<polygon class=\"band\" points=\"{}\"/>", corners.join(" "));
        }
    }
    for part in parts {
        let line: Vec<String> = part.iter().map(|p| place(p.size_bytes, p.figure)).collect();
        let _ = write!(
            svg,
            "<polyline points=\"{}\" stroke-dasharray=\"{}\"/>",
            line.join(" "),
            svg::dashes(number)
        );
    }
    for gap in &curve.gaps {
        let says = format!("{}\n{} B: missing", curve.label, format_size(*gap as u64));
        let _ = write!(
            svg,
            "<path class=\"gap\" d=\"M{0:.1} {1}l8 8m0 -8l-8 8\"><title>{2}</title></path>",
            x.at(*gap) - 4.0,
            BOTTOM - 10.0,
            escaped(&says)
        );
    }
    for point in &curve.points {
        let (across, up) = (x.at(point.size_bytes), y.at(point.figure));
        let mut says = format!(
            "{}\n{} B: {}",
            curve.label,
            format_size(point.size_bytes as u64),
            significant(point.figure)
        );
        if let Some((low, high)) = point.interval {
            let _ = write!(says, " [{}, {}]", significant(low), significant(high));
            let _ = write!(svg, "<path d=\"M{across:.1} {:.1}V{:.1}\"/>", y.at(low), y.at(high));
        }
        let _ = write!(
            svg,
            "<path class=\"dot\" d=\"{}\"><title>{}</title></path>",
            svg::mark(number, across, up, 3.2),
            escaped(&says)
        );
    }
    svg + "</g>\n"
}

/// Lines at the ticks, and what they stand for.
fn grid(x: &Axis, y: &Axis) -> String {
    let mut svg = String::from("<g class=\"grid\">");
    for tick in x.ticks() {
        let _ = write!(
            svg,
            "<path d=\"M{0:.1} {TOP}V{BOTTOM}\"/>\
             <text x=\"{0:.1}\" y=\"330\" class=\"mid\">{1}</text>",
            tick.place, tick.label
        );
    }
    for tick in y.ticks() {
        let _ = write!(
            svg,
            "<path d=\"M{LEFT} {:.1}H{RIGHT}\"/>\
             <text x=\"{}\" y=\"{:.1}\" class=\"end\">{}</text>",
            tick.place,
            LEFT - 6.0,
            tick.place + 4.0,
            tick.label
        );
    }
    svg + "</g>\n"
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
    use crate::fixture::document;
    use laneway_report::Run;
    use laneway_report::figure::{Metric, Point, charts};

    #[test]
    fn a_chart_has_bands_lines_and_dots() {
        let charts = charts(&[Run::from(&document())]);
        let svg = draw(&charts[0]);
        assert_eq!(svg.matches("class=\"band\"").count(), 1);
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert_eq!(svg.matches("class=\"dot\"").count(), 3);
        assert!(svg.contains("1K B: 20.00 [19.00, 21.50]"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn no_line_passes_a_point_that_is_missing() {
        let point = |size_bytes| Point { size_bytes, figure: 2.0, interval: Some((1.0, 3.0)) };
        let points = vec![point(8.0), point(512.0), point(4096.0)];
        let curve =
            |gaps| Curve { label: "a".into(), points: points.clone(), gaps, ..Curve::default() };
        let drawn = |gaps| {
            let (op, curves) = ("x".into(), vec![curve(gaps)]);
            let svg = draw(&Chart { op, metric: Metric::Time, curves });
            ["<polyline", "class=\"band\"", "class=\"gap\""].map(|part| svg.matches(part).count())
        };
        assert_eq!(drawn(vec![]), [1, 2, 0]);
        assert_eq!(drawn(vec![64.0, 8192.0]), [2, 1, 2]);
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
    fn a_stray_sample_does_not_flatten_the_strip() {
        let mut samples: Vec<f64> = (0..100).map(f64::from).collect();
        samples.push(1e9);
        let svg = strip(&samples);
        assert!(svg.matches("<rect").count() > 15, "{svg}");
        assert_eq!(strip(&[]), "");
        assert_eq!(strip(&[3.0; 9]).matches("<rect").count(), 1);
    }
}
