//! `laneway model`: performance models, fitted to measured figures and asked for predictions.

mod compare;
mod fit;
mod predict;

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Command};
use laneway_core::{Document, Row};
use laneway_model::{ALL_EAGER, Fitted, ModelError, Request};
use laneway_sim::platform::similar_file;

use crate::failure::{Exit, Failure};
use crate::output::{self, Output};
use crate::session::RankError;
use crate::{Verb, dispatch, words};

static VERBS: &[Verb] = &[
    Verb { command: fit::command, run: fit::run },
    Verb { command: compare::command, run: compare::run },
    Verb { command: predict::command, run: predict::run },
    Verb { command: show_command, run: show },
];

pub fn command() -> Command {
    Command::new("model")
        .about("Fits performance models to a network, and predicts collectives from them")
        .after_help(
            "Hockney, LogGP, PLogP and the heterogeneous LMO model, every parameter with its \
             interval. A model that does not hold says so, and predicts nothing.\n\n\
             Examples:\n  \
             mpirun -n 4 laneway model fit --model lmo -o tonight.toml\n  \
             laneway model show tonight.toml\n  \
             laneway model predict scatter --model tonight.toml --sizes 1K,64K,1M\n  \
             laneway model compare --backend sim:cluster:8,send=5us,receive=4us\n  \
             laneway model fit --backend sim:cluster:8 --platform tomorrow.toml",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(VERBS.iter().map(|verb| (verb.command)()))
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    dispatch(VERBS, matches)
}

/// What the experiments of an estimation are asked for with; `sizes` is the name of their sizes.
fn experiment_arguments(sizes: &'static str) -> [Arg; 4] {
    let seconds = "Time for all experiments together, on the ranks' clock: 60, 60s, 2min";
    let sized = words::sizes_arg("Message bytes of the experiments", "1K,4K,32K,256K,1M");
    [
        sized.id(sizes).long(sizes),
        Arg::new("precision")
            .long("precision")
            .value_name("P")
            .default_value("1%")
            .help("Repeat each experiment until its interval is this narrow"),
        Arg::new("total-budget")
            .long("total-budget")
            // As it was called when `--budget` was the time of each point in other verbs.
            .alias("budget")
            .value_name("TIME")
            .default_value("60s")
            .help(seconds),
        Arg::new("sequential")
            .long("sequential")
            .action(ArgAction::SetTrue)
            .help("Measure one pair or triple at a time"),
    ]
}

/// What they asked for.
fn request(matches: &ArgMatches, sizes: &str) -> Result<Request, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let sizes = matches.get_many::<String>(sizes).unwrap_or_default();
    let typed = sizes.len();
    let mut sizes = words::sizes(sizes)?;
    if sizes.len() == 1 && typed > 1 {
        // One size typed several times is a mistake, and no line.
        sizes.push(sizes[0]);
    }
    let precision = words::share("precision", text("precision"), words::PARTS, "1%")?;
    let budget = words::seconds("total-budget", text("total-budget"))?;
    let parallel = !matches.get_flag("sequential");
    Ok(Request { sizes, precision, parallel, budget, gaps: false })
}

/// All ranks come to the same, but for what a connection does to one.
fn refused(error: ModelError) -> RankError {
    match error {
        ModelError::Comm(error) => error.into(),
        other => Failure::from(other).into(),
    }
}

fn show_command() -> Command {
    Command::new("show")
        .about("Prints the parameters of a saved model, and whether it holds")
        .after_help(
            "Times are in microseconds, times per byte in nanoseconds. Exit code 1: the model \
             does not hold.\n\n\
             Examples:\n  \
             laneway model show tonight.toml\n  \
             laneway model show tonight.toml --all\n  \
             laneway model show tonight.toml --format json",
        )
        .arg(file_argument())
        .arg(all_argument())
        .args(output::args())
}

/// Of pairs a table shows the median, and those that differ.
fn all_argument() -> Arg {
    Arg::new("all")
        .long("all")
        .action(ArgAction::SetTrue)
        .help("Print the parameters of every pair; a table has the median and what is far from it")
}

fn file_argument() -> clap::Arg {
    clap::Arg::new("file").value_name("FILE.toml").required(true).help("What `model fit -o` wrote")
}

fn show(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let file = matches.get_one::<String>("file").map_or("", String::as_str);
    let fitted = load(file)?;
    print_model(&output, &fitted, Row::new(), matches.get_flag("all"))?;
    Ok(if fitted.quality.holds() { Exit::Done } else { Exit::Gate })
}

/// A model from a file.
fn load(file: &str) -> Result<Fitted, Failure> {
    let file = words::file(file);
    let text = std::fs::read_to_string(Path::new(file)).map_err(|error| {
        let is_missing = error.kind() == std::io::ErrorKind::NotFound;
        let what =
            format!("{file} {}", if is_missing { "does not exist" } else { "cannot be read" });
        let similar = similar_file(Path::new(file)).filter(|_| is_missing);
        let try_this = similar.unwrap_or_else(|| format!("laneway model fit -o {file}"));
        Failure::environment(what, error.to_string(), try_this)
    })?;
    Ok(Fitted::load(file, &text)?)
}

/// Prints a model: a row for each parameter, and what is to be known of the whole. A table shows
/// `all` pairs only where that was asked for.
fn print_model(output: &Output, fitted: &Fitted, env: Row, all: bool) -> Result<(), Failure> {
    let quality = &fitted.quality;
    let mut summary = Row::new()
        .with("holds", quality.holds())
        .with("typical_off", quality.typical)
        .with("worst_off", quality.worst)
        .with("worst_of", quality.worst_of.as_str())
        .with("held_back_off", quality.held_back)
        .with("held_back_of", quality.held_back_of.as_str())
        .with("eager_bytes", fitted.eager_bytes)
        .with("estimation_seconds", fitted.cost.seconds)
        .with("experiments", fitted.cost.experiments)
        .with("rounds", fitted.cost.rounds)
        .with("repetitions", fitted.cost.repetitions);
    if let Some(alike) = &fitted.alike {
        summary = summary
            .with("kinds", alike.count())
            .with("measured_in_full", alike.measured.len() as u64)
            .with("kinds_limit", alike.limit)
            .with("kinds_differ", alike.differ)
            .with("kinds_compared", alike.compared);
    }
    if let Some(escalation) = &fitted.escalation {
        summary = summary
            .with("escalation_from_bytes", escalation.from_bytes)
            .with("escalation_to_bytes", escalation.to_bytes)
            .with("escalation_probability", escalation.probability.value)
            .with("escalation_us", 1e6 * escalation.seconds.value);
    }
    if let Some(leap) = &fitted.leap {
        summary = summary
            .with("leap_after_bytes", leap.after_bytes)
            .with("leap_us", 1e6 * leap.seconds.value);
    }
    let kind = fitted.model.kind();
    let params = Row::new().with("model", kind.name()).with("hosts", fitted.hosts.join(","));
    let rows = fitted.rows();
    let document = Document { verb: "model", env, params, rows, summary: Some(summary) };
    let brief = (!all).then(|| fitted.brief_rows());
    let left_out = brief.as_ref().and_then(|brief| brief.left_out.clone());
    let left_out = left_out.map(|sentence| format!("{sentence} --all prints every pair."));
    let sentences: Vec<String> = left_out.into_iter().chain(sentences(fitted)).collect();
    let brief = brief.map(|brief| Document { rows: brief.rows, ..document.clone() });
    output.write_said(&document, brief.as_ref(), &sentences)
}

/// The same in words; whether the model holds comes last.
fn sentences(fitted: &Fitted) -> Vec<String> {
    let (quality, cost) = (&fitted.quality, &fitted.cost);
    let percent = |part: f64| format!("{:.1} %", 100.0 * part);
    let holds = if quality.holds() { "The model holds" } else { "The model does not hold" };
    let (typical, worst) = (percent(quality.typical), percent(quality.worst));
    let mut all = vec![format!(
        "Estimated in {:.2} s: {} experiments in {} rounds, {} repetitions. {} eager.",
        cost.seconds,
        cost.experiments,
        cost.rounds,
        cost.repetitions,
        match fitted.eager_bytes {
            ALL_EAGER.. => "All messages are".to_string(),
            bytes => format!("Messages up to {bytes} B are"),
        }
    )];
    all.extend(fitted.escalation.as_ref().map(|region| {
        format!(
            "Linear gathers of {} to {} B escalate in {} of the calls, by {:.0} us.",
            region.from_bytes,
            region.to_bytes,
            percent(region.probability.value),
            1e6 * region.seconds.value
        )
    }));
    all.extend(fitted.leap.as_ref().map(|leap| {
        let (bytes, us) = (leap.after_bytes, 1e6 * leap.seconds.value);
        format!("Linear scatters beyond {bytes} B take {us:.0} us more than the model says.")
    }));
    all.extend(fitted.alike.as_ref().map(|alike| alike.sentence(&fitted.hosts)));
    all.extend(quality.beyond());
    all.push(format!(
        "{holds}: nine of ten experiments are off by {typical} at most beyond their intervals, \
         the worst by {worst} ({}); {} is the limit.",
        quality.worst_of,
        percent(quality.limit)
    ));
    all
}
