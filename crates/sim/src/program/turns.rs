//! Who goes on when: one rank at a time has the turn, and gives it away only by waiting. Whoever
//! has it when nobody can go on lets virtual time pass.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::panic::resume_unwind;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use laneway_core::{CommError, Rank};

use super::tickets::{Received, Ticket, Tickets};
use crate::carrier::MessageId;
use crate::cluster::{Cluster, Cut, Envelope, Over};
use crate::error::SimError;
use crate::flow::Flows;
use crate::network::Network;

/// What a rank's thread is unwound with when the run is ended.
pub(super) struct Aborted;

/// How a run ended before its time.
#[derive(Clone, Debug)]
pub(super) enum End {
    /// Every rank hears of it with its next call.
    Failed(SimError),
    /// Every rank ends with its next call.
    Aborted(i32),
}

/// What a rank waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Wait {
    /// The end of a send.
    Send { to: Rank },
    /// The end of a receive.
    Recv { from: Option<Rank> },
    /// A message that can be seen.
    Look,
    /// The end of one of so many transfers.
    Transfers(usize),
    /// All ranks of a communicator.
    Split,
    /// An instant of virtual time.
    Moment(f64),
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wait::Send { to } => write!(f, "rank {to} to receive"),
            Wait::Recv { from: Some(from) } => write!(f, "a message from rank {from}"),
            Wait::Recv { from: None } => write!(f, "a message from anybody"),
            Wait::Look => write!(f, "a message to look at"),
            Wait::Transfers(count) => write!(f, "one of {count} transfers"),
            Wait::Split => write!(f, "the others to split"),
            Wait::Moment(seconds) => write!(f, "the instant {seconds} s"),
        }
    }
}

/// The wishes of a communicator's ranks to be regrouped, and the answer once all have come.
#[derive(Debug, Default)]
pub(super) struct Regroup {
    pub wishes: BTreeMap<Rank, (Option<u32>, u32)>,
    pub taken: usize,
    /// The context of the first colour; the others follow.
    pub context: Option<u64>,
}

/// Everything that is shared; whoever has the turn has it to itself.
pub(super) struct State<'a> {
    pub cluster: Cluster<'a, Flows>,
    pub tickets: Vec<Tickets>,
    /// The bytes of each message under way.
    pub payloads: Vec<Vec<u8>>,
    pub end: Option<End>,
    /// By context and number of the split.
    pub regroups: BTreeMap<(u64, u64), Regroup>,
    pub contexts: u64,
    turn: Option<Rank>,
    ready: VecDeque<Rank>,
    /// What each rank waits for; none while it goes on or is ready to.
    waits: Vec<Option<Wait>>,
    left: u32,
    finish: f64,
    limit: f64,
}

pub(super) struct Turns<'a> {
    pub network: &'a dyn Network,
    state: Mutex<State<'a>>,
    yours: Vec<Condvar>,
}

pub(super) type Guard<'g, 'a> = MutexGuard<'g, State<'a>>;

impl State<'_> {
    /// Tells ranks of what has ended or can be seen, and lets those that waited go on.
    pub fn settle(&mut self) {
        let mut over = std::mem::take(&mut self.cluster.over);
        for Over { rank, slot, received } in over.drain(..) {
            let received = received.map(|id| self.received(id));
            self.tickets[rank as usize].complete(slot, received);
            self.awake(rank);
        }
        self.cluster.over = over;
        let mut sights = std::mem::take(&mut self.cluster.sights);
        for rank in sights.drain(..) {
            if self.waits[rank as usize] == Some(Wait::Look) {
                self.awake(rank);
            }
        }
        self.cluster.sights = sights;
    }

    fn received(&mut self, id: MessageId) -> Received {
        let Envelope { from, label, .. } = self.cluster.matching.messages[id as usize].envelope;
        self.cluster.matching.remove(id);
        Received { from, label, data: std::mem::take(&mut self.payloads[id as usize]) }
    }

    pub fn keep(&mut self, id: MessageId, data: Vec<u8>) {
        if self.payloads.len() <= id as usize {
            self.payloads.resize(id as usize + 1, Vec::new());
        }
        self.payloads[id as usize] = data;
    }

    /// A rank that waits looks again.
    pub fn awake(&mut self, rank: Rank) {
        if self.waits[rank as usize].take().is_some() {
            self.ready.push_back(rank);
        }
    }

    pub fn awake_all(&mut self) {
        for rank in 0..self.waits.len() as Rank {
            self.awake(rank);
        }
    }

    fn fail(&mut self, error: SimError) {
        self.end.get_or_insert(End::Failed(error));
        self.awake_all();
    }

    /// Lets virtual time pass until somebody can go on.
    fn advance(&mut self) {
        match self.cluster.step() {
            Err(error) => self.fail(error),
            Ok(false) => self.stuck(),
            Ok(true) if self.cluster.now > self.limit => {
                self.fail(SimError::Limit { seconds: self.limit });
            }
            Ok(true) => self.settle(),
        }
    }

    /// Nothing will happen any more, and ranks wait.
    fn stuck(&mut self) {
        let at = self.cluster.now;
        let waits = self.waits.iter().enumerate();
        let waiting: Vec<(Rank, String)> =
            waits.filter_map(|(rank, wait)| Some((rank as Rank, (*wait)?.to_string()))).collect();
        let error = match self.cluster.cut() {
            Some(Cut { dead, pairs }) => {
                let ranks = waiting.iter().map(|(rank, _)| *rank).collect();
                SimError::Partition { at, dead, cut: pairs, ranks }
            }
            None => SimError::Waiting { at, waiting },
        };
        self.fail(error);
    }
}

impl<'a> Turns<'a> {
    pub fn new(network: &'a dyn Network, cluster: Cluster<'a, Flows>, limit: f64) -> Turns<'a> {
        let ranks = cluster.hosts.len() as u32;
        let state = State {
            cluster,
            tickets: (0..ranks).map(|_| Tickets::default()).collect(),
            payloads: Vec::new(),
            end: None,
            regroups: BTreeMap::new(),
            contexts: 1,
            turn: None,
            ready: (0..ranks).collect(),
            waits: vec![None; ranks as usize],
            left: 0,
            finish: 0.0,
            limit,
        };
        let yours = (0..ranks).map(|_| Condvar::new()).collect();
        Turns { network, state: Mutex::new(state), yours }
    }

    /// Only the rank that has the turn asks for it, or one that is about to wait for the turn.
    fn lock(&self) -> Guard<'_, 'a> {
        // A rank that panicked left nothing half done: panics happen in programs, not in here.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The shared state, for a rank that goes on; a run that has ended is an error.
    pub fn state(&self) -> Result<Guard<'_, 'a>, CommError> {
        self.unended(self.lock())
    }

    fn unended<'g>(&self, state: Guard<'g, 'a>) -> Result<Guard<'g, 'a>, CommError> {
        match &state.end {
            None => Ok(state),
            Some(End::Failed(error)) => Err(CommError::Stuck { why: error.to_string() }),
            Some(End::Aborted(_)) => {
                drop(state);
                resume_unwind(Box::new(Aborted))
            }
        }
    }

    /// The shared state, whatever became of the run.
    pub fn any_state(&self) -> Guard<'_, 'a> {
        self.lock()
    }

    /// The first rank begins.
    pub fn open(&self) {
        self.pass_on(&mut self.lock());
    }

    /// Waits for this rank's first turn.
    pub fn begin(&self, rank: Rank) {
        // A run that has failed before it began here is reported by the rank's first call.
        drop(self.unended(self.until_mine(self.lock(), rank)));
    }

    /// Waits until somebody lets this rank go on, which then looks whether it can.
    pub fn wait<'g>(
        &'g self,
        mut state: Guard<'g, 'a>,
        rank: Rank,
        what: Wait,
    ) -> Result<Guard<'g, 'a>, CommError> {
        state.waits[rank as usize] = Some(what);
        self.pass_on(&mut state);
        self.unended(self.until_mine(state, rank))
    }

    fn until_mine<'g>(&'g self, mut state: Guard<'g, 'a>, rank: Rank) -> Guard<'g, 'a> {
        while state.turn != Some(rank) {
            let woken = self.yours[rank as usize].wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// Gives the turn to a rank that can go on, which may be the same one.
    fn pass_on(&self, state: &mut State<'a>) {
        while state.ready.is_empty() && state.left < state.waits.len() as u32 {
            state.advance();
        }
        state.turn = state.ready.pop_front();
        if let Some(rank) = state.turn {
            self.yours[rank as usize].notify_one();
        }
    }

    /// This rank is done, or has panicked.
    pub fn leave(&self, rank: Rank, panicked: Option<String>) {
        let mut state = self.lock();
        state.left += 1;
        state.finish = state.finish.max(state.cluster.now);
        if let Some(how) = panicked {
            state.fail(SimError::Died { rank, how });
        }
        self.pass_on(&mut state);
    }

    /// Ends every rank, and this one at once.
    pub fn abort(&self, code: i32) -> ! {
        let mut state = self.lock();
        state.end = Some(End::Aborted(code));
        state.awake_all();
        drop(state);
        resume_unwind(Box::new(Aborted))
    }

    /// Not all threads could be started: those that were end at once.
    pub fn give_up(&self, started: u32) {
        let mut state = self.lock();
        state.end = Some(End::Aborted(0));
        state.ready.truncate(started as usize);
        state.waits.truncate(started as usize);
        self.pass_on(&mut state);
    }

    /// When the last rank was done, if all ended well.
    pub fn concluded(&self) -> Result<f64, SimError> {
        let state = self.lock();
        match &state.end {
            None => Ok(state.finish),
            Some(End::Failed(error)) => Err(error.clone()),
            Some(End::Aborted(code)) => Err(SimError::Aborted { code: *code }),
        }
    }

    /// Lets a rank's ticket be done at an instant, and waits for it.
    pub fn sleep(&self, rank: Rank, until: f64) -> Result<(), CommError> {
        let mut state = self.state()?;
        if until <= state.cluster.now {
            return Ok(());
        }
        let queue = state.tickets[rank as usize].open_queue();
        let ticket: Ticket = state.tickets[rank as usize].issue(queue, 0);
        if until.is_finite() {
            state.cluster.wake(until, rank, ticket);
        }
        while !state.tickets[rank as usize].has_done(queue) {
            state = self.wait(state, rank, Wait::Moment(until))?;
        }
        state.tickets[rank as usize].close_queue(queue);
        Ok(())
    }
}
