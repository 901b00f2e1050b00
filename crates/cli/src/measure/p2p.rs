//! `laneway measure p2p`: messages between pairs of ranks, by the usual patterns.

mod asked;
mod layers;

use std::cell::RefCell;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use laneway_core::units::format_size;
use laneway_core::{Comm, Document, Row, talk};
use laneway_measure::Rule;
use laneway_measure::SaveError;
use laneway_measure::p2p::sweep::{Done, Experiment, Figures, Next, Observer, PatternError, brief};

use super::{export, launches, refine, rule};
use crate::advice::unsaved;
use crate::failure::{Exit, Failure};
use crate::journal::Step;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::session::{self, RankError};
use crate::watchdog::Watchdog;
use crate::words;
use asked::Asked;
pub use asked::{cache, cache_arg, cache_words, check_cache};

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
             laneway measure p2p --launches 6 --launcher \"mpirun -n 2\"\n  \
             laneway measure p2p --pattern logp --backend sim:mpiblib16 --pairs 0:15\n  \
             laneway measure p2p --backend local:memcpy,shm,unix,tcp    layers side by side\n  \
             laneway measure p2p --backend local:memcpy,shm,tcp,mpi --launcher \"mpirun -n 2\"",
            asked::describe_patterns(),
        ))
        .arg(
            text("pattern", "P,Q", "Comma-separated patterns, see below")
                .value_delimiter(',')
                .value_parser(Experiment::all().map(Experiment::name).collect::<Vec<_>>())
                .default_value("latency"),
        )
        .arg(words::sizes_arg("Bytes", "8,1K,64K,1M"))
        .arg(refine::arg())
        .arg(text(
            "pairs",
            "I:J,K:L",
            "Pairs of ranks, triples 0:1:2 for point-to-two, or all [default: 0:1 and 0:1:2; all \
             ranks for rings and multi-pair]",
        ))
        .arg(text("back", "S", "Bytes of the reply of round-trip [default: as sent]"))
        .arg(
            Arg::new("parallel")
                .long("parallel")
                .action(ArgAction::SetTrue)
                .help("Measure pairs without a common rank at the same time"),
        )
        .arg(
            text("window", "N", "Messages in flight; cold ones at most 64 MiB").default_value("64"),
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

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let asked = Asked::from(matches)?;
    let output = Output::from(matches)?;
    if let Some(layers) = layers::parse(matches)? {
        if asked.sweep.refine > 0 {
            let cause = "all layers have the same sizes, and their curves bend at different ones";
            return Err(Failure::usage(
                "--refine cannot be combined with several layers",
                cause,
                "--backend local:shm",
            ));
        }
        if matches.get_one::<u32>("launches").is_some() {
            let cause = "several layers are measured once each";
            return Err(Failure::usage(
                "--launches cannot be combined with several layers",
                cause,
                "--backend local:shm",
            ));
        }
        return layers::run(matches, &asked, &layers, &output);
    }
    if let Some(exit) = launches::run(matches, &output, asked.sweep.rule.level(), brief)? {
        return Ok(exit);
    }
    let file = matches.get_one::<String>("export").map(String::as_str);
    session::run(&session::measuring(matches)?, &|comm| {
        export::refuse(comm, file)?;
        measure(comm, &asked, &output)
    })
}

/// All figures as a document.
fn document(asked: &Asked, env: &Row, rows: Vec<Row>) -> Document {
    let (env, params) = (env.clone(), asked.sweep.params());
    Document { verb: "measure-p2p", env, params, rows, summary: None }
}

/// Saves what is done after each point, and shows how far it is.
struct Saved<'a> {
    asked: &'a Asked,
    output: &'a Output,
    env: &'a Row,
    watchdog: Watchdog,
    progress: RefCell<Progress>,
}

impl Observer for Saved<'_> {
    fn alive(&self) {
        self.watchdog.alive();
    }

    fn progress(&self, next: Next) {
        let what = format!("{} {}", next.experiment.name(), format_size(next.size));
        self.progress.borrow_mut().of(next.done, next.all, &what);
    }

    fn save(&self, done: &Done) -> Result<(), SaveError> {
        if !self.output.keeps() {
            return Ok(());
        }
        let (empty, added) = (document(self.asked, self.env, Vec::new()), done.added());
        let step = Step::new(&empty, &added, (done.done, done.all), "point");
        let all = || Document { rows: done.figures.rows(), ..empty.clone() };
        Ok(self.output.keep(&step, all)?)
    }
}

/// Measures everything that was asked for; rank 0 prints.
fn measure(comm: &dyn Comm, asked: &Asked, output: &Output) -> Result<Exit, RankError> {
    let env = session::environment(comm);
    let progress = RefCell::new(Progress::new(1, comm.rank() == 0));
    let saved = Saved { asked, output, env: &env, watchdog: Watchdog::new(comm), progress };
    let figures = asked.sweep.run(comm, &saved).map_err(rank_error)?;
    drop(saved);
    if let Some(figures) = figures.as_ref().filter(|all| asked.sweep.refine > 0 && !all.refined) {
        match figures.iter().any(|figure| figure.time().is_some()) {
            true => refine::note_straight(),
            false => output::note("nothing was refined: overlap has no curve over the sizes"),
        }
    }
    // Rank 0 alone knows, and all leave with the same code, even if it cannot write.
    let enough = figures.as_ref().is_none_or(|figures| is_enough(asked, figures));
    let enough = talk::broadcast(comm, &[u8::from(enough)])? == [1];
    if let Some(figures) = figures {
        let full = document(asked, &env, figures.rows());
        let shown = Document { rows: brief(&full.rows), ..full.clone() };
        output.write(&full, Some(&shown))?;
    }
    Ok(if enough { Exit::Done } else { Exit::Precision })
}

/// Whether everything was measured, and as precisely as was asked for.
fn is_enough(asked: &Asked, figures: &Figures) -> bool {
    !(figures.is_missed() || asked.strict && figures.is_imprecise())
}

fn rank_error(error: PatternError) -> RankError {
    match error {
        PatternError::Refused(refusal) => Failure::from(refusal).into(),
        PatternError::Observer(error) => RankError::Alone(unsaved(error)),
        PatternError::Comm(error) => error.into(),
        other => {
            let (what, try_this) = ("the run stopped", "run the command again");
            Failure::environment(what, other.to_string(), try_this).into()
        }
    }
}
