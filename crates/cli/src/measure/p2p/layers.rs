//! The layers of this machine side by side, as NetPIPE has them: a copy within a process, shared
//! memory, Unix sockets, TCP, an MPI library. One run after another, so that none disturbs another.

mod launcher;

use std::process::{Command, Stdio};

use clap::ArgMatches;
use laneway_core::{Document, Row};
use laneway_local::Transport;
use laneway_measure::p2p::sweep::{Figure, Layer, brief, copies, side_by_side};
use laneway_report::{Record, csv};

use super::asked::Asked;
use super::{document, is_enough};
use crate::failure::{Exit, Failure};
use crate::journal::Step;
use crate::output::Output;
use crate::session;

static LAYERS: [Layer; 5] = [
    Layer {
        name: COPY,
        columns: ["memcpy_us", "memcpy_mb_s", "memcpy_messages_per_s", "memcpy_percent"],
        is_copy: true,
    },
    layer("shm", ["shm_us", "shm_mb_s", "shm_messages_per_s", "shm_percent"]),
    layer("unix", ["unix_us", "unix_mb_s", "unix_messages_per_s", "unix_percent"]),
    layer("tcp", ["tcp_us", "tcp_mb_s", "tcp_messages_per_s", "tcp_percent"]),
    layer(MPI, ["mpi_us", "mpi_mb_s", "mpi_messages_per_s", "mpi_percent"]),
];

const fn layer(name: &'static str, columns: [&'static str; 4]) -> Layer {
    Layer { name, columns, is_copy: false }
}

/// Rows in CSV begin with this.
const FIRST_COLUMN: &str = "pattern,";

/// The layer that is not a backend.
const COPY: &str = "memcpy";
/// The layer that needs a launcher.
const MPI: &str = "mpi";

/// The layers of `--backend local:memcpy,shm`, where it is a list or has a layer that is no
/// backend.
pub fn parse(matches: &ArgMatches) -> Result<Option<Vec<&'static Layer>>, Failure> {
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
                format!("unknown layer `{name}`"),
                format!("the layers are {names}"),
                try_this,
            )
        })
    };
    let layers: Vec<_> = list.split(',').map(layer).collect::<Result<_, _>>()?;
    let twice = |(at, one): (usize, &&Layer)| layers[..at].iter().any(|l| l.name == one.name);
    if layers.iter().enumerate().any(twice) {
        let what = format!("a layer is given twice in `{list}`");
        let cause = "each layer is one column of the table";
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
        let what = "a list of layers needs no launcher";
        let cause = "each of its processes would measure all layers";
        let try_this = "the same command without mpirun; --launcher starts the layer mpi";
        return Err(Failure::usage(what, cause, try_this));
    }
    let ranks = matches.get_one::<u32>("ranks").copied().unwrap_or(2);
    asked.sweep.check_ranks(ranks)?;
    // Before anything is measured in vain.
    let launcher = match layers.iter().any(|layer| layer.name == MPI) {
        true => {
            laneway_mpi::refuse_unjoined_task()?;
            launcher::choose(matches, ranks)?
        }
        false => Vec::new(),
    };
    // A copy has one process; the others refuse for themselves.
    if let Some(cause) = asked.sweep.memory_objection(1) {
        let what = "these sizes do not fit into memory";
        return Err(Failure::usage(what, cause, "smaller --sizes"));
    }
    let env = session::alone(&session::local(Transport::default(), 2))?;
    let head = document(asked, &env, Vec::new());
    let mut document = head.clone();
    let mut exit = Exit::Done;
    for (number, layer) in layers.iter().enumerate() {
        let (rows, ended) = match layer.name {
            COPY => copy(asked)?,
            MPI => start(matches, launcher::build(&launcher)?, "mpi", ranks)?,
            name => {
                let own = Command::new("/proc/self/exe");
                start(matches, own, &format!("local:{name}"), ranks)?
            }
        };
        let labelled = |row: Row| Row([Row::new().with("layer", layer.name).0, row.0].concat());
        let begin = document.rows.len();
        document.rows.extend(rows.into_iter().map(labelled));
        if ended != Exit::Done {
            exit = ended;
        }
        let step = Step::new(&head, &document.rows[begin..], (number + 1, layers.len()), "layer");
        output.keep(&step, || document.clone())?;
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
fn copy(asked: &Asked) -> Result<(Vec<Row>, Exit), Failure> {
    let figures = copies(&asked.sweep)?;
    let exit = if is_enough(asked, &figures) { Exit::Done } else { Exit::Precision };
    Ok((figures.rows(), exit))
}

/// The same command on two processes over one layer; its rows come back as CSV. `command` is what
/// starts it.
fn start(
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
    for name in ["pattern", "sizes"] {
        let list: Vec<&String> = matches.get_many(name).unwrap_or_default().collect();
        let list: Vec<&str> = list.into_iter().map(String::as_str).collect();
        command.arg(format!("--{name}={}", list.join(",")));
    }
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
    let ending = || format!("its run ended with {}", ended.status);
    let exit = match ended.status.code() {
        Some(0) => Exit::Done,
        Some(4) => Exit::Precision,
        Some(2) => return Err(failed(Exit::Usage, ending())),
        _ => return Err(failed(Exit::Environment, ending())),
    };
    let text = String::from_utf8_lossy(&ended.stdout);
    // A launcher may say something of its own before.
    let rows = csv::read(text.find(FIRST_COLUMN).map_or("", |at| &text[at..]));
    let rows = rows.map_err(|error| failed(Exit::Environment, error.to_string()))?;
    if rows.is_empty() {
        return Err(failed(Exit::Environment, "it printed no rows".to_string()));
    }
    Ok((rows.iter().map(read_row).collect(), exit))
}

/// What was read back, under the names of our own rows.
fn read_row(record: &Record) -> Row {
    let mut row = Figure::empty_row();
    for (name, value) in &mut row.0 {
        // CSV does not tell an empty word from nothing, and the empty row does.
        if let Some(known) = record.get(name) {
            *value = known.clone();
        }
    }
    match record.samples_us.is_empty() {
        true => row,
        false => row.with("samples_us", record.samples_us.clone()),
    }
}
