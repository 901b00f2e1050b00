//! `laneway measure coll`: collective operations, by any method, on any backend.

use std::collections::BTreeMap;

use clap::{ArgMatches, Command};
use laneway_core::units::format_size;
use laneway_core::{Comm, Document, Exit, Failure, Form, Row, Value};
use laneway_measure::operation::Answerer;
use laneway_measure::talk::announce;
use laneway_measure::timing::serves;
use laneway_measure::{Collective, GlobalClock, Measuring, Method, Stage, overlap, sizes, truth};
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
             mpirun -n 16 laneway measure coll allreduce --algorithm all --race\n  \
             laneway measure coll bcast --ranks 2:16 --backend sim:cluster:16\n  \
             laneway measure coll gather --backend sim:mpiblib16 --sizes 0:100K:+1K --reps 1\n  \
             laneway measure coll scatter --timing root --min-reps 5 --max-reps 100 --alpha 5%\n  \
             laneway measure coll bcast --launches 5 --launcher \"mpirun -n 4\"\n  \
             laneway measure coll bcast --backend sim:two-sites:8x8 --truth --format json",
        )
        .args(plan::args())
        .args(launches::args())
        .args(session::sweep_args())
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let plan = Plan::from(matches)?;
    let output = Output::from(matches)?;
    if let Some(exit) = launches::run(matches, &output, plan.rule.level())? {
        return Ok(exit);
    }
    session::run(&Choice::sweep(matches)?, &|comm| measured(comm, &plan, &output))
}

/// What has been measured so far, on rank 0.
struct Session<'a> {
    plan: &'a Plan,
    output: &'a Output,
    watchdog: Watchdog,
    env: Row,
    /// With the number of ranks and the place in the order of the command line.
    rows: Vec<((u32, usize), Row)>,
    /// Of each race, what the rivals surely do not exceed, in seconds.
    standing: BTreeMap<Race, Vec<(Answerer, f64)>>,
    refused: Vec<String>,
    wrong: bool,
    imprecise: bool,
}

/// Operation, form, ranks and size: algorithms race for each.
type Race = (&'static str, &'static str, u32, u64);

fn measured(comm: &dyn Comm, plan: &Plan, output: &Output) -> Result<Exit, RankError> {
    let counts = plan.counts(comm.size());
    refuse_early(comm, plan, &counts)?;
    let mut session = Session {
        plan,
        output,
        watchdog: Watchdog::new(comm),
        env: session::environment(comm),
        rows: Vec::new(),
        standing: BTreeMap::new(),
        refused: Vec::new(),
        wrong: false,
        imprecise: false,
    };
    for count in counts {
        let whole = count == comm.size();
        let chosen = (comm.rank() < count).then_some(0);
        let first = if whole { None } else { comm.split(chosen, comm.rank())? };
        if let Some(group) = if whole { Some(comm) } else { first.as_deref() } {
            session.measure(group)?;
        }
        session::reunite(comm, count, &|| session.watchdog.alive())?;
    }
    session.conclude(comm)
}

/// What no rank can do, all refuse alike.
fn refuse_early(comm: &dyn Comm, plan: &Plan, counts: &[u32]) -> Result<(), RankError> {
    let least = counts.iter().copied().min().unwrap_or(1);
    if plan.root >= least {
        let cause = match counts.len() {
            1 => format!("the ranks are 0 to {}", least - 1),
            _ => format!("of the fewest ranks asked for, {least}, they are 0 to {}", least - 1),
        };
        return Err(Failure::usage(format!("no root {}", plan.root), cause, "--root 0").into());
    }
    if plan.truth && !comm.clock().is_virtual() {
        let what = "nobody knows the true time here";
        let cause = "only a simulated cluster has one";
        return Err(Failure::usage(what, cause, "--backend sim:cluster:16 --truth").into());
    }
    Ok(())
}

fn race(case: &Case, ranks: u32) -> Race {
    (case.collective.name(), case.form.name(), ranks, case.size)
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
    /// Collective: all points on these ranks.
    fn measure(&mut self, comm: &dyn Comm) -> Result<(), RankError> {
        let plan = self.plan;
        let own = comm.dup()?;
        let clock = GlobalClock::new(&*own, plan.procedure);
        let mut stage = Stage { comm: &*own, clock, isolation: plan.isolation };
        let cases = plan.cases(comm, &plan.sizes);
        let mut progress = Progress::new(cases.len(), comm.rank() == 0);
        let mut random = SplitMix64::new(plan.seed);
        let ongoing = |case: &Case| Some(Ongoing::new(plan, *case));
        let mut open: Vec<Option<Ongoing>> = cases.iter().map(ongoing).collect();
        // Visited in turns, all points share the machine's good and bad spells.
        while open.iter().any(Option::is_some) {
            for place in shuffled(cases.len(), &mut random) {
                let Some(ongoing) = open[place].take() else { continue };
                let done = cases.len() - open.iter().flatten().count() - 1;
                progress.at(done, cases[place].collective.name());
                open[place] = self.visit(comm, &mut stage, place, ongoing)?;
            }
        }
        for extra in 0..plan.refine as usize {
            if !self.refine(comm, &mut stage, cases.len() + extra)? {
                break;
            }
        }
        Ok(())
    }

    /// Collective: measures a point a while; gives it back where it is not done.
    fn visit(
        &mut self,
        comm: &dyn Comm,
        stage: &mut Stage,
        place: usize,
        mut ongoing: Ongoing,
    ) -> Result<Option<Ongoing>, RankError> {
        self.watchdog.alive();
        let Some(mut collective) = self.prepared(comm, &mut ongoing)? else { return Ok(None) };
        let mut ready = collective.ready()?;
        let rule = &self.plan.rule;
        let rival = self.rival(&ongoing.case, comm.size());
        ongoing.measuring.race(rival);
        let done = ongoing.measuring.visit(stage, &mut ready, rule)?;
        self.stand(&ongoing, comm.size());
        if !done {
            return Ok(Some(ongoing));
        }
        let truth = if self.plan.truth { truth(stage.comm, &mut ready)? } else { None };
        let overlap = match ongoing.case.form {
            Form::NonBlocking => overlap(stage, &mut ready, rule)?,
            Form::Blocking => None,
        };
        let Some(point) = ongoing.measuring.conclude(stage, rule) else {
            return Ok(None);
        };
        let strict = self.plan.strict && !point.lost;
        self.imprecise |= !point.reached && (strict || point.notes.contains(&"no time"));
        let row = row(self.plan, &ongoing.case, comm.size(), &point, truth, overlap);
        self.rows.push(((comm.size(), place), row));
        self.output.save(&self.document())?;
        Ok(None)
    }

    /// What the fastest rival surely does not exceed, in seconds; on rank 0.
    fn rival(&self, case: &Case, ranks: u32) -> f64 {
        let all = self.standing.get(&race(case, ranks)).map_or(&[][..], Vec::as_slice);
        let others = all.iter().filter(|(answerer, _)| *answerer != case.answerer);
        others.map(|(_, high)| *high).fold(f64::INFINITY, f64::min)
    }

    /// Notes where a point of a race stands.
    fn stand(&mut self, ongoing: &Ongoing, ranks: u32) {
        let interval = ongoing.measuring.interval(&self.plan.rule);
        let Some(interval) = interval.filter(|_| self.plan.race) else { return };
        let all = self.standing.entry(race(&ongoing.case, ranks)).or_default();
        all.retain(|(answerer, _)| *answerer != ongoing.case.answerer);
        all.push((ongoing.case.answerer, interval.high));
    }

    fn refuse(&mut self, line: String) {
        if !self.refused.contains(&line) {
            self.refused.push(line);
        }
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
            self.refuse(format!("{op} {name}: it does not consist of single tasks"));
            return Ok(None);
        }
        if case.is_empty(comm.size()) {
            let on = if comm.size() == 1 { " on 1 rank" } else { "" };
            self.refuse(format!("{op} {name}, {} B{on}: nothing is sent", case.size));
            return Ok(None);
        }
        let mut collective = match Collective::in_form(comm, &shape, case.answerer, case.form)? {
            Ok(collective) => collective,
            Err(why) => {
                self.refuse(format!("{op} {name}: {why}"));
                return Ok(None);
            }
        };
        if !ongoing.validated {
            let wrong = collective.validate()?;
            if let Some(what) = agree::objection(comm, wrong)? {
                self.wrong = true;
                self.refuse(format!("{op} {name}, {}: {what}", format_size(case.size)));
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
        let next = self.bend(comm.size());
        let mut words = next.map_or([-1.0, 0.0], |(place, size)| [place as f64, size as f64]);
        announce(stage.comm, &mut words)?;
        if words[0] < 0.0 {
            return Ok(false);
        }
        let collective = self.plan.collectives[words[0] as usize];
        for case in self.plan.cases(comm, &[words[1] as u64]) {
            if case.collective == collective {
                let mut open = Some(Ongoing::new(self.plan, case));
                while let Some(ongoing) = open {
                    open = self.visit(comm, stage, place, ongoing)?;
                }
            }
        }
        Ok(true)
    }

    /// Of all curves on so many ranks the first that bends, and where; on rank 0. The collective is
    /// counted in the order of the command line.
    fn bend(&self, ranks: u32) -> Option<(usize, u64)> {
        let number = |row: &Row, name: &str| match row.get(name) {
            Some(Value::Real(value)) => Some(*value),
            Some(Value::Whole(value)) => Some(*value as f64),
            _ => None,
        };
        for (place, collective) in self.plan.collectives.iter().enumerate() {
            let op = Some(Value::from(collective.name()));
            let own = self
                .rows
                .iter()
                .filter(|((on, _), row)| *on == ranks && row.get("op") == op.as_ref());
            let point = |(_, row): &((u32, usize), Row)| {
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
        rows.sort_by_key(|(at, _)| *at);
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
        let word = |is: bool| f64::from(u8::from(is));
        let mut words = [self.rows.len() as f64, word(self.wrong), word(self.imprecise)];
        announce(comm, &mut words)?;
        let [rows, wrong, imprecise] = words.map(|word| word != 0.0);
        if comm.rank() == 0 {
            self.refused.iter().for_each(|line| output::note(&format!("left out {line}")));
        }
        if !rows && !wrong {
            let what = "nothing was measured";
            let cause = "no chosen algorithm serves any of the chosen shapes here";
            return Err(Failure::usage(what, cause, "laneway info algorithms").into());
        }
        if comm.rank() == 0 && rows {
            let full = self.document();
            let rows = full.rows.iter().map(brief).collect();
            let shown = Document { rows, ..full.clone() };
            self.output.write(&full, Some(&shown))?;
        }
        Ok(match (wrong, imprecise) {
            (true, _) => Exit::Gate,
            (false, true) => Exit::Precision,
            (false, false) => Exit::Done,
        })
    }
}
