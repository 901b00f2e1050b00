//! `laneway measure coll`: collective operations, by any method, on any backend.

use clap::{ArgMatches, Command};
use laneway_core::units::format_size;
use laneway_core::{Comm, Document, Exit, Failure, Row, Value};
use laneway_measure::timing::serves;
use laneway_measure::{Collective, GlobalClock, Measuring, Method, Stage, sizes, truth};
use laneway_stats::SplitMix64;

use super::launches;
use super::plan::{self, Case, Plan};
use super::row::{brief, row};
use crate::agree;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::session::{self, Choice, RankError};
use crate::watchdog::Watchdog;

/// A curve that is straight to this part is not refined.
const STRAIGHT: f64 = 0.05;

pub fn command() -> Command {
    Command::new("coll")
        .about("Times collective operations")
        .after_help(
            "The default method lets all ranks begin at agreed instants on a synchronised clock \
             and takes the median, with a distribution-free interval, until it is known to 1 %. \
             Every answer is checked before it is timed.\n\nExamples:\n  \
             laneway measure coll bcast --ranks 4\n  \
             mpirun -n 16 laneway measure coll bcast,scatter --sizes 8:1M\n  \
             mpirun -n 16 laneway measure coll allreduce --algorithm native,ring,rabenseifner\n  \
             laneway measure coll gather --backend sim:mpiblib16 --sizes 0:100K:+1K --reps 1\n  \
             laneway measure coll scatter --timing root --min-reps 5 --max-reps 100 --alpha 5%\n  \
             laneway measure coll bcast --launches 5 --launcher \"mpirun -n 4\"\n  \
             laneway measure coll bcast --backend sim:two-sites:8x8 --truth --format json",
        )
        .args(plan::args())
        .args(launches::args())
        .args(session::args())
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let plan = Plan::from(matches)?;
    let output = Output::from(matches)?;
    if let Some(exit) = launches::run(matches, &output, plan.rule.level())? {
        return Ok(exit);
    }
    session::run(&Choice::from(matches)?, &|comm| measured(comm, &plan, &output))
}

/// What has been measured so far, on rank 0.
struct Session<'a> {
    plan: &'a Plan,
    output: &'a Output,
    env: Row,
    /// With the place in the order of the command line.
    rows: Vec<(usize, Row)>,
    refused: Vec<String>,
    wrong: bool,
    imprecise: bool,
}

fn measured(comm: &dyn Comm, plan: &Plan, output: &Output) -> Result<Exit, RankError> {
    refuse_early(comm, plan)?;
    let own = comm.dup()?;
    let watchdog = Watchdog::new(comm);
    let clock = GlobalClock::new(&*own, plan.procedure);
    let mut stage = Stage { comm: &*own, clock, isolation: plan.isolation };
    let mut session = Session {
        plan,
        output,
        env: session::environment(comm),
        rows: Vec::new(),
        refused: Vec::new(),
        wrong: false,
        imprecise: false,
    };
    let cases = plan.cases(comm, &plan.sizes);
    let mut progress = Progress::new(cases.len(), comm.rank() == 0);
    let mut random = SplitMix64::new(plan.seed);
    let ongoing = |case: &Case| Some(Ongoing::new(plan, *case));
    let mut open: Vec<Option<Ongoing>> = cases.iter().map(ongoing).collect();
    // Visited in turns, all points share the machine's good and bad spells.
    while open.iter().any(Option::is_some) {
        for place in shuffled(cases.len(), &mut random) {
            let Some(ongoing) = open[place].take() else { continue };
            watchdog.alive();
            let done = cases.len() - open.iter().flatten().count() - 1;
            progress.at(done, cases[place].collective.name());
            open[place] = session.visit(comm, &mut stage, place, ongoing)?;
        }
    }
    for extra in 0..plan.refine as usize {
        watchdog.alive();
        if !session.refine(comm, &mut stage, cases.len() + extra)? {
            break;
        }
    }
    drop(progress);
    session.conclude(comm)
}

/// What no rank can do, all refuse alike.
fn refuse_early(comm: &dyn Comm, plan: &Plan) -> Result<(), RankError> {
    let (ranks, root) = (comm.size(), plan.root);
    if root >= ranks {
        let cause = format!("the ranks are 0 to {}", ranks - 1);
        return Err(Failure::usage(format!("no root {root}"), cause, "--root 0").into());
    }
    if plan.truth && !comm.clock().is_virtual() {
        let what = "nobody knows the true time here";
        let cause = "only a simulated cluster has one";
        return Err(Failure::usage(what, cause, "--backend sim:cluster:16 --truth").into());
    }
    Ok(())
}

/// The numbers below `count` in a random order.
fn shuffled(count: usize, random: &mut SplitMix64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, random.index(last + 1));
    }
    order
}

/// A point that is not done yet.
struct Ongoing {
    case: Case,
    measuring: Measuring<'static>,
    /// Its answer was found right.
    validated: bool,
}

impl Ongoing {
    fn new(plan: &Plan, case: Case) -> Ongoing {
        Ongoing { case, measuring: Measuring::new(plan.timing()), validated: false }
    }
}

impl Session<'_> {
    /// Collective: measures a point a while; gives it back where it is not done.
    fn visit(
        &mut self,
        comm: &dyn Comm,
        stage: &mut Stage,
        place: usize,
        mut ongoing: Ongoing,
    ) -> Result<Option<Ongoing>, RankError> {
        let Some(mut collective) = self.prepared(comm, &mut ongoing)? else { return Ok(None) };
        let mut ready = collective.ready()?;
        if !ongoing.measuring.visit(stage, &mut ready, &self.plan.rule)? {
            return Ok(Some(ongoing));
        }
        let truth = if self.plan.truth { truth(stage.comm, &mut ready)? } else { None };
        let Some(point) = ongoing.measuring.conclude(stage, &self.plan.rule) else {
            return Ok(None);
        };
        self.imprecise |= !point.reached && (self.plan.strict || point.notes.contains(&"no time"));
        self.rows.push((place, row(self.plan, &ongoing.case, comm.size(), &point, truth)));
        self.output.save(&self.document())?;
        Ok(None)
    }

    /// Collective: the call with its buffers, once it was seen to be right; none where it cannot be
    /// made or is wrong.
    fn prepared<'c>(
        &mut self,
        comm: &'c dyn Comm,
        ongoing: &mut Ongoing,
    ) -> Result<Option<Collective<'c>>, RankError> {
        let case = ongoing.case;
        let shape = self.plan.shape(comm, case.collective, case.size);
        let (op, name) = (case.collective.name(), case.answerer.name());
        if self.plan.method == Method::Tasks && !serves(case.collective, name) {
            self.refused.push(format!("{op} {name}: it does not consist of single tasks"));
            return Ok(None);
        }
        let mut collective = match Collective::new(comm, &shape, case.answerer)? {
            Ok(collective) => collective,
            Err(why) => {
                self.refused.push(format!("{op} {name}: {why}"));
                return Ok(None);
            }
        };
        if !ongoing.validated {
            let wrong = collective.validate()?;
            if let Some(what) = agree::objection(comm, wrong)? {
                self.wrong = true;
                self.refused.push(format!("{op} {name}, {}: {what}", format_size(case.size)));
                return Ok(None);
            }
            ongoing.validated = true;
        }
        Ok(Some(collective))
    }

    /// Collective: measures where the curve of the first operation bends most; false where it is
    /// straight everywhere.
    fn refine(
        &mut self,
        comm: &dyn Comm,
        stage: &mut Stage,
        place: usize,
    ) -> Result<bool, RankError> {
        let next = self.bend();
        let mut words = [next.map_or(-1.0, |(place, _)| place as f64)];
        let mut size = [next.map_or(0.0, |(_, size)| size as f64)];
        laneway_measure::talk::announce(stage.comm, &mut words)?;
        laneway_measure::talk::announce(stage.comm, &mut size)?;
        if words[0] < 0.0 {
            return Ok(false);
        }
        let collective = self.plan.collectives[words[0] as usize];
        for case in self.plan.cases(comm, &[size[0] as u64]) {
            if case.collective == collective {
                let mut open = Some(Ongoing::new(self.plan, case));
                while let Some(ongoing) = open {
                    open = self.visit(comm, stage, place, ongoing)?;
                }
            }
        }
        Ok(true)
    }

    /// Of all curves the first that bends, and where; on rank 0. The collective is counted in the
    /// order of the command line.
    fn bend(&self) -> Option<(usize, u64)> {
        let number = |row: &Row, name: &str| match row.get(name) {
            Some(Value::Real(value)) => Some(*value),
            Some(Value::Whole(value)) => Some(*value as f64),
            _ => None,
        };
        for (place, collective) in self.plan.collectives.iter().enumerate() {
            let own = self
                .rows
                .iter()
                .filter(|(_, row)| row.get("op") == Some(&Value::from(collective.name())));
            let point = |(_, row): &(usize, Row)| {
                Some((number(row, "size_bytes")? as u64, number(row, "time_us")?))
            };
            let mut curve: Vec<(u64, f64)> = own.filter_map(point).collect();
            curve.sort_by_key(|(size, _)| *size);
            curve.dedup_by_key(|(size, _)| *size);
            if let Some(size) = sizes::refine(&curve, STRAIGHT) {
                return Some((place, size));
            }
        }
        None
    }

    fn document(&self) -> Document {
        let mut rows = self.rows.clone();
        rows.sort_by_key(|(place, _)| *place);
        let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
        let sizes: Vec<String> = self.plan.sizes.iter().map(|&size| format_size(size)).collect();
        let params = Row::new()
            .with("sizes", sizes.join(","))
            .with("timing", self.plan.method.name())
            .with("isolation", self.plan.isolation.to_string())
            .with("sync", self.plan.procedure.name())
            .with("seed", self.plan.seed);
        Document { verb: "measure", env: self.env.clone(), params, rows, summary: None }
    }

    /// Rank 0 prints; everybody leaves with the same code.
    fn conclude(self, comm: &dyn Comm) -> Result<Exit, RankError> {
        let mut words = [self.rows.len() as f64, f64::from(u8::from(self.imprecise))];
        laneway_measure::talk::announce(comm, &mut words)?;
        if comm.rank() == 0 {
            let mut refused = self.refused.clone();
            refused.dedup();
            refused.iter().for_each(|line| output::note(&format!("left out {line}")));
        }
        if words[0] == 0.0 && !self.wrong {
            let what = "nothing was measured";
            let cause = "no chosen algorithm serves any of the chosen shapes here";
            return Err(Failure::usage(what, cause, "laneway info algorithms").into());
        }
        if comm.rank() == 0 && words[0] > 0.0 {
            let full = self.document();
            let rows = full.rows.iter().map(brief).collect();
            let shown = Document { rows, ..full.clone() };
            self.output.write(&full, Some(&shown))?;
        }
        Ok(match (self.wrong, words[1] != 0.0) {
            (true, _) => Exit::Gate,
            (false, true) => Exit::Precision,
            (false, false) => Exit::Done,
        })
    }
}
