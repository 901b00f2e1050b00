//! A broadcast or scatter as its individual tasks: for a rank, from the root's start until that
//! rank alone has acknowledged, less what an acknowledgement takes. The longest counts. One call
//! that all acknowledge shows first which ranks can be the last, so that only their tasks are
//! timed; and what these take, which of them are.
//!
//! paper: mpiblib 2.2, after de Supinski and Karonis. It needs no common clock and no barrier's
//! precision: everybody but the root only has to be waiting when the root begins. It holds for
//! operations in which a rank's end does not depend on who else acknowledges: the linear and
//! binomial broadcasts and scatters, where data flows from the root alone.

use laneway_core::{Collective, CommError, Rank};

use super::{Batch, Sample, Stage, Timing, deliver, warm_up};
use crate::operation::Operation;
use crate::pace::Pace;
use crate::talk::{TASK, announce};

/// Empty round trips with each rank, of which the shortest counts.
const TRIPS: u32 = 3;
/// How long the root waits after the isolation, in longest round trips.
const SETTLE: f64 = 1.0;

/// The operations and algorithms that consist of such tasks.
pub fn serves(collective: Collective, algorithm: &str) -> bool {
    let flows_from_root = matches!(collective, Collective::Bcast | Collective::Scatter);
    flows_from_root && matches!(algorithm, "linear" | "binomial")
}

/// Ranks that may be the last one: those that came so near to it in a first call, at most so many.
const NEAR: f64 = 0.95;
const MOST_CANDIDATES: usize = 4;
/// Of these, those whose tasks alone come so near to the longest stay; after so many repetitions of
/// each, of which the shortest is the least disturbed.
const NEAREST: f64 = 0.98;
const HEATS: usize = 3;

#[derive(Clone, Debug)]
pub struct Tasks {
    root: Rank,
    /// On the root, what an acknowledgement of each rank takes.
    acknowledgements: Vec<f64>,
    /// The ranks whose tasks are timed.
    candidates: Vec<Rank>,
    /// On the root, what each of them took so far, while all are timed.
    heats: Vec<Vec<f64>>,
}

impl Tasks {
    pub fn new(root: Rank) -> Tasks {
        Tasks { root, acknowledgements: Vec::new(), candidates: Vec::new(), heats: Vec::new() }
    }

    /// Collective: half the shortest empty round trip of each rank with the root.
    fn round_trips(&mut self, stage: &Stage) -> Result<(), CommError> {
        let (comm, root) = (stage.comm, self.root);
        self.acknowledgements = vec![0.0; comm.size() as usize];
        for other in (0..comm.size()).filter(|&other| other != root) {
            let mut shortest = f64::INFINITY;
            for _ in 0..TRIPS {
                if comm.rank() == root {
                    let asked = stage.clock.local();
                    comm.send(other, TASK, &[])?;
                    comm.recv(Some(other), Some(TASK), &mut [])?;
                    shortest = shortest.min(stage.clock.local() - asked);
                } else if comm.rank() == other {
                    comm.recv(Some(root), Some(TASK), &mut [])?;
                    comm.send(root, TASK, &[])?;
                }
            }
            self.acknowledgements[other as usize] = shortest / 2.0;
        }
        Ok(())
    }

    /// Collective: one call that everybody acknowledges, to see who may be the last. Their
    /// acknowledgements may delay each other a little, which is why tasks are timed apart.
    fn screen(&mut self, stage: &Stage, operation: &mut dyn Operation) -> Result<(), CommError> {
        let (comm, root) = (stage.comm, self.root);
        let mut ends = vec![0.0; comm.size() as usize];
        self.settle(stage);
        let begun = stage.clock.local();
        operation.call()?;
        if comm.rank() != root {
            comm.send(root, TASK, &[])?;
        } else {
            for _ in 1..comm.size() {
                let from = comm.recv(None, Some(TASK), &mut [])?.from as usize;
                ends[from] = stage.clock.local() - begun - self.acknowledgements[from];
            }
        }
        let mut ends = deliver(stage, root, ends)?;
        ends.resize(comm.size() as usize, 0.0);
        announce(comm, &mut ends)?;
        let last = ends.iter().copied().fold(0.0, f64::max);
        let mut near: Vec<Rank> = (0..comm.size()).filter(|&rank| rank != root).collect();
        near.sort_by(|&a, &b| ends[b as usize].total_cmp(&ends[a as usize]));
        let late = |rank: &Rank| ends[*rank as usize] >= NEAR * last;
        self.candidates = near.into_iter().filter(late).take(MOST_CANDIDATES).collect();
        self.heats = Vec::new();
        Ok(())
    }

    /// Collective: after enough repetitions of all candidates, those that are the last.
    fn narrow(&mut self, stage: &Stage, times: &[f64]) -> Result<(), CommError> {
        let heats = if stage.comm.clock().is_virtual() { 1 } else { HEATS };
        if self.heats.len() >= heats || self.candidates.len() == 1 {
            return Ok(());
        }
        self.heats.push(times.to_vec());
        if self.heats.len() < heats {
            return Ok(());
        }
        let shortest = |which: usize| {
            self.heats.iter().map(|times| times[which]).fold(f64::INFINITY, f64::min)
        };
        let shortest: Vec<f64> = (0..times.len()).map(shortest).collect();
        let mut shortest = deliver(stage, self.root, shortest)?;
        shortest.resize(times.len(), 0.0);
        announce(stage.comm, &mut shortest)?;
        let longest = shortest.iter().copied().fold(0.0, f64::max);
        let mut last = shortest.iter().map(|time| *time >= NEAREST * longest);
        self.candidates.retain(|_| last.next().unwrap_or(true));
        Ok(())
    }

    /// On the root: waits until the others are waiting.
    fn settle(&self, stage: &Stage) {
        if stage.comm.rank() == self.root {
            let longest = self.acknowledgements.iter().copied().fold(0.0, f64::max);
            stage.clock.sleep_until_local(stage.clock.local() + SETTLE * 2.0 * longest);
        }
    }

    /// Collective: one task; on the root what it took.
    fn task(
        &self,
        stage: &Stage,
        operation: &mut dyn Operation,
        of: Rank,
    ) -> Result<f64, CommError> {
        let (comm, clock) = (stage.comm, &stage.clock);
        self.settle(stage);
        let begun = clock.local();
        operation.call()?;
        let done = clock.local() - begun;
        if comm.rank() == of {
            comm.send(self.root, TASK, &[])?;
        }
        if comm.rank() != self.root {
            return Ok(0.0);
        }
        comm.recv(Some(of), Some(TASK), &mut [])?;
        let acknowledged = clock.local() - begun - self.acknowledgements[of as usize];
        Ok(acknowledged.max(done))
    }
}

impl Timing for Tasks {
    fn name(&self) -> &'static str {
        "tasks"
    }

    fn prepare(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
    ) -> Result<(), CommError> {
        warm_up(stage, operation)?;
        self.round_trips(stage)?;
        self.screen(stage, operation)
    }

    fn batch(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        pace: Pace,
    ) -> Result<Batch, CommError> {
        let begun = stage.clock.local();
        let gate = stage.gate()?;
        let mut room = Default::default();
        let mut gate = gate.open(&mut room)?;
        let mut samples = Vec::with_capacity(pace.count as usize);
        for repetition in 0..pace.count {
            pace.wait_before(repetition, stage.comm.clock());
            let mut times = Vec::with_capacity(self.candidates.len());
            for &of in &self.candidates {
                gate.pass()?;
                times.push(self.task(stage, operation, of)?);
            }
            samples.push(times.iter().copied().fold(0.0, f64::max));
            self.narrow(stage, &times)?;
        }
        let samples = deliver(stage, self.root, samples)?;
        let sample = |time: &f64| Sample::certain(begun, *time);
        Ok(Batch { samples: samples.iter().map(sample).collect(), ..Batch::default() })
    }
}
