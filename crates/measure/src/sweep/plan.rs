//! What is to be measured, and how.

use laneway_coll::{algorithms, default_algorithm, find, unserved};
use laneway_core::{Collective, Comm, Form, Shape};
use laneway_stats::Interval;

use super::decided::{Decided, point_key};
use super::error::Refusal;
use super::skew::Skew;
use crate::cache::Cache;
use crate::clock::Bound;
use crate::operation::Answerer;
use crate::repeat::Aim;
use crate::timing::{Confirmation, Global, Maximum, Root, Series, Tasks};
use crate::{GlobalClock, Isolation, Method, Point, Procedure, Rule, Timing};

/// Which algorithms of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// The library's own where there is one, else what is usual.
    Usual,
    /// The library's own and every algorithm of the registry.
    All,
    /// The library's own.
    Native,
    /// What a [`Placer`] chooses for where the ranks are.
    Chosen,
    /// An algorithm by its name, with parameters as `binomial:segment=8K`.
    Named(String),
}

/// What is taken for granted of the ways between hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Assume {
    /// They take as long out as back.
    #[default]
    Symmetric,
    /// Nothing but that no message arrives before it leaves.
    None,
}

impl Assume {
    /// Every one.
    pub const ALL: [Assume; 2] = [Assume::Symmetric, Assume::None];

    /// Its name in rows.
    pub fn name(self) -> &'static str {
        match self {
            Assume::Symmetric => "symmetric",
            Assume::None => "none",
        }
    }
}

/// Knows where ranks are.
pub trait Placer: Sync {
    /// The shape with the ranks in their places.
    fn place(&self, shape: Shape) -> Shape;

    /// What is fastest there.
    fn choose(&self, shape: &Shape) -> Option<Answerer>;
}

/// Everything that is measured in one run, and how.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sweep {
    /// The operations.
    pub collectives: Vec<Collective>,
    /// Algorithms; none for what is usual.
    pub choices: Vec<Choice>,
    /// Blocking or not.
    pub forms: Vec<Form>,
    /// The numbers of ranks, rising; none for all there are.
    pub ranks: Vec<u32>,
    /// Bytes.
    pub sizes: Vec<u64>,
    /// Of operations that have one.
    pub root: u32,
    /// How a repetition is timed.
    pub method: Method,
    /// What parts repetitions.
    pub isolation: Isolation,
    /// What all pass after the isolation, right before a repetition.
    pub start: Isolation,
    /// How the root learns that all are done.
    pub confirmation: Confirmation,
    /// How clocks are brought together.
    pub procedure: Procedure,
    /// What intervals take for granted.
    pub assume: Assume,
    /// Round trips without a shorter one that end a comparison; none for the usual number.
    pub trips: Option<u32>,
    /// Clocks that are wrong on purpose.
    pub skew: Option<Skew>,
    /// Repetitions after which clocks are compared again.
    pub resync: u32,
    /// Calls of one series.
    pub series: Series,
    /// When there are enough repetitions.
    pub rule: Rule,
    /// What an earlier launch has found out.
    pub decided: Decided,
    /// Shuffles the order of the points.
    pub seed: u64,
    /// Whether the true time is wanted, of a simulated cluster.
    pub truth: bool,
    /// Whether buffers lie in the cache before a call.
    pub cache: Cache,
    /// Whether every sample and every rank's entry and exit is kept.
    pub keep: bool,
    /// Whether algorithms that are surely slower than another one stop early.
    pub race: bool,
    /// Sizes to add to each curve where it bends.
    pub refine: u32,
}

/// One operation to measure.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The operation.
    pub collective: Collective,
    /// Who performs it.
    pub answerer: Answerer,
    /// Blocking or not.
    pub form: Form,
    /// Bytes.
    pub size: u64,
}

impl Case {
    /// Our algorithms send nothing where there is nothing to send or no rank to send it to, so that
    /// there is nothing to measure; what a library does then is its own affair.
    pub fn is_empty(&self, ranks: u32) -> bool {
        let ours = matches!(self.answerer, Answerer::Ours(..));
        let nothing = self.size == 0 && self.collective != Collective::Barrier;
        ours && (nothing || ranks == 1)
    }
}

impl Sweep {
    /// These operations and sizes on all ranks, by the usual algorithms and the default method.
    pub fn new(collectives: Vec<Collective>, sizes: Vec<u64>) -> Sweep {
        Sweep {
            collectives,
            choices: Vec::new(),
            forms: vec![Form::default()],
            ranks: Vec::new(),
            sizes,
            root: 0,
            method: Method::default(),
            isolation: Isolation::barrier(),
            start: Isolation::None,
            confirmation: Confirmation::default(),
            procedure: Procedure::default(),
            assume: Assume::default(),
            trips: None,
            skew: None,
            resync: 50,
            series: Series::default(),
            rule: Rule::default(),
            decided: Decided::default(),
            seed: 1,
            truth: false,
            cache: Cache::Warm,
            keep: false,
            race: false,
            refine: 0,
        }
    }

    /// What can be refused before there are ranks: unknown names, and races without competitors.
    pub fn check(&self) -> Result<(), Refusal> {
        for choice in &self.choices {
            let Choice::Named(name) = choice else { continue };
            let refusals = self.collectives.iter().map(|&collective| find(collective, name).err());
            let refusals: Option<Vec<_>> = refusals.collect();
            if let Some(refusal) = refusals.and_then(|all| all.into_iter().next()) {
                return Err(Refusal::UnknownAlgorithm { name: name.clone(), cause: refusal.0 });
            }
        }
        if self.race && self.choices.len() < 2 && self.choices != [Choice::All] {
            return Err(Refusal::NoRivals);
        }
        if self.race && self.rule.is_fixed() {
            return Err(Refusal::ExactRace);
        }
        Ok(())
    }

    /// The interval that a row leads with.
    pub fn headline(&self, point: &Point) -> Option<Interval> {
        let bound = || {
            let Bound { low, high } = point.bound?;
            Some(Interval { low, high, level: point.interval?.level })
        };
        if self.assume == Assume::None { bound() } else { point.interval }
    }

    /// Whether a point is as near as was asked for, by the interval that its row leads with.
    pub fn is_near(&self, point: &Point) -> bool {
        let Some(interval) = self.headline(point).filter(|_| self.assume == Assume::None) else {
            return point.reached;
        };
        let asked = match self.rule.aim {
            Aim::Mean { alpha } => alpha,
            Aim::Median { precision, .. } => precision,
        };
        point.reached && interval.half_width() <= asked * point.estimate.abs()
    }

    /// The numbers of ranks to measure on, if there are `most` at most.
    pub fn counts(&self, most: u32) -> Vec<u32> {
        if self.ranks.is_empty() { vec![most] } else { self.ranks.clone() }
    }

    /// A clock as it was asked for.
    pub(super) fn clock<'c>(&self, clock: GlobalClock<'c>) -> GlobalClock<'c> {
        self.trips.into_iter().fold(clock, GlobalClock::with_trips)
    }

    /// The points to measure, in the order in which they were asked for.
    pub fn cases(&self, comm: &dyn Comm, placer: Option<&dyn Placer>, sizes: &[u64]) -> Vec<Case> {
        let mut cases = Vec::new();
        for &collective in &self.collectives {
            let sizes = if collective == Collective::Barrier { &[0][..] } else { sizes };
            for &size in sizes {
                let shape = self.shape(comm, placer, collective, size);
                for &form in &self.forms {
                    let case = |answerer| Case { collective, answerer, form, size };
                    cases.extend(self.answerers(comm, placer, &shape, form).map(case));
                }
            }
        }
        cases
    }

    /// Whether two points lie on one curve: of one operation and form, by one algorithm or, where
    /// none was chosen, by whatever is usual for each size.
    pub fn share_curve(&self, one: &Case, other: &Case) -> bool {
        let alike = self.choices.is_empty() || one.answerer == other.answerer;
        one.collective == other.collective && one.form == other.form && alike
    }

    /// Operations that have none of the algorithms, where all of these are named.
    pub(super) fn unserved(&self) -> Vec<String> {
        let name = |choice: &Choice| match choice {
            Choice::Named(name) => Some(name.clone()),
            _ => None,
        };
        let names: Option<Vec<String>> = self.choices.iter().map(name).collect();
        unserved(&self.collectives, &names.unwrap_or_default())
    }

    fn answerers(
        &self,
        comm: &dyn Comm,
        placer: Option<&dyn Placer>,
        shape: &Shape,
        form: Form,
    ) -> impl Iterator<Item = Answerer> {
        let collective = shape.collective;
        let native = comm.native_objection(shape, form).is_none().then_some(Answerer::Native);
        let usual = || {
            default_algorithm(shape).map(|(algorithm, params)| Answerer::Ours(algorithm, params))
        };
        let usually = [Choice::Usual];
        let choices = if self.choices.is_empty() { &usually[..] } else { &self.choices };
        let mut answerers: Vec<Answerer> = Vec::new();
        // Those that two choices have in common answer once.
        let mut add = |found: &mut dyn Iterator<Item = Answerer>| {
            found.for_each(|one| answerers.extend((!answerers.contains(&one)).then_some(one)));
        };
        for choice in choices {
            match choice {
                Choice::Usual => add(&mut native.or_else(usual).into_iter()),
                Choice::Native => add(&mut [Answerer::Native].into_iter()),
                Choice::Chosen => add(&mut placer.and_then(|p| p.choose(shape)).into_iter()),
                Choice::All => {
                    let ours = algorithms(collective).map(|a| Answerer::Ours(a, a.defaults()));
                    add(&mut native.into_iter().chain(ours));
                }
                Choice::Named(name) => {
                    let found = find(collective, name).ok();
                    add(&mut found.map(|(a, params)| Answerer::Ours(a, params)).into_iter());
                }
            }
        }
        answerers.into_iter()
    }

    /// The shape of an operation on these ranks.
    pub fn shape(
        &self,
        comm: &dyn Comm,
        placer: Option<&dyn Placer>,
        collective: Collective,
        size: u64,
    ) -> Shape {
        let root = if collective.has_root() { self.root } else { 0 };
        let shape = Shape::new(collective, comm.size(), size).with_root(root);
        match placer {
            Some(placer) => placer.place(shape),
            None => shape,
        }
    }

    /// As rows show it: `barrier:tree`, or `reduce+barrier:tree`.
    pub fn isolation_and_start(&self) -> String {
        match self.start {
            Isolation::None => self.isolation.to_string(),
            start => format!("{}+{start}", self.isolation),
        }
    }

    pub(super) fn timing(&self, case: &Case, ranks: u32) -> Box<dyn Timing> {
        match self.method {
            Method::Root => Box::new(Root::new(self.root, self.confirmation)),
            Method::Maximum => Box::new(Maximum),
            Method::Global => Box::new(Global { resync: self.resync }),
            Method::StartTime => {
                let (op, algorithm) = (case.collective.name(), case.answerer.name());
                let key = point_key(op, algorithm, case.form.name(), ranks, case.size);
                Box::new(self.decided.timing(&key))
            }
            Method::Loop => Box::new(self.series),
            Method::Tasks => Box::new(Tasks::new(self.root)),
        }
    }
}
