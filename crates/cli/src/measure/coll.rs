//! `laneway measure coll`: collective operations, by any method, on any backend.

use std::collections::BTreeMap;

use clap::{ArgMatches, Command};
use laneway_core::units::format_size;
use laneway_core::{Comm, Document, Exit, Failure, Form, Row, Shape};
use laneway_measure::operation::Answerer;
use laneway_measure::talk::announce;
use laneway_measure::timing::serves;
use laneway_measure::{
    Collective, GlobalClock, Isolation, Measuring, Method, Stage, flags, overlap, truth,
};
use laneway_stats::SplitMix64;

use super::plan::{self, Case, Plan};
use super::row::{brief, row};
use super::{bounds, export, launches, memory, p2p, refine};
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::session::{self, RankError};
use laneway_backend::Watchdog;
use laneway_core::talk;

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
             laneway measure coll gather --algorithm linear --sizes 1K,32K,128K --refine 8 \
             --backend sim:mpiblib16\n  \
             laneway measure coll gather --backend sim:mpiblib16 --sizes 0:100K:+1K --reps 1\n  \
             laneway measure coll scatter --timing root --min-reps 5 --max-reps 100 --alpha 5%\n  \
             laneway measure coll allreduce --ranks 4 --cache cold\n  \
             laneway measure coll bcast --launches 5 --launcher \"mpirun -n 4\"\n  \
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
    if let Some(exit) = launches::run(matches, &output, plan.rule.level(), brief_rows)? {
        return Ok(exit);
    }
    let file = matches.get_one::<String>("export").map(String::as_str);
    session::run(&session::sweep(matches)?, &|comm| {
        export::refuse(comm, file)?;
        measured(comm, &plan, &output)
    })
}

/// What has been measured so far, on rank 0.
struct Session<'a> {
    plan: &'a Plan,
    output: &'a Output,
    watchdog: Watchdog,
    env: Row,
    done: Vec<Done>,
    /// Whether a size was added to some curve.
    refined: bool,
    /// Of each race, what the rivals surely do not exceed, in seconds.
    standing: BTreeMap<Race, Vec<(Answerer, f64)>>,
    refused: Vec<String>,
    wrong: bool,
    imprecise: bool,
}

/// A point that was measured.
struct Done {
    ranks: u32,
    case: Case,
    /// Among the points of one size, in the order of the command line.
    place: usize,
    /// Seconds.
    time: f64,
    row: Row,
}

/// Operation, form, ranks and size: algorithms race for each.
type Race = (&'static str, &'static str, u32, u64);

fn measured(comm: &dyn Comm, plan: &Plan, output: &Output) -> Result<Exit, RankError> {
    let counts = plan.counts(comm.size());
    refuse_early(comm, plan, &counts)?;
    plan.place(comm)?;
    memory::refuse_plan(comm, plan)?;
    if comm.rank() == 0 {
        plan.ignored.iter().for_each(|line| output::note(line));
    }
    let mut session = Session {
        plan,
        output,
        watchdog: Watchdog::new(comm),
        env: session::environment(comm),
        done: Vec::new(),
        refined: false,
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
    p2p::check_cache(plan.cache, comm.clock().is_virtual())?;
    let barrier = Shape::new(laneway_core::Collective::Barrier, comm.size(), 0);
    let gates = [plan.isolation, plan.start];
    let native = gates.iter().any(|gate| matches!(gate, Isolation::Native { .. }));
    match comm.native_objection(&barrier, Form::Blocking).filter(|_| native) {
        Some(cause) => {
            let what = format!("no isolation `{}`", plan.isolation_and_start());
            Err(Failure::usage(what, cause, "--isolation barrier:dissemination").into())
        }
        None => Ok(()),
    }
}

/// The columns for people.
fn brief_rows(rows: &[Row]) -> Vec<Row> {
    rows.iter().map(brief).collect()
}

fn race(case: &Case, ranks: u32) -> Race {
    (case.collective.name(), case.form.name(), ranks, case.size)
}

/// The numbers below `count` in a random order.
fn shuffled(count: usize, random: &mut SplitMix64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    random.shuffle(&mut order);
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
    fn new(plan: &Plan, case: Case, ranks: u32) -> Ongoing {
        let measuring = Measuring::new(plan.timing(&case, ranks));
        Ongoing { case, measuring, validated: false }
    }
}

impl Session<'_> {
    /// Collective: all points on these ranks.
    fn measure(&mut self, comm: &dyn Comm) -> Result<(), RankError> {
        let plan = self.plan;
        let own = comm.dup()?;
        let skewed = plan.skew.map(|skew| skew.of(own.clock(), plan.seed, own.rank()));
        let clock = match &skewed {
            Some(skewed) => GlobalClock::over(&*own, skewed, plan.procedure),
            None => GlobalClock::new(&*own, plan.procedure),
        };
        let clock = plan.clock(clock);
        let (isolation, start) = (plan.isolation, plan.start);
        let mut stage = Stage { isolation, start, ..Stage::new(&*own, clock) };
        let cases = plan.cases(comm, &plan.sizes);
        let mut random = SplitMix64::new(plan.seed);
        self.points(comm, &mut stage, &cases, &mut random)?;
        self.refine(comm, &mut stage, &cases, &mut random)
    }

    /// Collective: these points. Visited in turns, all of them share the machine's good and bad
    /// spells.
    fn points(
        &mut self,
        comm: &dyn Comm,
        stage: &mut Stage,
        cases: &[Case],
        random: &mut SplitMix64,
    ) -> Result<(), RankError> {
        let mut progress = Progress::new(cases.len(), comm.rank() == 0);
        let ongoing = |case: &Case| Some(Ongoing::new(self.plan, *case, comm.size()));
        let mut open: Vec<Option<Ongoing>> = cases.iter().map(ongoing).collect();
        while open.iter().any(Option::is_some) {
            for place in shuffled(cases.len(), random) {
                let Some(ongoing) = open[place].take() else { continue };
                let done = cases.len() - open.iter().flatten().count() - 1;
                progress.at(done, cases[place].collective.name());
                open[place] = self.visit(comm, stage, place, ongoing)?;
            }
        }
        Ok(())
    }

    /// Collective: adds sizes to each curve, in turns, one to each that still bends.
    fn refine(
        &mut self,
        comm: &dyn Comm,
        stage: &mut Stage,
        cases: &[Case],
        random: &mut SplitMix64,
    ) -> Result<(), RankError> {
        let plan = self.plan;
        let mut curves: Vec<&Case> = Vec::new();
        for case in cases.iter().filter(|_| plan.refine > 0) {
            if !curves.iter().any(|curve| plan.share_curve(curve, case)) {
                curves.push(case);
            }
        }
        for _ in 0..plan.refine {
            // Rank 0 has the times; no bend is at size 0.
            let wanted = |curve: &&Case| self.bend(comm.size(), curve).unwrap_or(0) as f64;
            let mut sizes: Vec<f64> = curves.iter().map(wanted).collect();
            announce(stage.comm, &mut sizes)?;
            let mut more = Vec::new();
            for (curve, &size) in curves.iter().zip(&sizes).filter(|(_, size)| **size > 0.0) {
                let mut all = plan.cases(comm, &[size as u64]).into_iter();
                more.extend(all.find(|case| plan.share_curve(curve, case)));
            }
            if more.is_empty() {
                break;
            }
            self.refined = true;
            self.points(comm, stage, &more, random)?;
        }
        Ok(())
    }

    /// The size that a curve on so many ranks wants next; on rank 0.
    fn bend(&self, ranks: u32, curve: &Case) -> Option<u64> {
        let own = |done: &&Done| done.ranks == ranks && self.plan.share_curve(&done.case, curve);
        let points = self.done.iter().filter(own).map(|done| (done.case.size, done.time));
        refine::next(points.collect())
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
        if self.plan.race {
            ongoing.measuring.race(self.rival(&ongoing.case, comm.size()));
        }
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
        let strict = self.plan.strict && !point.lost && !self.plan.is_near(&point);
        let flagged = |flag: &str| point.notes.contains(&flag);
        // A real machine has spells that no budget outlasts; its interval says what it is worth.
        let is_virtual = comm.clock().is_virtual();
        let no_figure = flagged(flags::NO_TIME) || is_virtual && flagged(flags::DEPENDENT);
        self.imprecise |= strict || no_figure;
        let row = row(self.plan, &ongoing.case, comm.size(), &point, truth, overlap);
        let (ranks, case, time) = (comm.size(), ongoing.case, point.estimate);
        self.done.push(Done { ranks, case, place, time, row });
        self.output.save(&self.document()).map_err(RankError::Alone)?;
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
            Ok(collective) => collective.with_cache(self.plan.cache),
            Err(why) => {
                self.refuse(format!("{op} {name}: {why}"));
                return Ok(None);
            }
        };
        if !ongoing.validated {
            let wrong = collective.validate()?;
            if let Some(what) = talk::objection(comm, wrong)? {
                self.wrong = true;
                self.refuse(format!("{op} {name}, {}: {what}", format_size(case.size)));
                return Ok(None);
            }
            ongoing.validated = true;
        }
        Ok(Some(collective))
    }

    fn document(&self) -> Document {
        let op = |case: &Case| self.plan.collectives.iter().position(|op| *op == case.collective);
        let mut done: Vec<&Done> = self.done.iter().collect();
        done.sort_by_key(|done| (done.ranks, op(&done.case), done.case.size, done.place));
        let rows: Vec<Row> = done.into_iter().map(|done| done.row.clone()).collect();
        let sizes: Vec<String> = self.plan.sizes.iter().map(|&size| format_size(size)).collect();
        let params = Row::new()
            .with("sizes", sizes.join(","))
            .with("timing", self.plan.method.name())
            .with("isolation", self.plan.isolation_and_start())
            .with("sync", self.plan.procedure.name())
            .with("assume", self.plan.assume.name())
            .with("cache", p2p::cache_words(self.plan.cache))
            .with("clock_offset_s", self.plan.skew.map(|skew| skew.offset))
            .with("clock_drift_ppm", self.plan.skew.map(|skew| skew.drift * 1e6))
            .with("seed", self.plan.seed);
        Document { verb: "measure", env: self.env.clone(), params, rows, summary: None }
    }

    /// Rank 0 prints; everybody leaves with the same code.
    fn conclude(self, comm: &dyn Comm) -> Result<Exit, RankError> {
        let word = |is: bool| f64::from(u8::from(is));
        let mut words = [self.done.len() as f64, word(self.wrong), word(self.imprecise)];
        announce(comm, &mut words)?;
        let [rows, wrong, imprecise] = words.map(|word| word != 0.0);
        if comm.rank() == 0 {
            self.refused.iter().for_each(|line| output::note(&format!("left out {line}")));
            if self.plan.refine > 0 && !self.refined {
                refine::note_straight();
            }
        }
        if !rows && !wrong {
            let what = "nothing was measured";
            let cause = "no chosen algorithm serves any of the chosen shapes here";
            return Err(Failure::usage(what, cause, "laneway info algorithms").into());
        }
        if comm.rank() == 0 && rows {
            let full = self.document();
            let rows = brief_rows(&full.rows);
            let shown = Document { rows, ..full.clone() };
            self.output.write(&full, Some(&shown))?;
            bounds::explain(&full.rows);
        }
        Ok(match (wrong, imprecise) {
            (true, _) => Exit::Gate,
            (false, true) => Exit::Precision,
            (false, false) => Exit::Done,
        })
    }
}
