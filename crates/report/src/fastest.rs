//! The fastest of the algorithms that were compared, as sentences: the answer that a person wants
//! of a table of times.

use laneway_core::units::{format_size, parse_size};
use laneway_core::{Row, Value};

/// The flag of an algorithm that was stopped because another one is faster.
pub const STOPPED_EARLY: &str = "stopped early: slower";
/// The name of the library's own algorithm, with which a reader compares.
const NATIVE: &str = "native";

/// One algorithm of a contest; times are in microseconds.
#[derive(Clone, Debug, PartialEq)]
struct Contender {
    name: String,
    time_us: f64,
    /// Where the true time is, as far as that is known.
    interval: Option<[f64; 2]>,
    was_stopped: bool,
}

/// What all contenders of one contest do.
#[derive(Clone, Debug, PartialEq)]
struct Job {
    op: Value,
    form: Value,
    ranks: Value,
}

/// The outcome of one contest.
#[derive(Clone, Debug, PartialEq)]
struct Outcome {
    job: Job,
    size: Option<u64>,
    /// The fastest one first, then those that do not differ from it significantly.
    winners: Vec<String>,
    /// Why there are several.
    tie: &'static str,
    /// Another one to compare with, and how many times the fastest time it takes.
    other: Option<(String, f64)>,
}

/// Sentences about rows with `algorithm` and `time_us`, one for each operation and size; sizes with
/// the same winners share one. Algorithms whose intervals (`ci_low_us`, `ci_high_us`) overlap that
/// of the fastest are indistinguishable; rows without these columns have exact times. Nothing is
/// said where nothing is compared.
///
/// ```
/// use laneway_core::Row;
///
/// let row = |name: &str, us: f64| {
///     let row = Row::new().with("algorithm", name).with("size_bytes", 65536u32);
///     row.with("time_us", us).with("ci_low_us", us - 1.0).with("ci_high_us", us + 1.0)
/// };
/// let rows = [row("ring", 10.0), row("chain", 11.0), row("native", 18.0)];
/// let winners = "Fastest at 64 KiB: ring and chain (indistinguishable)";
/// let answer = format!("{winners}; native is 1.8 times slower.");
/// assert_eq!(laneway_report::fastest(&rows), [answer]);
/// ```
pub fn fastest(rows: &[Row]) -> Vec<String> {
    let mut contests: Vec<(Job, Option<u64>, Vec<Contender>)> = Vec::new();
    for row in rows {
        let Some(contender) = contender(row) else { continue };
        let value = |name: &str| row.get(name).cloned().unwrap_or(Value::Nothing);
        let job = Job { op: value("op"), form: value("form"), ranks: value("ranks") };
        let size = number(row, "size_bytes").map(|bytes| bytes as u64);
        match contests.iter_mut().find(|one| one.0 == job && one.1 == size) {
            Some(contest) => contest.2.push(contender),
            None => contests.push((job, size, vec![contender])),
        }
    }
    let outcomes: Vec<Outcome> = contests
        .into_iter()
        .filter(|(_, _, contenders)| contenders.len() > 1)
        .map(|(job, size, contenders)| outcome(job, size, contenders))
        .collect();
    let mut sentences = Vec::new();
    let mut rest = &outcomes[..];
    while let Some(first) = rest.first() {
        let is_alike = |other: &&Outcome| {
            other.job == first.job && other.winners == first.winners && other.tie == first.tie
        };
        let count = rest.iter().take_while(is_alike).count();
        sentences.push(sentence(&rest[..count], &outcomes));
        rest = &rest[count..];
    }
    sentences
}

fn number(row: &Row, name: &str) -> Option<f64> {
    match row.get(name)? {
        Value::Whole(number) => Some(*number as f64),
        Value::Real(number) => Some(*number),
        _ => None,
    }
}

/// An algorithm with a time; `None` if the row has none.
fn contender(row: &Row) -> Option<Contender> {
    let name = match row.get("algorithm")? {
        Value::Text(name) => name.clone(),
        _ => return None,
    };
    let time_us = number(row, "time_us").filter(|time| *time > 0.0)?;
    let interval = match (row.get("ci_low_us"), row.get("ci_high_us")) {
        // Simulated times are exact.
        (None, None) => Some([time_us, time_us]),
        _ => number(row, "ci_low_us").zip(number(row, "ci_high_us")).map(|(low, high)| [low, high]),
    };
    let flags = match row.get("flags") {
        Some(Value::Text(flags)) => flags.as_str(),
        _ => "",
    };
    let was_stopped = flags.split(',').any(|flag| flag.trim() == STOPPED_EARLY);
    Some(Contender { name, time_us, interval, was_stopped })
}

fn outcome(job: Job, size: Option<u64>, mut all: Vec<Contender>) -> Outcome {
    all.sort_by(|a, b| a.was_stopped.cmp(&b.was_stopped).then(a.time_us.total_cmp(&b.time_us)));
    let best = all[0].clone();
    let is_level = |one: &Contender| match (one.interval, best.interval) {
        (Some(one), Some(best)) => one[0] <= best[1] && best[0] <= one[1],
        _ => one.time_us == best.time_us,
    };
    let (winners, others): (Vec<Contender>, Vec<Contender>) =
        all.into_iter().partition(|one| !one.was_stopped && is_level(one));
    let is_exact = |one: &Contender| one.interval == Some([one.time_us, one.time_us]);
    let tie = match winners.len() {
        _ if winners.iter().chain(&others).any(|one| one.interval.is_none()) => "without intervals",
        0 | 1 => "",
        _ if winners.iter().all(is_exact) => "equal",
        _ => "indistinguishable",
    };
    let other = others.iter().find(|one| one.name == NATIVE).or(others.first());
    let other = other.map(|one| (one.name.clone(), one.time_us / best.time_us));
    let winners = match winners.is_empty() {
        true => vec![best.name],
        false => winners.into_iter().map(|one| one.name).collect(),
    };
    Outcome { job, size, winners, tie, other }
}

/// Outcomes of consecutive sizes with the same winners as one sentence.
fn sentence(alike: &[Outcome], all: &[Outcome]) -> String {
    let (first, last) = (&alike[0], &alike[alike.len() - 1]);
    let differs =
        |part: fn(&Job) -> &Value| all.iter().any(|one| part(&one.job) != part(&first.job));
    let mut text = "Fastest".to_string();
    let text_of = |value: &Value| super::table::cell(value);
    if differs(|job| &job.op) {
        text += &format!(" {}", text_of(&first.job.op));
    }
    if differs(|job| &job.form) {
        text += &format!(" ({})", text_of(&first.job.form));
    }
    if differs(|job| &job.ranks) {
        text += &format!(" on {} ranks", text_of(&first.job.ranks));
    }
    match (first.size, last.size) {
        (Some(low), Some(high)) if low != high => {
            text += &format!(" from {} to {}", bytes(low), bytes(high));
        }
        (Some(size), _) => text += &format!(" at {}", bytes(size)),
        _ => {}
    }
    text += &format!(": {}", listed(&first.winners));
    if !first.tie.is_empty() {
        text += &format!(" ({})", first.tie);
    }
    text + &compared(alike) + "."
}

/// How much slower the library's own algorithm, or else the next one, is.
fn compared(alike: &[Outcome]) -> String {
    let others: Vec<&(String, f64)> = alike.iter().filter_map(|one| one.other.as_ref()).collect();
    let Some((name, _)) = others.first() else { return String::new() };
    if others.len() < alike.len() || others.iter().any(|(other, _)| other != name) {
        return String::new();
    }
    let least = others.iter().map(|(_, times)| *times).fold(f64::INFINITY, f64::min);
    let most = others.iter().map(|(_, times)| *times).fold(0.0, f64::max);
    let verb = if name == NATIVE { "native is".into() } else { format!("next is {name},") };
    match (slower(least), slower(most)) {
        (low, high) if low == high => format!("; {verb} {low}"),
        (low, high) => {
            let low = low.trim_end_matches(" slower").trim_end_matches(" times");
            format!("; {verb} {low} to {high}")
        }
    }
}

/// `1.8 times slower`, or in percent where that says more.
fn slower(times: f64) -> String {
    let percent = 100.0 * (times - 1.0);
    match times {
        _ if percent < 0.95 => format!("{percent:.1} % slower"),
        ..1.2 => format!("{percent:.0} % slower"),
        ..10.0 => format!("{times:.1} times slower"),
        _ => format!("{times:.0} times slower"),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// A size with its unit: `8 B`, `64 KiB`.
pub fn bytes(size: u64) -> String {
    let short = format_size(size);
    match short.strip_suffix(['K', 'M', 'G']) {
        Some(number) if parse_size(number).is_ok() => {
            format!("{number} {}iB", &short[number.len()..])
        }
        _ => format!("{size} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(op: &str, algorithm: &str, size: u64, [low, time, high]: [f64; 3]) -> Row {
        let row = Row::new().with("op", op).with("algorithm", algorithm).with("size_bytes", size);
        row.with("time_us", time).with("ci_low_us", low).with("ci_high_us", high)
    }

    #[test]
    fn overlapping_intervals_are_indistinguishable() {
        let rows = [
            row("bcast", "a", 8, [1.0, 2.0, 3.0]),
            row("bcast", "b", 8, [2.5, 2.6, 2.7]),
            row("bcast", "c", 8, [3.1, 4.0, 5.0]),
        ];
        let wanted = "Fastest at 8 B: a and b (indistinguishable); next is c, 2.0 times slower.";
        assert_eq!(fastest(&rows), [wanted]);
        // One algorithm is not compared with any.
        assert_eq!(fastest(&rows[..1]), Vec::<String>::new());
        // What was stopped is slower, however wide its interval is.
        let stopped = rows[1].clone().with("flags", "precision,stopped early: slower");
        let wanted = "Fastest at 8 B: a; next is b, 1.3 times slower.";
        assert_eq!(fastest(&[rows[0].clone(), stopped]), [wanted]);
    }

    #[test]
    fn simulated_times_are_exact() {
        let row = |name: &str, us: f64| {
            Row::new().with("algorithm", name).with("size_bytes", 1u64 << 20).with("time_us", us)
        };
        let rows = [row("x", 12.0), row("a", 1.0), row("b", 1.0), row("c", 1.05)];
        let wanted = "Fastest at 1 MiB: a and b (equal); next is c, 5 % slower.";
        assert_eq!(fastest(&rows), [wanted]);
    }

    #[test]
    fn sizes_with_the_same_winner_share_a_sentence() {
        let exact = |op, name, size, us: f64| row(op, name, size, [us, us, us]);
        let mut rows = Vec::new();
        for (size, times) in [(8, [1.0, 2.0]), (16, [1.0, 3.0]), (1024, [2.0, 1.0])] {
            rows.push(exact("bcast", "ring", size, times[0]));
            rows.push(exact("bcast", "native", size, times[1]));
        }
        let wanted = [
            "Fastest from 8 B to 16 B: ring; native is 2.0 to 3.0 times slower.",
            "Fastest at 1 KiB: native; next is ring, 2.0 times slower.",
        ];
        assert_eq!(fastest(&rows), wanted);
        rows.push(exact("reduce", "a", 8, 1.0));
        rows.push(exact("reduce", "b", 8, 20.0));
        let all = fastest(&rows);
        assert!(all[0].starts_with("Fastest bcast from 8 B to 16 B: ring"), "{all:?}");
        assert_eq!(all[2], "Fastest reduce at 8 B: a; next is b, 20 times slower.");
    }

    #[test]
    fn without_intervals_the_answer_says_so() {
        let row = |name: &str, us: f64| {
            let row = Row::new().with("algorithm", name).with("time_us", us);
            row.with("ci_low_us", None::<f64>).with("ci_high_us", None::<f64>)
        };
        let wanted = "Fastest: a (without intervals); next is b, 2.0 times slower.";
        assert_eq!(fastest(&[row("b", 2.0), row("a", 1.0)]), [wanted]);
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!([8, 65536, 1 << 20, 1025].map(bytes), ["8 B", "64 KiB", "1 MiB", "1025 B"]);
    }
}
