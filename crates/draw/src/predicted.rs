//! Predicted times over sizes as a picture: curves with the bands of their intervals, what was
//! measured as points with theirs, crossovers as lines, and sizes that escalate shaded.

use std::fmt::Write;

use laneway_core::units::format_size;

use crate::axis::Axis;
use crate::svg::{self, escaped};

const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 560.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 370.0;
const LEGEND: f64 = 575.0;
/// Names of algorithms beside crossovers are cut beyond this.
const MOST_NAME: f64 = 160.0;

/// A time at a size, with its interval, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// The size.
    pub bytes: u64,
    /// The time.
    pub us: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
}

/// One algorithm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// What the algorithm is called.
    pub label: String,
    /// What it should take, by rising size.
    pub predicted: Vec<Mark>,
    /// What it took, by rising size.
    pub measured: Vec<Mark>,
}

/// What is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// The heading.
    pub title: String,
    /// One for each algorithm.
    pub curves: Vec<Curve>,
    /// The lengths from which another curve is the lowest, with its name.
    pub crossovers: Vec<(u64, String)>,
    /// Sizes that escalate now and then, from and to.
    pub escalates: Option<(u64, u64)>,
}

impl Drawing {
    /// A whole SVG document.
    pub fn draw(&self) -> String {
        let marks = || self.curves.iter().flat_map(|c| c.predicted.iter().chain(&c.measured));
        let x = Axis::sizes(marks().map(|mark| mark.bytes as f64), (LEFT, RIGHT));
        let times = marks().flat_map(|mark| [mark.us, mark.low, mark.high]);
        let y = Axis::times(times, (BOTTOM, TOP));
        let mut body = format!(
            "<text x=\"{LEFT}\" y=\"20\" font-size=\"14\">{}</text>\n",
            escaped(&self.title)
        );
        if let Some((from, to)) = self.escalates {
            let (left, right) = (x.at(from as f64).max(LEFT), x.at(to as f64).min(RIGHT));
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
        body += &grid(&x, &y);
        for (number, curve) in self.curves.iter().enumerate() {
            body += &draw_curve(curve, number, &x, &y);
        }
        body += &self.draw_crossovers(&x);
        if self.curves.iter().any(|curve| !curve.measured.is_empty()) {
            let at = TOP + 12.0 + 14.0 * self.curves.len() as f64 + 10.0;
            let _ = writeln!(body, "<text x=\"{LEGEND}\" y=\"{at}\">open marks: measured</text>");
        }
        // The legend and the title have the room that they need.
        let labels = self.curves.iter().map(|curve| svg::width_of(&curve.label, 11.0));
        let legend = LEGEND + 44.0 + labels.fold(90.0, f64::max);
        let title = LEFT + svg::width_of(&self.title, 14.0) + 10.0;
        let below = TOP + 40.0 + 14.0 * self.curves.len() as f64;
        svg::document(legend.max(title).max(660.0).ceil(), HEIGHT.max(below), &body)
    }

    fn draw_crossovers(&self, x: &Axis) -> String {
        let mut body = String::new();
        for (number, (bytes, label)) in self.crossovers.iter().enumerate() {
            let at = x.at(*bytes as f64);
            let size = format!("from {} B", format_size(*bytes));
            let label = format!("{} {size}", svg::shorten(label, MOST_NAME, 10.0));
            // To the left of its line where it would leave the chart.
            let (by, anchor) = match at + 3.0 + svg::width_of(&label, 10.0) > RIGHT {
                true => (-3.0, "end"),
                false => (3.0, "start"),
            };
            let _ = writeln!(
                body,
                "<path d=\"M{at:.1} {TOP}V{BOTTOM}\" stroke=\"#555\" stroke-dasharray=\"3 3\"/>\
                 <text x=\"{:.1}\" y=\"{}\" font-size=\"10\" text-anchor=\"{anchor}\" \
                 stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\">{}</text>",
                at + by,
                TOP + 10.0 + 12.0 * number as f64,
                escaped(&label)
            );
        }
        body
    }
}

fn grid(x: &Axis, y: &Axis) -> String {
    let mut body = String::new();
    for tick in x.ticks() {
        let _ = writeln!(
            body,
            "<path d=\"M{0:.1} {TOP}V{BOTTOM}\" stroke=\"#eee\"/><text x=\"{0:.1}\" \
             y=\"{1}\" text-anchor=\"middle\">{2}</text>",
            tick.place,
            BOTTOM + 16.0,
            tick.label
        );
    }
    for tick in y.ticks() {
        body += &svg::ruled(LEFT, RIGHT, tick.place, &tick.label);
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

/// The band, the line with its marks, what was measured as open marks, and a line of the legend.
fn draw_curve(curve: &Curve, number: usize, x: &Axis, y: &Axis) -> String {
    let (colour, dashes) = (svg::colour(number as u32), svg::dashes(number));
    let place = |bytes: u64, us: f64| format!("{:.1},{:.1}", x.at(bytes as f64), y.at(us));
    let upper = curve.predicted.iter().map(|mark| place(mark.bytes, mark.high));
    let lower = curve.predicted.iter().rev().map(|mark| place(mark.bytes, mark.low));
    let band: Vec<String> = upper.chain(lower).collect();
    let line: Vec<String> = curve.predicted.iter().map(|m| place(m.bytes, m.us)).collect();
    let dot = |mark: &Mark| svg::mark(number, x.at(mark.bytes as f64), y.at(mark.us), 3.0);
    let dots: Vec<String> = curve.predicted.iter().map(dot).collect();
    let mut body = format!(
        "<g stroke=\"{colour}\" fill=\"{colour}\"><polygon points=\"{}\" opacity=\"0.12\" \
         stroke=\"none\"/><polyline points=\"{}\" fill=\"none\" stroke-width=\"1.6\" \
         stroke-dasharray=\"{dashes}\"/><path d=\"{}\" stroke=\"none\"/>",
        band.join(" "),
        line.join(" "),
        dots.concat()
    );
    for mark in &curve.measured {
        let across = x.at(mark.bytes as f64);
        let _ = write!(
            body,
            "<path d=\"M{across:.1} {:.1}V{:.1}\"/><path class=\"measured\" d=\"{}\" \
             fill=\"#fff\"><title>{} {}: {:.1} µs measured</title></path>",
            y.at(mark.low),
            y.at(mark.high),
            svg::mark(number, across, y.at(mark.us), 4.0),
            escaped(&curve.label),
            format_size(mark.bytes),
            mark.us
        );
    }
    let at = TOP + 8.0 + 14.0 * number as f64;
    let _ = writeln!(
        body,
        "<path d=\"M{LEGEND} {at}h28\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"/>\
         <path d=\"{}\" stroke=\"none\"/>\
         <text x=\"{}\" y=\"{}\" stroke=\"none\" fill=\"#222\">{}</text></g>",
        svg::mark(number, LEGEND + 14.0, at, 3.5),
        LEGEND + 34.0,
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
        assert_eq!(svg.matches("class=\"measured\"").count(), 2);
        assert!(svg.contains("gather &lt;on&gt; 4 ranks") && svg.contains("linear from 4K B"));
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
