//! Scheduling of ranks: one rank at a time has the turn, and gives it away only by waiting. The
//! rank that has it when none can go on lets virtual time pass.
//!
//! All ranks are on one thread, each on a stack of its own: a turn changes in tens of nanoseconds,
//! where threads would take the system microseconds.

use std::cell::{RefCell, RefMut};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::panic::resume_unwind;

use corosensei::Yielder;
use laneway_core::{CommError, Rank};

use super::payload::Payload;
use super::spare::Spare;
use super::tickets::{Received, Ticket, Tickets};
use crate::carrier::MessageId;
use crate::cluster::{Cluster, Cut, Envelope, Over};
use crate::error::SimError;
use crate::flow::Flows;
use crate::network::Network;

/// What a rank is unwound with when the run is ended.
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
    /// The end of one of a number of transfers.
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
            Wait::Recv { from: None } => write!(f, "a message from any rank"),
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

/// The shared state; the rank with the turn has it to itself.
pub(super) struct State<'a> {
    pub cluster: Cluster<'a, Flows>,
    pub tickets: Vec<Tickets>,
    /// The bytes of each message under way.
    payloads: Vec<Payload>,
    pub spare: Spare,
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
    state: RefCell<State<'a>>,
}

/// Not kept while another rank has the turn.
pub(super) type Guard<'g, 'a> = RefMut<'g, State<'a>>;

/// A rank's place among the others, from which it waits.
#[derive(Clone, Copy)]
pub(super) struct Seat<'t, 'a> {
    turns: &'t Turns<'a>,
    rank: Rank,
    yielder: &'t Yielder<(), ()>,
}

impl State<'_> {
    /// Tells ranks of what has ended or can be seen, and lets those that waited go on.
    pub fn settle(&mut self) {
        let mut over = std::mem::take(&mut self.cluster.over);
        for Over { rank, slot, received, sent } in over.drain(..) {
            if let Some(id) = sent {
                self.place(id);
            }
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
        self.place(id);
        self.cluster.matching.remove(id);
        Received { from, label, data: std::mem::take(&mut self.payloads[id as usize]).into_data() }
    }

    /// Keeps a message's bytes until it is received. `is_held`: the send lasts until the last byte
    /// has arrived.
    ///
    /// # Safety
    /// Where `is_held`, the bytes must stay valid and unchanged until the send is reported, or its
    /// queue is closed by [`State::give_up`].
    pub unsafe fn keep(&mut self, id: MessageId, data: &[u8], is_held: bool) {
        if self.payloads.len() <= id as usize {
            self.payloads.resize_with(id as usize + 1, Payload::default);
        }
        // SAFETY: by this function's contract; a send that is reported is placed before.
        self.payloads[id as usize] = unsafe { Payload::new(data, is_held, &mut self.spare) };
    }

    /// The last byte of a message has arrived: what is still with the sender goes to the receiver.
    fn place(&mut self, id: MessageId) {
        if self.end.is_some() {
            // Ranks that have heard of the end have left their buffers.
            return;
        }
        let message = &self.cluster.matching.messages[id as usize];
        let ticket = message.recv.map(|ticket| (message.envelope.to, ticket));
        let room = ticket.and_then(|(to, ticket)| self.tickets[to as usize].room(ticket));
        // SAFETY: the sender has not heard yet that its send is over, nor the receiver of the
        // receive; rooms of receives that were given up are forgotten.
        unsafe { self.payloads[id as usize].place(room) };
    }

    /// Closes a queue; sends of it that are not over go on with copies of their bytes.
    pub fn give_up(&mut self, rank: Rank, queue: usize) {
        if self.tickets[rank as usize].outstanding(queue) > 0 && self.end.is_none() {
            for (payload, message) in self.payloads.iter_mut().zip(&self.cluster.matching.messages)
            {
                let ticket = message.send.filter(|_| message.envelope.from == rank);
                if ticket.is_some_and(|t| self.tickets[rank as usize].queue_of(t) == queue) {
                    // SAFETY: the queue's owner keeps the bytes valid until this returns.
                    unsafe { payload.keep(&mut self.spare) };
                }
            }
        }
        self.tickets[rank as usize].close_queue(queue);
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

    /// Lets virtual time pass until a rank can go on.
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

    /// Gives the turn to a rank that can go on, which may be the same one.
    fn pass_on(&mut self) {
        while self.ready.is_empty() && self.left < self.waits.len() as u32 {
            self.advance();
        }
        self.turn = self.ready.pop_front();
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
            spare: Spare::default(),
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
        Turns { network, state: RefCell::new(state) }
    }

    /// Who goes on; none when all have left.
    pub fn turn(&self) -> Option<Rank> {
        self.state.borrow().turn
    }

    /// The first rank begins.
    pub fn open(&self) {
        self.state.borrow_mut().pass_on();
    }

    /// When the last rank was done, if all ended well.
    pub fn concluded(&self) -> Result<f64, SimError> {
        let state = self.state.borrow();
        match &state.end {
            None => Ok(state.finish),
            Some(End::Failed(error)) => Err(error.clone()),
            Some(End::Aborted(code)) => Err(SimError::Aborted { code: *code }),
        }
    }
}

impl<'t, 'a> Seat<'t, 'a> {
    pub fn new(turns: &'t Turns<'a>, rank: Rank, yielder: &'t Yielder<(), ()>) -> Seat<'t, 'a> {
        Seat { turns, rank, yielder }
    }

    pub fn rank(&self) -> Rank {
        self.rank
    }

    pub fn network(&self) -> &'a dyn Network {
        self.turns.network
    }

    /// The shared state, for a rank that goes on; a run that has ended is an error.
    pub fn state(&self) -> Result<Guard<'t, 'a>, CommError> {
        let state = self.any_state();
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
    pub fn any_state(&self) -> Guard<'t, 'a> {
        self.turns.state.borrow_mut()
    }

    /// Waits until another rank lets this one go on, which then looks whether it can.
    pub fn wait(&self, mut state: Guard<'t, 'a>, what: Wait) -> Result<Guard<'t, 'a>, CommError> {
        state.waits[self.rank as usize] = Some(what);
        state.pass_on();
        let is_mine = state.turn == Some(self.rank);
        drop(state);
        if !is_mine {
            self.yielder.suspend(());
        }
        self.state()
    }

    /// This rank is done, or has panicked.
    pub fn leave(&self, panicked: Option<String>) {
        let mut state = self.any_state();
        state.left += 1;
        state.finish = state.finish.max(state.cluster.now);
        if let Some(how) = panicked {
            state.fail(SimError::Died { rank: self.rank, how });
        }
        state.pass_on();
    }

    /// Ends every rank, and this one at once.
    pub fn abort(&self, code: i32) -> ! {
        let mut state = self.any_state();
        state.end = Some(End::Aborted(code));
        state.awake_all();
        drop(state);
        resume_unwind(Box::new(Aborted))
    }

    /// Lets a ticket of this rank be done at an instant, and waits for it.
    pub fn sleep(&self, until: f64) -> Result<(), CommError> {
        let (mut state, me) = (self.state()?, self.rank as usize);
        if until <= state.cluster.now {
            return Ok(());
        }
        let queue = state.tickets[me].open_queue();
        let ticket: Ticket = state.tickets[me].issue(queue, 0);
        if until.is_finite() {
            state.cluster.wake(until, self.rank, ticket);
        }
        while !state.tickets[me].has_done(queue) {
            state = self.wait(state, Wait::Moment(until))?;
        }
        state.tickets[me].close_queue(queue);
        Ok(())
    }
}
