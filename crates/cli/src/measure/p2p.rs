//! `laneway measure p2p`: messages between pairs of ranks, by the usual patterns.

mod asked;
mod layers;
mod noted;
mod row;

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use laneway_core::units::format_size;
use laneway_core::{Comm, CommError, Document, Exit, Failure, Rank};
use laneway_measure::p2p::{Estimate, Lab, LogP, Pattern, Plan, Work, window};
use laneway_measure::talk::announce;
use laneway_measure::{GlobalClock, Procedure, Rule};
use laneway_stats::SplitMix64;

use super::{export, launches, memory, refine, rule};
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::session::{self, RankError};
use asked::{Asked, What};
pub use asked::{cache, cache_words, check_cache};
use laneway_backend::Watchdog;
use laneway_core::talk;
use noted::{Noted, Notes};
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
             mpirun -n 2 laneway measure p2p --sizes 1K,1M --refine 8    protocol switches\n  \
             mpirun -n 16 laneway measure p2p --pattern round-trip --back 0 --pairs all\n  \
             laneway measure p2p --launches 5 --launcher \"mpirun -n 2\"\n  \
             laneway measure p2p --pattern logp --backend sim:mpiblib16 --pairs 0:15\n  \
             laneway measure p2p --backend local:memcpy,shm,unix,tcp    layers side by side\n  \
             laneway measure p2p --backend local:memcpy,shm,tcp,mpi --launcher \"mpirun -n 2\"",
            asked::patterns(),
        ))
        .arg(
            text("pattern", "P,Q", "Patterns, see below")
                .value_delimiter(',')
                .value_parser(asked::names())
                .default_value("latency"),
        )
        .arg(text("sizes", "S", "8,1K or ranges 8:4M, 0:100K:+1K").default_value("8,1K,64K,1M"))
        .arg(refine::arg())
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
        .arg(cache_arg())
        .arg(
            text("seed", "N", "Shuffles the order of the points")
                .value_parser(value_parser!(u64))
                .default_value("1"),
        )
        .arg(
            Arg::new("keep")
                .long("keep")
                .action(ArgAction::SetTrue)
                .help("Keep every sample, in JSON and CSV"),
        )
        .args(rule::args(&Rule::default()))
        .args(launches::args())
        .args(session::args())
        .args(output::args())
}

/// `--cache`, of all verbs whose buffers can be cold.
pub fn cache_arg() -> Arg {
    let help = "warm: one buffer; cold[:SIZE]: march through SIZE, more than the cache [256M]";
    Arg::new("cache").long("cache").value_name("C").help(help).default_value("warm")
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let asked = Asked::from(matches)?;
    let output = Output::from(matches)?;
    if let Some(layers) = layers::named(matches)? {
        if asked.refine > 0 {
            let cause = "each layer bends elsewhere, and side by side they have the same sizes";
            return Err(Failure::usage("no --refine of layers", cause, "--backend local:shm"));
        }
        if matches.get_one::<u32>("launches").is_some() {
            let cause = "layers side by side are measured once each";
            return Err(Failure::usage("no --launches of layers", cause, "--backend local:shm"));
        }
        return layers::run(matches, &asked, &layers, &output);
    }
    if let Some(exit) = launches::run(matches, &output, asked.rule.level(), row::brief)? {
        return Ok(exit);
    }
    let file = matches.get_one::<String>("export").map(String::as_str);
    session::run(&session::measuring(matches)?, &|comm| {
        export::refuse(comm, file)?;
        measured(comm, &asked, &output)
    })
}

/// What has been measured so far, on rank 0.
struct Found<'a> {
    asked: &'a Asked,
    output: &'a Output,
    /// The machine's, without rows.
    document: Document,
    /// The clock's, in seconds.
    tick: f64,
    /// With the place of the pattern on the command line.
    figures: Vec<(usize, Figure)>,
}

impl Found<'_> {
    /// Collective: these patterns, by their places, and sizes.
    fn measure(&mut self, lab: &Lab, points: &[(usize, u64)]) -> Result<(), RankError> {
        let mut progress = Progress::new(points.len(), lab.comm.rank() == 0);
        for (done, &(place, size)) in points.iter().enumerate() {
            let what = self.asked.whats[place];
            progress.at(done, &format!("{} {}", what.name(), format_size(size)));
            let figures = point(lab, self.asked, what, size as usize)?;
            self.figures.extend(figures.into_iter().map(|figure| (place, figure)));
            if lab.comm.rank() == 0 {
                self.output.save(&self.document()).map_err(RankError::Alone)?;
            }
        }
        Ok(())
    }

    /// Collective: adds sizes to each pattern where it bends; whether there were any.
    fn refine(&mut self, lab: &Lab) -> Result<bool, RankError> {
        let mut refined = false;
        for _ in 0..self.asked.refine {
            // Rank 0 has the times; no bend is at size 0.
            let wanted = |place| self.bend(place).unwrap_or(0) as f64;
            let mut sizes: Vec<f64> = (0..self.asked.whats.len()).map(wanted).collect();
            announce(lab.comm, &mut sizes)?;
            let sizes = sizes.into_iter().map(|size| size as u64).enumerate();
            let points: Vec<(usize, u64)> = sizes.filter(|(_, size)| *size > 0).collect();
            if points.is_empty() {
                break;
            }
            refined = true;
            self.measure(lab, &points)?;
        }
        Ok(refined)
    }

    /// The size that most curves of a pattern want next: each figure of each pair is one.
    fn bend(&self, place: usize) -> Option<u64> {
        let mut curves: BTreeMap<_, Vec<(u64, f64)>> = BTreeMap::new();
        for (_, figure) in self.figures.iter().filter(|(other, _)| *other == place) {
            if let Some(time) = figure.time() {
                curves.entry(figure.curve()).or_default().push((figure.size(), time));
            }
        }
        let mut votes: BTreeMap<u64, usize> = BTreeMap::new();
        for size in curves.into_values().filter_map(refine::next) {
            *votes.entry(size).or_default() += 1;
        }
        // Of equals the smallest.
        votes.into_iter().rev().max_by_key(|(_, votes)| *votes).map(|(size, _)| size)
    }

    /// Patterns as they were asked for, their sizes rising.
    fn document(&self) -> Document {
        let mut figures: Vec<_> = self.figures.iter().collect();
        figures.sort_by_key(|(place, figure)| (*place, figure.size()));
        let rows = figures
            .iter()
            .map(|(_, figure)| figure.row(self.tick, self.asked.seed, &self.asked.rule))
            .collect();
        Document { rows, ..self.document.clone() }
    }
}

/// Measures everything that was asked for; rank 0 prints.
fn measured(comm: &dyn Comm, asked: &Asked, output: &Output) -> Result<Exit, RankError> {
    asked.check(comm.size())?;
    asked.check_clock(comm.clock().is_virtual())?;
    let sharers = memory::sharers(comm)?.len() as u32;
    memory::refuse(comm, asked.too_large(sharers), "smaller --sizes, or a smaller --window")?;
    let own = comm.dup()?;
    let watchdog = Watchdog::new(comm);
    let each_round = |_, _| watchdog.alive();
    let lab = Lab { each_round: &each_round, ..Lab::new(&*own, asked.rule) };
    let tick = GlobalClock::new(&*own, Procedure::default()).tick();
    let (env, params) = (session::environment(comm), asked.params());
    let document = Document { verb: "measure-p2p", env, params, rows: Vec::new(), summary: None };
    let mut found = Found { asked, output, document, tick, figures: Vec::new() };
    let places = 0..asked.whats.len();
    let sizes = |place| asked.sizes.iter().map(move |&size| (place, size));
    let mut points: Vec<(usize, u64)> = places.flat_map(sizes).collect();
    SplitMix64::new(asked.seed).shuffle(&mut points);
    found.measure(&lab, &points)?;
    if asked.refine > 0 && !found.refine(&lab)? && comm.rank() == 0 {
        match found.figures.iter().any(|(_, figure)| figure.time().is_some()) {
            true => refine::note_straight(),
            false => output::note("nothing was refined: a part has no curve over the sizes"),
        }
    }
    // Rank 0 alone knows, and all leave with the same code, even if it cannot write.
    let figures = || found.figures.iter().map(|(_, figure)| figure);
    let reached = figures().all(|figure| figure.estimate.reached);
    let enough = !figures().any(Figure::is_missed) && (reached || !asked.strict);
    let enough = talk::announce(comm, &[u8::from(enough)])? == [1];
    if comm.rank() == 0 {
        let full = found.document();
        let brief = Document { rows: row::brief(&full.rows), ..full.clone() };
        output.write(&full, Some(&brief))?;
    }
    Ok(if enough { Exit::Done } else { Exit::Precision })
}

/// Collective: one pattern and size on all chosen ranks; the figures, on rank 0, by the ranks of
/// their subsets and not by their rounds.
fn point(lab: &Lab, asked: &Asked, what: What, size: usize) -> Result<Vec<Figure>, CommError> {
    let plan = asked.plan(what, lab.comm.size())?;
    let found: Vec<Vec<Figure>> = match what {
        What::LogP => parameters(lab, asked, &plan, size)?,
        What::Pattern(pattern) => {
            // Who leads receives, and a row is read the other way.
            let turned = (pattern == Pattern::ReceiveOverhead).then(|| plan.turned());
            let found = one_pattern(lab, asked, turned.as_ref().unwrap_or(&plan), pattern, size)?;
            found.into_iter().map(|figure| vec![figure]).collect()
        }
    };
    let mut all: Vec<_> = plan.subsets().zip(found).collect();
    all.sort_by_key(|(ranks, _)| *ranks);
    Ok(all.into_iter().flat_map(|(_, figures)| figures).collect())
}

/// Collective: the parameters of LogGP and PLogP of each pair of a plan, in its order: each as the
/// pattern that it is, and L, which comes from them.
fn parameters(
    lab: &Lab,
    asked: &Asked,
    plan: &Plan,
    size: usize,
) -> Result<Vec<Vec<Figure>>, CommError> {
    let turned = plan.turned();
    let mut found = Vec::new();
    for (pattern, back) in LogP::EXPERIMENTS {
        let plan = if back { &turned } else { plan };
        found.push(one_pattern(lab, asked, plan, pattern, size)?.into_iter());
    }
    let mut all = Vec::new();
    while let Some(pair) = found.iter_mut().map(Iterator::next).collect::<Option<Vec<_>>>() {
        let Ok(pair) = <[Figure; 6]>::try_from(pair) else { break };
        let latency = LogP::of(pair.each_ref().map(|figure| figure.estimate)).latency;
        let [sent, sent_back, received_back, received, gap, trip] = pair;
        let rest = Figure::new("L", None, gap.ranks(), size, 1, latency);
        all.push(vec![sent, received, sent_back, received_back, gap, trip, rest]);
    }
    Ok(all)
}

/// Collective: one pattern and size on the subsets of a plan, in its order; on rank 0.
fn one_pattern(
    lab: &Lab,
    asked: &Asked,
    plan: &Plan,
    pattern: Pattern,
    size: usize,
) -> Result<Vec<Figure>, CommError> {
    let window = if pattern.has_window() { window(asked.window, size, asked.cache) } else { 1 };
    let back = asked.back(pattern, size);
    let mut work = match back {
        Some(back) => Work::round_trip(size, back, asked.cache),
        None => Work::new(pattern, size, window, asked.cache),
    };
    let notes = Notes::new(lab.rule, asked.keep);
    let note = |samples: &[f64]| notes.note(samples);
    let lab = Lab { each_subset: &note, ..*lab };
    let found = lab.run(plan, |members| pattern.once(members, &mut work))?.unwrap_or_default();
    let noted = notes.collect(lab.comm, plan)?;
    let figure = |((ranks, estimate), noted): ((&[Rank], Estimate), Option<Noted>)| {
        let mut ranks = ranks.to_vec();
        if pattern == Pattern::ReceiveOverhead {
            // Who leads receives.
            ranks.reverse();
        }
        let figure = Figure::new(pattern.name(), Some(pattern), &ranks, size, window, estimate);
        figure.with_back(back).with_noted(noted)
    };
    Ok(plan.subsets().zip(found).zip(noted).map(figure).collect())
}
