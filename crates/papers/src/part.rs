//! One table or figure of a paper, reproduced: its claims, its curves, and what is not there.

use std::fmt;

use laneway_core::units::format_size;
use laneway_core::{Row, Value};

use crate::claim::Claim;

/// Where the figures of a part come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum How {
    /// Counted or computed: the same everywhere, and no clock is involved.
    Counted,
    /// Run in virtual time on a simulated platform.
    Simulated,
    /// Measured on this machine, over its loopback interface.
    Loopback,
    /// Measured on this machine, between hosts of a lab.
    Lab,
}

impl How {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            How::Counted => "counted",
            How::Simulated => "simulated",
            How::Loopback => "loopback",
            How::Lab => "lab",
        }
    }
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
    /// The interval of each point; empty if nothing was repeated.
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
    /// Where its figures come from.
    pub how: How,
    /// What was done, in a sentence.
    pub heading: &'static str,
    /// What was run, as a person would type it; empty if the library was called.
    pub commands: Vec<String>,
    /// Figures beside those of the paper.
    pub claims: Vec<Claim>,
    /// Where ours contradicts the paper, and what was tried to explain it: a sentence or two each.
    pub remarks: Vec<String>,
    /// What the call asked for and was not measured, with its reason: a line each. What was
    /// measured is kept.
    pub missing: Vec<String>,
    /// Those of a panel stand together.
    pub curves: Vec<Curve>,
    /// What the points of the curves are.
    pub axes: Axes,
}

impl Part {
    /// A part without figures yet.
    pub fn new(name: &'static str, how: How, heading: &'static str, axes: Axes) -> Part {
        let (commands, claims, remarks, missing, curves) = Default::default();
        Part { name, how, heading, commands, claims, remarks, missing, curves, axes }
    }

    /// A part that is not there, with the reason.
    pub fn not_measured(name: &'static str, why: impl fmt::Display) -> Part {
        const NOTHING: Axes =
            Axes { across: "at", unit: None, up: "", along: "", drawn: Drawn::Not };
        let missing = vec![why.to_string()];
        Part { missing, ..Part::new(name, How::Counted, "Not measured", NOTHING) }
    }

    /// Everything in one form, for programs: claims first, then the points of the curves, then what
    /// was not measured.
    pub fn rows(&self, paper: &str) -> Vec<Row> {
        let start = |what: &str, at: Value| {
            Row::new()
                .with("paper", paper)
                .with("part", self.name)
                .with("how", self.how.name())
                .with("what", what)
                .with(self.axes.across, at)
        };
        let mut rows = Vec::new();
        for claim in &self.claims {
            rows.push(claim.columns(start(claim.what(), Value::Nothing)));
        }
        for curve in &self.curves {
            for (number, &(at, figure)) in curve.points.iter().enumerate() {
                let what = format!("{}: {}", curve.op, curve.label);
                let shown = Claim::shown(what, self.axes.unit, None, figure);
                let row = shown.columns(start(shown.what(), at.into()));
                rows.push(match curve.intervals.get(number) {
                    Some((low, high)) => row.with("ci_low", *low).with("ci_high", *high),
                    None => row,
                });
            }
        }
        for what in &self.missing {
            rows.push(Claim::missing(what).columns(start(what, Value::Nothing)));
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
        let has_points = self.curves.iter().any(|curve| !curve.points.is_empty());
        self.axes.drawn != Drawn::Not && has_points
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
        let claims = vec![Claim::seconds("a", 2.0, 1.0), claim.at_least(3.0, "it grows")];
        Part { claims, ..Part::new("p", How::Simulated, "P", Axes::TIMES) }
    }

    #[test]
    fn a_part_is_rows_of_claims_points_and_what_is_missing() {
        let missing = vec!["figure 9: the lab needs root".to_owned()];
        let curves = vec![Curve::new("gather", "root", vec![(8, 1.5)])];
        let rows = Part { missing, curves, ..part(2.0) }.rows("multilane");
        let text = |row: &Row, name: &str| match row.get(name) {
            Some(Value::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let verdicts: Vec<String> = rows.iter().map(|row| text(row, "verdict")).collect();
        assert_eq!(verdicts, ["", "differs", "", "not measured"]);
        for row in &rows {
            assert_eq!(
                (text(row, "paper").as_str(), text(row, "how").as_str()),
                ("multilane", "simulated")
            );
        }
        assert_eq!(rows[1].get("ratio"), Some(&Value::Real(0.5)));
        assert_eq!(rows[2].get("size_bytes"), Some(&Value::Whole(8)));
        assert_eq!(text(&rows[3], "what"), "figure 9: the lab needs root");
    }
}
