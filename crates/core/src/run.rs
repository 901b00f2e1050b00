//! The executor, without input or output: it advances one rank's lanes and instructs a [`Port`]
//! what to start. The same code serves blocking, non-blocking, simulated and symbolic runs.

use std::collections::VecDeque;

use crate::schedule::{Rank, Round, Schedule, Step};

/// The name of an outstanding transfer; small numbers that are reused.
pub type Slot = u32;

/// Whether a started transfer is already complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is complete.
    Done,
    /// [`Run::done`] will be called with the slot.
    Pending,
}

/// The position of a step, and the slot of its transfer.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// The lane of the step.
    pub lane: u32,
    /// Its round.
    pub round: u64,
    /// The slot of the transfer.
    pub slot: Slot,
}

/// An executor of steps: a communicator, a simulator, the checker.
pub trait Port {
    /// Why a step may fail.
    type Error;

    /// Begins a Send or Recv, or carries out a Copy or Reduce (whose answer must be `Done`).
    fn start(&mut self, at: At, step: &Step) -> Result<Progress, Self::Error>;

    /// A lane went through a gate: for observers.
    fn passed(&mut self, _lane: u32, _gate: &Step) {}

    /// A lane has started every step of a round: for observers.
    fn issued(&mut self, _lane: u32, _round: u64) {}
}

#[derive(Clone, Copy, Default)]
struct Transfer {
    lane: u32,
    round: u64,
    send: bool,
}

#[derive(Default)]
struct Lane {
    rounds: u64,
    /// The round being issued, or `rounds` when all is.
    round: u64,
    /// The steps of one round, and of which: a lane of one round writes them once and for all runs.
    steps: Round,
    loaded: Option<u64>,
    next: usize,
    sends: u32,
    recvs: u32,
    /// Outstanding transfers of the round being issued.
    issuing: u32,
    /// Rounds 0 to complete - 1 are issued and their transfers over.
    complete: u64,
    /// Outstanding transfers of the rounds from `complete` to the one before `round`.
    pending: VecDeque<u32>,
}

impl Lane {
    /// The step that the lane stands at; none when all are issued.
    fn current(&self) -> Option<&Step> {
        self.steps.steps.get(self.next).filter(|_| self.round < self.rounds)
    }

    /// Gets the steps of the round that is to be issued, if there is one.
    #[inline]
    fn load<S: Schedule + ?Sized>(&mut self, schedule: &S, rank: Rank, number: u32) {
        if self.round == self.rounds {
            return;
        }
        if self.loaded != Some(self.round) {
            self.steps.steps.clear();
            schedule.round(rank, number, self.round, &mut self.steps);
            self.loaded = Some(self.round);
        }
    }

    /// Every step of the round is started; true when that makes the whole lane complete.
    #[inline]
    fn leave_round(&mut self) -> bool {
        self.round += 1;
        self.next = 0;
        if self.issuing == 0 && self.pending.is_empty() {
            self.complete = self.round;
            return self.complete == self.rounds;
        }
        self.pending.push_back(std::mem::take(&mut self.issuing));
        false
    }

    /// A transfer of a round is over; true when that makes the whole lane complete.
    #[inline]
    fn end(&mut self, round: u64, send: bool) -> bool {
        *(if send { &mut self.sends } else { &mut self.recvs }) -= 1;
        if round == self.round {
            self.issuing -= 1;
            return false;
        }
        self.pending[(round - self.complete) as usize] -= 1;
        while self.pending.front() == Some(&0) {
            self.pending.pop_front();
            self.complete += 1;
        }
        self.complete == self.rounds
    }
}

/// The transfers of all lanes, by their slots.
#[derive(Default)]
struct Transfers {
    all: Vec<Transfer>,
    free: Vec<Slot>,
}

impl Transfers {
    /// The slot that the next transfer has, unless it is over at once.
    #[inline]
    fn next_slot(&mut self) -> Slot {
        if let Some(&slot) = self.free.last() {
            return slot;
        }
        let slot = self.all.len() as Slot;
        self.all.push(Transfer::default());
        self.free.push(slot);
        slot
    }

    /// The next transfer is this one.
    #[inline]
    fn begin(&mut self, transfer: Transfer) {
        if let Some(slot) = self.free.pop() {
            self.all[slot as usize] = transfer;
        }
    }
}

/// One rank's way through a schedule.
pub struct Run<'s, S: Schedule + ?Sized> {
    schedule: &'s S,
    rank: Rank,
    lanes: Vec<Lane>,
    /// Lanes that are not complete.
    open_lanes: usize,
    transfers: Transfers,
}

impl<'s, S: Schedule + ?Sized> Run<'s, S> {
    /// The run of a rank, before its first step.
    pub fn new(schedule: &'s S, rank: Rank) -> Self {
        let lane = |lane| Lane { rounds: schedule.rounds(rank, lane), ..Lane::default() };
        let lanes = (0..schedule.lanes(rank)).map(lane).collect();
        let transfers = Transfers::default();
        let mut run = Run { schedule, rank, lanes, open_lanes: 0, transfers };
        run.restart();
        run
    }

    /// Restarts at the first round; keeps all storage, so a second run allocates nothing.
    pub fn restart(&mut self) {
        self.open_lanes = 0;
        let (schedule, rank) = (self.schedule, self.rank);
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            self.open_lanes += usize::from(lane.rounds > 0);
            lane.round = 0;
            lane.next = 0;
            lane.sends = 0;
            lane.recvs = 0;
            lane.issuing = 0;
            lane.complete = 0;
            lane.pending.clear();
            lane.load(schedule, rank, number as u32);
        }
        // A run that was given up left some under way.
        if self.outstanding() > 0 {
            self.transfers.free.clear();
            self.transfers.free.extend((0..self.transfers.all.len() as Slot).rev());
        }
    }

    /// Starts all steps that can start, in every lane; true when the rank has finished.
    pub fn poll<P: Port + ?Sized>(&mut self, port: &mut P) -> Result<bool, P::Error> {
        while !self.finished() {
            let (mut moved, open_lanes) = (false, self.open_lanes);
            for lane in 0..self.lanes.len() {
                moved |= self.advance(lane, port)?;
            }
            // What moved in one lane may open a gate of another.
            if !moved || open_lanes <= 1 {
                break;
            }
        }
        Ok(self.finished())
    }

    /// Whether every step is started and every transfer complete.
    #[inline]
    pub fn finished(&self) -> bool {
        self.open_lanes == 0
    }

    /// Whether every step is started; transfers may be outstanding.
    #[inline]
    pub fn issued(&self) -> bool {
        self.lanes.iter().all(|lane| lane.round == lane.rounds)
    }

    /// Completes a pending transfer.
    #[inline]
    pub fn done(&mut self, slot: Slot) {
        let Transfer { lane, round, send } = self.transfers.all[slot as usize];
        self.open_lanes -= usize::from(self.lanes[lane as usize].end(round, send));
        self.transfers.free.push(slot);
    }

    /// The number of outstanding transfers.
    #[inline]
    pub fn outstanding(&self) -> usize {
        self.transfers.all.len() - self.transfers.free.len()
    }

    /// How far it is: rounds that are complete, and rounds in all, of all lanes together.
    pub fn rounds(&self) -> (u64, u64) {
        let add = |sum: (u64, u64), lane: &Lane| (sum.0 + lane.complete, sum.1 + lane.rounds);
        self.lanes.iter().fold((0, 0), add)
    }

    /// The step each unfinished lane stands at, for reports of a deadlock.
    pub fn blocked(&self) -> impl Iterator<Item = (u32, u64, Option<&Step>)> {
        self.lanes
            .iter()
            .enumerate()
            .filter(|(_, lane)| lane.complete < lane.rounds)
            .map(|(number, lane)| (number as u32, lane.round, lane.current()))
    }

    /// Starts what can start in a lane; whether anything did.
    fn advance<P: Port + ?Sized>(&mut self, number: usize, port: &mut P) -> Result<bool, P::Error> {
        let (at, mut moved) = (number as u32, false);
        loop {
            let lane = &mut self.lanes[number];
            if lane.round == lane.rounds {
                return Ok(moved);
            }
            let round = lane.round;
            let Some(step) = lane.steps.steps.get(lane.next) else {
                port.issued(at, round);
                self.open_lanes -= usize::from(lane.leave_round());
                lane.load(self.schedule, self.rank, at);
                moved = true;
                continue;
            };
            match step {
                Step::Send { .. } | Step::Recv { .. } | Step::Copy { .. } | Step::Reduce { .. } => {
                    let slot = self.transfers.next_slot();
                    if port.start(At { lane: at, round, slot }, step)? == Progress::Pending {
                        let send = matches!(step, Step::Send { .. });
                        *(if send { &mut lane.sends } else { &mut lane.recvs }) += 1;
                        lane.issuing += 1;
                        self.transfers.begin(Transfer { lane: at, round, send });
                    }
                    lane.next += 1;
                }
                &Step::AtMost { sends, recvs } => {
                    if lane.sends > sends || lane.recvs > recvs {
                        return Ok(moved);
                    }
                    port.passed(at, step);
                    lane.next += 1;
                }
                &gate @ Step::After { lane, round } => {
                    if self.lanes.get(lane as usize).is_none_or(|other| other.complete <= round) {
                        return Ok(moved);
                    }
                    port.passed(at, &gate);
                    self.lanes[number].next += 1;
                }
            }
            moved = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::schedule::{Buf, span};

    /// Lane 0 waits for lane 1, which has nothing that it could wait for.
    struct Backwards;

    impl Schedule for Backwards {
        fn ranks(&self) -> u32 {
            1
        }

        fn lanes(&self, _rank: Rank) -> u32 {
            2
        }

        fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
            1
        }

        fn round(&self, _rank: Rank, lane: u32, _k: u64, out: &mut Round) {
            if lane == 0 {
                out.after(1, 0);
            }
            out.copy(span(Buf::In, 0, 1), span(Buf::Out, 0, 1));
        }
    }

    struct Counting(u32);

    impl Port for Counting {
        type Error = Infallible;

        fn start(&mut self, _at: At, _step: &Step) -> Result<Progress, Infallible> {
            self.0 += 1;
            Ok(Progress::Done)
        }
    }

    #[test]
    fn a_later_lane_opens_the_gate_of_an_earlier_one() {
        let (mut run, mut port) = (Run::new(&Backwards, 0), Counting(0));
        assert_eq!(run.poll(&mut port), Ok(true));
        assert_eq!(port.0, 2);
        run.restart();
        assert!(!run.finished());
        assert_eq!(run.poll(&mut port), Ok(true));
        assert_eq!(port.0, 4);
    }
}
