//! A broadcast or scatter as its individual tasks: for a rank, from the root's start until that
//! rank alone has acknowledged, less what an acknowledgement takes. The longest counts. One call
//! that all acknowledge shows first which ranks can be the last, so that only their tasks are
//! timed; and what these take, which of them is.
//!
//! paper: mpiblib 2.2, after de Supinski and Karonis. It needs no common clock and no barrier
//! between repetitions: when the last rank's acknowledgement is there, all ranks wait for the
//! next. It holds for operations in which a rank's end does not depend on who else acknowledges:
//! the linear and binomial broadcasts and scatters, where data flows from the root alone.
//!
//! What an acknowledgement takes is half a round trip where both ways are alike. Where they are not
//! it is anything up to the whole, and so each sample goes with the least and the most that it can
//! be.

use laneway_core::{Collective, CommError, Rank};

use super::{Batch, Sample, Stage, Timing, deliver, warm_up};
use crate::clock::Bound;
use crate::operation::Operation;
use crate::pace::Pace;
use crate::talk::{TASK, bytes_of, numbers_of};

/// Empty round trips with a rank that may be the last, of which the shortest counts; in virtual
/// time the first is as good as any.
const TRIPS: u32 = 3;
const VIRTUAL_TRIPS: u32 = 1;

/// The operations and algorithms that consist of such tasks.
pub fn serves(collective: Collective, algorithm: &str) -> bool {
    let flows_from_root = matches!(collective, Collective::Bcast | Collective::Scatter);
    flows_from_root && matches!(algorithm, "linear" | "binomial")
}

/// Ranks that may be the last one: those that came so near to it in a first call, at most this
/// number, and the one that acknowledged last.
const NEAR: f64 = 0.95;
const MOST_NEAR: usize = 3;
const MOST_CANDIDATES: usize = MOST_NEAR + 1;
/// This number of repetitions of each of their tasks, of which the shortest is the least disturbed,
/// shows which one is the last.
const HEATS: usize = 3;

/// One task by the root's clock, from its start.
#[derive(Clone, Copy, Debug, Default)]
struct Task {
    /// Until the root itself was done.
    own: f64,
    /// Until the acknowledgement had come.
    acknowledged: f64,
    /// The shortest empty round trip with the rank.
    trip: f64,
}

impl Task {
    /// If the acknowledgement took such a part of a round trip. The operation takes no less than
    /// the root was in it.
    fn time(&self, part: f64) -> f64 {
        (self.acknowledged - part * self.trip).max(self.own)
    }
}

/// The longest of the tasks of a broadcast or scatter, each acknowledged by its rank alone.
#[derive(Clone, Debug)]
pub struct Tasks {
    root: Rank,
    /// On the root, the shortest round trip seen with each rank.
    trips: Vec<f64>,
    /// On the root, when the last acknowledgement of a call comes: no rank is at it any more.
    over: f64,
    /// The same of candidates that are not timed any more: they can have taken so long at most.
    dropped: f64,
    /// The ranks whose tasks are timed.
    candidates: Vec<Rank>,
    /// On the root, what each of them took so far, while all are timed.
    heats: Vec<Vec<Task>>,
}

impl Tasks {
    /// For operations with this root that [`serves`] names; all ranks alike.
    pub fn new(root: Rank) -> Tasks {
        let (trips, candidates, heats) = Default::default();
        Tasks { root, trips, over: 0.0, dropped: 0.0, candidates, heats }
    }

    /// The ranks but the root.
    fn others(&self, stage: &Stage) -> impl Iterator<Item = Rank> + use<> {
        let root = self.root;
        (0..stage.comm.size()).filter(move |&rank| rank != root)
    }

    /// Collective: one round trip with all ranks at once. They delay each other at the root, so
    /// that each is the most that it can be.
    fn trip_with_all(&mut self, stage: &Stage) -> Result<(), CommError> {
        let comm = stage.comm;
        if comm.rank() != self.root {
            comm.recv(Some(self.root), Some(TASK), &mut [])?;
            return comm.send(self.root, TASK, &[]);
        }
        self.trips = vec![0.0; comm.size() as usize];
        for other in self.others(stage) {
            self.trips[other as usize] = -stage.clock.local();
            comm.send(other, TASK, &[])?;
        }
        for _ in self.others(stage) {
            let from = comm.recv(None, Some(TASK), &mut [])?.from;
            self.trips[from as usize] += stage.clock.local();
        }
        Ok(())
    }

    /// On the root: the shortest of some round trips with one rank, which is answering.
    fn trip_with(&self, stage: &Stage, other: Rank) -> Result<f64, CommError> {
        let trips = if stage.comm.clock().is_virtual() { VIRTUAL_TRIPS } else { TRIPS };
        let mut shortest = f64::INFINITY;
        for _ in 0..trips {
            let asked = stage.clock.local();
            stage.comm.send(other, TASK, &[])?;
            stage.comm.recv(Some(other), Some(TASK), &mut [])?;
            shortest = shortest.min(stage.clock.local() - asked);
        }
        Ok(shortest)
    }

    /// Collective: one call that all ranks acknowledge; on the root when each one's came. They may
    /// delay each other a little, which is why tasks are timed apart.
    fn screen(&self, stage: &Stage, operation: &mut dyn Operation) -> Result<Vec<f64>, CommError> {
        let comm = stage.comm;
        let mut arrivals = vec![0.0; comm.size() as usize];
        let begun = stage.clock.local();
        operation.call()?;
        if comm.rank() != self.root {
            comm.send(self.root, TASK, &[])?;
            return Ok(arrivals);
        }
        for _ in self.others(stage) {
            let from = comm.recv(None, Some(TASK), &mut [])?.from;
            arrivals[from as usize] = stage.clock.local() - begun;
        }
        Ok(arrivals)
    }

    /// Collective: the root finds out who may be the last, and informs all. The others answer
    /// until then.
    fn choose(&mut self, stage: &Stage, arrivals: &[f64]) -> Result<(), CommError> {
        if stage.comm.rank() == self.root {
            self.candidates = self.latest(stage, arrivals)?;
        }
        self.agree(stage)
    }

    /// Collective: all ranks learn from the root whose tasks are timed. The root goes on when all
    /// have heard of it.
    fn agree(&mut self, stage: &Stage) -> Result<(), CommError> {
        let comm = stage.comm;
        let mut word = [0; 8 * MOST_CANDIDATES];
        if comm.rank() == self.root {
            // The root is not a candidate: it stands where there is none.
            let mut ranks = [f64::from(self.root); MOST_CANDIDATES];
            ranks.iter_mut().zip(&self.candidates).for_each(|(to, of)| *to = f64::from(*of));
            word.copy_from_slice(&bytes_of(&ranks));
            self.others(stage).try_for_each(|other| comm.send(other, TASK, &word))?;
            self.settle(stage);
            return Ok(());
        }
        // An empty message is a round trip.
        while comm.recv(Some(self.root), Some(TASK), &mut word)?.len == 0 {
            comm.send(self.root, TASK, &[])?;
        }
        let ranks = numbers_of(&word).into_iter().map(|rank| rank as Rank);
        self.candidates = ranks.filter(|rank| *rank != self.root).collect();
        Ok(())
    }

    /// On the root: the ranks that may be the last by when their acknowledgements came, the last
    /// first.
    fn latest(&mut self, stage: &Stage, arrivals: &[f64]) -> Result<Vec<Rank>, CommError> {
        let arrival = |rank: &Rank| arrivals[*rank as usize];
        let mut ranks: Vec<Rank> = self.others(stage).collect();
        ranks.sort_by(|a, b| arrival(b).total_cmp(&arrival(a)));
        // Where a way is slower back than there this one is early, and the other way round late.
        let latest = ranks.first().copied();
        self.over = latest.map_or(0.0, |rank| arrival(&rank));
        // At once all round trips are too long by about as much, so that the order is right.
        self.sort_by_end(&mut ranks, arrivals);
        ranks.truncate(MOST_NEAR);
        ranks.extend(latest.filter(|latest| !ranks.contains(latest)));
        for &rank in &ranks {
            let trip = self.trip_with(stage, rank)?;
            self.trips[rank as usize] = trip.min(self.trips[rank as usize]);
        }
        self.sort_by_end(&mut ranks, arrivals);
        let last = ranks.first().map_or(0.0, |&rank| self.end(arrivals, rank));
        ranks.retain(|&rank| Some(rank) == latest || self.end(arrivals, rank) >= NEAR * last);
        Ok(ranks)
    }

    /// When a rank was done, if both ways are alike.
    fn end(&self, arrivals: &[f64], rank: Rank) -> f64 {
        arrivals[rank as usize] - self.trips[rank as usize] / 2.0
    }

    fn sort_by_end(&self, ranks: &mut [Rank], arrivals: &[f64]) {
        let end = |rank: &Rank| self.end(arrivals, *rank);
        ranks.sort_by(|a, b| end(b).total_cmp(&end(a)));
    }

    /// Collective: after enough repetitions of all candidates, the one that is the last. `tasks`
    /// are those of one repetition, on the root.
    fn narrow(&mut self, stage: &Stage, tasks: &[Task]) -> Result<(), CommError> {
        let heats = if stage.comm.clock().is_virtual() { 1 } else { HEATS };
        if self.candidates.len() <= 1 {
            return Ok(());
        }
        self.heats.push(tasks.to_vec());
        if self.heats.len() < heats {
            return Ok(());
        }
        let shortest = |which: usize, part: f64| {
            self.heats.iter().map(|tasks| tasks[which].time(part)).fold(f64::INFINITY, f64::min)
        };
        let all = || 0..tasks.len();
        self.dropped = all().map(|which| shortest(which, 0.0)).fold(0.0, f64::max);
        let last = all().max_by(|&a, &b| shortest(a, 0.5).total_cmp(&shortest(b, 0.5)));
        self.candidates = last.map(|last| self.candidates[last]).into_iter().collect();
        self.agree(stage)
    }

    /// On the root: waits until all ranks have left the isolation, or received its message.
    fn settle(&self, stage: &Stage) {
        if stage.comm.rank() == self.root {
            let longest = self.trips.iter().copied().fold(0.0, f64::max);
            stage.clock.sleep_until_local(stage.clock.local() + longest);
        }
    }

    /// Collective: one task; on the root what it took. When it is over, all ranks wait for the
    /// next.
    fn task(
        &self,
        stage: &Stage,
        operation: &mut dyn Operation,
        of: Rank,
    ) -> Result<Task, CommError> {
        let (comm, clock) = (stage.comm, &stage.clock);
        let begun = clock.local();
        operation.call()?;
        let own = clock.local() - begun;
        if comm.rank() == of {
            comm.send(self.root, TASK, &[])?;
        }
        if comm.rank() != self.root {
            return Ok(Task::default());
        }
        comm.recv(Some(of), Some(TASK), &mut [])?;
        let acknowledged = clock.local() - begun;
        if self.candidates.len() > 1 {
            // Others may be a little later than this one.
            clock.sleep_until_local(begun + self.over);
        }
        Ok(Task { own, acknowledged, trip: self.trips[of as usize] })
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
        self.trip_with_all(stage)?;
        let arrivals = self.screen(stage, operation)?;
        (self.heats, self.dropped) = (Vec::new(), 0.0);
        self.choose(stage, &arrivals)
    }

    fn batch(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        pace: Pace,
    ) -> Result<Batch, CommError> {
        let gate = stage.gate()?;
        let mut room = Default::default();
        gate.open(&mut room)?.pass()?;
        self.settle(stage);
        let mut numbers = Vec::with_capacity(3 * pace.count as usize);
        let mut begun = Vec::with_capacity(pace.count as usize);
        for repetition in 0..pace.count {
            pace.wait_before(repetition, stage.comm.clock());
            begun.push(stage.clock.local());
            let mut tasks = Vec::with_capacity(self.candidates.len());
            for of in self.candidates.clone() {
                tasks.push(self.task(stage, operation, of)?);
            }
            let longest = |part| tasks.iter().map(|task| task.time(part)).fold(0.0, f64::max);
            numbers.extend([longest(0.5), longest(1.0), longest(0.0).max(self.dropped)]);
            self.narrow(stage, &tasks)?;
        }
        let numbers = deliver(stage, self.root, numbers)?;
        let sample = |(number, at): (&[f64], &f64)| {
            Sample::within(*at, number[0], Bound { low: number[1], high: number[2] })
        };
        let samples = numbers.chunks_exact(3).zip(&begun).map(sample).collect();
        Ok(Batch { samples, ..Batch::default() })
    }
}
