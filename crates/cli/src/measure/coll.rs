//! `laneway measure coll`: collective operations, by any method, on any backend.

use std::cell::RefCell;
use std::slice;

use clap::{ArgMatches, Command};
use laneway_core::{Comm, Document, Row};
use laneway_measure::SaveError;
use laneway_measure::sweep::{Bounded, Case, Done, Observer, STRAIGHT, SweepError, brief};

use super::plan::{self, Plan};
use super::{bounds, export, launches, p2p};
use crate::advice::unsaved;
use crate::failure::{Exit, Failure};
use crate::journal::Step;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::session::{self, RankError};
use crate::watchdog::Watchdog;

pub fn command() -> Command {
    Command::new("coll")
        .about("Times collective operations")
        .after_help(
            "By default all ranks start each repetition at an agreed time on a synchronised clock, \
             until the median is known to 1 %, with a distribution-free confidence interval. \
             Every result is checked before it is timed.\n\nExamples:\n  \
             laneway measure coll bcast --ranks 4\n  \
             mpirun -n 16 laneway measure coll bcast,scatter --sizes 8:1M\n  \
             mpirun -n 16 laneway measure coll allreduce --algorithm native,ring,rabenseifner\n  \
             mpirun -n 16 laneway measure coll allreduce --algorithm all --race\n  \
             laneway measure coll bcast --ranks 2:16 --backend sim:cluster:16\n  \
             laneway measure coll gather --algorithm linear --sizes 1K,32K,128K --refine 8 \
             --backend sim:mpiblib16\n  \
             laneway measure coll gather --backend sim:mpiblib16 --sizes 0:100K:+1K --reps 1\n  \
             laneway measure coll scatter --timing root --min-reps 5 --max-reps 100 --alpha 5%\n  \
             laneway measure coll allreduce --ranks 4 --cache cold\n  \
             laneway measure coll bcast --launches 6 --launcher \"mpirun -n 4\"\n  \
             laneway measure coll bcast --backend sim:two-sites:8x8 --truth --format json\n  \
             laneway measure coll bcast --ranks 2 --clock-offset 0.5 --clock-drift 10",
        )
        .args(plan::args())
        .args(launches::args())
        .args(session::sweep_args())
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let plan = Plan::from(matches)?;
    let output = Output::from(matches)?;
    if let Some(exit) = launches::run(matches, &output, plan.sweep.rule.level(), brief_rows)? {
        return Ok(exit);
    }
    let file = matches.get_one::<String>("export").map(String::as_str);
    session::run(&session::sweep(matches)?, &|comm| {
        export::refuse(comm, file)?;
        measured(comm, &plan, &output)
    })
}

/// Keeps the watchdog quiet, shows how far it is, and saves what is done.
struct Attendant<'a> {
    output: &'a Output,
    watchdog: Watchdog,
    progress: RefCell<Progress>,
    /// Of the run, without rows.
    document: Document,
}

impl Observer for Attendant<'_> {
    fn alive(&self) {
        self.watchdog.alive();
    }

    fn progress(&self, done: usize, all: usize, next: &Case) {
        self.progress.borrow_mut().of(done, all, next.collective.name());
    }

    fn save(&self, done: &Done) -> Result<(), SaveError> {
        let (document, added) = (&self.document, slice::from_ref(done.row));
        let step = Step::new(document, added, (done.count(), done.planned), "point");
        Ok(self.output.keep(&step, || Document { rows: done.rows(), ..document.clone() })?)
    }
}

/// The error for a single rank.
fn alone(comm: &dyn Comm) -> Failure {
    let try_this = match (comm.clock().is_virtual(), laneway_mpi::launched_rank()) {
        (true, _) => "laneway measure coll bcast --backend sim:cluster:16",
        (false, Some(_)) => "mpirun -n 2 laneway measure coll bcast",
        (false, None) => "laneway measure coll bcast --ranks 2",
    };
    Failure::usage("nothing was measured", "a single rank has no other to send to", try_this)
}

/// Measures everything that was asked for; rank 0 prints, and all ranks end with the same code.
fn measured(comm: &dyn Comm, plan: &Plan, output: &Output) -> Result<Exit, RankError> {
    let sweep = &plan.sweep;
    p2p::check_cache(sweep.cache, comm.clock().is_virtual())?;
    let placer = plan.place(comm)?;
    let is_first = comm.rank() == 0;
    let (env, params) = (session::environment(comm), plan.params());
    let document = Document { verb: "measure", env, params, rows: Vec::new(), summary: None };
    let attendant = Attendant {
        output,
        watchdog: Watchdog::new(comm),
        progress: RefCell::new(Progress::new(0, is_first)),
        document,
    };
    if is_first {
        plan.ignored.iter().for_each(|line| output::note(line));
    }
    let placer = placer.as_ref().map(|placer| placer as _);
    let swept = sweep.run(comm, placer, &attendant).map_err(|error| match error {
        SweepError::Refused(refusal) => plan::failure(&refusal, sweep).into(),
        SweepError::Observer(error) => RankError::Alone(unsaved(error)),
        SweepError::Comm(error) => RankError::Comm(error),
        other => {
            let (what, try_this) = ("the sweep stopped", "run the command again");
            Failure::environment(what, other.to_string(), try_this).into()
        }
    })?;
    let Attendant { progress, document, .. } = attendant;
    drop(progress);
    if is_first {
        swept.left_out.iter().for_each(|line| output::note(&format!("left out {line}")));
        if sweep.refine > 0 && !swept.refined {
            note_straight();
        }
    }
    if !swept.has_points && !swept.wrong {
        if comm.size() == 1 {
            return Err(alone(comm).into());
        }
        let nothing = laneway_measure::sweep::Refusal::NothingMeasured;
        return Err(plan::failure(&nothing, sweep).into());
    }
    if is_first && swept.has_points {
        let bounded: Vec<Bounded> = swept.points.iter().map(|done| (&done.point).into()).collect();
        let rows: Vec<Row> = swept.points.into_iter().map(|point| point.row).collect();
        let shown = Document { rows: brief_rows(&rows), ..document.clone() };
        let full = Document { rows, ..document };
        output.write(&full, Some(&shown))?;
        bounds::explain(sweep.assume, &bounded);
        output.answer(&laneway_report::fastest(&full.rows))?;
    }
    let missed = swept.without_figure || plan.strict && swept.imprecise;
    Ok(match (swept.wrong, missed) {
        (true, _) => Exit::Gate,
        (false, true) => Exit::Precision,
        (false, false) => Exit::Done,
    })
}

/// The columns for people.
fn brief_rows(rows: &[Row]) -> Vec<Row> {
    rows.iter().map(brief).collect()
}

/// Says so where no size was added.
pub fn note_straight() {
    let percent = STRAIGHT * 100.0;
    output::note(&format!(
        "nothing was refined: straight lines between the sizes are within {percent} %"
    ));
}
