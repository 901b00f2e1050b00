//! One table or figure of a paper, reproduced: what was claimed and what came of it here.

use laneway_core::units::format_size;
use laneway_core::{Row, Value};

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
    /// What a drawing has upwards, with its unit.
    pub up: &'static str,
    /// What it has to the right.
    pub along: &'static str,
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
        up: "time in us",
        along: "size of a block",
        drawn: Drawn::Lines,
    };

    /// Whether places are sizes in bytes.
    pub fn has_sizes(&self) -> bool {
        self.across == "size_bytes"
    }

    /// Where a point is, for people.
    pub fn place(&self, at: u64) -> String {
        if self.has_sizes() { format_size(at) } else { at.to_string() }
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

    /// For people: what, the paper's figure, ours, their ratio and the verdict.
    pub(crate) fn cells(&self) -> Vec<String> {
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
pub(crate) mod tests {
    use super::*;

    pub fn part(ours: f64) -> Part {
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
        let rows = differs.rows();
        assert_eq!(rows[0].get("holds"), Some(&Value::Nothing));
        assert_eq!(rows[1].get("holds"), Some(&Value::Truth(false)));
        assert_eq!(rows[1].get("ratio"), Some(&Value::Real(0.5)));
    }

    #[test]
    fn no_figure_holds_nothing() {
        for nothing in [f64::NAN, f64::INFINITY] {
            assert!(!part(nothing).holds(), "{nothing}");
        }
        let small = Claim::ratio_of("a", None, 0.0).asked("below 1", |ratio| ratio < 1.0);
        assert_eq!(small.holds(), Some(false));
    }
}
