//! A figure between ranks as a row, and the columns that fit a screen.

use laneway_core::{Rank, Row, Value};
use laneway_measure::Rule;
use laneway_measure::flags::{NO_TIME, PRECISION, RESOLUTION};
use laneway_measure::p2p::{Estimate, Pattern};
use laneway_stats::{Interval, Summary};

use super::noted::Noted;

/// A time rests on a clock that shows so many steps for it.
const TICKS: f64 = 2.0;

/// What one pattern came to on one subset of ranks.
pub struct Figure {
    name: &'static str,
    /// None for what is computed from other figures.
    pattern: Option<Pattern>,
    ranks: Vec<Rank>,
    size: usize,
    /// Of the message that comes home, where it has a size of its own.
    back: Option<usize>,
    window: usize,
    pub estimate: Estimate,
    /// What it rests on; none for what is computed from other figures.
    noted: Option<Noted>,
}

impl Figure {
    pub fn new(
        name: &'static str,
        pattern: Option<Pattern>,
        ranks: &[Rank],
        size: usize,
        window: usize,
        estimate: Estimate,
    ) -> Figure {
        let (ranks, back, noted) = (ranks.to_vec(), None, None);
        Figure { name, pattern, ranks, size, back, window, estimate, noted }
    }

    pub fn with_back(self, back: Option<usize>) -> Figure {
        Figure { back, ..self }
    }

    /// With its samples, if they are those of the estimate.
    pub fn with_noted(self, noted: Option<Noted>) -> Figure {
        let reps = self.estimate.reps as usize;
        let noted = noted.filter(|noted| noted.summary.count == reps);
        Figure { noted, ..self }
    }

    fn is_part(&self) -> bool {
        self.pattern == Some(Pattern::Overlap)
    }

    pub fn ranks(&self) -> &[Rank] {
        &self.ranks
    }

    pub fn size(&self) -> u64 {
        self.size as u64
    }

    /// Seconds, where it is a time and was measured.
    pub fn time(&self) -> Option<f64> {
        (!self.is_part() && !self.is_missed()).then_some(self.estimate.value)
    }

    /// What tells it from other figures of one size.
    pub fn curve(&self) -> (&'static str, &[Rank]) {
        (self.name, &self.ranks)
    }

    /// What takes no time, or less, was not measured. Of a part nothing may be hidden, but it must
    /// be a number.
    pub fn is_missed(&self) -> bool {
        let value = self.estimate.value;
        if self.is_part() { !value.is_finite() } else { !(value > 0.0 && value.is_finite()) }
    }

    /// All columns, the same for every pattern; `tick` is the clock's, `seed` that of the order of
    /// the points, and `rule` what the repetitions followed.
    pub fn row(&self, tick: f64, seed: u64, rule: &Rule) -> Row {
        let Estimate { value, interval, error, reps, reached } = self.estimate;
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
        let mut flags = Vec::new();
        if !reached {
            flags.push(PRECISION);
        }
        let noted = self.noted.as_ref();
        flags.extend(self.estimate.caution(rule));
        let span = self.pattern.map_or(1, |pattern| pattern.span(self.size, self.window));
        if self.is_missed() {
            flags.push(NO_TIME);
        } else if !is_part && value * (span as f64) < TICKS * tick {
            flags.push(RESOLUTION);
        }
        let of = |which: fn(&Summary) -> f64| us(noted.map(|noted| which(&noted.summary)));
        let row = Row::new()
            .with("pattern", self.name)
            .with("from", self.ranks.first().copied())
            .with("to", self.ranks.get(1).copied())
            .with("and", self.ranks.get(2).copied().filter(|_| is_triple))
            .with("ranks", self.ranks.len() as u32)
            .with("size_bytes", self.size as u64)
            .with("back_bytes", self.back.map(|back| back as u64))
            .with("window", self.window as u32)
            .with("reps", reps)
            .with("time_us", us(Some(value)))
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
            .with("warm_up", noted.map(|noted| noted.warm_up))
            .with("outliers", noted.map(|noted| noted.outliers))
            .with("bandwidth_mb_s", bytes.map(|bytes| bytes / 1e6))
            .with("messages_per_s", rate)
            .with("overlap_percent", percent(Some(value)))
            .with("overlap_low_percent", percent(interval.map(low)))
            .with("overlap_high_percent", percent(interval.map(high)))
            .with("flags", flags.join(","))
            .with("seed", seed);
        match noted.filter(|noted| !is_part && !noted.samples.is_empty()) {
            Some(noted) => {
                let samples: Vec<f64> = noted.samples.iter().map(|sample| sample * 1e6).collect();
                row.with("samples_us", samples)
            }
            None => row,
        }
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

/// The rows without columns that no row has something in, and without those for files.
pub fn brief(rows: &[Row]) -> Vec<Row> {
    let says = |value: &Value| *value != Value::Nothing && *value != Value::from("");
    let shown = |name: &str| {
        let said = rows.iter().any(|row| row.get(name).is_some_and(says));
        said && !IN_FILES.contains(&name)
    };
    rows.iter().map(|row| row.only(shown)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(name: &'static str, pattern: Option<Pattern>, value: f64, reached: bool) -> Value {
        let interval = Some(Interval { low: value, high: value, level: 0.95 });
        let estimate = Estimate { value, interval, error: None, reps: 9, reached };
        let figure = Figure::new(name, pattern, &[0, 1], 8, 1, estimate);
        let row = figure.row(1e-9, 1, &Rule::default());
        assert_eq!(
            row.get("time_us").is_some_and(|time| *time == Value::Nothing),
            name == "overlap"
        );
        assert_eq!(row.0.len(), 30);
        row.get("flags").cloned().expect("flags")
    }

    #[test]
    fn what_took_no_time_is_told() {
        let gap = Some(Pattern::Gap);
        for missed in [0.0, -1e-6, f64::NAN, f64::INFINITY] {
            assert_eq!(flags("gap", gap, missed, true), "no time".into(), "{missed}");
        }
        assert_eq!(flags("L", None, -1e-6, false), "precision,no time".into());
        assert_eq!(flags("gap", gap, 1e-6, true), "".into());
        assert_eq!(flags("gap", gap, 1e-12, false), "precision,resolution".into());
        // Nothing hidden is an answer, and no number is none.
        let overlap = Some(Pattern::Overlap);
        assert_eq!(flags("overlap", overlap, 0.0, true), "".into());
        assert_eq!(flags("overlap", overlap, -0.1, true), "".into());
        assert_eq!(flags("overlap", overlap, f64::NAN, false), "precision,no time".into());
    }
}
