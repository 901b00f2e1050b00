//! The curves of a part as a drawing: one panel for each operation, times over sizes.

use std::fmt::Write;

use laneway_core::units::format_size;
use laneway_report::svg;

use super::part::{Curve, Part};

const PANEL: f64 = 460.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 436.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 300.0;
const LINE: f64 = 15.0;

/// Sizes to the right; times upwards, tenfold from line to line, as escalations are a hundredfold.
struct Axes {
    largest: f64,
    /// Powers of ten.
    low: f64,
    high: f64,
}

impl Axes {
    fn over(curves: &[Curve]) -> Axes {
        let points = || curves.iter().flat_map(|curve| &curve.points);
        let powers = || points().filter(|(_, time)| *time > 0.0).map(|(_, time)| time.log10());
        let largest = points().map(|(size, _)| *size).max().unwrap_or(1).max(1) as f64;
        let low = powers().fold(f64::INFINITY, f64::min).floor();
        let high = powers().fold(f64::NEG_INFINITY, f64::max).ceil();
        match low < high {
            true => Axes { largest, low, high },
            false => Axes { largest, low: 0.0, high: 1.0 },
        }
    }

    fn across(&self, size: u64) -> f64 {
        LEFT + size as f64 / self.largest * (RIGHT - LEFT)
    }

    fn up(&self, power: f64) -> f64 {
        BOTTOM - (power - self.low) / (self.high - self.low) * (BOTTOM - TOP)
    }
}

pub fn drawing(part: &Part) -> String {
    let axes = Axes::over(&part.curves);
    let operations = part.operations();
    let most = operations.iter().map(|op| of(part, op).count()).max().unwrap_or(0);
    let mut body = String::new();
    for (number, op) in operations.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(body, "<g transform=\"translate({},0)\">", number as f64 * PANEL);
        let title = svg::escaped(&format!("{op}, time in us over the size of a block"));
        let _ = writeln!(body, "<text x=\"{LEFT}\" y=\"24\" font-size=\"13\">{title}</text>");
        body += &grid(&axes);
        for (number, curve) in of(part, op).enumerate() {
            body += &line(&axes, curve, number as u32);
        }
        body += "</g>\n";
    }
    let height = BOTTOM + 40.0 + LINE * most as f64;
    svg::document(operations.len().max(1) as f64 * PANEL, height, &body)
}

fn of<'a>(part: &'a Part, op: &'a str) -> impl Iterator<Item = &'a Curve> {
    part.curves.iter().filter(move |curve| curve.op == op)
}

fn grid(axes: &Axes) -> String {
    let mut text = String::new();
    for power in axes.low as i32..=axes.high as i32 {
        let y = axes.up(f64::from(power));
        let label = format!("{}", 10f64.powi(power));
        let _ = writeln!(
            text,
            "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1}\" \
             text-anchor=\"end\">{label}</text>",
            LEFT - 6.0,
            y + 4.0
        );
    }
    for step in 0..=4u64 {
        // Whole KiB, as sizes are written.
        let size = (axes.largest as u64 * step / 4) & !1023;
        let x = axes.across(size);
        let _ = writeln!(
            text,
            "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            BOTTOM + 16.0,
            format_size(size)
        );
    }
    text
}

fn line(axes: &Axes, curve: &Curve, number: u32) -> String {
    let colour = svg::colour(number);
    // Colours come again after the eighth curve.
    let dashes = if number < 8 { "none" } else { "4 3" };
    let points: Vec<String> = curve
        .points
        .iter()
        .filter(|(_, time)| *time > 0.0)
        .map(|(size, time)| format!("{:.1},{:.1}", axes.across(*size), axes.up(time.log10())))
        .collect();
    let y = BOTTOM + 40.0 + LINE * f64::from(number);
    format!(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" \
         stroke-dasharray=\"{dashes}\"/>\n\
         <path d=\"M{LEFT} {y}h24\" stroke=\"{colour}\" stroke-width=\"3\" \
         stroke-dasharray=\"{dashes}\"/>\
         <text x=\"{}\" y=\"{}\">{}</text>\n",
        points.join(" "),
        LEFT + 30.0,
        y + 4.0,
        svg::escaped(&curve.label)
    )
}
