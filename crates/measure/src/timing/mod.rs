//! Ways to time one repetition of a collective operation, one file each.
//!
//! What they share is here: a [`Stage`] with the ranks' own communicator and clock, the spans from
//! entry to exit of every rank, and the calls before the first sample.

mod global;
mod maximum;
mod method;
mod root;
mod series;
mod shaken;
mod start_time;
mod tasks;

use laneway_core::encode::Encode;
use laneway_core::talk::gather_exact;
use laneway_core::{Comm, CommError, Rank, encode_fields};
use laneway_stats::median;

pub use global::Global;
pub use maximum::Maximum;
pub use method::Method;
pub use root::{Confirmation, Root};
pub use series::Series;
pub use start_time::StartTime;
pub use tasks::{Tasks, serves};

use crate::clock::{Bound, GlobalClock, MOST_DRIFT, Ways};
use crate::isolation::{Gate, Isolation};
use crate::operation::Operation;
use crate::pace::Pace;
use crate::talk::{DELIVER, bytes_of, gather, numbers_of};
use laneway_processes::crowded;

/// Calls that warm caches and connections before the first sample; one less where the operation
/// says that it is warm.
pub const WARM_UP_CALLS: u32 = 2;

/// By how much an operation can take longer or shorter, as a part of its time, because ranks that
/// begin apart meet other messages of their own; a bound has it where clocks are not one.
const MEETING: f64 = 0.01;

/// Empty calls that give the cost of a call by itself.
const NOTHINGS: u32 = 101;

/// Where measurements happen: messages of our own, a clock, and what keeps repetitions apart.
pub struct Stage<'c> {
    /// Not the communicator of the operation, so that messages do not meet.
    pub comm: &'c dyn Comm,
    /// This rank's clock, and how it stands to rank 0's.
    pub clock: GlobalClock<'c>,
    /// What keeps a repetition from meeting the one before.
    pub isolation: Isolation,
    /// What lets all start together after it, if that is something else.
    pub start: Isolation,
    /// Whether a host has more ranks than cores; `None` if not determined yet.
    pub crowded: Option<bool>,
}

impl<'c> Stage<'c> {
    /// Repetitions are kept apart, and start, by a barrier.
    pub fn new(comm: &'c dyn Comm, clock: GlobalClock<'c>) -> Stage<'c> {
        let (isolation, start) = (Isolation::barrier(), Isolation::None);
        Stage { comm, clock, isolation, start, crowded: None }
    }

    /// Collective: whether a host has more ranks than cores, so that they take turns.
    pub(crate) fn is_crowded(&mut self) -> Result<bool, CommError> {
        let crowded = match self.crowded {
            Some(known) => known,
            None => crowded(self.comm)?.is_some(),
        };
        self.crowded = Some(crowded);
        Ok(crowded)
    }

    /// Seconds that a call of nothing takes on this rank when it is timed as operations are; the
    /// median of some.
    pub fn overhead(&self) -> f64 {
        let mut nothing = || Ok(());
        let span = |_| timed(self, &mut nothing).map_or(0.0, |(entry, exit)| exit - entry);
        let spans: Vec<f64> = (0..NOTHINGS).map(span).collect();
        median(&spans).unwrap_or(0.0)
    }

    /// What is passed before each repetition.
    pub(crate) fn gate(&self) -> Result<Gate<'c>, CommError> {
        self.isolation.gate_and(self.start, self.comm)
    }
}

/// One repetition that counts, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When it began, by rank 0's clock.
    pub at: f64,
    /// How long it took, as the method sees it.
    pub time: f64,
    /// Between what the comparison of clocks leaves it, if ways take as long out as back.
    pub range: Bound,
    /// What it can have been, whatever the clocks are: between these.
    pub bound: Bound,
    /// How far apart the ranks began, where it is known.
    pub skew: Option<f64>,
}

impl Sample {
    /// One that rests on no common clock.
    pub fn certain(at: f64, time: f64) -> Sample {
        Sample::within(at, time, Bound { low: time, high: time })
    }

    /// One that rests on no common clock, but cannot be known better than this.
    pub fn within(at: f64, time: f64, bound: Bound) -> Sample {
        Sample { at, time, range: Bound { low: time, high: time }, bound, skew: None }
    }
}

/// Some samples, known on rank 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// In the order in which they were taken.
    pub samples: Vec<Sample>,
    /// Repetitions that do not count, as a rank began late.
    pub rejected: u32,
    /// The mean of every rank over the batch, if a method gives it.
    pub rank_means: Vec<f64>,
    /// Every rank's entry and exit, if they are to be kept: repetition after repetition, rank after
    /// rank, on rank 0's clock.
    pub spans: Vec<(f64, f64)>,
    /// What the clocks of all ranks leave uncertain where ways are symmetric.
    pub clock_error: f64,
    /// What the operation can take by other clocks that could be, where that was tried.
    pub by_other_clocks: Option<Bound>,
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
    /// As it stands in the rows; it says so where the method fell back on another one.
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

    /// Collective: does about this number of repetitions, as many on every rank.
    fn batch(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        pace: Pace,
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
        pace: Pace,
    ) -> Result<Batch, CommError> {
        (**self).batch(stage, operation, pace)
    }
}

/// Entry and exit of every rank in every repetition of a batch.
pub(crate) struct Spans {
    count: usize,
    /// Rank after rank, repetition after repetition.
    all: Vec<(f64, f64)>,
    /// What each rank reports of its clock.
    reports: Vec<Report>,
    /// What clocks could be.
    ways: Ways,
    tick: f64,
}

/// What a rank reports beside its entries and exits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Remarks {
    /// When it was ready for the first repetition, by rank 0's clock.
    pub ready: f64,
    /// How far its idea of the time had gone wrong when it began.
    pub missed: f64,
}

/// The remarks of a rank, and its clock.
#[derive(Clone, Copy, Debug)]
struct Report {
    ready: f64,
    /// What comparing the clock has left uncertain.
    error: f64,
    missed: f64,
    /// How far the clock may have gone wrong since.
    stale: f64,
}

encode_fields!(Report { ready, error, missed, stale });

impl Spans {
    /// Collective: what every rank has measured by its own clock, on rank 0's; on rank 0.
    pub fn gather(
        stage: &mut Stage,
        own: &[(f64, f64)],
        remarks: Remarks,
    ) -> Result<Option<Spans>, CommError> {
        let clock = &mut stage.clock;
        let Remarks { ready, missed } = remarks;
        let stale = clock.stale(own.last().map_or(0.0, |span| span.1));
        let report = Report { ready, error: clock.error(), missed, stale };
        let spans =
            own.iter().map(|(entry, exit)| (clock.global_of(*entry), clock.global_of(*exit)));
        // Every rank has as many of each, so that no lengths are sent.
        let mut bytes = report.to_bytes();
        spans.for_each(|span| span.encode(&mut bytes));
        let heard = clock.take_unsent();
        heard.iter().for_each(|number| number.encode(&mut bytes));
        let each = bytes.len();
        let bytes = gather_exact(stage.comm, &bytes)?;
        if stage.comm.rank() != 0 {
            return Ok(None);
        }
        let (count, ranks) = (own.len(), stage.comm.size() as usize);
        let (mut all, mut reports) = (Vec::with_capacity(count * ranks), Vec::new());
        let mut heard: Vec<Vec<f64>> = Vec::new();
        for mut bytes in bytes.chunks(each) {
            reports.extend(Report::decode(&mut bytes));
            all.extend((0..count).map_while(|_| <(f64, f64)>::decode(&mut bytes)));
            heard.push(std::iter::from_fn(|| f64::decode(&mut bytes)).collect());
        }
        let heard: Vec<&[f64]> = heard.iter().map(Vec::as_slice).collect();
        let ways = clock.merge(&heard);
        let spans = Spans { count, all, reports, ways, tick: clock.tick() };
        let stale = spans.largest(|report| report.stale);
        // Two ranks may have gone wrong in opposite directions.
        Ok(Some(Spans { ways: spans.ways.clone().widened(2.0 * stale), ..spans }))
    }

    fn of(&self, repetition: usize) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.all.iter().skip(repetition).step_by(self.count.max(1)).copied()
    }

    /// The largest of what ranks report.
    fn largest(&self, of: impl Fn(&Report) -> f64) -> f64 {
        self.reports.iter().map(of).fold(f64::NEG_INFINITY, f64::max)
    }

    /// When the last rank was ready for the first repetition.
    pub fn ready(&self) -> f64 {
        self.largest(|report| report.ready)
    }

    /// What comparing the clocks has left uncertain, if ways take as long out as back.
    pub fn clock_error(&self) -> f64 {
        self.largest(|report| report.error)
    }

    /// A batch of these repetitions, with everything but what the method makes of them.
    pub fn batch(&self) -> Batch {
        Batch {
            rank_means: self.rank_means(),
            spans: (0..self.count).flat_map(|repetition| self.of(repetition)).collect(),
            clock_error: self.clock_error() + self.largest(|report| report.missed),
            ..Batch::default()
        }
    }

    /// A repetition that took so long in the eyes of a method. The clock shows steps, so that it
    /// may have been a step more or less.
    pub fn sample(&self, repetition: usize, time: f64) -> Sample {
        let all: Vec<(f64, f64)> = self.of(repetition).collect();
        let Bound { low, high } = self.ways.bound(&all);
        // Where ranks begin apart, they may also meet more or less traffic of each other; and where
        // clocks differ, that of rank 0 need not be the right one.
        let differ = f64::from(u8::from(self.ways != Ways::OneClock));
        let (meeting, rate) = (differ * MEETING * time, differ * MOST_DRIFT / 2.0 * time);
        let (low, high) = (low - meeting, high + meeting);
        let bound =
            Bound { low: (low - self.tick).min(time).max(0.0), high: (high + self.tick).max(time) };
        let skew = self.skew(repetition);
        // Ranks that began apart because their clocks had gone wrong have made it longer.
        let (error, apart) =
            (self.clock_error() + rate, skew.min(2.0 * self.largest(|report| report.missed)));
        let range = Bound { low: (time - apart - error).max(0.0), high: time + error };
        Sample { at: self.first_entry(repetition), time, range, bound, skew: Some(skew) }
    }

    /// A batch whose samples are the longest of all ranks' own.
    pub fn longest_of_each(&self) -> Batch {
        let sample = |repetition| self.sample(repetition, self.longest(repetition));
        Batch { samples: (0..self.count).map(sample).collect(), ..self.batch() }
    }

    /// From the first entry to the last exit.
    pub fn whole(&self, repetition: usize) -> f64 {
        self.last_exit(repetition) - self.first_entry(repetition)
    }

    /// From the first entry to the last exit if clocks must be corrected by so much.
    pub fn whole_by(&self, repetition: usize, corrections: &[f64]) -> f64 {
        let spans = || self.of(repetition).zip(corrections);
        let first = spans().map(|((entry, _), c)| entry + c).fold(f64::INFINITY, f64::min);
        let last = spans().map(|((_, exit), c)| exit + c).fold(f64::NEG_INFINITY, f64::max);
        last - first
    }

    /// The longest of all ranks' own.
    fn longest(&self, repetition: usize) -> f64 {
        self.of(repetition).map(|(entry, exit)| exit - entry).fold(0.0, f64::max)
    }

    /// From the first entry to the last.
    pub fn skew(&self, repetition: usize) -> f64 {
        self.last_entry(repetition) - self.first_entry(repetition)
    }

    pub fn first_entry(&self, repetition: usize) -> f64 {
        self.of(repetition).map(|(entry, _)| entry).fold(f64::INFINITY, f64::min)
    }

    pub fn last_entry(&self, repetition: usize) -> f64 {
        self.of(repetition).map(|(entry, _)| entry).fold(f64::NEG_INFINITY, f64::max)
    }

    pub fn last_exit(&self, repetition: usize) -> f64 {
        self.of(repetition).map(|(_, exit)| exit).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The mean of each rank's own time.
    fn rank_means(&self) -> Vec<f64> {
        if self.count == 0 {
            return vec![0.0; self.reports.len()];
        }
        let taken = |own: &[(f64, f64)]| own.iter().map(|(entry, exit)| exit - entry).sum::<f64>();
        self.all.chunks(self.count).map(|own| taken(own) / self.count as f64).collect()
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
    let spans = gather(stage.comm, &[last.1 - last.0])?;
    Ok(spans.into_iter().fold(0.0, f64::max))
}

/// Collective: repetitions after the stage's isolation, by every rank's own clock.
pub(crate) fn isolated(
    stage: &Stage,
    operation: &mut dyn Operation,
    pace: Pace,
) -> Result<Vec<(f64, f64)>, CommError> {
    let gate = stage.gate()?;
    let mut room = Default::default();
    let mut gate = gate.open(&mut room)?;
    let mut own = Vec::with_capacity(pace.count as usize);
    for repetition in 0..pace.count {
        pace.wait_before(repetition, stage.comm.clock());
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
