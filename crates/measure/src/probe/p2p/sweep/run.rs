//! The run of a sweep of patterns: its points in a shuffled order, then more where curves bend.

use std::collections::BTreeMap;
use std::ops::Range;

use laneway_core::{Comm, CommError, Rank, Row, talk};
use laneway_processes::memory;
use laneway_stats::SplitMix64;

use super::super::disjoint::{Estimate, Lab};
use super::super::logp::LogP;
use super::super::pattern::{Pattern, Work, window};
use super::super::plan::Plan;
use super::error::{PatternError, Refusal};
use super::experiment::Experiment;
use super::figure::Figure;
use super::notes::{Notes, Samples};
use super::options::PatternSweep;
use crate::SaveError;
use crate::cache::Cache;
use crate::sweep::next_size;
use crate::talk::broadcast;
use crate::{GlobalClock, Procedure, Rule};

/// What is measured next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Next {
    /// Points that are done, of those that are known by now.
    pub done: usize,
    /// All of these.
    pub all: usize,
    /// What it is.
    pub experiment: Experiment,
    /// Bytes of its messages.
    pub size: u64,
}

/// Hears how a sweep goes on; all of it may be left out: `()` hears nothing.
pub trait Observer {
    /// This rank goes on; called on every rank, often.
    fn alive(&self) {}

    /// On every rank, before each point.
    fn progress(&self, _next: Next) {}

    /// On rank 0, after each point: what it has added, and what there is so far.
    fn save(&self, _done: &Done) -> Result<(), SaveError> {
        Ok(())
    }
}

impl Observer for () {}

/// What a sweep has when a point is done.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Done<'a> {
    /// Everything so far.
    pub figures: &'a Figures,
    /// Points that are done.
    pub done: usize,
    /// Points that are known by now.
    pub all: usize,
    /// Of the point that was measured last.
    added: Range<usize>,
}

impl Done<'_> {
    /// The rows of the point that was measured last.
    pub fn added(&self) -> Vec<Row> {
        self.figures.rows_of(self.added.clone())
    }
}

/// What a sweep has found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Figures {
    /// Whether sizes were added to some curve.
    pub refined: bool,
    figures: Vec<Placed>,
    /// The clock's, in seconds.
    tick: f64,
    seed: u64,
    rule: Rule,
}

/// A figure and the place of its experiment among those of the sweep.
#[derive(Clone, Debug, PartialEq)]
struct Placed {
    experiment: usize,
    figure: Figure,
}

impl Figures {
    pub(super) fn new(sweep: &PatternSweep, tick: f64) -> Figures {
        let figures = Vec::new();
        Figures { refined: false, figures, tick, seed: sweep.seed, rule: sweep.rule }
    }

    /// Adds the figures of a point behind those that were asked for before them, in their order;
    /// gives their places.
    pub(super) fn add(&mut self, experiment: usize, figures: Vec<Figure>) -> Range<usize> {
        let Some(size) = figures.first().map(Figure::size) else { return 0..0 };
        let is_before =
            |placed: &Placed| (placed.experiment, placed.figure.size()) <= (experiment, size);
        let at = self.figures.partition_point(is_before);
        let count = figures.len();
        let placed = figures.into_iter().map(|figure| Placed { experiment, figure });
        self.figures.splice(at..at, placed);
        at..at + count
    }

    /// In the order of the experiments, sizes rising.
    pub fn iter(&self) -> impl Iterator<Item = &Figure> {
        self.figures.iter().map(|placed| &placed.figure)
    }

    /// All of them as rows.
    pub fn rows(&self) -> Vec<Row> {
        self.rows_of(0..self.figures.len())
    }

    fn rows_of(&self, places: Range<usize>) -> Vec<Row> {
        let row = |placed: &Placed| placed.figure.row(self.tick, self.seed, &self.rule);
        self.figures[places].iter().map(row).collect()
    }

    /// Whether something that was to be measured has no figure.
    pub fn is_missed(&self) -> bool {
        self.iter().any(Figure::is_missed)
    }

    /// Whether a figure is not as precise as the rule asks for.
    pub fn is_imprecise(&self) -> bool {
        self.iter().any(|figure| !figure.estimate().reached)
    }

    /// The size that most curves of an experiment want next: each figure of each pair is one.
    fn bend(&self, experiment: usize) -> Option<u64> {
        let mut curves: BTreeMap<_, Vec<(u64, f64)>> = BTreeMap::new();
        for placed in self.figures.iter().filter(|placed| placed.experiment == experiment) {
            if let Some(time) = placed.figure.time() {
                let curve = curves.entry(placed.figure.curve()).or_default();
                curve.push((placed.figure.size(), time));
            }
        }
        let mut votes: BTreeMap<u64, usize> = BTreeMap::new();
        for size in curves.into_values().filter_map(next_size) {
            *votes.entry(size).or_default() += 1;
        }
        // Of equals the smallest.
        votes.into_iter().rev().max_by_key(|(_, votes)| *votes).map(|(size, _)| size)
    }
}

/// An experiment, by its place, and a size.
#[derive(Clone, Copy)]
struct Point {
    experiment: usize,
    size: u64,
}

impl PatternSweep {
    /// Collective: measures everything; the figures, on rank 0.
    pub fn run(
        &self,
        comm: &dyn Comm,
        observer: &dyn Observer,
    ) -> Result<Option<Figures>, PatternError> {
        self.check()?;
        self.check_ranks(comm.size())?;
        if self.cache != Cache::Warm && comm.clock().is_virtual() {
            return Err(Refusal::NoCaches.into());
        }
        let sharers = memory::sharers(comm)?.len() as u32;
        if let Some(cause) = talk::objection(comm, self.memory_objection(sharers))? {
            return Err(Refusal::Memory(cause).into());
        }
        let own = comm.dup()?;
        let alive = |_: usize, _: usize| observer.alive();
        let lab = Lab { each_round: &alive, ..Lab::new(&*own, self.rule) };
        let tick = GlobalClock::new(&*own, Procedure::default()).tick();
        let places = 0..self.experiments.len();
        let point = |experiment| self.sizes.iter().map(move |&size| Point { experiment, size });
        let mut points: Vec<Point> = places.flat_map(point).collect();
        SplitMix64::new(self.seed).shuffle(&mut points);
        let figures = Figures::new(self, tick);
        let mut running = Running { sweep: self, lab: &lab, observer, points_done: 0, figures };
        running.measure(&points)?;
        running.refine()?;
        Ok((comm.rank() == 0).then_some(running.figures))
    }
}

/// A sweep that is not at its end; rank 0 has the figures.
struct Running<'a> {
    sweep: &'a PatternSweep,
    lab: &'a Lab<'a>,
    observer: &'a dyn Observer,
    points_done: usize,
    figures: Figures,
}

impl Running<'_> {
    /// Collective: these points in their order.
    fn measure(&mut self, points: &[Point]) -> Result<(), PatternError> {
        for (number, &Point { experiment, size }) in points.iter().enumerate() {
            let next = Next {
                done: number,
                all: points.len(),
                experiment: self.sweep.experiments[experiment],
                size,
            };
            self.observer.progress(next);
            let figures = self.point(next.experiment, size as usize)?;
            let added = self.figures.add(experiment, figures);
            self.points_done += 1;
            if self.lab.comm.rank() == 0 {
                let (done, left) = (self.points_done, points.len() - number - 1);
                let done = Done { figures: &self.figures, done, all: done + left, added };
                self.observer.save(&done).map_err(PatternError::Observer)?;
            }
        }
        Ok(())
    }

    /// Collective: adds sizes to each experiment where it bends.
    fn refine(&mut self) -> Result<(), PatternError> {
        for _ in 0..self.sweep.refine {
            // Rank 0 has the times; no bend is at size 0.
            let places = 0..self.sweep.experiments.len();
            let wanted = |experiment| self.figures.bend(experiment).unwrap_or(0) as f64;
            let mut sizes: Vec<f64> = places.map(wanted).collect();
            broadcast(self.lab.comm, &mut sizes)?;
            let points = sizes.into_iter().map(|size| size as u64).enumerate();
            let points = points.map(|(experiment, size)| Point { experiment, size });
            let points: Vec<Point> = points.filter(|point| point.size > 0).collect();
            if points.is_empty() {
                break;
            }
            self.figures.refined = true;
            self.measure(&points)?;
        }
        Ok(())
    }

    /// Collective: one experiment and size on all chosen ranks; the figures, on rank 0, by the
    /// ranks of their subsets and not by their rounds.
    fn point(&self, experiment: Experiment, size: usize) -> Result<Vec<Figure>, CommError> {
        let ranks = self.lab.comm.size();
        let plan = self.sweep.ranks.plan(experiment, ranks, self.sweep.parallel)?;
        let found: Vec<Vec<Figure>> = match experiment {
            Experiment::LogP => self.parameters(&plan, size)?,
            Experiment::Pattern(pattern) => {
                // Who leads receives, and a row is read the other way.
                let turned = (pattern == Pattern::ReceiveOverhead).then(|| plan.turned());
                let found = self.pattern(turned.as_ref().unwrap_or(&plan), pattern, size)?;
                found.into_iter().map(|figure| vec![figure]).collect()
            }
        };
        let mut all: Vec<_> = plan.subsets().zip(found).collect();
        all.sort_by_key(|(ranks, _)| *ranks);
        Ok(all.into_iter().flat_map(|(_, figures)| figures).collect())
    }

    /// Collective: the parameters of LogGP and PLogP of each pair of a plan, in its order: each as
    /// the pattern that it is, and L, which comes from them.
    fn parameters(&self, plan: &Plan, size: usize) -> Result<Vec<Vec<Figure>>, CommError> {
        let mut found = Vec::new();
        for part in &LogP::PARTS {
            found.push(self.pattern(&part.plan(plan), part.pattern, size)?.into_iter());
        }
        let mut all = Vec::new();
        while let Some(pair) = found.iter_mut().map(Iterator::next).collect::<Option<Vec<_>>>() {
            let Ok(pair) = <[Figure; 6]>::try_from(pair) else { break };
            let latency = LogP::of(pair.each_ref().map(|figure| *figure.estimate())).latency;
            let rest = Figure::rest(&pair[4], latency, &pair);
            let [sent, sent_back, received_back, received, gap, trip] = pair;
            all.push(vec![sent, received, sent_back, received_back, gap, trip, rest]);
        }
        Ok(all)
    }

    /// Collective: one pattern and size on the subsets of a plan, in its order; on rank 0.
    fn pattern(
        &self,
        plan: &Plan,
        pattern: Pattern,
        size: usize,
    ) -> Result<Vec<Figure>, CommError> {
        let sweep = self.sweep;
        let window = match pattern.has_window() {
            true => window(sweep.window, size, sweep.cache),
            false => 1,
        };
        let back = sweep.back(pattern, size);
        let mut work = match back {
            Some(back) => Work::round_trip(size, back, sweep.cache),
            None => Work::new(pattern, size, window, sweep.cache),
        };
        let notes = Notes::new(self.lab.rule, sweep.keep);
        let note = |samples: &[f64]| notes.note(samples);
        let lab = Lab { each_subset: &note, ..*self.lab };
        let found = lab.run(plan, |members| pattern.once(members, &mut work))?.unwrap_or_default();
        let noted = notes.collect(lab.comm, plan)?;
        let figure = |((ranks, estimate), samples): ((&[Rank], Estimate), Option<Samples>)| {
            let mut ranks = ranks.to_vec();
            if pattern == Pattern::ReceiveOverhead {
                // Who leads receives.
                ranks.reverse();
            }
            let figure = Figure::new(pattern, &ranks, size, window, estimate);
            figure.with_back(back).with_samples(samples)
        };
        Ok(plan.subsets().zip(found).zip(noted).map(figure).collect())
    }
}
