//! On the root alone: from its entry until all the others have confirmed that they are done, less
//! what a confirmation takes.
//!
//! paper: mpiblib 2.1. A confirmation may overlap with the operation, so that what is left can be
//! too little, and with small messages below zero. A sample is no less than what the root was in
//! the operation; where the subtraction left nothing, or less than was taken away, it is flagged.
//! With it goes what is left uncertain: a confirmation may have overlapped as a whole or not at
//! all, and the root may have begun before the others or after them.

use laneway_core::{Comm, CommError, Rank};
use laneway_stats::median;

use super::{Batch, Remarks, Sample, Spans, Stage, Timing, deliver, warm_up};
use crate::clock::Bound;
use crate::flags;
use crate::isolation::Isolation;
use crate::operation::Operation;
use crate::pace::Pace;
use crate::talk::{CONFIRM, broadcast};

/// Confirmations that are averaged for the correction, after a first one to which ranks come from
/// elsewhere; in virtual time they hardly differ.
const CONFIRMATIONS: u32 = 10;
const VIRTUAL_CONFIRMATIONS: u32 = 3;

/// How the root learns that all ranks are done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Confirmation {
    /// The default: no rank is through before the last one has come, so that it overlaps least with
    /// the operation.
    #[default]
    Barrier,
    /// A reduction of one byte to the root.
    Reduce,
    /// An empty message of every rank.
    Messages,
}

impl Confirmation {
    /// Every confirmation, in the order in which help texts name them.
    pub const ALL: [Confirmation; 3] =
        [Confirmation::Barrier, Confirmation::Reduce, Confirmation::Messages];

    /// The word by which a person chooses it.
    pub fn name(self) -> &'static str {
        match self {
            Confirmation::Barrier => "barrier",
            Confirmation::Reduce => "reduce",
            Confirmation::Messages => "messages",
        }
    }

    fn isolation(self) -> Isolation {
        match self {
            Confirmation::Barrier => Isolation::barrier(),
            Confirmation::Reduce => Isolation::Reduce,
            Confirmation::Messages => Isolation::None,
        }
    }
}

/// Empty messages to the root.
fn messages(comm: &dyn Comm, root: Rank) -> Result<(), CommError> {
    if comm.rank() != root {
        return comm.send(root, CONFIRM, &[]);
    }
    for other in (0..comm.size()).filter(|&other| other != root) {
        comm.recv(Some(other), Some(CONFIRM), &mut [])?;
    }
    Ok(())
}

/// One repetition by the root's clock: its entry, and seconds from there.
#[derive(Clone, Copy)]
struct Confirmed {
    entry: f64,
    /// Until the root itself was done.
    own: f64,
    /// Until all ranks had confirmed.
    whole: f64,
}

/// The root's own time until all others have confirmed, less that of a confirmation.
#[derive(Clone, Copy, Debug)]
pub struct Root {
    root: Rank,
    confirmation: Confirmation,
    /// What a confirmation takes on average and at most, by the root's clock.
    correction: f64,
    longest: f64,
    /// How far apart ranks come out of the isolation, usually and at most; on rank 0.
    skew: f64,
    most_skew: f64,
}

impl Root {
    /// For operations with this root, or any rank where there is none.
    pub fn new(root: Rank, confirmation: Confirmation) -> Root {
        Root { root, confirmation, correction: 0.0, longest: 0.0, skew: 0.0, most_skew: 0.0 }
    }

    /// Collective: repetitions of something and its confirmation, on the root's clock.
    fn confirmed(
        &self,
        stage: &Stage,
        pace: Pace,
        what: &mut dyn FnMut() -> Result<(), CommError>,
    ) -> Result<Vec<Confirmed>, CommError> {
        let (gate, confirm) =
            (stage.gate()?, self.confirmation.isolation().gate_to(stage.comm, self.root)?);
        let (mut room, mut other_room) = Default::default();
        let (mut gate, mut confirm) = (gate.open(&mut room)?, confirm.open(&mut other_room)?);
        let mut times = Vec::with_capacity(pace.count as usize);
        for repetition in 0..pace.count {
            pace.wait_before(repetition, stage.comm.clock());
            gate.pass()?;
            let entry = stage.clock.local();
            what()?;
            let own = stage.clock.local() - entry;
            confirm.pass()?;
            if self.confirmation == Confirmation::Messages {
                messages(stage.comm, self.root)?;
            }
            times.push(Confirmed { entry, own, whole: stage.clock.local() - entry });
        }
        Ok(times)
    }

    /// On the root, what is sent to rank 0: of each repetition the sample, what the subtraction
    /// left, what the longest confirmation leaves, and all of it; and the correction.
    fn numbers(&self, times: &[Confirmed]) -> Vec<f64> {
        let of = |time: &Confirmed| {
            let left = time.whole - self.correction;
            [left.max(time.own), left, time.whole - self.longest, time.whole]
        };
        times.iter().flat_map(of).chain([self.correction]).collect()
    }
}

impl Timing for Root {
    fn name(&self) -> &'static str {
        "root"
    }

    fn prepare(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
    ) -> Result<(), CommError> {
        stage.clock.synchronise()?;
        warm_up(stage, operation)?;
        let is_virtual = stage.comm.clock().is_virtual();
        let count = if is_virtual { VIRTUAL_CONFIRMATIONS } else { CONFIRMATIONS };
        let alone = self.confirmed(stage, Pace::dense(1 + count), &mut || Ok(()))?;
        let own: Vec<_> = alone.iter().map(|time| (time.entry, time.entry + time.own)).collect();
        if let Some(spans) = Spans::gather(stage, &own, Remarks::default())? {
            let skews: Vec<f64> = (0..own.len()).map(|pass| spans.skew(pass)).collect();
            self.skew = median(&skews).unwrap_or(0.0);
            self.most_skew = skews.iter().copied().fold(0.0, f64::max);
        }
        let times = || alone.iter().map(|time| time.whole);
        self.correction = times().skip(1).sum::<f64>() / f64::from(count);
        self.longest = times().fold(0.0, f64::max);
        // Rank 0 has just collected and would come last to the isolation, which a single repetition
        // shows: all come as between two batches.
        broadcast(stage.comm, &mut [0.0])
    }

    fn batch(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        pace: Pace,
    ) -> Result<Batch, CommError> {
        let times = self.confirmed(stage, pace, &mut || operation.call())?;
        let mut numbers = deliver(stage, self.root, self.numbers(&times))?;
        let correction = numbers.pop().unwrap_or(0.0);
        let mut batch = Batch::default();
        for (number, begun) in numbers.chunks_exact(4).zip(&times) {
            let &[sample, left, low, high] = number else { continue };
            if left <= 0.0 {
                batch.note(flags::NEGATIVE);
            }
            if left < correction {
                batch.note(flags::CONFIRMATION);
            }
            // The root may have begun before the others or after them.
            let bound = Bound { low: (low - self.most_skew).max(0.0), high: high + self.most_skew };
            let skew = Some(self.skew);
            batch.samples.push(Sample { skew, ..Sample::within(begun.entry, sample, bound) });
        }
        Ok(batch)
    }
}
