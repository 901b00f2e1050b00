//! Two runs point by point: what became slower, what faster, and how sure that is.
//!
//! ```
//! use laneway_report::compare::{Rule, Verdict, compare};
//! use laneway_report::read;
//!
//! let old = read("old", "op,size_bytes,time_us\nbcast,8,10.0\nbcast,64,20.0\n").expect("CSV");
//! let new = read("new", "op,size_bytes,time_us\nbcast,8,12.0\nbcast,64,20.5\n").expect("CSV");
//! let found = compare(&old, &new, &Rule::default()).expect("the same points");
//! assert_eq!(found.points[0].verdict, Verdict::Slower);
//! assert_eq!(found.count(Verdict::Same), 1);
//! ```

mod answer;
mod matching;

use std::fmt;

use laneway_core::units::counted;
use laneway_core::{Row, Value};
use laneway_stats::sorted;

use crate::figure::{Metric, plain};
use crate::launches::{SCOPE_LAUNCH, SCOPE_LAUNCHES, SCOPE_RANGE};
use crate::run::{Extent, Record, Run, finite};
pub use answer::Outliers;
use matching::{Pair, columns, identity, pairs, size, split_figures};

/// When a difference counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Differences up to this share do not count.
    pub threshold: f64,
    /// How sure the interval of a ratio is, where it comes from samples.
    pub level: f64,
    /// Whether a run that is not complete, or lacks points of the other, may pass.
    pub allow_missing: bool,
}

impl Default for Rule {
    fn default() -> Rule {
        Rule { threshold: 0.05, level: 0.95, allow_missing: false }
    }
}

/// What is said of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It takes longer than before, or moves fewer bytes a second.
    Slower,
    /// It is quicker than before.
    Faster,
    /// The difference is within the threshold.
    Same,
    /// The difference may be chance, or there is nothing to compare with.
    Unknown,
}

impl Verdict {
    /// The word for it in rows.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Slower => "slower",
            Verdict::Faster => "faster",
            Verdict::Same => "same",
            Verdict::Unknown => "unknown",
        }
    }
}

/// Which of the runs have a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Both of them.
    Both,
    /// The old one alone.
    OnlyOld,
    /// The new one alone.
    OnlyNew,
}

/// The run that lacks a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// That of before.
    Old,
    /// That of now.
    New,
}

/// One point of both runs, or of one alone.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Point {
    /// What it is: operation, algorithm, ranks, what else distinguishes points, and the size.
    pub identity: Row,
    /// What its figures are.
    pub metric: Metric,
    /// Which runs have it.
    pub presence: Presence,
    /// The figure of the old run.
    pub old: Option<f64>,
    /// The figure of the new run.
    pub new: Option<f64>,
    /// The new figure as a multiple of the old one.
    pub ratio: Option<f64>,
    /// The interval of the ratio, where one is known.
    pub interval: Option<(f64, f64)>,
    /// What is said of it.
    pub verdict: Verdict,
    /// Whether it rests on a single launch of a real machine, of which another may differ.
    pub is_single_launch: bool,
    /// What to know about it, for people; empty where there is nothing.
    pub note: String,
}

/// A run that was compared.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Side {
    /// What a reader knows it by.
    pub name: String,
    /// How much of the run it is.
    pub extent: Extent,
}

impl Side {
    fn of(run: &Run) -> Side {
        Side { name: run.name.clone(), extent: run.extent.clone() }
    }
}

/// All points of two runs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// Curves in the order of their first rows, sizes rising.
    pub points: Vec<Point>,
    /// The run of before.
    pub old: Side,
    /// The run of now.
    pub new: Side,
    allow_missing: bool,
}

/// No figure of one run has its like in the other.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NothingInCommon {
    /// How many rows the old run has, and of what.
    pub old: String,
    /// The same of the new run.
    pub new: String,
}

impl fmt::Display for NothingInCommon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (old, new) = (&self.old, &self.new);
        let what = "no time or bandwidth has one operation, algorithm, ranks and size in both";
        write!(f, "{what}: {old} and {new}")
    }
}

impl std::error::Error for NothingInCommon {}

/// Matches the points of two runs by operation, algorithm, ranks and size, and by whatever else
/// both distinguish, and judges each.
pub fn compare(old: &Run, new: &Run, rule: &Rule) -> Result<Comparison, NothingInCommon> {
    let sides = [Side::of(old), Side::of(new)];
    // CSV does not have the size of a survey.
    let sized = size(old).is_some() && size(new).is_some();
    let (old, new) = (split_figures(old, sized), split_figures(new, sized));
    // On a simulated cluster launches are alike, and one is enough.
    let simulated = is_simulated(&old) && is_simulated(&new);
    let columns = columns(&old, &new);
    let points: Vec<Point> = pairs(&old, &new, &columns)
        .into_iter()
        .map(|pair| judge(pair, &columns, rule, simulated))
        .collect();
    if points.iter().all(|point| point.ratio.is_none()) {
        return Err(NothingInCommon { old: describe(&old), new: describe(&new) });
    }
    let [old, new] = sides;
    Ok(Comparison { points, old, new, allow_missing: rule.allow_missing })
}

fn is_simulated(run: &Run) -> bool {
    let backend = run.env.iter().find(|(name, _)| name == "backend");
    backend.is_some_and(|(_, backend)| plain(backend).starts_with("sim:"))
}

/// What single launches differ by when nothing changed, as a part: seen were up to 64 % on a busy
/// machine and 26 % on a quieter one.
const SINGLE_MARGIN: f64 = 0.25;

fn describe(run: &Run) -> String {
    let mut names: Vec<String> = run.rows.iter().filter_map(|row| row.op().map(plain)).collect();
    names.sort();
    names.dedup();
    format!("{} of {}", counted(run.rows.len() as u64, "row"), names.join(", "))
}

fn judge(pair: Pair<'_>, columns: &[&'static str], rule: &Rule, simulated: bool) -> Point {
    let empty = Record::default();
    let (old_row, new_row) = (pair.old.unwrap_or(&empty), pair.new.unwrap_or(&empty));
    let both = |metric: &Metric| metric.of(old_row).is_some() && metric.of(new_row).is_some();
    let either = |metric: &Metric| metric.of(old_row).is_some() || metric.of(new_row).is_some();
    let all = || Metric::ALL.into_iter();
    let metric = all().find(both).or_else(|| all().find(either)).unwrap_or(Metric::Time);
    let (old, new) = (metric.of(old_row), metric.of(new_row));
    let (presence, note) = match pair {
        Pair { new: None, .. } => (Presence::OnlyOld, "only in old"),
        Pair { old: None, .. } => (Presence::OnlyNew, "only in new"),
        _ => (Presence::Both, "no figure above 0 in both"),
    };
    let mut point = Point {
        identity: identity(pair, columns),
        metric,
        presence,
        old: old.map(|(figure, _)| figure),
        new: new.map(|(figure, _)| figure),
        ratio: None,
        interval: None,
        verdict: Verdict::Unknown,
        is_single_launch: false,
        note: note.into(),
    };
    let (Some((old, old_ends)), Some((new, new_ends))) = (old, new) else { return point };
    let mut ratio = new / old;
    let (mut notes, mut is_too_few) = (Vec::new(), false);
    if let (Metric::Time, Some(found)) = (metric, from_samples(old_row, new_row, rule.level)) {
        (ratio, point.interval) = (found.0, Some(found.1));
    } else if let Some((ends, launches)) = ranges(metric, old_row, new_row) {
        point.interval = Some(ends);
        notes.push(SCOPE_RANGE.into());
        is_too_few = !simulated && chance_of_separation(launches) > 1.0 - rule.level;
    } else if let Some((old, new)) = old_ends.zip(new_ends) {
        // Holds 1 exactly where the two intervals overlap.
        point.interval = Some((new.0 / old.1, new.1 / old.0));
        let levels = [old_row, new_row].map(|row| row.number("ci_level").unwrap_or(rule.level));
        let level = levels[0].min(levels[1]);
        if level < rule.level {
            notes.push(format!("interval of {}%", level * 100.0));
        }
    } else {
        notes.push("no interval".into());
    }
    // Placement and memory differ between launches, and nothing within one shows by how much.
    let single = has_scope(old_row, SCOPE_LAUNCH) || has_scope(new_row, SCOPE_LAUNCH);
    point.is_single_launch = point.interval.is_some() && single && !simulated;
    if point.is_single_launch {
        notes.push("single launch".into());
    }
    point.ratio = Some(ratio);
    point.verdict = point.verdict_by(rule.threshold);
    if is_too_few && point.verdict != Verdict::Same {
        point.verdict = Verdict::Unknown;
        notes.push("too few launches".into());
    } else if point.verdict == Verdict::Unknown {
        notes.push("not significant".into());
    }
    point.note = notes.join(", ");
    point
}

/// The ratio of the medians and its interval, where both runs have enough samples.
fn from_samples(old: &Record, new: &Record, level: f64) -> Option<(f64, (f64, f64))> {
    // Samples of one launch are alike; thrown together, those of several look surer than they are.
    let several = [SCOPE_LAUNCHES, SCOPE_RANGE];
    if [old, new].iter().any(|row| several.iter().any(|scope| has_scope(row, scope))) {
        return None;
    }
    let interval = laneway_stats::ratio_interval(&old.samples_us, &new.samples_us, level)?;
    let median = |row: &Record| laneway_stats::median(&sorted(&row.samples_us));
    Some((median(new)? / median(old)?, (interval.low, interval.high)))
}

fn has_scope(row: &Record, scope: &str) -> bool {
    matches!(row.get("ci_scope"), Some(Value::Text(word)) if word == scope)
}

/// The estimate of each launch; CSV carries them as words of one field.
fn launch_times(row: &Record) -> Vec<f64> {
    match row.get("launch_times_us") {
        Some(Value::List(times)) => times.clone(),
        Some(Value::Text(words)) => words.split_whitespace().filter_map(finite).collect(),
        _ => Vec::new(),
    }
}

/// Where one of two rows has too few launches for an interval: the ends of the ratio between the
/// ranges of the launches of both, and how many launches each has.
fn ranges(metric: Metric, old: &Record, new: &Record) -> Option<((f64, f64), [usize; 2])> {
    if metric != Metric::Time || ![old, new].iter().any(|row| has_scope(row, SCOPE_RANGE)) {
        return None;
    }
    let (old, new) = (sorted(&launch_times(old)), sorted(&launch_times(new)));
    let ends = (new.first()? / old.last()?, new.last()? / old.first()?);
    (old.len() > 1 && new.len() > 1).then_some((ends, [old.len(), new.len()]))
}

/// The probability that all samples of a side lie on one side of the others, if both have one
/// distribution: of all orders of the samples two are such.
fn chance_of_separation([few, many]: [usize; 2]) -> f64 {
    let orders = (1..=few).map(|place| (many + place) as f64 / place as f64).product::<f64>();
    2.0 / orders
}

/// What a slow-down of so much says, and how sure it is.
fn verdict(ratio: f64, interval: Option<(f64, f64)>, threshold: f64) -> Verdict {
    let (low, high) = interval.unwrap_or((ratio, ratio));
    if ratio > 1.0 + threshold {
        if low > 1.0 { Verdict::Slower } else { Verdict::Unknown }
    } else if ratio < 1.0 / (1.0 + threshold) {
        if high < 1.0 { Verdict::Faster } else { Verdict::Unknown }
    } else {
        Verdict::Same
    }
}

impl Point {
    /// How many times as long it takes as before, whether its figures are times or rates; none
    /// where there is nothing to compare.
    pub fn slowdown(&self) -> Option<f64> {
        match self.metric {
            Metric::Time => self.ratio,
            Metric::Bandwidth => self.ratio.map(f64::recip),
        }
    }

    /// The run that lacks its figure, if the other has one.
    pub fn missing_in(&self) -> Option<Missing> {
        match (self.presence, self.old, self.new) {
            (Presence::OnlyOld, ..) | (Presence::Both, Some(_), None) => Some(Missing::New),
            (Presence::OnlyNew, ..) | (Presence::Both, None, Some(_)) => Some(Missing::Old),
            _ => None,
        }
    }

    fn verdict_by(&self, threshold: f64) -> Verdict {
        let Some(slowdown) = self.slowdown() else { return Verdict::Unknown };
        let interval = match self.metric {
            Metric::Time => self.interval,
            Metric::Bandwidth => self.interval.map(|(low, high)| (1.0 / high, 1.0 / low)),
        };
        let least = if self.is_single_launch { SINGLE_MARGIN } else { 0.0 };
        let asked = verdict(slowdown, interval, threshold);
        match verdict(slowdown, interval, threshold.max(least)) {
            // More than was asked about, and less than launches differ by when nothing changed.
            Verdict::Same if asked != Verdict::Same => Verdict::Unknown,
            verdict => verdict,
        }
    }

    /// One row; `rates` adds the columns for bandwidths.
    fn row(&self, rates: bool) -> Row {
        let (time, rate) = (Metric::Time, Metric::Bandwidth);
        let of = |metric: Metric, figure: Option<f64>| figure.filter(|_| self.metric == metric);
        let mut row = self.identity.clone();
        row = row.with("old_us", of(time, self.old)).with("new_us", of(time, self.new));
        if rates {
            row = row.with("old_mb_s", of(rate, self.old)).with("new_mb_s", of(rate, self.new));
        }
        row.with("ratio", self.ratio)
            .with("ratio_low", self.interval.map(|(low, _)| low))
            .with("ratio_high", self.interval.map(|(_, high)| high))
            .with("verdict", self.verdict.name())
            .with("note", self.note.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_counts_beyond_the_threshold_and_outside_the_interval() {
        let of = |ratio, interval| verdict(ratio, interval, 0.05);
        assert_eq!(of(1.2, None), Verdict::Slower);
        assert_eq!(of(1.2, Some((1.1, 1.3))), Verdict::Slower);
        assert_eq!(of(1.2, Some((0.9, 1.6))), Verdict::Unknown);
        assert_eq!(of(1.04, Some((1.03, 1.05))), Verdict::Same);
        assert_eq!(of(0.97, None), Verdict::Same);
        assert_eq!(of(0.8, Some((0.7, 0.9))), Verdict::Faster);
        assert_eq!(of(0.8, Some((0.5, 1.1))), Verdict::Unknown);
    }

    #[test]
    fn separate_ranges_of_few_launches_may_be_chance() {
        for (launches, chance) in [([2, 2], 1.0 / 3.0), ([3, 3], 0.1), ([4, 4], 2.0 / 70.0)] {
            assert!((chance_of_separation(launches) - chance).abs() < 1e-12, "{launches:?}");
        }
        assert!((chance_of_separation([2, 8]) - chance_of_separation([8, 2])).abs() < 1e-12);
    }
}
