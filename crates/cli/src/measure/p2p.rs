//! `laneway measure p2p`: messages between pairs of ranks, by the usual patterns.

mod asked;
mod layers;
mod row;

use clap::{Arg, ArgAction, ArgMatches, Command};
use laneway_core::units::format_size;
use laneway_core::{Comm, CommError, Document, Exit, Failure, Rank};
use laneway_measure::p2p::{Lab, Pattern, Plan, Work, logp, window};
use laneway_measure::{GlobalClock, Procedure, Rule};

use super::rule;
use crate::agree;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::session::{self, Choice, RankError};
use crate::watchdog::Watchdog;
use asked::{Asked, What};
use row::Figure;

pub fn command() -> Command {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    Command::new("p2p")
        .about("Times messages between pairs of ranks")
        .after_help(format!(
            "Patterns:\n{}\nExamples:\n  \
             laneway measure p2p --ranks 2\n  \
             mpirun -n 16 laneway measure p2p --pairs all --parallel --sizes 4K\n  \
             mpirun -n 2 laneway measure p2p --pattern bandwidth,bibw --sizes 8:4M\n  \
             mpirun -n 16 laneway measure p2p --pattern round-trip --back 0 --pairs all\n  \
             laneway measure p2p --pattern logp --backend sim:mpiblib16 --pairs 0:15\n  \
             laneway measure p2p --backend local:memcpy,shm,unix,tcp    layers side by side",
            asked::patterns(),
        ))
        .arg(
            text("pattern", "P,Q", "Patterns, see below")
                .value_delimiter(',')
                .value_parser(asked::names())
                .default_value("latency"),
        )
        .arg(text("sizes", "S", "8,1K or ranges 8:4M, 0:100K:+1K").default_value("8,1K,64K,1M"))
        .arg(text(
            "pairs",
            "I:J,K:L",
            "Pairs of ranks, triples 0:1:2 for point-to-two, or all [default: 0:1 and 0:1:2; all \
             ranks for rings and multi-pair]",
        ))
        .arg(text("back", "S", "Bytes that come home in a round-trip [default: as many]"))
        .arg(
            Arg::new("parallel")
                .long("parallel")
                .action(ArgAction::SetTrue)
                .help("Measure pairs without a common rank at the same time"),
        )
        .arg(
            text("window", "N", "Messages under way; cold ones at most 64 MiB").default_value("64"),
        )
        .arg(
            text(
                "cache",
                "C",
                "warm: one buffer; cold[:SIZE]: march through SIZE, more than the cache [256M]",
            )
            .default_value("warm"),
        )
        .args(rule::args(&Rule::default()))
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
    asked.check_clock(comm.clock().is_virtual())?;
    if let Some(cause) = agree::objection(comm, asked.too_large(comm.size()))? {
        let what = "these sizes do not fit into memory";
        return Err(Failure::usage(what, cause, "smaller --sizes, or a smaller --window").into());
    }
    warn_of_crowd(comm)?;
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
    let (mut reached, mut missed, mut done) = (true, false, 0);
    for &what in &asked.whats {
        for &size in &asked.sizes {
            progress.at(done, &format!("{} {}", what.name(), format_size(size)));
            let figures = point(&lab, asked, what, size as usize)?;
            done += 1;
            reached &= figures.iter().all(|figure| figure.estimate.reached);
            missed |= figures.iter().any(Figure::is_missed);
            document.rows.extend(figures.iter().map(|figure| figure.row(tick)));
            if comm.rank() == 0 {
                output.save(&document)?;
            }
        }
    }
    drop(progress);
    // Rank 0 alone knows, and all leave with the same code, even if it cannot write.
    let enough = !missed && (reached || !asked.strict);
    let enough = agree::announce(comm, &[u8::from(enough)])? == [1];
    if comm.rank() == 0 {
        let brief = Document { rows: row::brief(&document.rows), ..document.clone() };
        output.write(&document, Some(&brief))?;
    }
    Ok(if enough { Exit::Done } else { Exit::Precision })
}

/// Collective: says so where ranks take turns on the cores of a host.
pub fn warn_of_crowd(comm: &dyn Comm) -> Result<(), CommError> {
    let hosts = comm.hosts()?;
    let ranks = hosts.iter().filter(|host| Some(*host) == hosts.first()).count();
    // A rank that is bound to a core sees that one only; the backend or the system knows them all.
    let told = comm.describe().into_iter().find(|(name, _)| *name == "cores");
    let cores = told.and_then(|(_, cores)| cores.parse().ok()).unwrap_or_else(|| {
        // SAFETY: sysconf only answers, and is allowed for any name.
        usize::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).unwrap_or(usize::MAX)
    });
    if comm.rank() == 0 && ranks > cores && !comm.clock().is_virtual() {
        let host = hosts.first().map_or("", String::as_str);
        output::note(&format!(
            "{ranks} ranks share the {cores} cores of {host}, and disturb each other"
        ));
    }
    Ok(())
}

/// Collective: one pattern and size on all chosen ranks; the figures, on rank 0.
fn point(lab: &Lab, asked: &Asked, what: What, size: usize) -> Result<Vec<Figure>, CommError> {
    let plan = asked.plan(what, lab.comm.size())?;
    let What::Pattern(pattern) = what else {
        let found = logp(lab, &plan, size, asked.cache)?.unwrap_or_default();
        let figures = in_order(&plan, found).into_iter().flat_map(|(ranks, pair)| {
            let ([here, there], [home, away]) = (pair.send_overheads, pair.receive_overheads);
            // An overhead belongs to the rank that sends, or to the one that receives.
            let back = [ranks[1], ranks[0]];
            let figure = |pattern: Pattern, ranks: &[Rank], estimate| {
                Figure::new(pattern.name(), Some(pattern), ranks, size, 1, estimate)
            };
            [
                figure(Pattern::SendOverhead, ranks, here),
                figure(Pattern::ReceiveOverhead, ranks, away),
                figure(Pattern::SendOverhead, &back, there),
                figure(Pattern::ReceiveOverhead, &back, home),
                figure(Pattern::Gap, ranks, pair.gap),
                figure(Pattern::Latency, ranks, pair.trip),
                Figure::new("L", None, ranks, size, 1, pair.latency),
            ]
        });
        return Ok(figures.collect());
    };
    let window = if pattern.has_window() { window(asked.window, size, asked.cache) } else { 1 };
    let back = asked.back(pattern, size);
    let mut work = match back {
        Some(back) => Work::round_trip(size, back, asked.cache),
        None => Work::new(pattern, size, window, asked.cache),
    };
    let found = lab.run(&plan, |members| pattern.once(members, &mut work))?.unwrap_or_default();
    let figure = |(ranks, estimate)| {
        Figure::new(pattern.name(), Some(pattern), ranks, size, window, estimate).with_back(back)
    };
    Ok(in_order(&plan, found).into_iter().map(figure).collect())
}

/// What was found on each subset, by its ranks and not by its round.
fn in_order<T>(plan: &Plan, found: Vec<T>) -> Vec<(&[Rank], T)> {
    let mut all: Vec<_> = plan.subsets().zip(found).collect();
    all.sort_by_key(|(ranks, _)| *ranks);
    all
}
