//! `laneway model compare`: how far every model is off for calls that are timed beside.

use clap::{Arg, ArgAction, ArgMatches, Command};
use laneway_core::{Document, Row};
use laneway_model::{Cell, Comparison, Request, compare, estimate_observed, time_calls};

use super::{experiment_arguments, refused, request};
use crate::failure::{Exit, Failure};
use crate::measure::export;
use crate::output::{self, Output};
use crate::progress::Bar;
use crate::session::{self, RankError};
use crate::words;
use laneway_core::talk;

const USUAL_OPS: &str = "scatter,gather,bcast";

pub fn command() -> Command {
    Command::new("compare")
        .about("Fits every model, times calls, and prints how far each model is off")
        .after_help(
            "All models are fitted to the same experiments. Every algorithm of the operations is \
             timed at every size, and predicted by each model. One row per model: whether it \
             holds, the median, 95th percentile and maximum of its error, the part of the calls \
             that it promises an interval for, and the part of these that lie in it. \
             --total-budget is that of the experiments; all timed calls together get as much \
             again. Exit code 4: the budget of the experiments was not sufficient.\n\n\
             Examples:\n  \
             laneway model compare --backend sim:cluster:8,send=5us,receive=4us\n  \
             mpirun -n 4 laneway model compare scatter,gather --sizes 1K,64K\n  \
             laneway model compare --backend sim:cluster:8,send=5us --format json",
        )
        .arg(words::ops_arg().help(
            "Operations, comma-separated: bcast,scatter, or all [default: scatter,gather,bcast]",
        ))
        .arg(words::old_ops_arg("ops"))
        .arg(words::sizes_arg("Bytes of a rank's block, or of the vector", "1,1K,16K,256K,1M"))
        .arg(
            Arg::new("cells")
                .long("cells")
                .action(ArgAction::SetTrue)
                .help("Print one row per call: the measured time and each model's prediction"),
        )
        .args(experiment_arguments("fit-sizes"))
        .args(session::args())
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let ops = words::ops("model compare", matches, USUAL_OPS)?;
    let sizes = words::sizes(matches.get_many("sizes").unwrap_or_default())?;
    let request = Request { gaps: true, ..request(matches, "fit-sizes")? };
    session::run(&session::measuring(matches)?, &|comm| {
        export::refuse(comm, matches.get_one::<String>("export").map(String::as_str))?;
        let bar = Bar::measuring(comm.rank() == 0);
        let experiments = estimate_observed(comm, &request, &bar).map_err(refused)?;
        let cells = time_calls(comm, &ops, &sizes, request.budget, &bar).map_err(refused)?;
        // Whether anything took a time is known to rank 0 alone.
        let nothing = comm.rank() == 0 && cells.is_empty();
        if talk::objection(comm, nothing.then(|| "no time".to_string()))?.is_some() {
            return Err(Failure::new(
                Exit::Precision,
                "no call took a time above zero",
                "no algorithm serves these operations here, or the clock is too coarse",
                "laneway model compare scatter,gather,bcast --sizes 1K,64K",
            )
            .into());
        }
        let environment = session::environment(comm);
        if let Some(experiments) = experiments {
            let mut found = Vec::new();
            for (kind, compared) in compare(&experiments, &cells) {
                match compared {
                    Ok(comparison) => found.push(comparison),
                    Err(why) => {
                        output::note(&format!("{} is left out: {why}", kind.name()));
                    }
                }
            }
            let params = Row::new()
                .with("ops", ops.iter().map(|op| op.name()).collect::<Vec<_>>().join(","))
                .with("calls", cells.len() as u64)
                .with("ranks", comm.size());
            let rows = match matches.get_flag("cells") {
                true => {
                    let numbered = cells.iter().enumerate();
                    numbered.map(|(number, cell)| cell_row(number, cell, &found)).collect()
                }
                false => found.iter().map(row).collect(),
            };
            let verb = "model-compare";
            let hold = found.iter().filter(|one| one.holds).map(|one| one.kind.name());
            let hold = hold.collect::<Vec<_>>().join(",");
            let answer = answer(&found);
            let summary = Row::new().with("hold", hold).with("answer", answer.as_str());
            let summary = Some(summary);
            let document = Document { verb, env: environment, params, rows, summary };
            output.write_said(&document, None, &[answer])?;
        }
        Ok::<Exit, RankError>(Exit::Done)
    })
}

/// Which model to take: of those that hold, the one whose errors are smallest.
fn answer(found: &[Comparison]) -> String {
    let order = |a: &&Comparison, b: &&Comparison| {
        b.holds.cmp(&a.holds).then(a.tail.total_cmp(&b.tail)).then(a.worst.total_cmp(&b.worst))
    };
    let Some(best) = found.iter().min_by(order) else { return "No model was fitted.".into() };
    let percent = |part: f64| format!("{:.1} %", 100.0 * part);
    let begin = if best.holds { "Most accurate" } else { "No model holds; the least inaccurate" };
    let next = found.iter().filter(|one| one.holds && one.kind != best.kind).min_by(order);
    let next = next.map_or(String::new(), |one| {
        let (median, tail) = (percent(one.median), percent(one.tail));
        format!("; next is {}, off by {median} and {tail}", one.kind.name())
    });
    format!(
        "{begin}: {}, off by {} in the median, {} at the 95th percentile and {} at most \
         ({}){next}.",
        best.kind.name(),
        percent(best.median),
        percent(best.tail),
        percent(best.worst),
        best.worst_of,
    )
}

fn row(one: &Comparison) -> Row {
    Row::new()
        .with("model", one.kind.name())
        .with("holds", one.holds)
        .with("median_off", one.median)
        .with("p95_off", one.tail)
        .with("worst_off", one.worst)
        .with("worst_of", one.worst_of.as_str())
        .with("promised", one.promised as f64 / one.said.len().max(1) as f64)
        .with("held", (one.promised > 0).then(|| one.held as f64 / one.promised as f64))
}

/// A call: what it took, and what each model says it takes.
fn cell_row(number: usize, cell: &Cell, found: &[Comparison]) -> Row {
    let row = Row::new()
        .with("op", cell.shape.collective.name())
        .with("algorithm", cell.algorithm.spelled(&cell.params))
        .with("size_bytes", cell.bytes)
        .with("time_us", 1e6 * cell.seconds);
    found.iter().fold(row, |row, one| row.with(one.kind.name(), 1e6 * one.said[number]))
}
