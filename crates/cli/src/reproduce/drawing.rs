//! The curves of a part as a drawing, one panel for each operation: lines over sizes, or bars.

use std::fmt::Write;

use laneway_report::svg::{self, ruled};

use super::part::{self, Curve, Drawn, Part};

const PANEL: f64 = 460.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 436.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 300.0;
const LINE: f64 = 15.0;

/// Places to the right; figures upwards, tenfold from line to line.
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
    let bars = Bars::over(&part.curves);
    let operations = part.operations();
    let most = operations.iter().map(|op| of(part, op).count()).max().unwrap_or(0);
    let mut body = String::new();
    for (number, op) in operations.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(body, "<g transform=\"translate({},0)\">", number as f64 * PANEL);
        let title = svg::escaped(&format!("{op}, {}", part.axes.title));
        let _ = writeln!(body, "<text x=\"{LEFT}\" y=\"24\" font-size=\"13\">{title}</text>");
        match part.axes.drawn {
            Drawn::Lines => body += &grid(&axes, &part.axes),
            Drawn::Bars | Drawn::Not => body += &bars.grid(&part.axes),
        }
        for (number, curve) in of(part, op).enumerate() {
            body += &match part.axes.drawn {
                Drawn::Lines => line(&axes, curve, number as u32),
                Drawn::Bars | Drawn::Not => bars.of(curve, number as u32),
            };
        }
        body += "</g>\n";
    }
    let height = BOTTOM + 40.0 + LINE * most as f64;
    svg::document(operations.len().max(1) as f64 * PANEL, height, &body)
}

fn of<'a>(part: &'a Part, op: &'a str) -> impl Iterator<Item = &'a Curve> {
    part.curves.iter().filter(move |curve| curve.op == op)
}

/// Groups of bars at the places that curves have, all the same width; figures upwards from 0.
struct Bars {
    places: Vec<u64>,
    /// Bars of a group.
    curves: usize,
    /// From line to line, a round figure; and how many lines.
    step: f64,
    lines: u32,
}

impl Bars {
    fn over(curves: &[Curve]) -> Bars {
        let points = || curves.iter().flat_map(|curve| &curve.points);
        let mut places: Vec<u64> = points().map(|(at, _)| *at).collect();
        places.sort_unstable();
        places.dedup();
        let most = points().map(|(_, figure)| *figure).fold(0.0, f64::max);
        let step = svg::round_step((most / 5.0).max(1e-9), &[1.0, 2.0, 5.0]);
        let lines = (most / step - 0.001).ceil().max(1.0) as u32;
        Bars { places, curves: curves.len().max(1), step, lines }
    }

    fn group(&self) -> f64 {
        (RIGHT - LEFT) / self.places.len().max(1) as f64
    }

    fn up(&self, figure: f64) -> f64 {
        BOTTOM - figure / (self.step * f64::from(self.lines)) * (BOTTOM - TOP)
    }

    fn grid(&self, axes: &part::Axes) -> String {
        let mut text = String::new();
        for line in 0..=self.lines {
            let figure = self.step * f64::from(line);
            let y = self.up(figure);
            text += &ruled(LEFT, RIGHT, y, &format!("{figure:.2}"));
        }
        for (number, &place) in self.places.iter().enumerate() {
            let x = LEFT + (number as f64 + 0.5) * self.group();
            let _ = writeln!(
                text,
                "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                BOTTOM + 16.0,
                axes.place(place)
            );
        }
        text
    }

    fn of(&self, curve: &Curve, number: u32) -> String {
        let wide = self.group() * 0.8 / self.curves as f64;
        let colour = svg::colour(number);
        let mut text = String::new();
        for &(at, figure) in &curve.points {
            let place = self.places.partition_point(|&place| place < at) as f64;
            let x = LEFT + (place + 0.1) * self.group() + wide * f64::from(number);
            let y = self.up(figure);
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{:.1}\" \
                 fill=\"{colour}\"><title>{figure:.4}</title></rect>",
                BOTTOM - y
            );
        }
        let y = BOTTOM + 40.0 + LINE * f64::from(number);
        let _ = writeln!(
            text,
            "<path d=\"M{LEFT} {y}h24\" stroke=\"{colour}\" stroke-width=\"8\"/>\
             <text x=\"{}\" y=\"{}\">{}</text>",
            LEFT + 30.0,
            y + 4.0,
            svg::escaped(&curve.label)
        );
        text
    }
}

fn grid(axes: &Axes, told: &part::Axes) -> String {
    let mut text = String::new();
    for power in axes.low as i32..=axes.high as i32 {
        let y = axes.up(f64::from(power));
        let label = format!("{}", 10f64.powi(power));
        text += &ruled(LEFT, RIGHT, y, &label);
    }
    for step in 0..=4u64 {
        // Whole KiB where that many are, as sizes are written.
        let size = axes.largest as u64 * step / 4;
        let size = if axes.largest >= 4096.0 { size & !1023 } else { size };
        let x = axes.across(size);
        let _ = writeln!(
            text,
            "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            BOTTOM + 16.0,
            told.place(size)
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
