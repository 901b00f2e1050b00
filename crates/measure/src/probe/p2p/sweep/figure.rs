//! A figure between ranks as a row, and the columns that fit a screen.

use laneway_core::{Rank, Row, Value};
use laneway_stats::{Interval, Summary};

use super::super::disjoint::Estimate;
use super::super::pattern::Pattern;
use super::notes::Samples;
use crate::Rule;
use crate::flags::{self, NO_TIME, OVERLAPPING, PRECISION, RESOLUTION, TICKS};

/// What one pattern came to on one subset of ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// None for L, which is computed from other figures.
    pattern: Option<Pattern>,
    ranks: Vec<Rank>,
    size: usize,
    /// Of the message that comes home, where it has a size of its own.
    back: Option<usize>,
    window: usize,
    estimate: Estimate,
    /// What it rests on; none for what is computed from other figures.
    samples: Option<Samples>,
    /// There is no L, as both ends of a message are busy at the same time.
    is_overlapping: bool,
}

impl Figure {
    pub(super) fn new(
        pattern: Pattern,
        ranks: &[Rank],
        size: usize,
        window: usize,
        estimate: Estimate,
    ) -> Figure {
        Figure {
            pattern: Some(pattern),
            ranks: ranks.to_vec(),
            size,
            back: None,
            window,
            estimate,
            samples: None,
            is_overlapping: false,
        }
    }

    /// L of the pair whose gap was measured; of `others` it is computed.
    pub(super) fn rest(gap: &Figure, latency: Option<Estimate>, others: &[Figure]) -> Figure {
        let estimates = || others.iter().map(|figure| figure.estimate);
        let estimate = latency.unwrap_or_else(|| Estimate {
            value: f64::NAN,
            interval: None,
            error: None,
            reps: estimates().map(|estimate| estimate.reps).min().unwrap_or(0),
            reached: estimates().all(|estimate| estimate.reached),
        });
        let is_overlapping = latency.is_none();
        Figure { pattern: None, samples: None, estimate, is_overlapping, ..gap.clone() }
    }

    pub(super) fn with_back(self, back: Option<usize>) -> Figure {
        Figure { back, ..self }
    }

    /// With its samples, if they are those of the estimate.
    pub(super) fn with_samples(self, samples: Option<Samples>) -> Figure {
        let reps = self.estimate.reps as usize;
        let samples = samples.filter(|samples| samples.summary.count == reps);
        Figure { samples, ..self }
    }

    /// The pattern, or `L`.
    pub fn name(&self) -> &'static str {
        self.pattern.map_or("L", Pattern::name)
    }

    /// What the repetitions came to: seconds, or of an overlap the part that was hidden.
    pub fn estimate(&self) -> &Estimate {
        &self.estimate
    }

    fn is_part(&self) -> bool {
        self.pattern == Some(Pattern::Overlap)
    }

    /// Who took part; the first sends.
    pub fn ranks(&self) -> &[Rank] {
        &self.ranks
    }

    /// Bytes of a message.
    pub fn size(&self) -> u64 {
        self.size as u64
    }

    /// Seconds, where it is a time and was measured.
    pub fn time(&self) -> Option<f64> {
        let is_time = !self.is_part() && !self.is_overlapping && !self.is_missed();
        is_time.then_some(self.estimate.value)
    }

    /// What tells it from other figures of one size.
    pub(super) fn curve(&self) -> (&'static str, &[Rank]) {
        (self.name(), &self.ranks)
    }

    /// What takes no time, or less, was not measured. Of a part nothing may be hidden, but it must
    /// be a number. Where there is no L nothing was missed.
    pub fn is_missed(&self) -> bool {
        let value = self.estimate.value;
        let is_figure = value.is_finite() && (value > 0.0 || self.is_part());
        !is_figure && !self.is_overlapping
    }

    fn flags(&self, tick: f64, rule: &Rule) -> String {
        let mut flags = Vec::new();
        flags.extend((!self.estimate.reached).then_some(PRECISION));
        if self.is_overlapping {
            flags.push(OVERLAPPING);
            return flags.join(",");
        }
        flags.extend(self.estimate.caution(rule));
        let span = self.pattern.map_or(1, |pattern| pattern.span(self.size, self.window));
        if self.is_missed() {
            flags.push(NO_TIME);
        } else if !self.is_part() && self.estimate.value * (span as f64) < TICKS * tick {
            flags.push(RESOLUTION);
        }
        flags.join(",")
    }

    /// All columns, the same for every pattern; `tick` is the clock's, `seed` that of the order of
    /// the points, and `rule` what the repetitions followed.
    pub(super) fn row(&self, tick: f64, seed: u64, rule: &Rule) -> Row {
        let Estimate { value, interval, error, reps, .. } = self.estimate;
        let is_part = self.is_part();
        let is_triple = self.pattern == Some(Pattern::PointToTwo);
        let low = |interval: Interval| interval.low;
        let high = |interval: Interval| interval.high;
        let us = |number: Option<f64>| number.filter(|_| !is_part).map(|number| number * 1e6);
        // More than all cannot be hidden: what is beyond is the clock's.
        let percent =
            |number: Option<f64>| number.filter(|_| is_part).map(|part| (part * 100.0).min(100.0));
        let messages = self.pattern.and_then(|pattern| pattern.messages(self.ranks.len()));
        let messages =
            messages.filter(|_| !self.is_missed()).map(|messages| messages as f64 / value);
        let rate = messages.filter(|_| self.pattern == Some(Pattern::Rate));
        let bytes = messages.filter(|_| self.size > 0).map(|rate| rate * self.size as f64);
        let samples = self.samples.as_ref();
        let of = |which: fn(&Summary) -> f64| us(samples.map(|samples| which(&samples.summary)));
        let row = Row::new()
            .with("pattern", self.name())
            .with("from", self.ranks.first().copied())
            .with("to", self.ranks.get(1).copied())
            .with("and", self.ranks.get(2).copied().filter(|_| is_triple))
            .with("ranks", self.ranks.len() as u32)
            .with("size_bytes", self.size as u64)
            .with("back_bytes", self.back.map(|back| back as u64))
            .with("window", self.window as u32)
            .with("reps", reps)
            .with("time_us", us((!self.is_overlapping).then_some(value)))
            .with("ci_low_us", us(interval.map(low)))
            .with("ci_high_us", us(interval.map(high)))
            .with("ci_level", interval.map(|interval| interval.level))
            .with("ci_scope", interval.map(|_| "launch"))
            .with("error", error)
            .with("mean_us", of(|summary| summary.mean))
            .with("median_us", of(|summary| summary.median))
            .with("min_us", of(|summary| summary.min))
            .with("max_us", of(|summary| summary.max))
            .with("stddev_us", of(|summary| summary.stddev))
            .with("p99_us", of(|summary| summary.p99))
            .with("warm_up", samples.map(|samples| samples.warm_up))
            .with("outliers", samples.map(|samples| samples.outliers))
            .with("bandwidth_mb_s", bytes.map(|bytes| bytes / 1e6))
            .with("messages_per_s", rate)
            .with("overlap_percent", percent(Some(value)))
            .with("overlap_low_percent", percent(interval.map(low)))
            .with("overlap_high_percent", percent(interval.map(high)))
            .with("flags", self.flags(tick, rule))
            .with("seed", seed);
        match samples.filter(|samples| !is_part && !samples.samples.is_empty()) {
            Some(samples) => {
                let all: Vec<f64> = samples.samples.iter().map(|sample| sample * 1e6).collect();
                row.with("samples_us", all)
            }
            None => row,
        }
    }

    /// The columns of every row, with nothing in them.
    pub fn empty_row() -> Row {
        let none = Estimate { value: 1.0, interval: None, error: None, reps: 2, reached: true };
        let mut row = Figure::new(Pattern::Latency, &[], 0, 1, none).row(0.0, 0, &Rule::default());
        for (_, value) in &mut row.0 {
            *value = match value {
                Value::Text(_) => "".into(),
                _ => Value::Nothing,
            };
        }
        row
    }
}

/// Columns that a person needs only in a file.
const IN_FILES: [&str; 13] = [
    "ci_level",
    "ci_scope",
    "error",
    "mean_us",
    "median_us",
    "min_us",
    "max_us",
    "stddev_us",
    "p99_us",
    "warm_up",
    "outliers",
    "seed",
    "samples_us",
];

/// The rows without columns that have no value in any row, and without those for files.
pub fn brief(rows: &[Row]) -> Vec<Row> {
    let says = |value: &Value| *value != Value::Nothing;
    let is_shown = |name: &str| {
        let is_used = rows.iter().any(|row| row.get(name).is_some_and(says));
        is_used && !IN_FILES.contains(&name)
    };
    rows.iter().map(|row| flags::spaced(row.only(is_shown))).collect()
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;

    fn figure(pattern: Pattern, value: f64, reached: bool) -> Figure {
        let interval = Some(Interval { low: value, high: value, level: 0.95 });
        let estimate = Estimate { value, interval, error: None, reps: 9, reached };
        Figure::new(pattern, &[0, 1], 8, 1, estimate)
    }

    fn flags(figure: &Figure) -> Value {
        let row = figure.row(1e-9, 1, &Rule::default());
        let has_time = figure.name() != "overlap" && !figure.is_overlapping;
        assert_eq!(row.get("time_us").is_some_and(|time| *time != Value::Nothing), has_time);
        assert_eq!(row.0.len(), 30);
        row.get("flags").cloned().expect("flags")
    }

    #[test]
    fn what_took_no_time_is_reported() {
        for missed in [0.0, -1e-6, f64::NAN, f64::INFINITY] {
            let figure = figure(Pattern::Gap, missed, true);
            assert_eq!(flags(&figure), "no time".into(), "{missed}");
            assert!(figure.is_missed() && figure.time().is_none());
        }
        assert_eq!(flags(&figure(Pattern::Gap, 1e-6, true)), "".into());
        assert_eq!(flags(&figure(Pattern::Gap, 1e-12, false)), "precision,resolution".into());
        // Nothing hidden is an answer, and no number is none.
        assert_eq!(flags(&figure(Pattern::Overlap, 0.0, true)), "".into());
        assert_eq!(flags(&figure(Pattern::Overlap, -0.1, true)), "".into());
        let none = figure(Pattern::Overlap, f64::NAN, false);
        assert_eq!(flags(&none), "precision,no time".into());
    }

    #[test]
    fn where_there_is_no_l_nothing_was_missed() {
        let gap = figure(Pattern::Gap, 1e-6, false);
        let none = Figure::rest(&gap, None, from_ref(&gap));
        assert_eq!((none.name(), none.time(), none.is_missed()), ("L", None, false));
        assert_eq!(flags(&none), "precision,overlapping".into());
        let some = Figure::rest(&gap, Some(*gap.estimate()), from_ref(&gap));
        assert_eq!((some.name(), some.time()), ("L", Some(1e-6)));
        assert_eq!(flags(&some), "precision".into());
    }

    #[test]
    fn an_empty_row_has_all_columns() {
        let full = figure(Pattern::Latency, 1.0, true).row(0.0, 0, &Rule::default());
        let names = |row: &Row| row.0.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>();
        assert_eq!(names(&Figure::empty_row()), names(&full));
        // What is a text keeps its column, also where it is empty.
        assert_eq!(names(&brief(&[Figure::empty_row()])[0]), ["pattern", "flags"]);
    }
}
