//! All points in turns, on the ranks of a communicator.

use std::collections::BTreeMap;

use laneway_core::talk::broadcast_value;
use laneway_core::units::format_size;
use laneway_core::{Comm, Form, Row, Shape, talk};
use laneway_stats::SplitMix64;

use super::bends::next_size;
use super::error::{Refusal, SweepError};
use super::need;
use super::plan::{Case, Choice, Placer, Sweep};
use super::row::row;
use crate::operation::Answerer;
use crate::talk::{broadcast, wait_for_busy};
use crate::timing::serves;
use crate::{
    Collective, GlobalClock, Isolation, Measuring, Method, Point, SaveError, Stage, flags, overlap,
    truth,
};

/// Hears how a sweep goes on; all of it may be left out: `()` hears nothing.
pub trait Observer {
    /// This rank goes on; called on every rank, often.
    fn alive(&self) {}

    /// On every rank: `done` points of a round are done, and this one is next.
    fn progress(&self, _done: usize, _all: usize, _next: &Case) {}

    /// On rank 0, after each point: the new row, and on demand all rows so far.
    fn save(&self, _done: &Done) -> Result<(), SaveError> {
        Ok(())
    }
}

impl Observer for () {}

/// What a sweep has when a point is done.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Done<'a> {
    /// Of the point that was measured last.
    pub row: &'a Row,
    /// How many points there will be, as far as that is known by now.
    pub planned: usize,
    points: &'a [Measured],
}

impl Done<'_> {
    /// How many points are done.
    pub fn count(&self) -> usize {
        self.points.len()
    }

    /// The rows of all points that are done, in the order of the final ones.
    pub fn rows(&self) -> Vec<Row> {
        self.points.iter().map(|point| point.row.clone()).collect()
    }
}

/// A point that was measured.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Measured {
    /// Of the communicator.
    pub ranks: u32,
    /// What was measured.
    pub case: Case,
    /// The figures.
    pub point: Point,
    /// All of it as a row.
    pub row: Row,
    /// Among the points of one size, in the order in which they were asked for.
    place: usize,
}

/// What a sweep has found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Swept {
    /// In the order in which they were asked for, sizes rising; on rank 0.
    pub points: Vec<Measured>,
    /// What was left out and why, a line each; on rank 0.
    pub left_out: Vec<String>,
    /// Whether a size was added to some curve; on rank 0.
    pub refined: bool,
    /// Whether there are points; on every rank.
    pub has_points: bool,
    /// Whether an answer was wrong; on every rank.
    pub wrong: bool,
    /// Whether some point is not as near as the rule asks for; on every rank.
    pub imprecise: bool,
    /// Whether some point has no figure at all; on every rank.
    pub without_figure: bool,
}

impl Swept {
    /// The rows of all points.
    pub fn rows(&self) -> Vec<Row> {
        self.points.iter().map(|point| point.row.clone()).collect()
    }
}

impl Sweep {
    /// Collective: measures all points. `placer` knows where ranks are, `observer` hears how it
    /// goes on.
    pub fn run(
        &self,
        comm: &dyn Comm,
        placer: Option<&dyn Placer>,
        observer: &dyn Observer,
    ) -> Result<Swept, SweepError> {
        self.check()?;
        let counts = self.counts(comm.size());
        refuse_early(comm, self, &counts)?;
        if placer.is_none() && self.choices.contains(&Choice::Chosen) {
            return Err(Refusal::NoSites.into());
        }
        need::refuse(comm, self, placer)?;
        let mut running = Running {
            sweep: self,
            placer,
            observer,
            points: Vec::new(),
            planned: 0,
            to_follow: 0,
            refined: false,
            standing: BTreeMap::new(),
            left_out: self.unserved(),
            wrong: false,
            imprecise: false,
            without_figure: false,
        };
        for (later, &count) in (0..counts.len()).rev().zip(&counts) {
            let whole = count == comm.size();
            let chosen = (comm.rank() < count).then_some(0);
            let first = if whole { None } else { comm.split(chosen, comm.rank())? };
            if let Some(group) = if whole { Some(comm) } else { first.as_deref() } {
                running.measure(group, later)?;
            }
            wait_for_busy(comm, count, &|| observer.alive())?;
        }
        running.conclude(comm)
    }
}

/// What no rank can do, all refuse alike.
fn refuse_early(comm: &dyn Comm, sweep: &Sweep, counts: &[u32]) -> Result<(), Refusal> {
    let fewest = counts.iter().copied().min().unwrap_or(1);
    if sweep.root >= fewest {
        return Err(Refusal::NoRoot { root: sweep.root, fewest });
    }
    if sweep.truth && !comm.clock().is_virtual() {
        return Err(Refusal::NoTrueTime);
    }
    let barrier = Shape::new(laneway_core::Collective::Barrier, comm.size(), 0);
    let gates = [sweep.isolation, sweep.start];
    let native = gates.iter().any(|gate| matches!(gate, Isolation::Native { .. }));
    match comm.native_objection(&barrier, Form::Blocking).filter(|_| native) {
        Some(cause) => Err(Refusal::NoIsolation { isolation: sweep.isolation_and_start(), cause }),
        None => Ok(()),
    }
}

/// Operation, form, ranks and size: algorithms race for each.
type Race = (&'static str, &'static str, u32, u64);

fn race(case: &Case, ranks: u32) -> Race {
    (case.collective.name(), case.form.name(), ranks, case.size)
}

/// A sweep that is under way.
struct Running<'a> {
    sweep: &'a Sweep,
    placer: Option<&'a dyn Placer>,
    observer: &'a dyn Observer,
    points: Vec<Measured>,
    /// Points that were begun.
    planned: usize,
    /// Points on numbers of ranks whose turn comes later.
    to_follow: usize,
    refined: bool,
    /// Of each race, what the rivals surely do not exceed, in seconds.
    standing: BTreeMap<Race, Vec<(Answerer, f64)>>,
    left_out: Vec<String>,
    wrong: bool,
    imprecise: bool,
    without_figure: bool,
}

/// A point that is not done yet.
struct Ongoing {
    case: Case,
    measuring: Measuring<'static>,
    /// Its answer was found right.
    validated: bool,
}

impl Running<'_> {
    /// Collective: all points on these ranks; `later` more numbers of ranks follow.
    fn measure(&mut self, comm: &dyn Comm, later: usize) -> Result<(), SweepError> {
        let sweep = self.sweep;
        let own = comm.dup()?;
        let skewed = sweep.skew.map(|skew| skew.of(own.clock(), sweep.seed, own.rank()));
        let clock = match &skewed {
            Some(skewed) => GlobalClock::over(&*own, skewed, sweep.procedure),
            None => GlobalClock::new(&*own, sweep.procedure),
        };
        let clock = sweep.clock(clock);
        let (isolation, start) = (sweep.isolation, sweep.start);
        let mut stage = Stage { isolation, start, ..Stage::new(&*own, clock) };
        let cases = sweep.cases(comm, self.placer, &sweep.sizes);
        self.to_follow = later * cases.len();
        let mut random = SplitMix64::new(sweep.seed);
        self.measure_cases(comm, &mut stage, &cases, &mut random)?;
        self.refine(comm, &mut stage, &cases, &mut random)
    }

    /// Collective: these points, in turns.
    fn measure_cases(
        &mut self,
        comm: &dyn Comm,
        stage: &mut Stage,
        cases: &[Case],
        random: &mut SplitMix64,
    ) -> Result<(), SweepError> {
        let begin = |case: &Case| {
            let measuring = Measuring::new(self.sweep.timing(case, comm.size()));
            let measuring = if self.sweep.keep { measuring } else { measuring.without_spans() };
            Some(Ongoing { case: *case, measuring, validated: false })
        };
        let mut open: Vec<Option<Ongoing>> = cases.iter().map(begin).collect();
        self.planned += cases.len();
        while open.iter().any(Option::is_some) {
            let mut order: Vec<usize> = (0..cases.len()).collect();
            random.shuffle(&mut order);
            for place in order {
                let Some(ongoing) = open[place].take() else { continue };
                let done = cases.len() - open.iter().flatten().count() - 1;
                self.observer.progress(done, cases.len(), &cases[place]);
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
    ) -> Result<(), SweepError> {
        let sweep = self.sweep;
        let mut curves: Vec<&Case> = Vec::new();
        for case in cases.iter().filter(|_| sweep.refine > 0) {
            if !curves.iter().any(|curve| sweep.share_curve(curve, case)) {
                curves.push(case);
            }
        }
        for _ in 0..sweep.refine {
            // Rank 0 has the times; no bend is at size 0.
            let wanted = |curve: &&Case| self.bend(comm.size(), curve).unwrap_or(0) as f64;
            let mut sizes: Vec<f64> = curves.iter().map(wanted).collect();
            broadcast(stage.comm, &mut sizes)?;
            let mut more = Vec::new();
            for (curve, &size) in curves.iter().zip(&sizes).filter(|(_, size)| **size > 0.0) {
                let mut all = sweep.cases(comm, self.placer, &[size as u64]).into_iter();
                more.extend(all.find(|case| sweep.share_curve(curve, case)));
            }
            if more.is_empty() {
                break;
            }
            self.refined = true;
            self.measure_cases(comm, stage, &more, random)?;
        }
        Ok(())
    }

    /// The size that a curve on this number of ranks wants next; on rank 0.
    fn bend(&self, ranks: u32, curve: &Case) -> Option<u64> {
        let own =
            |done: &&Measured| done.ranks == ranks && self.sweep.share_curve(&done.case, curve);
        let points = self.points.iter().filter(own);
        next_size(points.map(|done| (done.case.size, done.point.estimate)).collect())
    }

    /// Collective: measures a point a while; gives it back where it is not done.
    fn visit(
        &mut self,
        comm: &dyn Comm,
        stage: &mut Stage,
        place: usize,
        mut ongoing: Ongoing,
    ) -> Result<Option<Ongoing>, SweepError> {
        self.observer.alive();
        let Some(mut collective) = self.prepare(comm, &mut ongoing)? else {
            self.planned -= 1;
            return Ok(None);
        };
        let mut ready = collective.ready()?;
        let rule = &self.sweep.rule;
        if self.sweep.race {
            ongoing.measuring.race(self.rival(&ongoing.case, comm.size()));
        }
        let done = ongoing.measuring.visit(stage, &mut ready, rule)?;
        self.stand(&ongoing, comm.size());
        if !done {
            return Ok(Some(ongoing));
        }
        let truth = if self.sweep.truth { truth(stage.comm, &mut ready)? } else { None };
        let overlap = match ongoing.case.form {
            Form::NonBlocking => overlap(stage, &mut ready, rule)?,
            Form::Blocking => None,
        };
        let Some(point) = ongoing.measuring.conclude(stage, rule) else {
            return Ok(None);
        };
        self.imprecise |= !point.lost && !self.sweep.is_near(&point);
        let flagged = |flag: &str| point.notes.contains(&flag);
        // A real machine has spells that no budget outlasts; its interval says what it is worth.
        let is_virtual = comm.clock().is_virtual();
        self.without_figure |= flagged(flags::NO_TIME) || is_virtual && flagged(flags::DEPENDENT);
        let row = row(self.sweep, &ongoing.case, comm.size(), &point, truth, overlap);
        let measured = Measured { ranks: comm.size(), case: ongoing.case, point, row, place };
        let at = self.insert(measured);
        let planned = (self.planned + self.to_follow).max(self.points.len());
        let done = Done { row: &self.points[at].row, planned, points: &self.points };
        self.observer.save(&done).map_err(SweepError::Observer)?;
        Ok(None)
    }

    /// Adds a point behind those that were asked for before it, and gives its place.
    fn insert(&mut self, measured: Measured) -> usize {
        let operations = &self.sweep.collectives;
        let place = |case: &Case| operations.iter().position(|op| *op == case.collective);
        let key = |done: &Measured| (done.ranks, place(&done.case), done.case.size, done.place);
        let own = key(&measured);
        let at = self.points.partition_point(|done| key(done) <= own);
        self.points.insert(at, measured);
        at
    }

    /// What the fastest rival surely does not exceed, in seconds; on rank 0.
    fn rival(&self, case: &Case, ranks: u32) -> f64 {
        let all = self.standing.get(&race(case, ranks)).map_or(&[][..], Vec::as_slice);
        let others = all.iter().filter(|(answerer, _)| *answerer != case.answerer);
        others.map(|(_, high)| *high).fold(f64::INFINITY, f64::min)
    }

    /// Notes where a point of a race stands.
    fn stand(&mut self, ongoing: &Ongoing, ranks: u32) {
        let interval = ongoing.measuring.interval(&self.sweep.rule);
        let Some(interval) = interval.filter(|_| self.sweep.race) else { return };
        let all = self.standing.entry(race(&ongoing.case, ranks)).or_default();
        all.retain(|(answerer, _)| *answerer != ongoing.case.answerer);
        all.push((ongoing.case.answerer, interval.high));
    }

    fn leave_out(&mut self, line: String) {
        if !self.left_out.contains(&line) {
            self.left_out.push(line);
        }
    }

    /// Collective: the call with its buffers, once it was seen to be right; `None` if it cannot be
    /// made or is wrong.
    fn prepare<'c>(
        &mut self,
        comm: &'c dyn Comm,
        ongoing: &mut Ongoing,
    ) -> Result<Option<Collective<'c>>, SweepError> {
        let case = ongoing.case;
        let shape = self.sweep.shape(comm, self.placer, case.collective, case.size);
        let (op, name) = (case.collective.name(), case.answerer.name());
        if self.sweep.method == Method::Tasks && !serves(case.collective, name) {
            self.leave_out(format!("{op} {name}: it does not consist of single tasks"));
            return Ok(None);
        }
        if case.is_empty(comm.size()) {
            let on = if comm.size() == 1 { " on 1 rank" } else { "" };
            self.leave_out(format!("{op} {name}, {} B{on}: nothing is sent", case.size));
            return Ok(None);
        }
        let mut collective = match Collective::in_form(comm, &shape, case.answerer, case.form) {
            Ok(collective) => collective.with_cache(self.sweep.cache),
            Err(why) => {
                self.leave_out(format!("{op} {name}: {why}"));
                return Ok(None);
            }
        };
        if !ongoing.validated {
            let wrong = collective.validate()?;
            if let Some(what) = talk::objection(comm, wrong)? {
                self.wrong = true;
                self.leave_out(format!("{op} {name}, {}: {what}", format_size(case.size)));
                return Ok(None);
            }
            ongoing.validated = true;
        }
        Ok(Some(collective))
    }

    /// Collective: what rank 0 knows of the end, on every rank.
    fn conclude(self, comm: &dyn Comm) -> Result<Swept, SweepError> {
        let has_points = !self.points.is_empty();
        let known = (has_points, self.wrong, self.imprecise, self.without_figure);
        let (has_points, wrong, imprecise, without_figure) = broadcast_value(comm, &known)?;
        let Running { points, left_out, refined, .. } = self;
        Ok(Swept { points, left_out, refined, has_points, wrong, imprecise, without_figure })
    }
}
