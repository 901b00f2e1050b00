//! The layers of this machine side by side, as NetPIPE has them: a copy within a process, shared
//! memory, Unix sockets, TCP, an MPI library. One run after another, so that none disturbs another.

mod launcher;

use std::borrow::Cow;
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::ArgMatches;
use laneway_core::{Document, Exit, Failure, Row, Value};
use laneway_local::Transport;
use laneway_measure::Rule;
use laneway_measure::p2p::{Estimate, Pattern, memcpy};
use laneway_report::{Record, csv};

use super::asked::{Asked, What};
use super::noted::Noted;
use super::row::{Figure, brief};
use crate::output::Output;
use crate::session;

/// One layer, and the columns that stand for it in a table: a time, a bandwidth, a rate, a part.
pub struct Layer {
    name: &'static str,
    columns: [&'static str; 4],
}

/// The columns of a row that a layer's stand for.
const FIGURES: [&str; 4] = ["time_us", "bandwidth_mb_s", "messages_per_s", "overlap_percent"];

static LAYERS: [Layer; 5] = [
    Layer {
        name: COPY,
        columns: ["memcpy_us", "memcpy_mb_s", "memcpy_messages_per_s", "memcpy_percent"],
    },
    Layer { name: "shm", columns: ["shm_us", "shm_mb_s", "shm_messages_per_s", "shm_percent"] },
    Layer {
        name: "unix",
        columns: ["unix_us", "unix_mb_s", "unix_messages_per_s", "unix_percent"],
    },
    Layer { name: "tcp", columns: ["tcp_us", "tcp_mb_s", "tcp_messages_per_s", "tcp_percent"] },
    Layer { name: MPI, columns: ["mpi_us", "mpi_mb_s", "mpi_messages_per_s", "mpi_percent"] },
];

/// Rows in CSV begin with this.
const FIRST_COLUMN: &str = "pattern,";

/// The layer that is no backend.
const COPY: &str = "memcpy";
/// The layer that needs a launcher.
const MPI: &str = "mpi";

/// The layers of `--backend local:memcpy,shm`, where it is a list or has a layer that is no
/// backend.
pub fn named(matches: &ArgMatches) -> Result<Option<Vec<&'static Layer>>, Failure> {
    let backend = matches.get_one::<String>("backend").map_or("", String::as_str);
    let Some(list) = backend.strip_prefix("local:") else { return Ok(None) };
    if laneway_local::is_rank() || !(list.contains(',') || list == COPY || list == MPI) {
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
    let layers: Vec<_> = list.split(',').map(layer).collect::<Result<_, _>>()?;
    let twice = |(at, one): (usize, &&Layer)| layers[..at].iter().any(|l| l.name == one.name);
    if layers.iter().enumerate().any(twice) {
        let what = format!("a layer is there twice in `{list}`");
        let cause = "side by side each has one column";
        return Err(Failure::usage(what, cause, "--backend local:memcpy,shm,unix,tcp"));
    }
    Ok(Some(layers))
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
        let try_this =
            "the same command without the launcher; for the layer mpi --launcher names it";
        return Err(Failure::usage(what, cause, try_this));
    }
    let ranks = matches.get_one::<u32>("ranks").copied().unwrap_or(2);
    asked.check(ranks)?;
    // Before anything is measured in vain.
    let launcher = match layers.iter().any(|layer| layer.name == MPI) {
        true => launcher::words(matches, ranks)?,
        false => Vec::new(),
    };
    // A copy has one process; the others refuse for themselves.
    if let Some(cause) = asked.too_large(1) {
        let what = "these sizes do not fit into memory";
        return Err(Failure::usage(what, cause, "smaller --sizes"));
    }
    let mut document = Document {
        verb: "measure-p2p",
        env: session::alone(&session::local(Transport::default(), 2))?,
        params: asked.params(),
        rows: Vec::new(),
        summary: None,
    };
    let mut exit = Exit::Done;
    for layer in layers {
        let (rows, ended) = match layer.name {
            COPY => copies(asked)?,
            MPI => started(matches, launcher::command(&launcher)?, "mpi", ranks)?,
            name => {
                let own = Command::new("/proc/self/exe");
                started(matches, own, &format!("local:{name}"), ranks)?
            }
        };
        let named = |row: Row| Row([Row::new().with("layer", layer.name).0, row.0].concat());
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
    let shown = brief(&side_by_side(&document.rows, layers));
    let shown = Document { rows: shown, ..document.clone() };
    output.write(&document, Some(&shown))?;
    Ok(exit)
}

/// Copies within this process.
fn copies(asked: &Asked) -> Result<(Vec<Row>, Exit), Failure> {
    let begun = Instant::now();
    let now = || begun.elapsed().as_secs_f64();
    let (mut rows, mut exit) = (Vec::new(), Exit::Done);
    for what in &asked.whats {
        let What::Pattern(pattern @ (Pattern::Latency | Pattern::Bandwidth)) = *what else {
            let what = format!("a copy has no {}", what.name());
            let cause = "within a process there are only the time and bandwidth of copying";
            return Err(Failure::usage(what, cause, "--pattern latency,bandwidth"));
        };
        for &size in asked.sizes.iter().filter(|&&size| size > 0) {
            let samples = memcpy(size as usize, asked.cache, &asked.rule, &now);
            let estimate = Estimate::of(&asked.rule, &samples);
            let figure =
                Figure::new(pattern.name(), Some(pattern), &[0], size as usize, 1, estimate);
            let figure = figure.with_noted(Noted::of(&asked.rule, asked.keep, &samples));
            if figure.is_missed() || asked.strict && !estimate.reached {
                exit = Exit::Precision;
            }
            // Many copies make a sample, so that no clock is too coarse.
            rows.push(figure.row(0.0, asked.seed, &asked.rule));
        }
    }
    Ok((rows, exit))
}

/// The same command on two processes over one layer; its rows come back as CSV. `command` is what
/// starts it.
fn started(
    matches: &ArgMatches,
    mut command: Command,
    backend: &str,
    ranks: u32,
) -> Result<(Vec<Row>, Exit), Failure> {
    let failed = |exit: Exit, cause: String| {
        let what = format!("cannot measure over {backend}");
        let alone = match backend {
            MPI => "mpirun -n 2 laneway measure p2p, which says why".to_string(),
            _ => format!("laneway measure p2p --backend {backend}"),
        };
        Failure::new(exit, what, cause, alone)
    };
    command.args(["measure", "p2p", "--format", "csv", "--backend", backend]);
    command.arg("--ranks").arg(ranks.to_string());
    for name in [
        "sizes",
        "pairs",
        "back",
        "window",
        "cache",
        "reps",
        "min-reps",
        "max-reps",
        "precision",
        "alpha",
        "level",
        "budget",
    ] {
        if let Some(value) = matches.get_one::<String>(name) {
            command.arg(format!("--{name}={value}"));
        }
    }
    let patterns: Vec<&String> = matches.get_many("pattern").unwrap_or_default().collect();
    let patterns: Vec<&str> = patterns.into_iter().map(String::as_str).collect();
    command.arg(format!("--pattern={}", patterns.join(",")));
    if let Some(seed) = matches.get_one::<u64>("seed") {
        command.arg(format!("--seed={seed}"));
    }
    for name in ["parallel", "keep"] {
        if matches.get_flag(name) {
            command.arg(format!("--{name}"));
        }
    }
    let ended = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let ended = ended.map_err(|error| {
        let program = command.get_program().to_string_lossy();
        failed(Exit::Environment, format!("{program}: {error}"))
    })?;
    let said = || format!("its run ended with {}", ended.status);
    let exit = match ended.status.code() {
        Some(0) => Exit::Done,
        Some(4) => Exit::Precision,
        Some(2) => return Err(failed(Exit::Usage, said())),
        _ => return Err(failed(Exit::Environment, said())),
    };
    let text = String::from_utf8_lossy(&ended.stdout);
    // A launcher may say something of its own before.
    let rows = csv::read(text.find(FIRST_COLUMN).map_or("", |at| &text[at..]));
    let rows = rows.map_err(|error| failed(Exit::Environment, error.to_string()))?;
    if rows.is_empty() {
        return Err(failed(Exit::Environment, "its run said nothing".to_string()));
    }
    Ok((rows.iter().map(row).collect(), exit))
}

/// What was read back, under the names of our own rows.
fn row(record: &Record) -> Row {
    let any = Estimate { value: 1.0, interval: None, error: None, reps: 2, reached: true };
    let value = |(name, empty): (Cow<'static, str>, Value)| {
        // CSV does not tell an empty word from nothing.
        let empty = if matches!(empty, Value::Text(_)) { "".into() } else { Value::Nothing };
        let value = record.get(&name).cloned().unwrap_or(empty);
        (name, value)
    };
    let row = Figure::new("", None, &[], 0, 1, any).row(0.0, 0, &Rule::default());
    let row = Row(row.0.into_iter().map(value).collect());
    match record.samples_us.is_empty() {
        true => row,
        false => row.with("samples_us", record.samples_us.clone()),
    }
}

/// A line for each pattern, pair and size, with columns for each layer. A copy has no pair, so it
/// stands beside all of them.
fn side_by_side(rows: &[Row], layers: &[&'static Layer]) -> Vec<Row> {
    let of = |row: &Row, name: &str| row.get(name).cloned().unwrap_or(Value::Nothing);
    let is_copy = |row: &Row| of(row, "layer") == COPY.into();
    let what = |row: &Row| ["pattern", "size_bytes"].map(|name| of(row, name));
    let pair = |row: &Row| ["from", "to", "and"].map(|name| of(row, name));
    let alone = rows.iter().all(is_copy);
    let mut keys: Vec<([Value; 2], [Value; 3])> = Vec::new();
    for row in rows.iter().filter(|row| alone || !is_copy(row)) {
        let key = (what(row), pair(row));
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    // One pair needs no names.
    let several = keys.iter().any(|(_, pair)| *pair != keys[0].1);
    let line = |(wanted, ranks): &([Value; 2], [Value; 3])| {
        let [pattern, size] = wanted.clone();
        let [from, to, and] = ranks.clone().map(|rank| if several { rank } else { Value::Nothing });
        let mut line = Row::new().with("pattern", pattern).with("from", from).with("to", to);
        line = line.with("and", and).with("size_bytes", size);
        let mut flags = Vec::new();
        for layer in layers {
            let own = |row: &&Row| {
                let here = of(row, "layer") == layer.name.into() && what(row) == *wanted;
                here && (is_copy(row) || pair(row) == *ranks)
            };
            let found = rows.iter().find(own);
            for (column, figure) in layer.columns.into_iter().zip(FIGURES) {
                line = line.with(column, found.map(|row| of(row, figure)));
            }
            match found.map(|row| of(row, "flags")) {
                Some(Value::Text(text)) if !text.is_empty() => {
                    flags.push(format!("{}: {text}", layer.name));
                }
                _ => {}
            }
        }
        line.with("flags", flags.join("; "))
    };
    keys.iter().map(line).collect()
}
