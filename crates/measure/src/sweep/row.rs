//! A measured point as a row.

use laneway_core::{Form, Row, Value};

use super::plan::{Case, Choice, Sweep};
use crate::{Method, Point, flags};

fn us(seconds: f64) -> f64 {
    seconds * 1e6
}

/// All columns, in the order that people look for them.
pub(super) fn row(
    sweep: &Sweep,
    case: &Case,
    ranks: u32,
    point: &Point,
    truth: Option<f64>,
    overlap_percent: Option<f64>,
) -> Row {
    let summary = point.summary;
    let of = |which: fn(&laneway_stats::Summary) -> f64| summary.as_ref().map(|s| us(which(s)));
    let bound = point.bound;
    let interval = sweep.headline(point);
    let isolation = sweep.isolation_and_start();
    let mut row = Row::new()
        .with("op", case.collective.name())
        .with("algorithm", case.answerer.name())
        .with("form", case.form.name())
        .with("ranks", ranks)
        .with("root", case.collective.has_root().then_some(sweep.root))
        .with("size_bytes", case.size)
        .with("timing", point.timing)
        .with("isolation", isolation)
        .with("reps", point.samples.len() as u32)
        .with("rejected", point.rejected)
        .with("time_us", us(point.estimate))
        .with("ci_low_us", interval.map(|interval| us(interval.low)))
        .with("ci_high_us", interval.map(|interval| us(interval.high)))
        .with("ci_level", interval.map(|interval| interval.level))
        .with("ci_scope", interval.map(|_| "launch"))
        .with("assume", sweep.assume.name())
        .with("bound_low_us", bound.map(|bound| us(bound.low)))
        .with("bound_high_us", bound.map(|bound| us(bound.high)))
        .with("error", point.error)
        .with("mean_us", of(|s| s.mean))
        .with("median_us", of(|s| s.median))
        .with("min_us", of(|s| s.min))
        .with("max_us", of(|s| s.max))
        .with("stddev_us", of(|s| s.stddev))
        .with("p99_us", of(|s| s.p99))
        .with("warm_up", point.warm_up)
        .with("outliers", point.outliers)
        .with("start_skew_us", point.skew.map(us))
        .with("clock_error_us", us(point.clock_error))
        .with("samples_per_independent", point.effect)
        .with("overhead_us", us(point.overhead))
        .with("cost_us", us(point.cost))
        .with("paused_us", us(point.paused))
        .with("flags", point.notes.join(","))
        .with("seed", sweep.seed);
    if sweep.method == Method::Loop {
        let means = &point.rank_means;
        let average = means.iter().sum::<f64>() / means.len().max(1) as f64;
        row = row
            .with("rank_min_us", us(means.iter().copied().fold(f64::INFINITY, f64::min)))
            .with("rank_avg_us", us(average))
            .with("rank_max_us", us(means.iter().copied().fold(0.0, f64::max)));
    }
    // Rows of one algorithm with several settings are distinguished by them.
    let has_settings = |choice: &Choice| match choice {
        Choice::Named(name) => name.contains(':'),
        Choice::Chosen => true,
        _ => false,
    };
    if sweep.choices.iter().any(has_settings) {
        row = row.with("spelled", case.answerer.label());
    }
    if sweep.forms.contains(&Form::NonBlocking) {
        row = row.with("overlap_percent", overlap_percent);
    }
    if sweep.truth {
        row = row.with("truth_us", truth.map(us));
    }
    if sweep.keep {
        let samples: Vec<f64> = point.samples.iter().copied().map(us).collect();
        row = row.with("samples_us", samples);
        // Of every repetition, rejected or not, each rank's entry and exit after the first entry.
        let per_rank = point.spans.chunks(ranks.max(1) as usize).flat_map(|repetition| {
            let first = repetition.iter().map(|span| span.0).fold(f64::INFINITY, f64::min);
            repetition.iter().map(move |span| (us(span.0 - first), us(span.1 - first)))
        });
        let (entries, exits): (Vec<f64>, Vec<f64>) = per_rank.unzip();
        row = row.with("rank_entries_us", entries).with("rank_exits_us", exits);
    }
    row
}

/// The columns that fit a screen, the same in every run of a command; JSON and CSV have them all.
pub fn brief(row: &Row) -> Row {
    const SHOWN: [&str; 16] = [
        "op",
        "algorithm",
        "form",
        "ranks",
        "size_bytes",
        "timing",
        "reps",
        "time_us",
        "ci_low_us",
        "ci_high_us",
        "bound_low_us",
        "bound_high_us",
        "truth_us",
        "overlap_percent",
        "rank_min_us",
        "flags",
    ];
    // Where all calls are blocking, the form is of no interest.
    let asked = |name: &str| name != "form" || row.get("overlap_percent").is_some();
    let shown = |name: &str| SHOWN.contains(&name) && asked(name);
    let mut brief = flags::spaced(row.only(shown));
    for (name, value) in &mut brief.0 {
        match value {
            // What was asked for; a flag says that ranks fell back on another method.
            Value::Text(text) if name == "timing" => {
                text.truncate(text.find('>').unwrap_or(text.len()));
            }
            _ => {}
        }
    }
    brief
}
