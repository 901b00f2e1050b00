//! The rows of several launches as one: each launch counts as one sample of the time. What becomes
//! of a column follows from its name, so that collectives and messages are joined alike.

use std::collections::BTreeMap;
use std::fmt;

use laneway_core::{Row, Value};
use laneway_stats::{Interval, Summary, median, median_interval, sorted};

use crate::run::{Record, Run};

/// The flag of a row whose launches were timed by different methods.
pub const MIXED_TIMING: &str = "mixed timing";
/// The flag of a row that has no interval.
pub const NO_INTERVAL: &str = "no interval";
/// The flag of a row of too few launches for an interval: it has their range.
pub const RANGE: &str = "range";

/// `ci_scope` of an interval within one launch.
pub const SCOPE_LAUNCH: &str = "launch";
/// `ci_scope` of an interval of the median over launches.
pub const SCOPE_LAUNCHES: &str = "launches";
/// `ci_scope` of the range of too few launches for an interval.
pub const SCOPE_RANGE: &str = "range of launches";

/// What distinguishes points. Not the timing, which a launch may have to change.
const KEY: [&str; 13] = [
    "op",
    "algorithm",
    "form",
    "pattern",
    "from",
    "to",
    "and",
    "ranks",
    "root",
    "size_bytes",
    "back_bytes",
    "window",
    "isolation",
];

fn key(record: &Record) -> String {
    format!("{:?}", KEY.map(|name| record.get(name)))
}

/// A point that some of the launches have not measured.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingPoint {
    /// How many launches have it.
    pub have: usize,
    /// How many launches there are.
    pub launches: usize,
    /// Its operation or pattern, and its size.
    pub point: String,
}

impl fmt::Display for MissingPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} launches have {}", self.have, self.launches, self.point)
    }
}

impl std::error::Error for MissingPoint {}

/// A row for each point of the first launch. Of several launches the time is their median, and its
/// interval of that level is between two of the launches, whatever their distribution. Fewer than
/// six launches have none at 95 %: the ends are then the shortest and the longest of them, which
/// the row names a range.
///
/// ```
/// use laneway_report::{launches, read};
///
/// let run = |time: f64| read("launch", &format!("op,size_bytes,time_us\nbcast,8,{time}\n"));
/// let runs = [2.0, 8.0, 4.0].map(|time| run(time).expect("CSV"));
/// let rows = launches::merge(&runs, 0.95).expect("the same points in all launches");
/// assert_eq!(rows[0].get("time_us"), Some(&4.0.into()));
/// ```
pub fn merge(runs: &[Run], level: f64) -> Result<Vec<Row>, MissingPoint> {
    let mut points: BTreeMap<String, Vec<&Record>> = BTreeMap::new();
    for record in runs.iter().flat_map(|run| &run.rows) {
        points.entry(key(record)).or_default().push(record);
    }
    let first = runs.first().map_or(&[][..], |run| &run.rows);
    let row = |record: &Record| {
        let records = points.get(&key(record)).map_or(&[][..], Vec::as_slice);
        if records.len() != runs.len() {
            let words = ["op", "pattern", "size_bytes"].map(|name| record.get(name));
            let words: Vec<String> = words.into_iter().flatten().map(crate::plain).collect();
            let (have, launches, point) = (records.len(), runs.len(), words.join(" "));
            return Err(MissingPoint { have, launches, point });
        }
        Ok(Point { records }.row(level))
    };
    first.iter().map(row).collect()
}

/// One point as each launch saw it.
struct Point<'a> {
    records: &'a [&'a Record],
}

impl Point<'_> {
    /// The same in all launches.
    fn word(&self, name: &str) -> Value {
        let first = self.records.first().and_then(|record| record.get(name));
        first.cloned().unwrap_or(Value::Nothing)
    }

    /// What the launches say under this name, as far as they say something.
    fn all(&self, name: &str) -> Vec<f64> {
        self.records.iter().filter_map(|record| record.number(name)).collect()
    }

    fn sum(&self, name: &str) -> u64 {
        self.all(name).iter().sum::<f64>() as u64
    }

    fn least(&self, name: &str) -> Option<f64> {
        self.all(name).into_iter().reduce(f64::min)
    }

    fn most(&self, name: &str) -> Option<f64> {
        self.all(name).into_iter().reduce(f64::max)
    }

    fn middle(&self, name: &str) -> Option<f64> {
        median(&self.all(name))
    }

    /// Launch after launch.
    fn joined(&self, name: &str) -> Vec<f64> {
        let list = |record: &&Record| match record.get(name) {
            Some(Value::List(numbers)) => numbers.clone(),
            _ => Vec::new(),
        };
        self.records.iter().flat_map(list).collect()
    }

    /// The methods, a fallback first: `start-time>maximum|start-time` was asked to be by
    /// start-time, and is so in some launches.
    fn methods(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for record in self.records {
            if let Some(Value::Text(name)) = record.get("timing") {
                names.push(name.clone());
            }
        }
        names.sort_by_key(|name| !name.contains('>'));
        names.dedup();
        names
    }

    fn flags(&self, mixed: bool, estimate: &Estimate) -> String {
        let mut flags: Vec<&str> = Vec::new();
        for record in self.records {
            if let Some(Value::Text(text)) = record.get("flags") {
                flags.extend(text.split(',').filter(|flag| !flag.is_empty()));
            }
        }
        if self.records.len() > 1 {
            // What holds for a launch need not hold for all of them.
            flags.retain(|flag| *flag != NO_INTERVAL);
            flags.extend(estimate.interval.is_none().then_some(NO_INTERVAL));
            let is_range = estimate.interval.is_some() && estimate.scope == SCOPE_RANGE;
            flags.extend(is_range.then_some(RANGE));
        }
        flags.extend(mixed.then_some(MIXED_TIMING));
        flags.sort_unstable();
        flags.dedup();
        flags.join(",")
    }

    /// The estimate and what surrounds it. A single launch keeps its own.
    fn estimate(&self, level: f64) -> Estimate {
        let times = self.all("time_us");
        if let [record] = self.records {
            let number = |name: &str| record.number(name);
            let ends = number("ci_low_us").zip(number("ci_high_us")).zip(number("ci_level"));
            let interval = ends.map(|((low, high), level)| Interval { low, high, level });
            let [time, mean, median, stddev] =
                ["time_us", "mean_us", "median_us", "stddev_us"].map(number);
            let error = number("error");
            let scope = SCOPE_LAUNCH;
            return Estimate { time, interval, scope, error, mean, median, stddev };
        }
        let (summary, median) = (Summary::of(&times), median(&times));
        // What is not positive was not measured, and its launch has flagged it.
        let measured = times.len() == self.records.len() && times.iter().all(|time| *time > 0.0);
        let ordered = if measured { sorted(&times) } else { Vec::new() };
        let (interval, scope) = match median_interval(&ordered, level) {
            Some(interval) => (Some(interval), SCOPE_LAUNCHES),
            None => (range(&ordered), SCOPE_RANGE),
        };
        // One launch in a bad spell moves the mean, but not the median.
        let time = median;
        let half = interval.map(|interval| (interval.high - interval.low) / 2.0);
        Estimate {
            time,
            interval,
            scope,
            error: half.zip(time).map(|(half, time)| half / time),
            mean: summary.as_ref().map(|summary| summary.mean),
            median,
            stddev: summary.as_ref().map(|summary| summary.stddev),
        }
    }

    fn row(&self, level: f64) -> Row {
        let (estimate, methods) = (self.estimate(level), self.methods());
        let mut row = Row::new();
        let names = self.records.first().map_or(&[][..], |first| &first.fields);
        for (name, _) in names {
            if name == "reps" {
                row = row.with("launches", self.records.len() as u64);
            }
            let value = match (estimate.column(name), name.as_ref()) {
                (Some(value), _) => value,
                (None, "timing") => methods.join("|").into(),
                (None, "flags") => self.flags(methods.len() > 1, &estimate).into(),
                (None, name) => self.column(name),
            };
            row = row.with(name.clone(), value);
        }
        row = row.with("launch_times_us", self.all("time_us"));
        let samples = self.records.iter().flat_map(|record| &record.samples_us);
        let samples: Vec<f64> = samples.copied().collect();
        match samples.is_empty() {
            true => row,
            false => row.with("launch_reps", self.all("reps")).with("samples_us", samples),
        }
    }

    /// A column that is not about the time itself.
    fn column(&self, name: &str) -> Value {
        match name {
            "reps" | "rejected" | "warm_up" | "outliers" => self.sum(name).into(),
            "cost_us" | "paused_us" => self.all(name).iter().sum::<f64>().into(),
            "min_us" | "bound_low_us" => self.least(name).into(),
            "max_us" | "p99_us" | "clock_error_us" | "bound_high_us" => self.most(name).into(),
            "rank_entries_us" | "rank_exits_us" => self.joined(name).into(),
            // The first launch's, and the same in all of them.
            "seed" => self.word(name),
            name if KEY.contains(&name) => self.word(name),
            name => self.middle(name).map_or(self.word(name), Value::from),
        }
    }
}

/// From the shortest to the longest, with the probability that the median of all possible launches
/// is within.
fn range(ordered: &[f64]) -> Option<Interval> {
    let level = 1.0 - 0.5_f64.powi(ordered.len() as i32 - 1);
    Some(Interval { low: *ordered.first()?, high: *ordered.last()?, level })
}

/// A time with what surrounds it, in microseconds.
struct Estimate {
    time: Option<f64>,
    interval: Option<Interval>,
    scope: &'static str,
    error: Option<f64>,
    mean: Option<f64>,
    median: Option<f64>,
    stddev: Option<f64>,
}

impl Estimate {
    /// The columns that follow from it.
    fn column(&self, name: &str) -> Option<Value> {
        let of = |end: fn(&Interval) -> f64| self.interval.as_ref().map(end);
        Some(match name {
            "time_us" => self.time.into(),
            "ci_low_us" => of(|interval| interval.low).into(),
            "ci_high_us" => of(|interval| interval.high).into(),
            "ci_level" => of(|interval| interval.level).into(),
            "ci_scope" => self.interval.map(|_| self.scope).into(),
            "error" => self.error.into(),
            "mean_us" => self.mean.into(),
            "median_us" => self.median.into(),
            "stddev_us" => self.stddev.into(),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(time: f64, timing: &str, flags: &str) -> Run {
        let row = Row::new()
            .with("op", "bcast")
            .with("size_bytes", 8u32)
            .with("timing", timing)
            .with("reps", 9u32)
            .with("time_us", time)
            .with("ci_low_us", 0.9 * time)
            .with("ci_high_us", 1.2 * time)
            .with("ci_level", 0.96)
            .with("ci_scope", "launch")
            .with("error", 0.15)
            .with("mean_us", time)
            .with("median_us", time)
            .with("stddev_us", 3.0)
            .with("start_skew_us", time / 10.0)
            .with("flags", flags);
        Run { rows: vec![Record::from(&row)], ..Run::default() }
    }

    fn merged(runs: &[Run]) -> Row {
        merge(runs, 0.95).expect("rows").remove(0)
    }

    fn real(row: &Row, name: &str) -> f64 {
        match row.get(name) {
            Some(Value::Real(number)) => *number,
            other => panic!("{name} is {other:?}"),
        }
    }

    #[test]
    fn one_launch_keeps_its_interval_and_its_scope() {
        let row = merged(&[run(10.0, "root", "resolution")]);
        let [low, high] = ["ci_low_us", "ci_high_us"].map(|name| real(&row, name));
        assert_eq!((low, real(&row, "time_us"), high), (9.0, 10.0, 12.0));
        assert_eq!((real(&row, "ci_level"), real(&row, "error")), (0.96, 0.15));
        assert_eq!(row.get("ci_scope"), Some(&"launch".into()));
        assert_eq!(row.get("flags"), Some(&"resolution".into()));
        assert_eq!(real(&row, "stddev_us"), 3.0);
        // What has none says so, as its launch did.
        let mut bare = run(10.0, "root", "no interval,single");
        for (_, value) in bare.rows[0].fields.iter_mut().filter(|(name, _)| name.starts_with("ci_"))
        {
            *value = Value::Nothing;
        }
        let row = merged(&[bare]);
        assert_eq!(row.get("ci_scope"), Some(&Value::Nothing));
        assert_eq!(row.get("flags"), Some(&"no interval,single".into()));
    }

    #[test]
    fn several_launches_are_samples_of_the_time() {
        let runs = [2.0, 8.0, 4.0].map(|time| run(time, "root", "no interval"));
        let row = merged(&runs);
        // Three launches are too few for an interval: the ends are those of their range.
        let [low, time, high] = ["ci_low_us", "time_us", "ci_high_us"].map(|name| real(&row, name));
        assert_eq!((low, time, high), (2.0, 4.0, 8.0));
        assert_eq!((real(&row, "ci_level"), real(&row, "error")), (0.75, 0.75));
        assert_eq!(row.get("ci_scope"), Some(&"range of launches".into()));
        assert!((real(&row, "mean_us") - 14.0 / 3.0).abs() < 1e-12);
        assert!((real(&row, "stddev_us") - (28f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!((real(&row, "median_us"), real(&row, "start_skew_us")), (4.0, 0.4));
        assert_eq!(row.get("reps"), Some(&27u64.into()));
        assert_eq!(row.get("flags"), Some(&"range".into()));
    }

    #[test]
    fn six_launches_have_an_interval_of_their_median() {
        let of = |count: u32| {
            let runs: Vec<Run> = (1..=count).map(|at| run(f64::from(at), "root", "")).collect();
            let row = merged(&runs);
            let [low, high, level] =
                ["ci_low_us", "ci_high_us", "ci_level"].map(|name| real(&row, name));
            (low, high, level, row.get("ci_scope").cloned(), row.get("flags").cloned())
        };
        let range = (Some("range of launches".into()), Some("range".into()));
        assert_eq!(of(5), (1.0, 5.0, 0.9375, range.0, range.1));
        let named = (Some("launches".into()), Some("".into()));
        assert_eq!(of(6), (1.0, 6.0, 0.96875, named.0.clone(), named.1.clone()));
        // From nine on a launch in a bad spell is outside.
        assert_eq!(of(10), (2.0, 9.0, 0.978515625, named.0, named.1));
    }

    #[test]
    fn different_methods_are_named_and_flagged() {
        let one = run(2.0, "start-time", "");
        let other = run(4.0, "start-time>maximum", "start missed");
        for runs in [[one.clone(), other.clone()], [other, one]] {
            let row = merged(&runs);
            assert_eq!(row.get("timing"), Some(&"start-time>maximum|start-time".into()));
            assert_eq!(row.get("flags"), Some(&"mixed timing,range,start missed".into()));
        }
    }

    #[test]
    fn what_was_not_measured_has_no_interval_and_what_is_missing_is_an_error() {
        let row = merged(&[run(2.0, "root", ""), run(-1.0, "root", "no time")]);
        assert_eq!((real(&row, "time_us"), row.get("ci_scope")), (0.5, Some(&Value::Nothing)));
        assert_eq!(row.get("flags"), Some(&"no interval,no time".into()));
        let missing = merge(&[run(2.0, "root", ""), Run::default()], 0.95).expect_err("missing");
        assert_eq!(missing.to_string(), "1 of 2 launches have bcast 8");
    }
}
