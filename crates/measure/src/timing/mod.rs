//! Ways to time one repetition of a collective operation, one file each.
//!
//! What they share is here: a [`Stage`] with the ranks' own communicator and clock, the spans from
//! entry to exit of every rank, and the calls before the first sample.

mod global;
mod maximum;
mod root;
mod series;
mod start_time;
mod tasks;

use laneway_core::{Comm, CommError, Rank};

pub use global::Global;
pub use maximum::Maximum;
pub use root::{Confirmation, Root};
pub use series::Series;
pub use start_time::StartTime;
pub use tasks::{Tasks, serves};

use crate::clock::GlobalClock;
use crate::isolation::{Gate, Isolation};
use crate::operation::Operation;
use crate::talk::{DELIVER, bytes_of, collect, numbers_of};

/// Calls that warm caches and connections before the first sample; one less where the operation
/// says that it is warm.
pub const WARM_UP_CALLS: u32 = 2;

/// Where measurements happen: messages of our own, a clock, and what keeps repetitions apart.
pub struct Stage<'c> {
    /// Not the communicator of the operation, so that messages do not meet.
    pub comm: &'c dyn Comm,
    pub clock: GlobalClock<'c>,
    /// What keeps a repetition from meeting the one before.
    pub isolation: Isolation,
    /// What lets all start together after it, if that is something else.
    pub start: Isolation,
}

impl<'c> Stage<'c> {
    /// Repetitions are kept apart, and start, by a barrier.
    pub fn new(comm: &'c dyn Comm, clock: GlobalClock<'c>) -> Stage<'c> {
        Stage { comm, clock, isolation: Isolation::barrier(), start: Isolation::None }
    }

    /// What is passed before each repetition.
    pub(crate) fn gate(&self) -> Result<Gate<'c>, CommError> {
        self.isolation.gate_and(self.start, self.comm)
    }
}

/// Some samples, known on rank 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Seconds, of the repetitions that count.
    pub samples: Vec<f64>,
    /// What each of them could be at least and at most, where a method cannot know better; empty
    /// means the same as `samples`.
    pub lows: Vec<f64>,
    pub highs: Vec<f64>,
    pub rejected: u32,
    /// Of each counted repetition, how far apart the ranks began, in seconds; where it is known.
    pub skews: Vec<f64>,
    /// The mean of every rank over the batch, where a method tells it.
    pub rank_means: Vec<f64>,
    /// Every rank's entry and exit, if they are to be kept: repetition after repetition, rank after
    /// rank, on rank 0's clock.
    pub spans: Vec<(f64, f64)>,
    /// What the clocks of all ranks leave uncertain, and what asymmetric links could hide.
    pub clock_error: f64,
    pub clock_unknowable: f64,
    /// Something that a reader of the figure must know.
    pub notes: Vec<&'static str>,
}

impl Batch {
    /// Something that a reader must know, once.
    pub(crate) fn note(&mut self, note: &'static str) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// A way to time an operation.
pub trait Timing {
    fn name(&self) -> &'static str;

    /// Whether a figure is no more exact than the ranks' idea of a common time.
    fn rests_on_clock(&self) -> bool {
        false
    }

    /// Collective: gets ready for an operation. The default warms up.
    fn prepare(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
    ) -> Result<(), CommError> {
        warm_up(stage, operation).map(|_| ())
    }

    /// Collective: does about so many repetitions, as many on every rank.
    fn batch(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        count: u32,
    ) -> Result<Batch, CommError>;
}

impl<T: Timing + ?Sized> Timing for &mut T {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn rests_on_clock(&self) -> bool {
        (**self).rests_on_clock()
    }

    fn prepare(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
    ) -> Result<(), CommError> {
        (**self).prepare(stage, operation)
    }

    fn batch(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        count: u32,
    ) -> Result<Batch, CommError> {
        (**self).batch(stage, operation, count)
    }
}

/// The methods by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    Root,
    Maximum,
    Global,
    #[default]
    StartTime,
    Loop,
    Tasks,
}

impl Method {
    pub const ALL: [Method; 6] = [
        Method::Root,
        Method::Maximum,
        Method::Global,
        Method::StartTime,
        Method::Loop,
        Method::Tasks,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Method::Root => "root",
            Method::Maximum => "maximum",
            Method::Global => "global",
            Method::StartTime => "start-time",
            Method::Loop => "loop",
            Method::Tasks => "tasks",
        }
    }

    pub fn sentence(self) -> &'static str {
        match self {
            Method::Root => "on the root alone, until the others have confirmed, less that time",
            Method::Maximum => "on every rank by its own clock; the longest counts",
            Method::Global => "from the first entry to the last exit on one clock, after a barrier",
            Method::StartTime => "all ranks begin at an agreed instant; first entry to last exit",
            Method::Loop => "a series without isolation, its total over its length, as IMB does",
            Method::Tasks => {
                "each rank's part alone, acknowledged: linear and binomial bcast, scatter"
            }
        }
    }
}

/// Entry and exit of every rank in every repetition of a batch.
pub(crate) struct Spans {
    count: usize,
    ranks: usize,
    /// Rank after rank: all entries and exits of a rank, then what its clock leaves uncertain.
    numbers: Vec<f64>,
}

/// Numbers of a rank beside its entries and exits.
const CLOCK_NUMBERS: usize = 2;

impl Spans {
    /// Collective: what every rank has measured by its own clock, on rank 0's; on rank 0.
    pub fn gather(stage: &Stage, own: &[(f64, f64)]) -> Result<Option<Spans>, CommError> {
        Spans::gather_begun(stage, own, 0.0)
    }

    /// The same where this rank began at instants that its idea of the time had missed by up to so
    /// many seconds.
    pub fn gather_begun(
        stage: &Stage,
        own: &[(f64, f64)],
        missed: f64,
    ) -> Result<Option<Spans>, CommError> {
        let clock = &stage.clock;
        let global = |&(entry, exit): &(f64, f64)| [clock.global_of(entry), clock.global_of(exit)];
        let mut numbers: Vec<f64> = own.iter().flat_map(global).collect();
        numbers.extend([clock.error() + missed, clock.unknowable()]);
        let numbers = collect(stage.comm, &numbers)?;
        let ranks = stage.comm.size() as usize;
        let spans = Spans { count: own.len(), ranks, numbers };
        Ok((stage.comm.rank() == 0).then_some(spans))
    }

    /// The numbers of one rank.
    fn own(&self, rank: usize) -> &[f64] {
        let each = 2 * self.count + CLOCK_NUMBERS;
        &self.numbers[rank * each..][..each]
    }

    fn of(&self, repetition: usize) -> impl Iterator<Item = (f64, f64)> + '_ {
        let own = move |rank: usize| &self.own(rank)[2 * repetition..][..2];
        (0..self.ranks).map(move |rank| (own(rank)[0], own(rank)[1]))
    }

    /// A batch of these repetitions, with everything but what the method makes of them.
    pub fn batch(&self) -> Batch {
        let largest = |number: usize| {
            let of = |rank: usize| self.own(rank)[2 * self.count + number];
            (0..self.ranks).map(of).fold(0.0, f64::max)
        };
        Batch {
            rank_means: self.rank_means(),
            spans: (0..self.count).flat_map(|repetition| self.of(repetition)).collect(),
            clock_error: largest(0),
            clock_unknowable: largest(1),
            ..Batch::default()
        }
    }

    /// A batch whose samples are the longest of all ranks' own.
    pub fn longest_of_each(&self) -> Batch {
        Batch {
            samples: (0..self.count).map(|repetition| self.longest(repetition)).collect(),
            skews: (0..self.count).map(|repetition| self.skew(repetition)).collect(),
            ..self.batch()
        }
    }

    /// From the first entry to the last exit.
    pub fn whole(&self, repetition: usize) -> f64 {
        let first = self.of(repetition).map(|(entry, _)| entry).fold(f64::INFINITY, f64::min);
        let last = self.of(repetition).map(|(_, exit)| exit).fold(f64::NEG_INFINITY, f64::max);
        last - first
    }

    /// The longest of all ranks' own.
    fn longest(&self, repetition: usize) -> f64 {
        self.of(repetition).map(|(entry, exit)| exit - entry).fold(0.0, f64::max)
    }

    /// From the first entry to the last.
    pub fn skew(&self, repetition: usize) -> f64 {
        let entries = || self.of(repetition).map(|(entry, _)| entry);
        entries().fold(f64::NEG_INFINITY, f64::max) - entries().fold(f64::INFINITY, f64::min)
    }

    /// The last entry.
    pub fn last_entry(&self, repetition: usize) -> f64 {
        self.of(repetition).map(|(entry, _)| entry).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The mean of each rank's own time.
    fn rank_means(&self) -> Vec<f64> {
        let mean = |rank: usize| {
            let own = &self.own(rank)[..2 * self.count];
            own.chunks(2).map(|span| span[1] - span[0]).sum::<f64>() / self.count.max(1) as f64
        };
        (0..self.ranks).map(mean).collect()
    }
}

/// One call by this rank's own clock.
pub(crate) fn timed(stage: &Stage, operation: &mut dyn Operation) -> Result<(f64, f64), CommError> {
    let entry = stage.clock.local();
    operation.call()?;
    Ok((entry, stage.clock.local()))
}

/// Collective: calls that are not counted, the last of them after a barrier; the longest that this
/// one took on any rank, on rank 0.
pub(crate) fn warm_up(stage: &mut Stage, operation: &mut dyn Operation) -> Result<f64, CommError> {
    let calls = WARM_UP_CALLS - u32::from(operation.is_warm());
    let mut last = (0.0, 0.0);
    {
        let gate = Isolation::barrier().gate(stage.comm)?;
        let mut room = Default::default();
        let mut gate = gate.open(&mut room)?;
        for call in 1..=calls {
            if call == calls {
                gate.pass()?;
            }
            last = timed(stage, operation)?;
        }
    }
    let spans = collect(stage.comm, &[last.1 - last.0])?;
    Ok(spans.into_iter().fold(0.0, f64::max))
}

/// Collective: repetitions after the stage's isolation, by every rank's own clock.
pub(crate) fn isolated(
    stage: &Stage,
    operation: &mut dyn Operation,
    count: u32,
) -> Result<Vec<(f64, f64)>, CommError> {
    let gate = stage.gate()?;
    let mut room = Default::default();
    let mut gate = gate.open(&mut room)?;
    let mut own = Vec::with_capacity(count as usize);
    for _ in 0..count {
        gate.pass()?;
        own.push(timed(stage, operation)?);
    }
    Ok(own)
}

/// Collective: what one rank has measured, on rank 0; nothing elsewhere.
pub(crate) fn deliver(stage: &Stage, from: Rank, numbers: Vec<f64>) -> Result<Vec<f64>, CommError> {
    let comm = stage.comm;
    if from == 0 && comm.rank() == 0 {
        return Ok(numbers);
    }
    if comm.rank() == from && from != 0 {
        comm.send(0, DELIVER, &bytes_of(&numbers))?;
    }
    if comm.rank() != 0 {
        return Ok(Vec::new());
    }
    let mut bytes = vec![0; 8 * numbers.len()];
    comm.recv(Some(from), Some(DELIVER), &mut bytes)?;
    Ok(numbers_of(&bytes))
}
