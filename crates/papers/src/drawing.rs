//! The curves of a part as a drawing, one panel for each operation: lines over places, or bars.

use std::fmt::Write;

use laneway_draw::axis::Axis;
use laneway_draw::svg::{self, ruled};

use crate::part::{self, Curve, Drawn, Part};

const PANEL: f64 = 460.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 436.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 300.0;
const LEGEND: f64 = BOTTOM + 58.0;
const LINE: f64 = 15.0;

/// Places to the right, figures upwards.
struct Axes {
    x: Axis,
    y: Axis,
    /// Figures are tenfold from line to line.
    tenfold: bool,
}

impl Axes {
    /// Figures upwards are those of all panels, places those of one.
    fn over(part: &Part, op: &str) -> Axes {
        let points = part.curves.iter().flat_map(|curve| &curve.points);
        let bars = part.curves.iter().flat_map(|curve| &curve.intervals).map(|(_, high)| *high);
        let up = points.map(|(_, figure)| *figure).chain(bars);
        let along = of(part, op).flat_map(|curve| &curve.points).map(|(at, _)| *at as f64);
        let (drawn, ends) = (part.axes.drawn, (LEFT, RIGHT));
        let x = match drawn {
            Drawn::Tenfold => Axis::sizes(along, ends),
            _ if part.axes.has_sizes() => Axis::even_sizes(most(along), ends),
            _ => Axis::even(most(along), ends),
        };
        let tenfold = matches!(drawn, Drawn::Lines | Drawn::Tenfold);
        let y = match tenfold {
            true => Axis::times(up, (BOTTOM, TOP)),
            false => Axis::even(most(up), (BOTTOM, TOP)),
        };
        Axes { x, y, tenfold }
    }

    /// `None` if a logarithm has no place for it.
    fn y(&self, figure: f64) -> Option<f64> {
        (!self.tenfold || figure > 0.0).then(|| self.y.at(figure))
    }

    fn grid(&self) -> String {
        let lines = self.y.ticks().into_iter();
        let lines = lines.map(|tick| ruled(LEFT, RIGHT, tick.place, &tick.label));
        let places = self.x.ticks().into_iter().map(|tick| below(tick.place, &tick.label));
        lines.chain(places).collect()
    }
}

fn most(figures: impl Iterator<Item = f64>) -> f64 {
    figures.fold(0.0, f64::max)
}

/// The name of a place below a panel.
fn below(x: f64, label: &str) -> String {
    let y = BOTTOM + 16.0;
    format!("<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{label}</text>\n")
}

/// What both axes are, beside them.
fn labels(axes: &part::Axes) -> String {
    let (middle, height) = ((LEFT + RIGHT) / 2.0, (TOP + BOTTOM) / 2.0);
    format!(
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
         <text text-anchor=\"middle\" transform=\"translate(16 {height}) rotate(-90)\">{}</text>\n",
        BOTTOM + 34.0,
        svg::escaped(axes.along),
        svg::escaped(axes.up)
    )
}

/// Draws the curves of a part as SVG: a panel for each operation.
pub fn draw(part: &Part) -> String {
    let bars = Bars::over(&part.curves);
    let operations = part.operations();
    let most = operations.iter().map(|op| of(part, op).count()).max().unwrap_or(0);
    let mut body = String::new();
    for (number, op) in operations.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(body, "<g transform=\"translate({},0)\">", number as f64 * PANEL);
        for (number, title) in svg::wrap(op, PANEL - 20.0, 13.0).iter().enumerate() {
            let _ = writeln!(
                body,
                "<text x=\"14\" y=\"{}\" font-size=\"13\">{}</text>",
                16.0 + 15.0 * number as f64,
                svg::escaped(title)
            );
        }
        let axes = match part.axes.drawn {
            Drawn::Bars | Drawn::Not => None,
            _ => Some(Axes::over(part, op)),
        };
        body += &match &axes {
            Some(axes) => axes.grid(),
            None => bars.grid(&part.axes),
        };
        body += &labels(&part.axes);
        for (number, curve) in of(part, op).enumerate() {
            body += &match &axes {
                Some(axes) => line(axes, part.axes.drawn, curve, number as u32),
                None => bars.of(curve, number as u32),
            };
        }
        body += "</g>\n";
    }
    let height = LEGEND + LINE * most as f64;
    svg::document(operations.len().max(1) as f64 * PANEL, height, &body)
}

fn of<'a>(part: &'a Part, op: &'a str) -> impl Iterator<Item = &'a Curve> + Clone {
    part.curves.iter().filter(move |curve| curve.op == op)
}

/// Groups of bars at the places that curves have, all the same width; figures upwards from 0.
struct Bars {
    places: Vec<u64>,
    /// Bars of a group.
    curves: usize,
    y: Axis,
}

impl Bars {
    fn over(curves: &[Curve]) -> Bars {
        let points = || curves.iter().flat_map(|curve| &curve.points);
        let mut places: Vec<u64> = points().map(|(at, _)| *at).collect();
        places.sort_unstable();
        places.dedup();
        let y = Axis::even(most(points().map(|(_, figure)| *figure)), (BOTTOM, TOP));
        Bars { places, curves: curves.len().max(1), y }
    }

    fn group(&self) -> f64 {
        (RIGHT - LEFT) / self.places.len().max(1) as f64
    }

    fn grid(&self, axes: &part::Axes) -> String {
        let lines = self.y.ticks().into_iter();
        let lines = lines.map(|tick| ruled(LEFT, RIGHT, tick.place, &tick.label));
        let middle = |number: usize| LEFT + (number as f64 + 0.5) * self.group();
        let places = self.places.iter().enumerate();
        let places = places.map(|(number, &place)| below(middle(number), &axes.place(place)));
        lines.chain(places).collect()
    }

    fn of(&self, curve: &Curve, number: u32) -> String {
        let wide = self.group() * 0.8 / self.curves as f64;
        let (colour, letter) = (svg::colour(number), letter(number));
        let mut text = String::new();
        for &(at, figure) in &curve.points {
            let place = self.places.partition_point(|&place| place < at) as f64;
            let x = LEFT + (place + 0.1) * self.group() + wide * f64::from(number);
            let y = self.y.at(figure);
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{:.1}\" \
                 fill=\"{colour}\"><title>{figure:.4}</title></rect>",
                BOTTOM - y
            );
            if wide > 8.0 && BOTTOM - y > 12.0 {
                let (x, y) = (x + wide / 2.0, BOTTOM - 3.0);
                text += &lettered(x, y, letter, number);
            }
        }
        let y = LEGEND + LINE * f64::from(number);
        let _ = writeln!(
            text,
            "<path d=\"M{LEFT} {y}h24\" stroke=\"{colour}\" stroke-width=\"11\"/>{}\
             <text x=\"{}\" y=\"{}\">{}</text>",
            lettered(LEFT + 12.0, y + 3.0, letter, number),
            LEFT + 30.0,
            y + 4.0,
            named(&curve.label)
        );
        text
    }
}

/// The letter of the n-th curve's bars, by which they are distinguished without colour.
fn letter(number: u32) -> char {
    char::from(b'a' + (number % 26) as u8)
}

fn lettered(x: f64, y: f64, letter: char, number: u32) -> String {
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"9\" text-anchor=\"middle\" \
         fill=\"{}\">{letter}</text>",
        svg::ink_on(number)
    )
}

/// The label of a curve, as much of it as its panel has room for.
fn named(label: &str) -> String {
    let short = svg::shorten(label, PANEL - LEFT - 50.0, 11.0);
    match short == label {
        true => svg::escaped(label),
        false => format!("{}<title>{}</title>", svg::escaped(&short), svg::escaped(label)),
    }
}

/// The largest number of points of a curve that have a mark each; of more, a part of them.
const MOST_MARKS: usize = 24;

/// The line of a curve with its marks and intervals, and its name below the panel.
fn line(axes: &Axes, drawn: Drawn, curve: &Curve, number: u32) -> String {
    let (colour, dashes) = (svg::colour(number), svg::dashes(number as usize));
    let mut points: Vec<String> = Vec::new();
    let (mut last, mut marks) = (None, String::new());
    let every = curve.points.len().div_ceil(MOST_MARKS).max(1);
    for (place, &(at, figure)) in curve.points.iter().enumerate() {
        let x = axes.x.at(at as f64);
        let Some(y) = axes.y(figure) else { continue };
        if let Some(before) = last.filter(|_| drawn == Drawn::Steps) {
            points.push(format!("{x:.1},{before:.1}"));
        }
        points.push(format!("{x:.1},{y:.1}"));
        if place.is_multiple_of(every) {
            marks += &svg::mark(number as usize, x, y, 2.6);
        }
        last = Some(y);
    }
    let y = LEGEND + LINE * f64::from(number);
    format!(
        "{}<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" \
         stroke-dasharray=\"{dashes}\"/><path d=\"{marks}\" fill=\"{colour}\"/>\n\
         <path d=\"M{LEFT} {y}h36\" stroke=\"{colour}\" stroke-width=\"2\" \
         stroke-dasharray=\"{dashes}\"/><path d=\"{}\" fill=\"{colour}\"/>\
         <text x=\"{}\" y=\"{}\">{}</text>\n",
        intervals(axes, curve, colour),
        points.join(" "),
        svg::mark(number as usize, LEFT + 18.0, y, 3.5),
        LEFT + 42.0,
        y + 4.0,
        named(&curve.label)
    )
}

/// A bar from the low to the high end of each interval.
fn intervals(axes: &Axes, curve: &Curve, colour: &str) -> String {
    let mut bars = String::new();
    for (&(at, _), &(low, high)) in curve.points.iter().zip(&curve.intervals) {
        let x = axes.x.at(at as f64);
        let (Some(low), Some(high)) = (axes.y(low), axes.y(high)) else { continue };
        // Writing to a string cannot fail.
        let _ = writeln!(
            bars,
            "<path d=\"M{x:.1} {low:.1}V{high:.1}m-3 0h6M{:.1} {low:.1}h6\" fill=\"none\" \
             stroke=\"{colour}\"/>",
            x - 3.0
        );
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(drawn: Drawn, op: &'static str) -> Part {
        let curve = |number: u64| {
            let points = (0..40).map(|at| (at, (number + at + 1) as f64)).collect();
            Curve::new(op, format!("a label that goes on and on {number} ").repeat(4), points)
        };
        let axes = part::Axes { across: "at", unit: None, up: "time in us", along: "pairs", drawn };
        let curves = (0..5).map(curve).collect();
        Part { curves, ..Part::new("figure-1", part::How::Counted, "", axes) }
    }

    #[test]
    fn curves_are_distinguishable_without_colour() {
        let lines = draw(&part(Drawn::Even, "gather"));
        let dashes = ["none", "7 3", "2 3", "9 3 2 3"];
        assert!(dashes.iter().all(|of| lines.contains(&format!("stroke-dasharray=\"{of}\""))));
        let bars = draw(&part(Drawn::Bars, "gather"));
        assert!(('a'..='e').all(|letter| bars.contains(&format!(">{letter}</text>"))), "{bars}");
    }

    #[test]
    fn no_text_is_wider_than_its_panel() {
        let title = "a long title of a figure, time in us over the number of queue pairs of a node";
        for drawn in [Drawn::Even, Drawn::Bars] {
            let drawing = draw(&part(drawn, title));
            assert!(drawing.contains(">time in us</text>") && drawing.contains(">pairs</text>"));
            for text in drawing.split("<text ").skip(1) {
                let (tag, rest) = text.split_once('>').expect("a tag");
                let Some(x) = tag.strip_prefix("x=\"").and_then(|x| x.split('"').next()) else {
                    continue;
                };
                let x: f64 = x.parse().expect("a place");
                let size = if tag.contains("font-size=\"13\"") { 13.0 } else { 11.0 };
                let words = rest.split('<').next().expect("words");
                assert!(
                    tag.contains("text-anchor") || x + svg::width_of(words, size) <= PANEL,
                    "{text}"
                );
            }
            assert!(
                drawing.contains("queue pairs of a node</text>") && drawing.contains("…<title>")
            );
        }
    }
}
