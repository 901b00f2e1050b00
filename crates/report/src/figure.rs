//! What there is to draw in a run: a chart for each operation, in it a curve for each way of doing
//! it, on it a point for each size.

use std::collections::{BTreeMap, BTreeSet};

use laneway_core::Value;
use laneway_core::units::parse_size;

use crate::run::{Extent, Record, Run};

/// The columns, beside the operation and the size, that distinguish two rows.
pub const IDENTITY: [&str; 11] = [
    "algorithm",
    "form",
    "ranks",
    "root",
    "timing",
    "isolation",
    "from",
    "to",
    "and",
    "back_bytes",
    "window",
];

/// What is drawn over the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Metric {
    /// How long it takes.
    Time,
    /// How many bytes a second pass.
    Bandwidth,
}

impl Metric {
    /// Both, times first.
    pub const ALL: [Metric; 2] = [Metric::Time, Metric::Bandwidth];

    /// The column that has it.
    pub fn column(self) -> &'static str {
        match self {
            Metric::Time => "time_us",
            Metric::Bandwidth => "bandwidth_mb_s",
        }
    }

    /// What stands at its axis.
    pub fn title(self) -> &'static str {
        match self {
            Metric::Time => "time (µs)",
            Metric::Bandwidth => "bandwidth (MB/s)",
        }
    }

    /// The figure of a row where it has a positive one, and its interval where that is known. The
    /// interval of a time may reach down to 0, and that of its bandwidth then has no upper end. A
    /// bandwidth without a time may have an interval of its own.
    pub fn of(self, row: &Record) -> Option<(f64, Option<(f64, f64)>)> {
        let positive = |name: &str| row.number(name).filter(|number| *number > 0.0);
        let figure = positive(self.column())?;
        let ends = row.number("ci_low_us").zip(positive("ci_high_us"));
        let ends = ends.map(|(low, high)| (low.max(0.0), high)).filter(|(low, high)| low <= high);
        let interval = match self {
            Metric::Time => ends,
            // A bandwidth is a number of bytes over a time: as the one grows the other falls.
            Metric::Bandwidth => positive(Metric::Time.column())
                .zip(ends)
                .map(|(time, (low, high))| (figure * time / high, figure * time / low))
                .or(positive("bandwidth_ci_low_mb_s").zip(positive("bandwidth_ci_high_mb_s"))),
        };
        Some((figure, interval))
    }
}

/// A figure at a size.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The size.
    pub size_bytes: f64,
    /// What was measured.
    pub figure: f64,
    /// Its lower and upper end, where both can be drawn.
    pub interval: Option<(f64, f64)>,
}

/// Points of one kind, by rising size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// What distinguishes it from its neighbours in the chart.
    pub label: String,
    /// All that is known of what it is, by column; not the algorithm where that changes.
    pub identity: Vec<(&'static str, String)>,
    /// Which algorithm serves from which size on, where it changes with the size, as that of a
    /// default does.
    pub algorithms: Vec<(f64, String)>,
    /// Its points.
    pub points: Vec<Point>,
    /// Sizes that were asked for and have no point: a line does not pass them.
    pub gaps: Vec<f64>,
}

impl Curve {
    /// Its points, parted where one is missing in between.
    pub fn parts(&self) -> Vec<&[Point]> {
        let is_whole = |a: &Point, b: &Point| {
            !self.gaps.iter().any(|gap| (a.size_bytes..b.size_bytes).contains(gap))
        };
        self.points.chunk_by(is_whole).collect()
    }
}

/// All curves of one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The operation, or the pattern of messages.
    pub op: String,
    /// What is drawn.
    pub metric: Metric,
    /// In the order of their first rows.
    pub curves: Vec<Curve>,
}

/// The charts of some runs, in the order in which the operations first appear.
pub fn charts(runs: &[Run]) -> Vec<Chart> {
    let changes = Changes::of(runs);
    let planned: Vec<BTreeSet<u64>> = runs.iter().map(planned_sizes).collect();
    // All pairs of many ranks are as many curves: none is looked for by going through the others.
    let (mut ops, mut places, mut groups) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    let numbered = runs.iter().enumerate();
    for (number, row) in numbered.flat_map(|(at, run)| run.rows.iter().map(move |row| (at, row))) {
        let run = &runs[number];
        let op = row.op().map_or("rows".into(), plain);
        let first = *ops.entry(op.clone()).or_insert_with(|| {
            groups.extend(
                Metric::ALL.map(|metric| (op.clone(), metric, Vec::<(usize, Curve)>::new())),
            );
            groups.len() - Metric::ALL.len()
        });
        for (kind, metric) in Metric::ALL.into_iter().enumerate() {
            let Some((size_bytes, (figure, interval))) =
                row.number("size_bytes").zip(metric.of(row))
            else {
                continue;
            };
            let group = first + kind;
            let curves = &mut groups[group].2;
            let (identity, algorithms) = changes.identity(&run.name, row);
            let place = *places.entry((group, number, identity.clone())).or_insert_with(|| {
                curves.push((number, Curve { identity, algorithms, ..Curve::default() }));
                curves.len() - 1
            });
            // A logarithm has no place for an interval that reaches 0 or has no end.
            let interval = interval.filter(|(low, high)| *low > 0.0 && high.is_finite());
            let point = Point { size_bytes: size_bytes.max(0.0), figure, interval };
            curves[place].1.points.push(point);
        }
    }
    groups.retain(|(_, _, curves)| !curves.is_empty());
    let mut charts = Vec::new();
    for (op, metric, mut curves) in groups {
        for (number, curve) in &mut curves {
            curve.points.sort_by(|a, b| a.size_bytes.total_cmp(&b.size_bytes));
            curve.gaps = gaps(&op, &planned[*number], curve, &runs[*number].extent);
        }
        let curves = curves.into_iter().map(|(number, curve)| (&*runs[number].name, curve));
        charts.push(Chart { curves: labelled(&op, curves.collect()), op, metric });
    }
    charts
}

/// The sizes that a run was asked for, as its parameters have them. CSV has none: of a run that was
/// stopped, each curve should have the sizes of all others.
fn planned_sizes(run: &Run) -> BTreeSet<u64> {
    let sizes = run.params.iter().find(|(name, _)| name == "sizes").map(|(_, sizes)| plain(sizes));
    match sizes {
        Some(sizes) => sizes.split(',').filter_map(|size| parse_size(size).ok()).collect(),
        None if run.extent.is_incomplete() => {
            let sizes = run.rows.iter().filter_map(|row| row.number("size_bytes"));
            sizes.map(|size| size as u64).collect()
        }
        None => BTreeSet::new(),
    }
}

/// The sizes that a curve lacks. In a complete run they were left out on purpose, and count only
/// between its points.
fn gaps(op: &str, planned: &BTreeSet<u64>, curve: &Curve, extent: &Extent) -> Vec<f64> {
    let size = |point: Option<&Point>| point.map_or(0.0, |point| point.size_bytes);
    let (first, last) = (size(curve.points.first()), size(curve.points.last()));
    let has = |size: f64| curve.points.iter().any(|point| point.size_bytes == size);
    let planned = planned.iter().map(|size| *size as f64).filter(|_| op != "barrier");
    planned
        .filter(|size| extent.is_incomplete() || (first..last).contains(size))
        .filter(|size| !has(*size))
        .collect()
}

type Identity = Vec<(&'static str, String)>;

fn identity(row: &Record) -> Identity {
    IDENTITY.iter().filter_map(|name| Some((*name, distinction(row, name)?))).collect()
}

fn without_algorithm(identity: &Identity) -> Identity {
    identity.iter().filter(|(name, _)| *name != "algorithm").cloned().collect()
}

/// The curves of rows that differ by their algorithm alone, where no size has two: a
/// choice by size was measured, and its curve is one.
struct Changes<'a> {
    /// By run, operation and what else distinguishes curves: the algorithms by size in bits.
    curves: BTreeMap<(&'a str, String, Identity), BTreeMap<u64, BTreeSet<String>>>,
}

impl<'a> Changes<'a> {
    fn of(runs: &'a [Run]) -> Changes<'a> {
        let mut curves = BTreeMap::new();
        for (run, row) in runs.iter().flat_map(|run| run.rows.iter().map(move |row| (run, row))) {
            let size = row.number("size_bytes").map(|size| size.max(0.0).to_bits());
            let Some((algorithm, size)) = distinction(row, "algorithm").zip(size) else { continue };
            let key = Changes::key(&run.name, row);
            let sizes: &mut BTreeMap<u64, BTreeSet<String>> = curves.entry(key).or_default();
            sizes.entry(size).or_default().insert(algorithm);
        }
        Changes { curves }
    }

    fn key<'k>(run: &'k str, row: &Record) -> (&'k str, String, Identity) {
        (run, row.op().map_or("rows".into(), plain), without_algorithm(&identity(row)))
    }

    /// What distinguishes a row's curve from others, and the algorithms of the curve by size where
    /// they change.
    fn identity(&self, run: &str, row: &Record) -> (Identity, Vec<(f64, String)>) {
        let whole = identity(row);
        let sizes = self.curves.get(&Changes::key(run, row));
        let Some(sizes) = sizes.filter(|sizes| sizes.values().all(|names| names.len() == 1)) else {
            return (whole, Vec::new());
        };
        let mut algorithms: Vec<(f64, String)> = Vec::new();
        // Of floating-point numbers that are not negative the bits are in the same order.
        for (size, name) in
            sizes.iter().flat_map(|(size, names)| names.iter().map(move |n| (size, n)))
        {
            if algorithms.last().is_none_or(|(_, last)| last != name) {
                algorithms.push((f64::from_bits(*size), name.clone()));
            }
        }
        match algorithms.len() {
            0 | 1 => (whole, Vec::new()),
            _ => (without_algorithm(&whole), algorithms),
        }
    }
}

/// The value of a distinguishing column. A method of timing that had to fall back
/// says so as `start-time>maximum`, and is still the one that was asked for.
pub fn distinction(row: &Record, name: &str) -> Option<String> {
    let value = plain(row.get(name)?);
    match value.split_once('>') {
        Some((asked, _)) if name == "timing" => Some(asked.to_owned()),
        _ => Some(value),
    }
}

/// Names the curves by their algorithm and by whatever else differs between them.
fn labelled(op: &str, mut curves: Vec<(&str, Curve)>) -> Vec<Curve> {
    fn value<'a>(curve: &'a Curve, name: &str) -> Option<&'a str> {
        curve.identity.iter().find(|(n, _)| *n == name).map(|(_, value)| value.as_str())
    }
    let differs = |name: &str| {
        let first = curves.first().and_then(|(_, curve)| value(curve, name));
        curves.iter().any(|(_, curve)| value(curve, name) != first)
    };
    let shown: Vec<&str> =
        IDENTITY.into_iter().filter(|name| *name == "algorithm" || differs(name)).collect();
    let several_runs = curves.iter().any(|(run, _)| *run != curves[0].0);
    for (run, curve) in &mut curves {
        let mut words: Vec<String> = Vec::new();
        if !curve.algorithms.is_empty() {
            let mut names: Vec<&str> = Vec::new();
            for (_, name) in &curve.algorithms {
                if !names.contains(&name.as_str()) {
                    names.push(name);
                }
            }
            words.push(names.join(" then "));
        }
        for name in &shown {
            match (*name, value(curve, name)) {
                (_, None) => {}
                ("algorithm" | "form" | "timing" | "isolation", Some(word)) => {
                    words.push(word.into())
                }
                (name, Some(word)) => words.push(format!("{name} {word}")),
            }
        }
        if words.is_empty() {
            words.push(op.to_owned());
        }
        if several_runs {
            words.push(format!("({run})"));
        }
        curve.label = words.join(" ");
    }
    curves.into_iter().map(|(_, curve)| curve).collect()
}

/// A value as one line of text.
pub fn plain(value: &Value) -> String {
    let text = match value {
        Value::Text(text) => text.clone(),
        Value::Whole(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Truth(truth) => truth.to_string(),
        Value::List(numbers) => format!("{} figures", numbers.len()),
        Value::Nothing => String::new(),
    };
    text.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::document;
    use laneway_core::Row;

    #[test]
    fn a_chart_for_each_operation_and_a_curve_for_each_algorithm() {
        let charts = charts(&[Run::from(&document())]);
        let seen: Vec<(&str, Metric)> = charts.iter().map(|c| (c.op.as_str(), c.metric)).collect();
        assert_eq!(seen, [("bcast", Metric::Time), ("stream", Metric::Bandwidth)]);
        let curve = &charts[0].curves[0];
        assert_eq!(curve.label, "binomial");
        let sizes: Vec<f64> = curve.points.iter().map(|point| point.size_bytes).collect();
        assert_eq!(sizes, [8.0, 1024.0]);
        assert_eq!(curve.points[0].interval, Some((2.25, 2.75)));
        // A time of zero is not a measurement, and a logarithm would not have it.
        assert_eq!(charts[0].curves[1].points.len(), 1);
        assert_eq!(charts[1].curves[0].label, "stream");
    }

    #[test]
    fn labels_name_the_differences() {
        let (mut old, mut new) = (Run::from(&document()), Run::from(&document()));
        (old.name, new.name) = ("old".into(), "new".into());
        new.rows[0].fields[2].1 = Value::Whole(8);
        let charts = charts(&[old, new]);
        let labels: Vec<&str> = charts[0].curves.iter().map(|curve| curve.label.as_str()).collect();
        assert_eq!(labels[0], "binomial ranks 16 (old)");
        assert_eq!(labels[2], "binomial ranks 8 (new)");
    }

    #[test]
    fn a_choice_by_size_is_one_curve() {
        let row = |algorithm: &str, size: u32, time: f64| {
            let row = Row::new().with("op", "bcast").with("algorithm", algorithm);
            row.with("ranks", 4u32).with("size_bytes", size).with("time_us", time)
        };
        let mut rows = vec![row("ring", 1024, 9.0), row("linear", 8, 1.0), row("linear", 64, 2.0)];
        let drawn = |rows: &[Row]| {
            let rows = rows.iter().map(Record::from).collect();
            charts(&[Run { rows, ..Run::default() }]).remove(0).curves
        };
        let curves = drawn(&rows);
        assert_eq!(curves.len(), 1);
        assert_eq!((curves[0].label.as_str(), curves[0].points.len()), ("linear then ring", 3));
        let wanted = [(8.0, "linear".to_owned()), (1024.0, "ring".to_owned())];
        assert_eq!(curves[0].algorithms, wanted);
        assert_eq!(curves[0].identity, [("ranks", "4".to_owned())]);
        // Two algorithms at one size were measured against each other.
        rows.push(row("ring", 8, 3.0));
        let labels: Vec<String> = drawn(&rows).into_iter().map(|curve| curve.label).collect();
        assert_eq!(labels, ["ring", "linear"]);
    }

    #[test]
    fn a_size_that_is_missing_parts_a_curve() {
        let row = |size: u32| Row::new().with("op", "bcast").with("size_bytes", size);
        let row = |size: u32| Record::from(&row(size).with("time_us", f64::from(size)));
        let run = |sizes: &[u32], extent: Extent| Run {
            params: vec![("sizes".into(), "8,64,512,4K".into())],
            rows: sizes.iter().map(|size| row(*size)).collect(),
            extent,
            ..Run::default()
        };
        let parts = |run: Run| {
            let curve = charts(&[run]).remove(0).curves.remove(0);
            (curve.parts().iter().map(|part| part.len()).collect::<Vec<_>>(), curve.gaps)
        };
        let stopped = || Extent::Incomplete("3 of 4 points".into());
        assert_eq!(parts(run(&[8, 64, 512, 4096], Extent::Complete)), (vec![4], vec![]));
        assert_eq!(parts(run(&[8, 512, 4096], stopped())), (vec![1, 2], vec![64.0]));
        assert_eq!(parts(run(&[8, 64, 512], stopped())), (vec![3], vec![4096.0]));
        assert_eq!(parts(run(&[8, 64, 512], Extent::Complete)), (vec![3], vec![]));
        // A size that was refined is not a gap of another curve.
        assert_eq!(parts(run(&[8, 64, 100, 512, 4096], Extent::Complete)), (vec![5], vec![]));
    }

    #[test]
    fn a_method_that_fell_back_stays_on_its_curve() {
        let mut run = Run::from(&document());
        run.rows[0].push("timing", "start-time>maximum".into());
        run.rows[1].push("timing", "start-time".into());
        assert_eq!(charts(&[run])[0].curves[0].points.len(), 2);
    }

    #[test]
    fn a_bandwidth_takes_its_interval_from_the_time() {
        let mut row = Record::default();
        for (name, value) in
            [("time_us", 2.0), ("ci_low_us", 1.0), ("ci_high_us", 4.0), ("bandwidth_mb_s", 100.0)]
        {
            row.push(name, value.into());
        }
        assert_eq!(Metric::Bandwidth.of(&row), Some((100.0, Some((50.0, 200.0)))));
    }
    #[test]
    fn an_interval_that_reaches_zero_is_not_drawn() {
        let mut row = Record::default();
        for (name, value) in
            [("size_bytes", 8.0), ("time_us", 2.0), ("ci_low_us", -1.0), ("ci_high_us", 4.0)]
        {
            row.push(name, value.into());
        }
        assert_eq!(Metric::Time.of(&row), Some((2.0, Some((0.0, 4.0)))));
        let charts = charts(&[Run { rows: vec![row], ..Run::default() }]);
        assert_eq!(charts[0].curves[0].points[0].interval, None);
    }
}
