//! The curves of a part as a drawing, one panel for each operation: lines over places, or bars.

use std::fmt::Write;

use laneway_draw::svg::{self, ruled};

use crate::part::{self, Curve, Drawn, Part};

const PANEL: f64 = 460.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 436.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 300.0;
const LINE: f64 = 15.0;

/// Places to the right, figures upwards.
struct Axes {
    across: Scale,
    up: Scale,
}

/// From one end of an axis to the other.
struct Scale {
    low: f64,
    high: f64,
    /// From line to line: a summand, or a power of ten where the axis is `tenfold`.
    step: f64,
    /// The ends are powers of ten.
    tenfold: bool,
}

impl Scale {
    fn over(figures: impl Iterator<Item = f64> + Clone, tenfold: bool) -> Scale {
        let most = figures.clone().fold(0.0, f64::max);
        if !tenfold {
            let step = svg::round_step((most / 5.0).max(1e-9), &[1.0, 2.0, 5.0]);
            return Scale { low: 0.0, high: most.max(step), step, tenfold };
        }
        let powers = figures.filter(|figure| *figure > 0.0).map(f64::log10);
        let low = powers.clone().fold(f64::INFINITY, f64::min).floor();
        let high = powers.fold(f64::NEG_INFINITY, f64::max).ceil();
        let (low, high) = if low < high { (low, high) } else { (0.0, 1.0) };
        Scale { low, high, step: 1.0, tenfold }
    }

    /// The part of the axis that is below a figure; none where it has no place.
    fn part(&self, figure: f64) -> Option<f64> {
        let figure = match self.tenfold {
            true if figure > 0.0 => figure.log10(),
            true => return None,
            false => figure,
        };
        Some((figure - self.low) / (self.high - self.low))
    }

    /// The figures that lines are drawn at.
    fn lines(&self) -> Vec<f64> {
        let count = ((self.high - self.low) / self.step + 0.001) as u32;
        let at = |line: u32| self.low + self.step * f64::from(line);
        let figure = |line| if self.tenfold { 10f64.powf(at(line)) } else { at(line) };
        (0..=count).map(figure).collect()
    }
}

impl Axes {
    /// Figures upwards are those of all panels, places those of one.
    fn over(part: &Part, op: &str) -> Axes {
        let points = || part.curves.iter().flat_map(|curve| &curve.points);
        let own = || of(part, op).flat_map(|curve| &curve.points);
        let drawn = part.axes.drawn;
        let bars = part.curves.iter().flat_map(|curve| &curve.intervals).map(|(_, high)| *high);
        let up = points().map(|(_, figure)| *figure).chain(bars);
        let mut across = Scale::over(own().map(|(at, _)| *at as f64), false);
        if drawn == Drawn::Tenfold {
            // Doubling sizes fill the axis from the first to the last of them.
            let at = || own().map(|(at, _)| (*at as f64).max(1.0).log2());
            let (low, high) = at().fold((f64::MAX, f64::MIN), |(l, h), at| (l.min(at), h.max(at)));
            across = Scale { low, high: high.max(low + 1.0), step: 1.0, tenfold: false };
        }
        Axes { across, up: Scale::over(up, matches!(drawn, Drawn::Lines | Drawn::Tenfold)) }
    }

    fn x(&self, at: u64, drawn: Drawn) -> f64 {
        let at = at as f64;
        let at = if drawn == Drawn::Tenfold { at.max(1.0).log2() } else { at };
        LEFT + self.across.part(at).unwrap_or(0.0) * (RIGHT - LEFT)
    }

    /// None where a logarithm has no place for it.
    fn y(&self, figure: f64) -> Option<f64> {
        Some(BOTTOM - self.up.part(figure)? * (BOTTOM - TOP))
    }
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
        let title = format!("{op}, {}", part.axes.title);
        for (number, title) in svg::wrap(&title, PANEL - 20.0, 13.0).iter().enumerate() {
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
            Some(axes) => grid(axes, &part.axes),
            None => bars.grid(&part.axes),
        };
        for (number, curve) in of(part, op).enumerate() {
            body += &match &axes {
                Some(axes) => line(axes, part.axes.drawn, curve, number as u32),
                None => bars.of(curve, number as u32),
            };
        }
        body += "</g>\n";
    }
    let height = BOTTOM + 40.0 + LINE * most as f64;
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
        let (colour, letter) = (svg::colour(number), letter(number));
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
            if wide > 8.0 && BOTTOM - y > 12.0 {
                let (x, y) = (x + wide / 2.0, BOTTOM - 3.0);
                text += &lettered(x, y, letter, number);
            }
        }
        let y = BOTTOM + 40.0 + LINE * f64::from(number);
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

/// The letter of the n-th curve's bars, by which they are told apart without colour.
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

fn grid(axes: &Axes, labels: &part::Axes) -> String {
    let mut text = String::new();
    for figure in axes.up.lines() {
        let Some(y) = axes.y(figure) else { continue };
        // Sums of a step need not be round.
        let label = (figure * 1e6).round() / 1e6;
        text += &ruled(LEFT, RIGHT, y, &format!("{label}"));
    }
    for place in places(&axes.across, labels.drawn) {
        let x = axes.x(place, labels.drawn);
        let _ = writeln!(
            text,
            "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            BOTTOM + 16.0,
            labels.place(place)
        );
    }
    text
}

/// The places that are named below a panel.
fn places(across: &Scale, drawn: Drawn) -> Vec<u64> {
    let powers = || (across.low.ceil() as u32..=across.high as u32).step_by(2);
    if drawn == Drawn::Tenfold {
        return powers().map(|power| 1u64 << power.min(63)).collect();
    }
    let quarter = |step: u64| {
        // Whole KiB where that many are, as sizes are written.
        let at = across.high as u64 * step / 4;
        if across.high >= 4096.0 { at & !1023 } else { at }
    };
    match drawn {
        Drawn::Lines => (0..=4).map(quarter).collect(),
        _ => across.lines().into_iter().map(|at| at as u64).collect(),
    }
}

/// So many points of a curve have a mark each; of more, every so many-th.
const MOST_MARKS: usize = 24;

/// The line of a curve with its marks and intervals, and its name below the panel.
fn line(axes: &Axes, drawn: Drawn, curve: &Curve, number: u32) -> String {
    let (colour, dashes) = (svg::colour(number), svg::dashes(number as usize));
    let mut points: Vec<String> = Vec::new();
    let (mut last, mut marks) = (None, String::new());
    let every = curve.points.len().div_ceil(MOST_MARKS).max(1);
    for (place, &(at, figure)) in curve.points.iter().enumerate() {
        let x = axes.x(at, drawn);
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
    let y = BOTTOM + 40.0 + LINE * f64::from(number);
    format!(
        "{}<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" \
         stroke-dasharray=\"{dashes}\"/><path d=\"{marks}\" fill=\"{colour}\"/>\n\
         <path d=\"M{LEFT} {y}h36\" stroke=\"{colour}\" stroke-width=\"2\" \
         stroke-dasharray=\"{dashes}\"/><path d=\"{}\" fill=\"{colour}\"/>\
         <text x=\"{}\" y=\"{}\">{}</text>\n",
        intervals(axes, drawn, curve, colour),
        points.join(" "),
        svg::mark(number as usize, LEFT + 18.0, y, 3.5),
        LEFT + 42.0,
        y + 4.0,
        named(&curve.label)
    )
}

/// A bar from the low to the high end of each interval.
fn intervals(axes: &Axes, drawn: Drawn, curve: &Curve, colour: &str) -> String {
    let mut bars = String::new();
    for (&(at, _), &(low, high)) in curve.points.iter().zip(&curve.intervals) {
        let x = axes.x(at, drawn);
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

    fn part(drawn: Drawn, title: &'static str) -> Part {
        let curve = |number: u64| {
            let points = (0..40).map(|at| (at, (number + at + 1) as f64)).collect();
            Curve::new("gather", format!("a label that goes on and on {number} ").repeat(4), points)
        };
        Part {
            name: "figure-1",
            heading: "",
            commands: Vec::new(),
            claims: Vec::new(),
            remarks: Vec::new(),
            curves: (0..5).map(curve).collect(),
            axes: part::Axes { across: "at", unit: None, title, drawn },
        }
    }

    #[test]
    fn curves_are_told_apart_without_colour() {
        let lines = draw(&part(Drawn::Even, "time"));
        let dashes = ["none", "7 3", "2 3", "9 3 2 3"];
        assert!(dashes.iter().all(|of| lines.contains(&format!("stroke-dasharray=\"{of}\""))));
        let bars = draw(&part(Drawn::Bars, "time"));
        assert!(('a'..='e').all(|letter| bars.contains(&format!(">{letter}</text>"))), "{bars}");
    }

    #[test]
    fn no_text_is_wider_than_its_panel() {
        let title = "a long title of a figure, time in us over the number of queue pairs of a node";
        for drawn in [Drawn::Even, Drawn::Bars] {
            let drawing = draw(&part(drawn, title));
            for text in drawing.split("<text ").skip(1) {
                let (tag, rest) = text.split_once('>').expect("a tag");
                let x: f64 = tag.split('"').nth(1).and_then(|x| x.parse().ok()).expect("a place");
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
