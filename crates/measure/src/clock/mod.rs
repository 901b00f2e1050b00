//! One time for all ranks: each knows how its own clock stands to that of rank 0.
//!
//! Two procedures find out: `offset.rs`, as the MPIBlib paper gives it after MPIBench and SKaMPI,
//! rank after rank; and `tree.rs`, in a logarithmic number of rounds. Each leaves an epoch. With
//! two of them the drift is known as well: what happened between two epochs is placed by
//! interpolation, and what is planned after the last one by going on in the same line.
//!
//! Both assume a way as long out as back, which cannot be observed. What clocks could be where that
//! is not so follows from the departures and arrivals of the same messages: see [`Ways`].

mod offset;
mod skewed;
mod tree;
mod ways;

use laneway_core::{Clock, Comm, CommError, Rank};

use crate::talk::gather;

pub use offset::TRIPS;
pub use skewed::Skewed;
pub use ways::{Bound, Message, Ways};

/// How the clocks are brought together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Procedure {
    /// Rank after rank, offsets alone.
    Offset,
    /// Over a tree, and again after each batch, so that drift is known.
    #[default]
    Tree,
}

impl Procedure {
    /// Every procedure, in the order in which help texts name them.
    pub const ALL: [Procedure; 2] = [Procedure::Offset, Procedure::Tree];

    /// The word by which a person chooses it.
    pub fn name(self) -> &'static str {
        match self {
            Procedure::Offset => "offset",
            Procedure::Tree => "tree",
        }
    }
}

/// One comparison of this rank's clock with that of rank 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Epoch {
    /// By this rank's clock.
    pub at: f64,
    /// What is to be added then to get rank 0's time.
    pub offset: f64,
    /// What the round trips leave uncertain, if both ways take equally long.
    pub error: f64,
    /// The shortest round trip to whom this rank asked; none was made by rank 0.
    pub trip: Option<f64>,
    /// How long it took, in which clocks drift.
    pub lasted: f64,
    /// What this rank's questions say of clocks without assuming anything.
    pub heard: Vec<Heard>,
}

/// The shortest that messages between this rank and another took, each end by its own clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Heard {
    pub teacher: Rank,
    /// From this rank to the other.
    pub there: f64,
    pub back: f64,
}

impl Heard {
    /// The shorter of both, each way for itself.
    fn and(self, other: Heard) -> Heard {
        let (there, back) = (self.there.min(other.there), self.back.min(other.back));
        Heard { teacher: self.teacher, there, back }
    }
}

/// This rank's clock, and what it knows of rank 0's.
pub struct GlobalClock<'c> {
    comm: &'c dyn Comm,
    clock: &'c dyn Clock,
    procedure: Procedure,
    /// Round trips without a shorter one that end a comparison of [`Procedure::Offset`].
    trips: u32,
    /// All ranks read one clock: nothing needs to be found out.
    global: bool,
    epochs: Vec<Epoch>,
    /// Comparisons that rank 0 has not heard of yet.
    unsent: usize,
    /// On rank 0, what the last comparison that it has heard of allows clocks to be.
    ways: Option<Ways>,
    /// Seconds between two different readings.
    tick: f64,
}

/// Seconds between two comparisons that give a drift: the longer, the better, while the drift stays
/// the same.
const LEAST_SPAN: f64 = 0.02;
const MOST_SPAN: f64 = 10.0;
/// More than any quartz drifts, as a part.
pub const MOST_DRIFT: f64 = 2e-4;
/// Seconds that no comparison is better than: of two that leave nothing to doubt, the one that is
/// longer ago gives more.
const LEAST_DOUBT: f64 = 1e-12;

/// How a clock drifts.
#[derive(Clone, Copy, Debug)]
struct Drift {
    /// Seconds by which rank 0's clock gains in each second.
    rate: f64,
    /// By how much that may be wrong, if ways are symmetric.
    doubt: f64,
    /// Seconds for which it was watched.
    span: f64,
}

/// Readings of the clock until its tick is known.
const READS: usize = 10_000;

impl<'c> GlobalClock<'c> {
    /// Nothing is compared yet.
    pub fn new(comm: &'c dyn Comm, procedure: Procedure) -> GlobalClock<'c> {
        GlobalClock::over(comm, comm.clock(), procedure)
    }

    /// With another clock than the communicator's, and all ranks alike.
    pub fn over(comm: &'c dyn Comm, clock: &'c dyn Clock, procedure: Procedure) -> GlobalClock<'c> {
        let (global, tick) = (clock.is_global(), tick(clock));
        let (epochs, unsent, ways) = (Vec::new(), 0, None);
        let trips = offset::TRIPS;
        GlobalClock { comm, clock, procedure, trips, global, epochs, unsent, ways, tick }
    }

    /// With another number of round trips without a shorter one, at least one, that end a
    /// comparison by [`Procedure::Offset`]; all ranks alike.
    pub fn with_trips(self, trips: u32) -> GlobalClock<'c> {
        GlobalClock { trips: trips.max(1), ..self }
    }

    /// Whether all ranks read one clock anyway.
    pub fn is_global(&self) -> bool {
        self.global
    }

    /// For how many seconds after the last comparison the time is known about as well as then: no
    /// longer than the drift was watched.
    pub fn foresight(&self) -> f64 {
        if self.global {
            return f64::INFINITY;
        }
        self.watched().map_or(0.0, |drift| drift.span)
    }

    fn watched(&self) -> Option<Drift> {
        self.drift_until(self.epochs.last()?)
    }

    /// What earlier comparisons and this one say of the drift, if they are far enough apart.
    /// A clock that learnt from one with an unknown drift has a worse idea of its own: so
    /// the one that leaves the least doubt is taken.
    fn drift_until(&self, last: &Epoch) -> Option<Drift> {
        let of = |first: &Epoch| {
            let span = last.at - first.at;
            let rate = (last.offset - first.offset) / span;
            let doubt = (first.error + last.error + LEAST_DOUBT) / span;
            Drift { rate: rate.clamp(-MOST_DRIFT, MOST_DRIFT), doubt, span }
        };
        let recent = self.epochs.partition_point(|epoch| epoch.at < last.at - MOST_SPAN);
        let earlier = self.epochs[recent.saturating_sub(1)..].iter();
        let apart = earlier.filter(|epoch| last.at - epoch.at >= LEAST_SPAN);
        apart.map(of).min_by(|one, other| one.doubt.total_cmp(&other.doubt))
    }

    /// The smallest step of this rank's clock, in seconds.
    pub fn tick(&self) -> f64 {
        self.tick
    }

    /// Collective: compares the clocks now. How many seconds what this rank expected since the last
    /// comparison had become wrong by; nothing where there was none.
    pub fn synchronise(&mut self) -> Result<f64, CommError> {
        if self.global {
            return Ok(0.0);
        }
        let epoch = match self.procedure {
            Procedure::Offset => offset::epoch(self)?,
            Procedure::Tree => tree::epoch(self)?,
        };
        let expected = self.offset_at(epoch.at);
        let missed = if self.epochs.is_empty() { 0.0 } else { (epoch.offset - expected).abs() };
        self.epochs.push(epoch);
        self.unsent += 1;
        Ok(missed)
    }

    /// This rank's own time.
    pub fn local(&self) -> f64 {
        self.clock.now()
    }

    /// Rank 0's time now.
    pub fn now(&self) -> f64 {
        self.global_of(self.local())
    }

    /// Rank 0's time at an instant of this rank's.
    pub fn global_of(&self, local: f64) -> f64 {
        local + self.offset_at(local)
    }

    /// Waits for an instant of rank 0's time.
    pub fn sleep_until(&self, global: f64) {
        // The offset changes by millionths while we wait: twice is exact enough.
        let near = global - self.offset_at(self.local());
        self.clock.sleep_until(global - self.offset_at(near));
    }

    /// Waits for an instant of this rank's own time.
    pub fn sleep_until_local(&self, local: f64) {
        self.clock.sleep_until(local);
    }

    fn offset_at(&self, local: f64) -> f64 {
        let [first, .., last] = &self.epochs[..] else {
            return self.epochs.first().map_or(0.0, |epoch| epoch.offset);
        };
        let after = self.epochs.partition_point(|epoch| epoch.at <= local);
        if (1..self.epochs.len()).contains(&after) {
            let (one, next) = (&self.epochs[after - 1], &self.epochs[after]);
            let part = (local - one.at) / (next.at - one.at);
            return one.offset + (next.offset - one.offset) * part;
        }
        // Beyond what was seen, only a drift that a clock can have is gone on with: comparisons
        // that the system disturbed must not send a rank to sleep for an hour.
        let nearest = if after == 0 { first } else { last };
        nearest.offset + self.drift() * (local - nearest.at)
    }

    /// Seconds by which rank 0's clock gains on this one in each second, as far as it was watched.
    fn drift(&self) -> f64 {
        self.watched().map_or(0.0, |drift| drift.rate)
    }

    /// What the last comparison left uncertain on this rank, in seconds, if links are symmetric.
    pub fn error(&self) -> f64 {
        self.epochs.last().map_or(0.0, |epoch| epoch.error + self.tick)
    }

    /// How far this rank's time may have gone wrong since the last comparison, in seconds, by an
    /// instant of its own.
    pub(crate) fn stale(&self, local: f64) -> f64 {
        let last = self.epochs.last().map_or(local, |epoch| epoch.at);
        if self.global { 0.0 } else { MOST_DRIFT * (local - last).max(0.0) }
    }

    /// Collective: what the last comparison allows clocks to be, whatever the ways take; on rank 0.
    pub fn ways(&mut self) -> Result<Option<Ways>, CommError> {
        let own = self.take_unsent();
        let all = gather(self.comm, &own)?;
        if self.comm.rank() != 0 {
            return Ok(None);
        }
        let reported: Vec<&[f64]> = match own.len() {
            0 => vec![&[]; self.comm.size() as usize],
            each => all.chunks(each).collect(),
        };
        Ok(Some(self.merge(&reported)))
    }

    /// What clocks could be by the last comparison that rank 0 has heard of; nothing elsewhere, and
    /// where all read one clock.
    pub(crate) fn known_ways(&self) -> Option<&Ways> {
        self.ways.as_ref().filter(|_| !self.global)
    }

    fn words_of_epoch(&self) -> usize {
        let heard = match self.procedure {
            Procedure::Offset => 1,
            Procedure::Tree => tree::most_heard(self.comm.size()),
        };
        EPOCH_WORDS + HEARD_WORDS * heard
    }

    /// What rank 0 has not heard yet of this rank's comparisons, as numbers.
    pub(crate) fn take_unsent(&mut self) -> Vec<f64> {
        let each = self.words_of_epoch();
        let mut words = Vec::with_capacity(self.unsent * each);
        for epoch in &self.epochs[self.epochs.len() - self.unsent..] {
            let end = words.len() + each;
            words.extend([epoch.offset, MOST_DRIFT * epoch.lasted]);
            for heard in &epoch.heard {
                words.extend([f64::from(heard.teacher), heard.there, heard.back]);
            }
            words.resize(end, NO_TEACHER);
        }
        self.unsent = 0;
        words
    }

    /// On rank 0: what clocks could be during these events, from every rank's numbers.
    pub(crate) fn merge(&mut self, reported: &[&[f64]]) -> Ways {
        if self.global {
            return Ways::OneClock;
        }
        let each = self.words_of_epoch();
        let epochs = reported.first().map_or(0, |words| words.len() / each);
        let mut all = self.ways.take();
        for epoch in 0..epochs {
            let of: Vec<&[f64]> =
                reported.iter().map(|words| &words[epoch * each..][..each]).collect();
            let ways = Ways::of(reported.len(), &messages(&of));
            all = Some(match all {
                Some(before) => before.or(&ways),
                None => ways.clone(),
            });
            self.ways = Some(ways);
        }
        if epochs == 0 {
            self.ways.clone_from(&all);
        }
        all.unwrap_or(Ways::of(reported.len(), &[]))
    }
}

/// Numbers of one comparison and of each rank that was asked in it, and what stands for no rank.
const EPOCH_WORDS: usize = 2;
const HEARD_WORDS: usize = 3;
const NO_TEACHER: f64 = -1.0;

/// The messages of one comparison, by the ranks' ideas of the time right after it.
fn messages(reported: &[&[f64]]) -> Vec<Message> {
    let mut messages = Vec::new();
    for (pupil, words) in reported.iter().enumerate() {
        for heard in words[EPOCH_WORDS..].chunks(HEARD_WORDS).filter(|heard| heard[0] >= 0.0) {
            let teacher = heard[0] as usize;
            let Some(theirs) = reported.get(teacher) else { continue };
            // Ideas differ from clocks by offsets; and clocks drift while they are compared.
            let (ahead, drifted) = (theirs[0] - words[0], theirs[1].max(words[1]));
            let (there, back) = (heard[1] + ahead + drifted, heard[2] - ahead + drifted);
            messages.push(Message { from: pupil, to: teacher, took: there });
            messages.push(Message { from: teacher, to: pupil, took: back });
        }
    }
    messages
}

/// The smallest difference between two readings; a virtual clock has none.
fn tick(clock: &dyn Clock) -> f64 {
    if clock.is_virtual() {
        return 0.0;
    }
    let (mut last, mut least) = (clock.now(), f64::INFINITY);
    for _ in 0..READS {
        let now = clock.now();
        if now > last {
            least = least.min(now - last);
        }
        last = now;
    }
    if least.is_finite() { least } else { 0.0 }
}
