//! One table or figure of a paper, reproduced: what was claimed and what came of it here.

use laneway_core::units::format_size;
use laneway_core::{Row, Value};
use laneway_report::table::align;

/// Lines of a table of curves at most; programs get all points.
const SHOWN: usize = 20;
/// Letters of a line of a remark.
const WIDE: usize = 100;

/// A figure of ours beside that of the paper, and what the paper says of it.
#[derive(Clone, Debug)]
pub struct Claim {
    what: String,
    /// A plain ratio has none.
    unit: Option<&'static str>,
    /// None where the paper gives words or a drawing alone.
    paper: Option<f64>,
    ours: f64,
    /// What must be for the claim to hold, and whether it is; none where a figure is only shown.
    verdict: Option<(&'static str, bool)>,
}

/// What the points of curves are, and how they are drawn.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Axes {
    /// The column that says where a point is.
    pub across: &'static str,
    /// Of the figures; a plain ratio has none.
    pub unit: Option<&'static str>,
    /// Of a drawing.
    pub title: &'static str,
    /// How a drawing looks.
    pub drawn: Drawn,
}

/// How curves are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Drawn {
    /// Tenfold from line to line, as escalations are a hundredfold.
    Lines,
    /// Tenfold both ways, where sizes double from point to point.
    Tenfold,
    /// Figures from 0 on, equal from line to line.
    Even,
    /// As `Even`, and a figure holds until the next one.
    Steps,
    /// A group of bars at each place.
    Bars,
    /// A table is not drawn.
    Not,
}

impl Axes {
    /// Microseconds over sizes.
    pub const TIMES: Axes = Axes {
        across: "size_bytes",
        unit: Some("us"),
        title: "time in us over the size of a block",
        drawn: Drawn::Lines,
    };

    /// Where a point is, for people.
    pub fn place(&self, at: u64) -> String {
        if self.across == "size_bytes" { format_size(at) } else { at.to_string() }
    }
}

/// Figures over places: microseconds over sizes, shares over conflicts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Curve {
    /// The panel of a drawing in which it is: an operation.
    pub op: &'static str,
    /// What tells it from the other curves of the panel.
    pub label: String,
    /// Places and figures.
    pub points: Vec<(u64, f64)>,
    /// Between what each point may be; none where nothing was repeated.
    pub intervals: Vec<(f64, f64)>,
}

impl Curve {
    /// A curve without intervals.
    pub fn new(op: &'static str, label: impl Into<String>, points: Vec<(u64, f64)>) -> Curve {
        Curve { op, label: label.into(), points, intervals: Vec::new() }
    }
}

/// One table or figure: its claims, its curves, and what must be said of them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Part {
    /// As in [`crate::Paper::parts`].
    pub name: &'static str,
    /// What was done, in a sentence.
    pub heading: &'static str,
    /// What was run, as a person would type it; none where the library was called.
    pub commands: Vec<String>,
    /// Figures beside those of the paper.
    pub claims: Vec<Claim>,
    /// Where ours contradicts the paper, and what was tried to explain it: a sentence or two each.
    pub remarks: Vec<String>,
    /// Those of a panel stand together.
    pub curves: Vec<Curve>,
    /// What the points of the curves are.
    pub axes: Axes,
}

impl Claim {
    /// A figure with its unit.
    pub fn of(what: impl Into<String>, unit: &'static str, paper: Option<f64>, ours: f64) -> Claim {
        Claim { unit: Some(unit), ..Claim::ratio_of(what, paper, ours) }
    }

    /// A plain ratio or count.
    pub fn ratio_of(what: impl Into<String>, paper: Option<f64>, ours: f64) -> Claim {
        Claim { what: what.into(), unit: None, paper, ours, verdict: None }
    }

    /// A plain ratio or count that the paper does not give.
    pub fn own_ratio(what: impl Into<String>, ours: f64) -> Claim {
        Claim::ratio_of(what, None, ours)
    }

    /// Seconds that the paper does not give.
    pub fn own_seconds(what: impl Into<String>, ours: f64) -> Claim {
        Claim::of(what, "s", None, ours)
    }

    /// Seconds of the paper and ours.
    pub fn seconds(what: impl Into<String>, paper: f64, ours: f64) -> Claim {
        Claim::of(what, "s", Some(paper), ours)
    }

    /// Ours must be what the paper says.
    pub fn equal(self) -> Claim {
        let paper = self.paper.unwrap_or(f64::NAN);
        self.asked("equal", |ours| (ours / paper - 1.0).abs() < 1e-9)
    }

    /// Says what must be, and whether it is. Nothing is claimed of what was not measured: no figure
    /// of ours is 0.
    pub fn asked(self, words: &'static str, holds: impl Fn(f64) -> bool) -> Claim {
        let measured = self.ours.is_finite() && self.ours > 0.0;
        Claim { verdict: Some((words, measured && holds(self.ours))), ..self }
    }

    /// What the figure is.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// The paper's figure; none where it gives words or a drawing alone.
    pub fn paper(&self) -> Option<f64> {
        self.paper
    }

    /// Our figure.
    pub fn ours(&self) -> f64 {
        self.ours
    }

    /// Whether the claim holds; none where a figure is only shown.
    pub fn holds(&self) -> Option<bool> {
        self.verdict.map(|(_, holds)| holds)
    }

    fn ratio(&self) -> Option<f64> {
        self.paper.map(|paper| self.ours / paper)
    }

    fn cells(&self) -> Vec<String> {
        let unit = self.unit.map_or(String::new(), |unit| format!(" {unit}"));
        // Counts are whole, and so is what they are set beside.
        let is_count = |number: f64| number.fract() == 0.0 && number > 1.0;
        let counts = self.unit.is_none() && is_count(self.ours) && self.paper.is_none_or(is_count);
        let format = |number: f64| if counts { format!("{number}") } else { brief(number) };
        let number = |number: Option<f64>| number.map_or(String::new(), format);
        let verdict = match self.verdict {
            None => String::new(),
            Some((asked, true)) => format!("holds: {asked}"),
            Some((asked, false)) => format!("DIFFERS: not {asked}"),
        };
        let with_unit = |text: String| if text.is_empty() { text } else { text + &unit };
        vec![
            self.what.clone(),
            with_unit(number(self.paper)),
            with_unit(format(self.ours)),
            self.ratio().map_or(String::new(), brief),
            verdict,
        ]
    }
}

impl Part {
    /// Whether no claim differs.
    pub fn holds(&self) -> bool {
        self.claims.iter().all(|claim| claim.holds() != Some(false))
    }

    /// Everything in one form, for programs: claims first, then the points of the curves.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for claim in &self.claims {
            rows.push(
                Row::new()
                    .with("part", self.name)
                    .with("what", claim.what.as_str())
                    .with(self.axes.across, Value::Nothing)
                    .with("unit", claim.unit)
                    .with("paper", claim.paper)
                    .with("ours", claim.ours)
                    .with("ratio", claim.ratio())
                    .with("holds", claim.holds())
                    .with("asked", claim.verdict.map(|(asked, _)| asked)),
            );
        }
        for curve in &self.curves {
            for (number, &(at, figure)) in curve.points.iter().enumerate() {
                let interval = curve.intervals.get(number);
                let row = Row::new()
                    .with("part", self.name)
                    .with("what", format!("{}: {}", curve.op, curve.label))
                    .with(self.axes.across, at)
                    .with("unit", self.axes.unit)
                    .with("paper", Value::Nothing)
                    .with("ours", figure)
                    .with("ratio", Value::Nothing)
                    .with("holds", Value::Nothing)
                    .with("asked", Value::Nothing);
                rows.push(match interval {
                    Some((low, high)) => row.with("ci_low", *low).with("ci_high", *high),
                    None => row,
                });
            }
        }
        rows
    }

    /// The same for people: the claims, and a table of the curves for each operation.
    pub fn text(&self) -> String {
        let heading = ["what", "paper", "ours", "ratio", "verdict"].map(str::to_owned).to_vec();
        let mut lines = vec![heading];
        lines.extend(self.claims.iter().map(Claim::cells));
        let claims = align(&lines, &[false, true, true, true, false]);
        let commands: String = self.commands.iter().map(|line| format!("  {line}\n")).collect();
        let mut text = format!("{}\n{commands}\n{claims}", self.heading);
        for remark in &self.remarks {
            text += &format!("\n{}", wrapped(remark));
        }
        for op in self.operations() {
            let unit = self.axes.unit.map_or(String::new(), |unit| format!(", {unit}"));
            text += &format!("\n{op}{unit}\n{}", self.curves_of(op));
        }
        text
    }

    /// In the order in which they come.
    pub fn operations(&self) -> Vec<&'static str> {
        let mut all: Vec<&'static str> = self.curves.iter().map(|curve| curve.op).collect();
        all.dedup();
        all
    }

    /// Whether there is something to draw.
    pub fn is_drawn(&self) -> bool {
        self.axes.drawn != Drawn::Not && !self.curves.is_empty()
    }

    /// A line for each place, a column for each curve.
    fn curves_of(&self, op: &str) -> String {
        let curves: Vec<&Curve> = self.curves.iter().filter(|curve| curve.op == op).collect();
        let Some(first) = curves.first() else { return String::new() };
        let heading = if self.axes.across == "size_bytes" { "size" } else { "" };
        let mut heading = vec![heading.to_owned()];
        heading.extend(curves.iter().map(|curve| curve.label.clone()));
        let mut lines = vec![heading];
        // Counts and numbers of nodes are whole.
        let whole =
            curves.iter().flat_map(|curve| &curve.points).all(|point| point.1.fract() == 0.0);
        let format = |figure: f64| if whole { format!("{figure}") } else { brief(figure) };
        let every = first.points.len().div_ceil(SHOWN);
        for &(size, _) in first.points.iter().step_by(every.max(1)) {
            let cell = |curve: &&Curve| {
                let place = curve.points.iter().position(|(other, _)| *other == size);
                let Some(place) = place else { return String::new() };
                let figure = format(curve.points[place].1);
                match curve.intervals.get(place) {
                    Some((low, high)) => {
                        format!("{figure} ({} to {})", format(*low), format(*high))
                    }
                    None => figure,
                }
            };
            let mut line = vec![self.axes.place(size)];
            line.extend(curves.iter().map(cell));
            lines.push(line);
        }
        align(&lines, &vec![true; curves.len() + 1])
    }
}

/// Lines of at most `WIDE` characters, unless a word is longer.
fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut length = 0;
    for word in text.split(' ') {
        let letters = word.chars().count();
        if length > 0 && length + 1 + letters > WIDE {
            lines.push('\n');
            length = 0;
        } else if length > 0 {
            lines.push(' ');
            length += 1;
        }
        lines += word;
        length += letters;
    }
    lines + "\n"
}

/// Three digits or more, as a person reads them.
pub fn brief(number: f64) -> String {
    match number.abs() {
        size if size >= 100.0 || size == 0.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        size if size >= 1.0 => format!("{number:.2}"),
        size if size >= 0.1 => format!("{number:.3}"),
        _ => format!("{number:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(ours: f64) -> Part {
        let claim = Claim::ratio_of("a over b", Some(4.0), ours);
        let claim = claim.asked("at least 3: it grows", |ratio| ratio >= 3.0);
        let shown = Claim::seconds("a", 2.0, 1.0);
        let (claims, axes) = (vec![shown, claim], Axes::TIMES);
        let (commands, curves, remarks) = Default::default();
        Part { name: "p", heading: "P", commands, claims, remarks, curves, axes }
    }

    #[test]
    fn a_claim_holds_or_differs_and_a_figure_is_only_shown() {
        let (held, differs) = (part(3.0), part(2.0));
        assert!(held.holds() && !differs.holds());
        assert!(held.text().contains("0.750  holds: at least 3: it grows"), "{}", held.text());
        let text = differs.text();
        assert!(text.contains("0.500  DIFFERS: not at least 3: it grows"), "{text}");
        let rows = differs.rows();
        assert_eq!(rows[0].get("holds"), Some(&Value::Nothing));
        assert_eq!(rows[1].get("holds"), Some(&Value::Truth(false)));
        assert_eq!(rows[1].get("ratio"), Some(&Value::Real(0.5)));
    }

    #[test]
    fn remarks_stand_below_the_claims_in_short_lines() {
        let remarks = vec!["word ".repeat(40).trim_end().to_owned()];
        let text = Part { remarks, ..part(3.0) }.text();
        assert_eq!(text.matches("word").count(), 40);
        let lines = || text.lines().filter(|line| line.contains("word"));
        assert!(lines().count() == 2 && lines().all(|line| line.len() <= WIDE), "{text}");
    }

    #[test]
    fn no_figure_holds_nothing() {
        for nothing in [f64::NAN, f64::INFINITY] {
            assert!(!part(nothing).holds(), "{nothing}");
        }
        let small = Claim::ratio_of("a", None, 0.0).asked("below 1", |ratio| ratio < 1.0);
        assert_eq!(small.holds(), Some(false));
    }

    #[test]
    fn long_curves_are_thinned_for_people_alone() {
        let points = (1..=100).map(|size| (size, 1.5)).collect();
        let curve = Curve::new("gather", "root", points);
        let part = Part { curves: vec![curve], ..part(3.0) };
        assert_eq!(part.text().matches("1.50").count(), SHOWN);
        assert_eq!(part.rows().len(), 2 + 100);
    }
}
