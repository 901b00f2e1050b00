//! `laneway measure p2p`: messages between pairs of ranks, by the usual patterns.

mod asked;
mod layers;
mod row;

use clap::{Arg, ArgAction, ArgMatches, Command};
use laneway_core::units::format_size;
use laneway_core::{Comm, CommError, Document, Exit, Failure, Rank};
use laneway_measure::p2p::{Lab, Work, logp, window};
use laneway_measure::{GlobalClock, Procedure};

use crate::agree;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::session::{self, Choice, RankError};
use crate::watchdog::Watchdog;
use asked::{Asked, What};
use row::Figure;

pub use asked::{part, repetition_args, rule};

pub fn command() -> Command {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    Command::new("p2p")
        .about("Times messages between pairs of ranks")
        .after_help(
            "Patterns: latency (half a round trip), bandwidth (a window of sends, one answer), \
             bibw (a window each way), rate (messages a second), multi-pair (many pairs at once), \
             sendrecv and exchange (rings, as IMB), overlap (how much of a round trip computing \
             hides), logp (o_s, o_r, gap and L, as LogGP and PLogP need them).\n\nExamples:\n  \
             laneway measure p2p --ranks 2\n  \
             mpirun -n 16 laneway measure p2p --pairs all --parallel --sizes 4K\n  \
             mpirun -n 2 laneway measure p2p --pattern bandwidth,bibw --sizes 8:4M\n  \
             laneway measure p2p --pattern logp --backend sim:mpiblib16 --pairs 0:15\n  \
             laneway measure p2p --backend local:memcpy,shm,unix,tcp    layers side by side",
        )
        .arg(
            text("pattern", "P,Q", "Patterns, see below")
                .value_delimiter(',')
                .value_parser(asked::NAMES)
                .default_value("latency"),
        )
        .arg(text("sizes", "S", "8,1K or ranges 8:4M, 0:100K:+1K").default_value("8,1K,64K,1M"))
        .arg(text(
            "pairs",
            "I:J,K:L",
            "Pairs of ranks, or all [default: 0:1; all ranks for rings and multi-pair]",
        ))
        .arg(
            Arg::new("parallel")
                .long("parallel")
                .action(ArgAction::SetTrue)
                .help("Measure pairs without a common rank at the same time"),
        )
        .arg(text("window", "N", "Messages under way, at most 64 MiB of them").default_value("64"))
        .arg(
            text(
                "cache",
                "C",
                "warm: one buffer; cold[:SIZE]: march through SIZE, more than the cache [256M]",
            )
            .default_value("warm"),
        )
        .args(repetition_args())
        .args(session::args())
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let asked = Asked::from(matches)?;
    let output = Output::from(matches)?;
    if let Some(layers) = layers::named(matches)? {
        return layers::run(matches, &asked, &layers, &output);
    }
    session::run(&Choice::from(matches)?, &|comm| measured(comm, &asked, &output))
}

/// Measures everything that was asked for; rank 0 prints.
fn measured(comm: &dyn Comm, asked: &Asked, output: &Output) -> Result<Exit, RankError> {
    asked.check(comm.size())?;
    if let Some(cause) = agree::objection(comm, asked.too_large(comm.size()))? {
        let what = "these sizes do not fit into memory";
        return Err(Failure::usage(what, cause, "smaller --sizes, or a smaller --window").into());
    }
    let own = comm.dup()?;
    let watchdog = Watchdog::new(comm);
    let each_round = |_, _| watchdog.alive();
    let lab = Lab { comm: &*own, rule: asked.rule, each_round: &each_round };
    let tick = GlobalClock::new(&*own, Procedure::default()).tick();
    let mut progress = Progress::new(asked.whats.len() * asked.sizes.len(), comm.rank() == 0);
    let mut document = Document {
        verb: "measure-p2p",
        env: session::environment(comm),
        params: asked.params(),
        rows: Vec::new(),
        summary: None,
    };
    let mut reached = true;
    for &what in &asked.whats {
        for &size in &asked.sizes {
            let name = format!("{} {}", what.name(), format_size(size));
            progress.at(document.rows.len(), &name);
            let figures = point(&lab, asked, what, size as usize)?;
            reached &= figures.iter().all(|figure| figure.estimate.reached);
            document.rows.extend(figures.iter().map(|figure| figure.row(tick)));
            if comm.rank() == 0 {
                output.save(&document)?;
            }
        }
    }
    drop(progress);
    if comm.rank() == 0 {
        let brief = Document { rows: row::brief(&document.rows), ..document.clone() };
        output.write(&document, Some(&brief))?;
    }
    // Rank 0 alone knows, and all leave with the same code.
    let reached = agree::announce(comm, &[u8::from(reached)])? == [1];
    Ok(if asked.strict && !reached { Exit::Precision } else { Exit::Done })
}

/// Collective: one pattern and size on all chosen ranks; the figures, on rank 0.
fn point(lab: &Lab, asked: &Asked, what: What, size: usize) -> Result<Vec<Figure>, CommError> {
    let plan = asked.plan(what, lab.comm.size())?;
    let What::Pattern(pattern) = what else {
        let found = logp(lab, &plan, size, asked.cache)?.unwrap_or_default();
        let figures = plan.subsets().zip(found).flat_map(|(ranks, pair)| {
            let ([here, there], [home, away]) = (pair.send_overheads, pair.receive_overheads);
            // An overhead belongs to the rank that sends, or to the one that receives.
            let back = [ranks[1], ranks[0]];
            let figure =
                |name, ranks: &[Rank], estimate| Figure::new(name, None, ranks, size, 1, estimate);
            [
                figure("o_s", ranks, here),
                figure("o_r", ranks, away),
                figure("o_s", &back, there),
                figure("o_r", &back, home),
                figure("gap", ranks, pair.gap),
                figure("latency", ranks, pair.trip),
                figure("L", ranks, pair.latency),
            ]
        });
        return Ok(figures.collect());
    };
    let window = if pattern.has_window() { window(asked.window, size) } else { 1 };
    let mut work = Work::new(pattern, size, window, asked.cache);
    let found = lab.run(&plan, |members| pattern.once(members, &mut work))?.unwrap_or_default();
    let figure = |(ranks, estimate)| {
        Figure::new(pattern.name(), Some(pattern), ranks, size, window, estimate)
    };
    let mut found: Vec<_> = plan.subsets().zip(found).collect();
    found.sort_by_key(|(ranks, _)| *ranks);
    Ok(found.into_iter().map(figure).collect())
}
