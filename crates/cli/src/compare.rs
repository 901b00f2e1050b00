//! `laneway compare`: two files of measurements point by point, and a gate for what became slower.

use std::collections::BTreeMap;

use clap::{Arg, ArgMatches, Command};
use laneway_core::{Document, Exit, Failure, Row, Value};
use laneway_report::figure::{IDENTITY, Metric, distinction, plain};
use laneway_report::{Record, Run};

use crate::output::{self, Output};
use crate::report::load;
use crate::words::{LEVELS, share};

pub fn command() -> Command {
    Command::new("compare")
        .about("Compares two files of measurements and fails where the new one is slower")
        .after_help(
            "Files are JSON or CSV of laneway, or text of OSU or IMB. Points are matched by \
             operation, algorithm, ranks and size, and by whatever else both files tell apart. A \
             difference counts where it exceeds the threshold and the interval of the ratio does \
             not hold 1: from the samples where both files kept them, else from the intervals of \
             both figures, else by the threshold alone, which the note says. Figures of single \
             launches on a real machine count beyond 25 %, and are unknown below that. For \
             bandwidths higher is better.\n\n\
             Exit codes: 0 nothing is slower, 1 something is, 2 nothing can be compared.\n\n\
             Examples:\n  \
             laneway compare before.json after.json\n  \
             laneway compare osu-old.txt osu-new.txt --threshold 10%\n  \
             laneway compare imb.txt run.json --format json | jq .summary",
        )
        .arg(Arg::new("old").value_name("OLD").required(true).help("What was measured before"))
        .arg(Arg::new("new").value_name("NEW").required(true).help("What was measured now"))
        .arg(
            Arg::new("threshold")
                .long("threshold")
                .value_name("SHARE")
                .default_value("5%")
                .help("Differences up to this share do not count"),
        )
        .arg(
            Arg::new("level")
                .long("level")
                .value_name("SHARE")
                .default_value("95%")
                .help("How sure the interval of a ratio is, where it comes from samples"),
        )
        .args(output::args())
}

/// When a difference counts.
struct Rule {
    threshold: f64,
    level: f64,
    /// On a simulated cluster launches are alike, and one is enough.
    simulated: bool,
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let threshold = share("threshold", text("threshold"), THRESHOLDS, "5%")?;
    let level = share("level", text("level"), LEVELS, "95%")?;
    let output = Output::from(matches)?;
    let (old, new) = (load(text("old"))?, load(text("new"))?);
    // CSV does not tell the size of a survey.
    let sized = size(&old).is_some() && size(&new).is_some();
    let (old, new) = (parted(old, sized), parted(new, sized));
    let rule = Rule { threshold, level, simulated: is_simulated(&old) && is_simulated(&new) };
    let columns = columns(&old, &new);
    let points: Vec<Point> =
        pairs(&old, &new, &columns).into_iter().map(|pair| judged(pair, &rule)).collect();
    if points.iter().all(|point| point.ratio.is_none()) {
        return Err(nothing_matches(&old, &new));
    }
    let params = Row::new()
        .with("old", text("old"))
        .with("new", text("new"))
        .with("threshold", rule.threshold)
        .with("level", rule.level);
    let rates = points.iter().any(|point| point.metric == Metric::Bandwidth);
    let rows = points.iter().map(|point| point.row(&columns, rates)).collect();
    let count = |wanted: Verdict| points.iter().filter(|p| p.verdict == wanted).count() as u64;
    let only = |note: &str| points.iter().filter(|p| p.note == note).count() as u64;
    let slower = count(Verdict::Slower);
    let summary = Row::new()
        .with("slower", slower)
        .with("faster", count(Verdict::Faster))
        .with("same", count(Verdict::Same))
        .with("unknown", count(Verdict::Unknown))
        .with("only_old", only(ONLY_OLD))
        .with("only_new", only(ONLY_NEW));
    let (env, summary) = (Row::new(), Some(summary));
    output.write(&Document { verb: "compare", env, params, rows, summary }, None)?;
    let counts = |p: &&Point| matches!(p.verdict, Verdict::Slower | Verdict::Faster);
    let differ: Vec<&Point> = points.iter().filter(counts).collect();
    let single = differ.iter().filter(|p| p.note.contains(SINGLE)).count();
    if single > 0 {
        output::note(&format!(
            "{single} of {} differences rest on single launches, which also differ from each other \
             when nothing changed: repeat the launches before you trust them",
            differ.len()
        ));
    }
    Ok(if slower > 0 { Exit::Gate } else { Exit::Done })
}

const THRESHOLDS: [f64; 2] = [0.0, 10.0];

fn is_simulated(run: &Run) -> bool {
    let backend = run.env.iter().find(|(name, _)| name == "backend");
    backend.is_some_and(|(_, backend)| plain(backend).starts_with("sim:"))
}

/// What the bandwidths of a survey were measured with.
fn size(run: &Run) -> Option<&Value> {
    run.params.iter().find(|(name, _)| name == "size_bytes").map(|(_, size)| size)
}

/// Each figure in a row of its own: `measure pairs` tells a latency and a bandwidth of each pair.
fn parted(mut run: Run, sized: bool) -> Run {
    let size = size(&run).filter(|_| sized).cloned();
    let both = |row: &Record| row.op().is_none() && row.get("latency_us").is_some();
    let part = |row: &Record, pattern: &str, names: [(&str, &str); 3]| {
        let mut part = Record::default();
        part.push("pattern", pattern.into());
        let kept = ["from", "to", "ci_level"].map(|name| (name, name));
        for (name, own) in kept.into_iter().chain(names) {
            part.push(name, row.get(own).cloned().unwrap_or(Value::Nothing));
        }
        part.push("ci_scope", "launch".into());
        part
    };
    let parts = |row: Record| {
        if !both(&row) {
            return vec![row];
        }
        let low_high = [("ci_low_us", "latency_ci_low_us"), ("ci_high_us", "latency_ci_high_us")];
        let latency = part(&row, "latency", [("time_us", "latency_us"), low_high[0], low_high[1]]);
        let rates = ["bandwidth_mb_s", "bandwidth_ci_low_mb_s", "bandwidth_ci_high_mb_s"];
        let mut bandwidth = part(&row, "bandwidth", rates.map(|name| (name, name)));
        size.iter().for_each(|size| bandwidth.push("size_bytes", size.clone()));
        vec![latency, bandwidth]
    };
    run.rows = run.rows.into_iter().flat_map(parts).collect();
    run
}

const ONLY_OLD: &str = "only in old";
const ONLY_NEW: &str = "only in new";
const SINGLE: &str = "single launch";
/// What single launches differ by when nothing changed, as a part: seen were up to 64 % on a busy
/// machine and 26 % on a quieter one.
const SINGLE_MARGIN: f64 = 0.25;

fn nothing_matches(old: &Run, new: &Run) -> Failure {
    let ops = |run: &Run| {
        let mut names: Vec<String> =
            run.rows.iter().filter_map(|row| row.op().map(plain)).collect();
        names.sort();
        names.dedup();
        format!("{} rows of {}", run.rows.len(), names.join(", "))
    };
    let cause = format!(
        "no time or bandwidth has one operation, algorithm, ranks and size in both: {} and {}",
        ops(old),
        ops(new)
    );
    let what = format!("nothing in `{}` and `{}` can be compared", old.name, new.name);
    Failure::usage(what, cause, "two files of the same measurement")
}

/// The columns beside operation and size that points are matched by: algorithm and ranks, and what
/// takes several values within a file; each only where both files have it.
fn columns(old: &Run, new: &Run) -> Vec<&'static str> {
    let values = |run: &Run, name: &str| {
        let mut values: Vec<String> =
            run.rows.iter().filter_map(|row| distinction(row, name)).collect();
        values.sort();
        values.dedup();
        values.len()
    };
    let matters = |name: &&str| {
        let (old, new) = (values(old, name), values(new, name));
        let always = ["algorithm", "ranks"].contains(name);
        old.min(new) > 0 && (always || old.max(new) > 1)
    };
    IDENTITY.into_iter().filter(matters).collect()
}

/// A row of each file about the same thing, or of one file alone.
type Pair<'a> = (Option<&'a Record>, Option<&'a Record>);

/// All rows of both files, matched; curves in the order of their first rows, sizes rising.
fn pairs<'a>(old: &'a Run, new: &'a Run, columns: &[&'static str]) -> Vec<Pair<'a>> {
    let mut numbers: BTreeMap<Vec<Option<String>>, usize> = BTreeMap::new();
    let mut groups: BTreeMap<(usize, Option<u64>), [Vec<&Record>; 2]> = BTreeMap::new();
    for (side, run) in [old, new].into_iter().enumerate() {
        for row in &run.rows {
            let mut curve = vec![row.op().map(plain)];
            curve.extend(columns.iter().map(|name| distinction(row, name)));
            let next = numbers.len();
            let number = *numbers.entry(curve).or_insert(next);
            let size = row.number("size_bytes").map(|size| size as u64);
            groups.entry((number, size)).or_default()[side].push(row);
        }
    }
    let mut pairs = Vec::new();
    for [old, new] in groups.into_values() {
        match (&old[..], &new[..]) {
            // A file that does not name algorithms is compared with each of the other's.
            ([old], [_, ..]) => pairs.extend(new.iter().map(|new| (Some(*old), Some(*new)))),
            ([_, ..], [new]) => pairs.extend(old.iter().map(|old| (Some(*old), Some(*new)))),
            _ => pairs.extend(
                (0..old.len().max(new.len())).map(|i| (old.get(i).copied(), new.get(i).copied())),
            ),
        }
    }
    pairs
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Slower,
    Faster,
    Same,
    Unknown,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Verdict::Slower => "slower",
            Verdict::Faster => "faster",
            Verdict::Same => "same",
            Verdict::Unknown => "unknown",
        }
    }
}

/// What is said of one pair.
struct Point<'a> {
    /// The new row, or the old one where there is no new.
    row: &'a Record,
    old_row: Option<&'a Record>,
    metric: Metric,
    old: Option<f64>,
    new: Option<f64>,
    ratio: Option<f64>,
    interval: Option<(f64, f64)>,
    verdict: Verdict,
    note: String,
}

fn judged<'a>(pair: Pair<'a>, rule: &Rule) -> Point<'a> {
    let empty: &'static Record = &EMPTY;
    let (old_row, new_row) = (pair.0.unwrap_or(empty), pair.1.unwrap_or(empty));
    let both = |metric: &Metric| metric.of(old_row).is_some() && metric.of(new_row).is_some();
    let either = |metric: &Metric| metric.of(old_row).is_some() || metric.of(new_row).is_some();
    let all = || Metric::ALL.into_iter();
    let metric = all().find(both).or_else(|| all().find(either)).unwrap_or(Metric::Time);
    let (old, new) = (metric.of(old_row), metric.of(new_row));
    let mut point = Point {
        row: pair.1.or(pair.0).unwrap_or(empty),
        old_row: pair.0,
        metric,
        old: old.map(|(figure, _)| figure),
        new: new.map(|(figure, _)| figure),
        ratio: None,
        interval: None,
        verdict: Verdict::Unknown,
        note: match pair {
            (_, None) => ONLY_OLD.into(),
            (None, _) => ONLY_NEW.into(),
            _ => "no figure above 0 in both".into(),
        },
    };
    let (Some((old, old_ends)), Some((new, new_ends))) = (old, new) else { return point };
    let ends = old_ends.zip(new_ends);
    let mut ratio = new / old;
    let mut notes = Vec::new();
    if let (Metric::Time, Some(found)) = (metric, from_samples(old_row, new_row, rule.level)) {
        (ratio, point.interval) = (found.0, Some(found.1));
    } else if let Some((old, new)) = ends {
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
    let launch = |row: &Record| row.get("ci_scope") == Some(&"launch".into());
    let launches = launch(old_row) || launch(new_row);
    let single = point.interval.is_some() && launches && !rule.simulated;
    if single {
        notes.push(SINGLE.into());
    }
    point.ratio = Some(ratio);
    let slowdown = match metric {
        Metric::Time => (ratio, point.interval),
        Metric::Bandwidth => {
            (1.0 / ratio, point.interval.map(|(low, high)| (1.0 / high, 1.0 / low)))
        }
    };
    let least = if single { SINGLE_MARGIN } else { 0.0 };
    point.verdict = match verdict(slowdown, rule.threshold.max(least)) {
        // More than was asked about, and less than launches differ by when nothing changed.
        Verdict::Same if verdict(slowdown, rule.threshold) != Verdict::Same => Verdict::Unknown,
        verdict => verdict,
    };
    if point.verdict == Verdict::Unknown {
        notes.push("not significant".into());
    }
    point.note = notes.join(", ");
    point
}

static EMPTY: Record = Record { fields: Vec::new(), samples_us: Vec::new() };

/// The ratio of the medians and its interval, where both files have enough samples.
fn from_samples(old: &Record, new: &Record, level: f64) -> Option<(f64, (f64, f64))> {
    // Samples of one launch are alike; thrown together, those of several look surer than they are.
    if [old, new].iter().any(|row| row.get("ci_scope") == Some(&"launches".into())) {
        return None;
    }
    let interval = laneway_stats::ratio_interval(&old.samples_us, &new.samples_us, level)?;
    let median = |row: &Record| laneway_stats::median(&laneway_stats::sorted(&row.samples_us));
    Some((median(new)? / median(old)?, (interval.low, interval.high)))
}

/// What a slow-down of so much says, and how sure it is.
fn verdict((ratio, interval): (f64, Option<(f64, f64)>), threshold: f64) -> Verdict {
    let (low, high) = interval.unwrap_or((ratio, ratio));
    if ratio > 1.0 + threshold {
        if low > 1.0 { Verdict::Slower } else { Verdict::Unknown }
    } else if ratio < 1.0 / (1.0 + threshold) {
        if high < 1.0 { Verdict::Faster } else { Verdict::Unknown }
    } else {
        Verdict::Same
    }
}

impl Point<'_> {
    /// One row; a figure stands under its unit, and `rates` adds the columns for bandwidths.
    fn row(&self, columns: &[&'static str], rates: bool) -> Row {
        // A file without this column says nothing of it; the other may.
        let get = |name: &str| -> Value {
            let found = self.row.get(name).or_else(|| self.old_row?.get(name));
            found.cloned().unwrap_or(Value::Nothing)
        };
        let op = self.row.op().cloned().unwrap_or(Value::Nothing);
        let mut row = Row::new().with("op", op);
        row = row.with("algorithm", get("algorithm")).with("ranks", get("ranks"));
        for name in columns.iter().filter(|name| !["algorithm", "ranks"].contains(name)) {
            row = row.with(name, get(name));
        }
        let (time, rate) = (Metric::Time, Metric::Bandwidth);
        let of = |metric: Metric, figure: Option<f64>| figure.filter(|_| self.metric == metric);
        row = row.with("size_bytes", get("size_bytes"));
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
        let of = |ratio, interval| verdict((ratio, interval), 0.05);
        assert_eq!(of(1.2, None), Verdict::Slower);
        assert_eq!(of(1.2, Some((1.1, 1.3))), Verdict::Slower);
        assert_eq!(of(1.2, Some((0.9, 1.6))), Verdict::Unknown);
        assert_eq!(of(1.04, Some((1.03, 1.05))), Verdict::Same);
        assert_eq!(of(0.97, None), Verdict::Same);
        assert_eq!(of(0.8, Some((0.7, 0.9))), Verdict::Faster);
        assert_eq!(of(0.8, Some((0.5, 1.1))), Verdict::Unknown);
    }
}
