//! Predicted times over sizes as a picture: curves with the bands of their intervals, what was
//! measured as points with theirs, crossovers as lines, and sizes that escalate shaded.

use std::fmt::Write;

use laneway_core::units::format_size;

use crate::svg::{colour, document, escaped};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 560.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 370.0;
const LEGEND: f64 = 575.0;
/// Dashes of the curves, in turn: they are told apart without colour too.
const DASHES: [&str; 4] = ["", "7 3", "2 3", "9 3 2 3"];

/// A time at a size, with its interval, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    pub bytes: u64,
    pub us: f64,
    pub low: f64,
    pub high: f64,
}

/// One algorithm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    pub label: String,
    /// By rising size.
    pub predicted: Vec<Mark>,
    pub measured: Vec<Mark>,
}

/// What is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    pub title: String,
    pub curves: Vec<Curve>,
    /// From so many bytes on another curve is the lowest: which.
    pub crossovers: Vec<(u64, String)>,
    /// Sizes that escalate now and then, from and to.
    pub escalates: Option<(u64, u64)>,
}

struct Scale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Scale {
    fn over(values: impl Iterator<Item = f64>, start: f64, end: f64) -> Scale {
        let logs = values.filter(|value| *value > 0.0).map(f64::log10);
        let (low, high) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if low > high {
            return Scale { low: 0.0, high: 1.0, start, end };
        }
        let room = (0.04 * (high - low)).max(0.1);
        Scale { low: low - room, high: high + room, start, end }
    }

    fn at(&self, value: f64) -> f64 {
        let log = if value > 0.0 { value.log10().max(self.low) } else { self.low };
        self.start + (log - self.low) / (self.high - self.low) * (self.end - self.start)
    }
}

impl Drawing {
    /// A whole SVG document.
    pub fn draw(&self) -> String {
        let marks = || self.curves.iter().flat_map(|c| c.predicted.iter().chain(&c.measured));
        let x = Scale::over(marks().map(|mark| mark.bytes as f64), LEFT, RIGHT);
        let y = Scale::over(marks().flat_map(|mark| [mark.us, mark.low, mark.high]), BOTTOM, TOP);
        let mut body = format!(
            "<text x=\"{LEFT}\" y=\"20\" font-size=\"14\">{}</text>\n",
            escaped(&self.title)
        );
        if let Some((from, to)) = self.escalates {
            let (left, right) = (x.at(from as f64), x.at(to as f64).min(RIGHT));
            let _ = writeln!(
                body,
                "<rect x=\"{left:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{}\" fill=\"#f6d7c3\">\
                 <title>gathers of {} to {} escalate</title></rect>",
                (right - left).max(2.0),
                BOTTOM - TOP,
                format_size(from),
                format_size(to)
            );
        }
        body += &self.axes(&x, &y);
        for (number, curve) in self.curves.iter().enumerate() {
            body += &drawn(curve, number, &x, &y);
        }
        for (number, (bytes, label)) in self.crossovers.iter().enumerate() {
            let at = x.at(*bytes as f64);
            let _ = writeln!(
                body,
                "<path d=\"M{at:.1} {TOP}V{BOTTOM}\" stroke=\"#555\" stroke-dasharray=\"3 3\"/>\
                 <text x=\"{:.1}\" y=\"{}\" font-size=\"10\">{} from {}</text>",
                at + 3.0,
                TOP + 10.0 + 12.0 * number as f64,
                escaped(label),
                format_size(*bytes)
            );
        }
        document(WIDTH, HEIGHT, &body)
    }

    fn axes(&self, x: &Scale, y: &Scale) -> String {
        let mut body = String::new();
        let mut sizes: Vec<u64> =
            self.curves.iter().flat_map(|c| c.predicted.iter().map(|mark| mark.bytes)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let step = sizes.len().div_ceil(8).max(1);
        for size in sizes.iter().step_by(step) {
            let at = x.at(*size as f64);
            let _ = writeln!(
                body,
                "<path d=\"M{at:.1} {TOP}V{BOTTOM}\" stroke=\"#eee\"/><text x=\"{at:.1}\" \
                 y=\"{}\" text-anchor=\"middle\">{}</text>",
                BOTTOM + 16.0,
                format_size(*size)
            );
        }
        for power in y.low.ceil() as i32..=y.high.floor() as i32 {
            let value = 10f64.powi(power);
            body += &crate::svg::ruled(LEFT, RIGHT, y.at(value), &format!("{value}"));
        }
        let _ = writeln!(
            body,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">size (bytes)</text>\
             <text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">time (µs)\
             </text>",
            (LEFT + RIGHT) / 2.0,
            HEIGHT - 12.0,
            (TOP + BOTTOM) / 2.0
        );
        body
    }
}

/// The band, the line, the points that were measured, and a line of the legend.
fn drawn(curve: &Curve, number: usize, x: &Scale, y: &Scale) -> String {
    let (colour, dashes) = (colour(number as u32), DASHES[number / 8 % DASHES.len()]);
    let place = |bytes: u64, us: f64| format!("{:.1},{:.1}", x.at(bytes as f64), y.at(us));
    let upper = curve.predicted.iter().map(|mark| place(mark.bytes, mark.high));
    let lower = curve.predicted.iter().rev().map(|mark| place(mark.bytes, mark.low));
    let band: Vec<String> = upper.chain(lower).collect();
    let line: Vec<String> = curve.predicted.iter().map(|m| place(m.bytes, m.us)).collect();
    let mut body = format!(
        "<g stroke=\"{colour}\" fill=\"{colour}\"><polygon points=\"{}\" opacity=\"0.12\" \
         stroke=\"none\"/><polyline points=\"{}\" fill=\"none\" stroke-width=\"1.6\" \
         stroke-dasharray=\"{dashes}\"/>",
        band.join(" "),
        line.join(" ")
    );
    for mark in &curve.measured {
        let (across, up) = (x.at(mark.bytes as f64), y.at(mark.us));
        let _ = write!(
            body,
            "<path d=\"M{across:.1} {:.1}V{:.1}\"/><circle cx=\"{across:.1}\" cy=\"{up:.1}\" \
             r=\"3\" fill=\"#fff\"><title>{} {}: {:.1} µs measured</title></circle>",
            y.at(mark.low),
            y.at(mark.high),
            escaped(&curve.label),
            format_size(mark.bytes),
            mark.us
        );
    }
    let at = TOP + 8.0 + 14.0 * number as f64;
    let _ = writeln!(
        body,
        "<path d=\"M{LEGEND} {at}h22\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"/>\
         <text x=\"{}\" y=\"{}\" stroke=\"none\" fill=\"#222\">{}</text></g>",
        LEGEND + 28.0,
        at + 4.0,
        escaped(&curve.label)
    );
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(bytes: u64, us: f64) -> Mark {
        Mark { bytes, us, low: 0.9 * us, high: 1.1 * us }
    }

    #[test]
    fn everything_is_drawn_once() {
        let curve = |label: &str, times: f64| Curve {
            label: label.into(),
            predicted: vec![mark(1, times), mark(1 << 20, 900.0 * times)],
            measured: vec![mark(1 << 10, 3.0 * times)],
        };
        let drawing = Drawing {
            title: "gather <on> 4 ranks".into(),
            curves: vec![curve("linear", 10.0), curve("binomial", 7.0)],
            crossovers: vec![(4096, "linear".into())],
            escalates: Some((8 << 10, 64 << 10)),
        };
        let svg = drawing.draw();
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("gather &lt;on&gt; 4 ranks") && svg.contains("linear from 4K"));
        assert!(svg.contains("gathers of 8K to 64K escalate"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn nothing_and_zeros_are_drawn_too() {
        let none = Drawing::default().draw();
        let zero = Curve { label: "a".into(), predicted: vec![mark(0, 0.0)], measured: vec![] };
        let zero = Drawing { curves: vec![zero], ..Drawing::default() }.draw();
        assert!([none, zero].iter().all(|svg| !svg.contains("NaN") && !svg.contains("inf")));
    }
}
