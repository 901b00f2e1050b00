//! One sentence or figure of a paper beside ours, and the verdict on it.
//!
//! A bound comes from the paper: a printed figure allows what rounds to it, a sentence without a
//! figure allows a direction. docs/papers/README.md has the rules by which words are read.

use std::fmt;

use laneway_core::{Row, Value};

use crate::part::brief;

/// A figure of ours beside that of the paper, and what the paper says of it.
#[derive(Clone, Debug)]
pub struct Claim {
    what: String,
    /// A plain ratio has none.
    unit: Option<&'static str>,
    /// `None` if the paper gives words or a drawing alone.
    paper: Option<f64>,
    /// `None` if it was not measured.
    ours: Option<f64>,
    /// `None` if a figure is only shown.
    asked: Option<Asked>,
}

/// What the paper's text lets a figure be.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Bound {
    /// This, but for the rounding of a float.
    Is(f64),
    /// From the first to the second.
    Within(f64, f64),
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
    /// More than this.
    Above(f64),
    /// Less than this.
    Below(f64),
}

/// A figure as a paper prints it: all that rounds to it.
#[derive(Clone, Copy, Debug)]
pub struct Printed {
    low: f64,
    high: f64,
}

/// What was found of a claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Ours is within the paper's bound.
    Holds,
    /// It is not.
    Differs(Difference),
    /// There is no figure of ours.
    NotMeasured,
}

/// Why a figure of ours is not the paper's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Difference {
    /// The page of the paper explains it under this number, and ours is in the range that the page
    /// gives.
    Known(u8),
    /// The page explains a difference under this number, but not one as large.
    OutOfRange(u8),
    /// No page explains it.
    Unknown,
}

#[derive(Clone, Debug)]
struct Asked {
    bound: Bound,
    /// The paper's words, or what follows from them.
    said: &'static str,
    known: Option<Known>,
}

/// A difference that the page of a paper explains.
#[derive(Clone, Copy, Debug)]
struct Known {
    reason: u8,
    low: f64,
    high: f64,
}

impl Bound {
    fn allows(self, ours: f64) -> bool {
        match self {
            Bound::Is(paper) => (ours - paper).abs() <= 1e-9 * paper.abs(),
            Bound::Within(low, high) => (low..=high).contains(&ours),
            Bound::AtLeast(low) => ours >= low,
            Bound::AtMost(high) => ours <= high,
            Bound::Above(low) => ours > low,
            Bound::Below(high) => ours < high,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Bound::Is(paper) => write!(f, "{}", number(paper)),
            Bound::Within(low, high) => write!(f, "{} to {}", number(low), number(high)),
            Bound::AtLeast(low) => write!(f, "at least {}", number(low)),
            Bound::AtMost(high) => write!(f, "at most {}", number(high)),
            Bound::Above(low) => write!(f, "above {}", number(low)),
            Bound::Below(high) => write!(f, "below {}", number(high)),
        }
    }
}

impl Printed {
    /// A figure whose last digit counts steps: 28.7 is printed in steps of 0.1.
    pub const fn new(figure: f64, step: f64) -> Printed {
        Printed { low: figure - step / 2.0, high: figure + step / 2.0 }
    }

    /// "1.5 to 2.0", of which both ends are rounded.
    pub const fn range(low: f64, high: f64, step: f64) -> Printed {
        Printed { low: low - step / 2.0, high: high + step / 2.0 }
    }

    /// The quotient of two printed figures, which the paper does not print.
    pub const fn over(self, other: Printed) -> Printed {
        Printed { low: self.low / other.high, high: self.high / other.low }
    }

    /// The difference of two printed figures.
    pub const fn less(self, other: Printed) -> Printed {
        Printed { low: self.low - other.high, high: self.high - other.low }
    }

    /// What it allows.
    pub const fn bound(self) -> Bound {
        Bound::Within(self.low, self.high)
    }
}

impl Verdict {
    /// As rows have it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Differs(_) => "differs",
            Verdict::NotMeasured => "not measured",
        }
    }
}

impl Claim {
    /// A figure that is shown beside the paper's.
    pub(crate) fn shown(
        what: impl Into<String>,
        unit: Option<&'static str>,
        paper: Option<f64>,
        ours: f64,
    ) -> Claim {
        let ours = ours.is_finite().then_some(ours);
        Claim { what: what.into(), unit, paper, ours, asked: None }
    }

    /// Something that was asked for and is not there.
    pub(crate) fn missing(what: impl Into<String>) -> Claim {
        Claim::shown(what, None, None, f64::NAN)
    }

    /// A figure with its unit. One of ours that is NaN was not measured.
    pub fn of(what: impl Into<String>, unit: &'static str, paper: Option<f64>, ours: f64) -> Claim {
        Claim::shown(what, Some(unit), paper, ours)
    }

    /// A plain ratio or count.
    pub fn ratio_of(what: impl Into<String>, paper: Option<f64>, ours: f64) -> Claim {
        Claim::shown(what, None, paper, ours)
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

    /// What the paper lets it be, and its words.
    pub fn asked(self, bound: Bound, said: &'static str) -> Claim {
        Claim { asked: Some(Asked { bound, said, known: None }), ..self }
    }

    /// Only shown, where what was measured is less than what the paper speaks of.
    pub(crate) fn unasked(self) -> Claim {
        Claim { asked: None, ..self }
    }

    /// Ours must be the paper's figure exactly.
    pub fn equal(self) -> Claim {
        let paper = self.paper.unwrap_or(f64::NAN);
        self.asked(Bound::Is(paper), "")
    }

    /// Ours must round to what the paper prints.
    pub fn printed(self, printed: Printed, said: &'static str) -> Claim {
        self.asked(printed.bound(), said)
    }

    /// Ours must be this or more.
    pub fn at_least(self, low: f64, said: &'static str) -> Claim {
        self.asked(Bound::AtLeast(low), said)
    }

    /// Ours must be more than this.
    pub fn above(self, low: f64, said: &'static str) -> Claim {
        self.asked(Bound::Above(low), said)
    }

    /// Ours must be less than this.
    pub fn below(self, high: f64, said: &'static str) -> Claim {
        self.asked(Bound::Below(high), said)
    }

    /// A difference that the page of the paper explains under a number, and the range in which ours
    /// is then, both as that page gives them.
    pub fn known(mut self, reason: u8, low: f64, high: f64) -> Claim {
        if let Some(asked) = &mut self.asked {
            asked.known = Some(Known { reason, low, high });
        }
        self
    }

    /// What the figure is.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// The paper's figure; `None` if it gives words or a drawing alone.
    pub fn paper(&self) -> Option<f64> {
        self.paper
    }

    /// Our figure; `None` if it was not measured.
    pub fn ours(&self) -> Option<f64> {
        self.ours
    }

    /// The verdict; `None` if a figure is only shown.
    pub fn verdict(&self) -> Option<Verdict> {
        let Some(ours) = self.ours else { return Some(Verdict::NotMeasured) };
        let Asked { bound, known, .. } = self.asked.as_ref()?;
        Some(match known {
            _ if bound.allows(ours) => Verdict::Holds,
            None => Verdict::Differs(Difference::Unknown),
            Some(known) if (known.low..=known.high).contains(&ours) => {
                Verdict::Differs(Difference::Known(known.reason))
            }
            Some(known) => Verdict::Differs(Difference::OutOfRange(known.reason)),
        })
    }

    fn ratio(&self) -> Option<f64> {
        self.ours.zip(self.paper).map(|(ours, paper)| ours / paper)
    }

    /// What the paper lets it be, for people.
    fn words(&self) -> Option<String> {
        let Asked { bound, said, .. } = self.asked.as_ref()?;
        Some(match said.is_empty() {
            true => bound.to_string(),
            false => format!("{bound}: {said}"),
        })
    }

    /// For programs: the figures and the verdict, after what a row begins with.
    pub(crate) fn columns(&self, row: Row) -> Row {
        let verdict = self.verdict();
        let known = match verdict {
            Some(Verdict::Differs(difference)) => Some(matches!(difference, Difference::Known(_))),
            _ => None,
        };
        let range = self.asked.as_ref().and_then(|asked| asked.known);
        row.with("unit", self.unit)
            .with("stated", self.paper)
            .with("ours", self.ours)
            .with("ratio", self.ratio())
            .with("verdict", verdict.map(Verdict::name))
            .with("known", known)
            .with("reason", range.map(|known| u64::from(known.reason)))
            .with("range_low", range.map(|known| known.low))
            .with("range_high", range.map(|known| known.high))
            .with("asked", self.words().map_or(Value::Nothing, Value::from))
    }

    /// For people: what, the paper's figure, ours, their ratio and the verdict.
    pub(crate) fn cells(&self) -> Vec<String> {
        let unit = self.unit.map_or(String::new(), |unit| format!(" {unit}"));
        // Counts are whole, and so is what they are set beside.
        let is_count = |number: f64| number.fract() == 0.0 && number > 1.0;
        let counts = self.unit.is_none()
            && self.ours.is_none_or(is_count)
            && self.paper.is_none_or(is_count);
        let format = |number: f64| if counts { format!("{number}") } else { brief(number) };
        let with_unit =
            |number: Option<f64>| number.map_or(String::new(), |number| format(number) + &unit);
        vec![
            self.what.clone(),
            with_unit(self.paper),
            with_unit(self.ours),
            self.ratio().map_or(String::new(), brief),
            self.verdict_words(),
        ]
    }

    fn verdict_words(&self) -> String {
        let asked = self.words().unwrap_or_default();
        match self.verdict() {
            None => String::new(),
            Some(Verdict::NotMeasured) => "NOT MEASURED".into(),
            Some(Verdict::Holds) => format!("holds: {asked}"),
            Some(Verdict::Differs(difference)) => match difference {
                Difference::Known(reason) => format!("differs (reason {reason}): not {asked}"),
                Difference::OutOfRange(reason) => {
                    let range = self.asked.as_ref().and_then(|asked| asked.known);
                    let range = range.map(|known| Bound::Within(known.low, known.high));
                    let range = range.map_or(String::new(), |range| range.to_string());
                    format!("DIFFERS: not {asked}; reason {reason} explains {range} alone")
                }
                Difference::Unknown => format!("DIFFERS: not {asked}"),
            },
        }
    }
}

/// A bound as a person reads it: without digits that say nothing.
fn number(number: f64) -> String {
    let text = match number.abs() {
        size if size >= 1000.0 || number.fract() == 0.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.2}"),
        size if size >= 1.0 => format!("{number:.3}"),
        _ => format!("{number:.4}"),
    };
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(ours: f64) -> Claim {
        Claim::ratio_of("gain", Some(2.0), ours)
    }

    #[test]
    fn a_verdict_is_one_of_three_and_a_figure_alone_has_none() {
        let asked = |ours: f64| claim(ours).at_least(1.5, "about 2");
        assert_eq!(asked(1.5).verdict(), Some(Verdict::Holds));
        assert_eq!(asked(1.4).verdict(), Some(Verdict::Differs(Difference::Unknown)));
        assert_eq!(claim(1.0).verdict(), None, "a figure that is only shown");
        for nothing in [f64::NAN, f64::INFINITY] {
            assert_eq!(asked(nothing).verdict(), Some(Verdict::NotMeasured));
            assert_eq!(claim(nothing).verdict(), Some(Verdict::NotMeasured));
            assert_eq!(claim(nothing).ours(), None);
        }
        assert_eq!(asked(0.0).verdict(), Some(Verdict::Differs(Difference::Unknown)));
    }

    #[test]
    fn a_known_difference_is_one_within_its_range_alone() {
        let claim = |ours: f64| claim(ours).at_least(1.5, "about 2").known(3, 1.2, 1.3).verdict();
        assert_eq!(claim(1.6), Some(Verdict::Holds), "what holds needs no reason");
        for ours in [1.2, 1.25, 1.3] {
            assert_eq!(claim(ours), Some(Verdict::Differs(Difference::Known(3))));
        }
        for ours in [1.1, 1.4] {
            assert_eq!(claim(ours), Some(Verdict::Differs(Difference::OutOfRange(3))));
        }
        assert_eq!(claim(f64::NAN), Some(Verdict::NotMeasured));
    }

    #[test]
    fn bounds_allow_what_they_say() {
        for (bound, inside, outside, words) in [
            (Bound::Is(32.0), 32.0, 31.0, "32"),
            (Bound::Within(16.0, 25.0), 25.0, 26.0, "16 to 25"),
            (Bound::AtLeast(0.5), 0.5, 0.499, "at least 0.5"),
            (Bound::AtMost(400.0), 400.0, 400.1, "at most 400"),
            (Bound::Above(1.0), 1.001, 1.0, "above 1"),
            (Bound::Below(1.0), 0.999, 1.0, "below 1"),
        ] {
            assert!(bound.allows(inside) && !bound.allows(outside), "{bound}");
            assert!(!bound.allows(f64::NAN));
            assert_eq!(bound.to_string(), words);
        }
    }

    #[test]
    fn a_printed_figure_allows_what_rounds_to_it() {
        let whole = Printed::new(28.7, 0.1);
        assert_eq!(whole.bound().to_string(), "28.65 to 28.75");
        assert!(whole.bound().allows(28.66) && !whole.bound().allows(28.6));
        // 28.7 over 0.8 is anything from 28.65 / 0.85 to 28.75 / 0.75.
        let ratio = whole.over(Printed::new(0.8, 0.1)).bound();
        assert!(ratio.allows(33.8) && ratio.allows(38.3), "{ratio}");
        assert!(!ratio.allows(33.6) && !ratio.allows(38.4), "{ratio}");
        let range = Printed::range(1.5, 2.0, 0.1).bound();
        assert!(range.allows(1.46) && range.allows(2.04) && !range.allows(2.06));
        assert!(Printed::new(3.0, 1.0).less(Printed::new(1.0, 1.0)).bound().allows(2.9));
    }

    #[test]
    fn rows_and_cells_say_the_reason_and_its_range() {
        let known = claim(1.25).at_least(1.5, "about 2").known(3, 1.2, 1.3);
        let row = known.columns(Row::new());
        assert_eq!(row.get("verdict"), Some(&Value::from("differs")));
        assert_eq!(row.get("known"), Some(&Value::Truth(true)));
        assert_eq!(row.get("reason"), Some(&Value::Whole(3)));
        assert_eq!(row.get("range_high"), Some(&Value::Real(1.3)));
        assert_eq!(known.cells()[4], "differs (reason 3): not at least 1.5: about 2");
        let far = claim(1.1).at_least(1.5, "about 2").known(3, 1.2, 1.3);
        assert_eq!(far.columns(Row::new()).get("known"), Some(&Value::Truth(false)));
        let words = "DIFFERS: not at least 1.5: about 2; reason 3 explains 1.2 to 1.3 alone";
        assert_eq!(far.cells()[4], words);
        assert_eq!(claim(f64::NAN).cells()[4], "NOT MEASURED");
        assert_eq!(claim(1.0).cells()[4], "");
    }
}
