//! The layers of this machine side by side, as NetPIPE has them: a copy within a process, shared
//! memory, Unix sockets, TCP. One run after another, so that none disturbs another.

use std::process::{Command, Stdio};
use std::time::Instant;

use clap::ArgMatches;
use laneway_core::{Document, Exit, Failure, Row, Value};
use laneway_local::Transport;
use laneway_measure::p2p::{Estimate, Pattern, memcpy};

use super::asked::{Asked, What};
use super::row::Figure;
use crate::output::Output;
use crate::session::{self, Choice};

/// One layer, and the columns that stand for it in a table.
pub struct Layer {
    name: &'static str,
    time: &'static str,
    bandwidth: &'static str,
}

static LAYERS: [Layer; 4] = [
    Layer { name: "memcpy", time: "memcpy_us", bandwidth: "memcpy_mb_s" },
    Layer { name: "shm", time: "shm_us", bandwidth: "shm_mb_s" },
    Layer { name: "unix", time: "unix_us", bandwidth: "unix_mb_s" },
    Layer { name: "tcp", time: "tcp_us", bandwidth: "tcp_mb_s" },
];

/// The layers of `--backend local:memcpy,shm`, where it is a list or has a layer that is no
/// backend.
pub fn named(matches: &ArgMatches) -> Result<Option<Vec<&'static Layer>>, Failure> {
    let backend = matches.get_one::<String>("backend").map_or("", String::as_str);
    let Some(list) = backend.strip_prefix("local:") else { return Ok(None) };
    if laneway_local::is_rank() || !(list.contains(',') || list == "memcpy") {
        return Ok(None);
    }
    let layer = |name: &str| {
        LAYERS.iter().find(|layer| layer.name == name).ok_or_else(|| {
            let names = LAYERS.each_ref().map(|layer| layer.name).join(", ");
            let try_this = "--backend local:memcpy,shm,unix,tcp";
            Failure::usage(
                format!("no layer `{name}`"),
                format!("the layers are {names}"),
                try_this,
            )
        })
    };
    list.split(',').map(layer).collect::<Result<Vec<_>, _>>().map(Some)
}

/// Measures one layer after another and prints them as one document.
pub fn run(
    matches: &ArgMatches,
    asked: &Asked,
    layers: &[&'static Layer],
    output: &Output,
) -> Result<Exit, Failure> {
    if laneway_mpi::launched().is_some() {
        let what = "layers of one machine need no launcher";
        let cause = "each of the processes that it started would measure them all";
        return Err(Failure::usage(what, cause, "the same command without the launcher"));
    }
    let ranks = matches.get_one::<u32>("ranks").copied().unwrap_or(2);
    asked.check(ranks)?;
    let mut document = Document {
        verb: "measure-p2p",
        env: session::alone(&Choice::local(Transport::default(), 2))?,
        params: asked.params(),
        rows: Vec::new(),
        summary: None,
    };
    let mut exit = Exit::Done;
    for layer in layers {
        let (rows, ended) = match layer.name {
            "memcpy" => (copies(asked)?, Exit::Done),
            name => started(matches, name, ranks)?,
        };
        let named = |row: Row| Row([vec![("layer", layer.name.into())], row.0].concat());
        document.rows.extend(rows.into_iter().map(named));
        if ended != Exit::Done {
            exit = ended;
        }
        output.save(&document)?;
    }
    if document.rows.is_empty() {
        let cause = "a copy of no bytes takes no time";
        return Err(Failure::usage("nothing was measured", cause, "--sizes 8:4M"));
    }
    let brief = Document { rows: side_by_side(&document.rows, layers), ..document.clone() };
    output.write(&document, Some(&brief))?;
    Ok(exit)
}

/// Copies within this process.
fn copies(asked: &Asked) -> Result<Vec<Row>, Failure> {
    let begun = Instant::now();
    let now = || begun.elapsed().as_secs_f64();
    let mut rows = Vec::new();
    for what in &asked.whats {
        let What::Pattern(pattern @ (Pattern::Latency | Pattern::Bandwidth)) = *what else {
            let what = format!("a copy has no {}", what.name());
            let cause = "within a process there are only the time and bandwidth of copying";
            return Err(Failure::usage(what, cause, "--pattern latency,bandwidth"));
        };
        for &size in asked.sizes.iter().filter(|&&size| size > 0) {
            let estimate = memcpy(size as usize, asked.cache, &asked.rule, &now);
            let figure =
                Figure::new(pattern.name(), Some(pattern), &[0, 0], size as usize, 1, estimate);
            // Many copies make a sample, so that no clock is too coarse.
            rows.push(figure.row(0.0));
        }
    }
    Ok(rows)
}

/// The same command on two processes over one layer; its rows come back as CSV.
fn started(matches: &ArgMatches, layer: &str, ranks: u32) -> Result<(Vec<Row>, Exit), Failure> {
    let failed = |exit: Exit, cause: String| {
        let what = format!("cannot measure over {layer}");
        Failure::new(exit, what, cause, format!("laneway measure p2p --backend local:{layer}"))
    };
    let mut command = Command::new("/proc/self/exe");
    command.args(["measure", "p2p", "--format", "csv", "--backend"]);
    command.arg(format!("local:{layer}"));
    command.arg("--ranks").arg(ranks.to_string());
    for name in ["sizes", "pairs", "window", "cache", "reps", "max-reps", "precision", "budget"] {
        if let Some(value) = matches.get_one::<String>(name) {
            command.arg(format!("--{name}={value}"));
        }
    }
    let patterns: Vec<&String> = matches.get_many("pattern").unwrap_or_default().collect();
    let patterns: Vec<&str> = patterns.into_iter().map(String::as_str).collect();
    command.arg(format!("--pattern={}", patterns.join(",")));
    if matches.get_flag("parallel") {
        command.arg("--parallel");
    }
    let ended = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let ended = ended.map_err(|error| failed(Exit::Environment, error.to_string()))?;
    let said = || format!("its run ended with {}", ended.status);
    let exit = match ended.status.code() {
        Some(0) => Exit::Done,
        Some(4) => Exit::Precision,
        Some(2) => return Err(failed(Exit::Usage, said())),
        _ => return Err(failed(Exit::Environment, said())),
    };
    let rows = read(&String::from_utf8_lossy(&ended.stdout));
    if rows.is_empty() {
        return Err(failed(Exit::Environment, "its run said nothing".to_string()));
    }
    Ok((rows, exit))
}

/// Rows from CSV as we write it; no field of a row of this verb has a comma.
fn read(text: &str) -> Vec<Row> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    // The names of our own rows, as those of a row must be known beforehand.
    let nothing = Estimate { value: 1.0, interval: None, error: None, reps: 1, reached: true };
    let known = Figure::new("", None, &[], 0, 1, nothing).row(0.0);
    let row = |line: &str| {
        let mut row = Row::new();
        for (name, text) in header.iter().zip(line.split(',')) {
            let name = known.0.iter().map(|(known, _)| *known).find(|known| known == name);
            row = match name {
                Some(name) => row.with(name, value(text)),
                None => row,
            };
        }
        row
    };
    lines.map(row).collect()
}

fn value(text: &str) -> Value {
    match (text.parse::<i64>(), text.parse::<f64>()) {
        (Ok(whole), _) => Value::Whole(whole),
        (_, Ok(real)) => Value::Real(real),
        _ if text.is_empty() => Value::Nothing,
        _ => Value::from(text),
    }
}

/// A line for each pattern, pair and size, with a column for each layer.
fn side_by_side(rows: &[Row], layers: &[&'static Layer]) -> Vec<Row> {
    let key = |row: &Row| {
        let of = |name: &str| row.get(name).cloned().unwrap_or(Value::Nothing);
        [of("pattern"), of("size_bytes")]
    };
    let mut lines: Vec<Row> = Vec::new();
    let mut keys: Vec<[Value; 2]> = Vec::new();
    for row in rows {
        if !keys.contains(&key(row)) {
            keys.push(key(row));
        }
    }
    for wanted in keys {
        let [pattern, size] = wanted.clone();
        let mut line = Row::new().with("pattern", pattern).with("size_bytes", size);
        for layer in layers {
            let own = |row: &&Row| {
                row.get("layer") == Some(&Value::from(layer.name)) && key(row) == wanted
            };
            let found = rows.iter().find(own);
            let of = |name: &str| found.and_then(|row| row.get(name).cloned());
            line = line.with(layer.time, of("time_us"));
            line = line.with(layer.bandwidth, of("bandwidth_mb_s"));
        }
        lines.push(line);
    }
    lines
}
