//! Runs any program over [`Comm`] in virtual time: one stack a rank, one of them at a time.
//!
//! What a rank computes takes no time; messages take what the cluster says, and sleeping what was
//! asked for. A look that finds nothing ([`Queue::test`](laneway_core::Queue::test), a probe that
//! does not wait) takes [`LOOK_SECONDS`], so that a program that polls gets on; so does reading the
//! clock more than [`FREE_READS`] times with nothing in between. The order in which ranks go on is
//! that of the events alone: every run is the same.
//!
//! Begin with [`Program`], then `turns.rs` for who goes on when, then `comm.rs`.

mod clock;
mod comm;
mod payload;
mod spare;
mod tickets;
mod turns;

use std::panic::{AssertUnwindSafe, catch_unwind};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use laneway_core::{Comm, Rank};

use crate::cluster::{Cluster, Observer};
use crate::error::SimError;
use crate::flow::Flows;
use crate::network::{Fairness, HostId, Network};
use comm::SimComm;
use turns::{Aborted, Seat, Turns};

/// Seconds that a look costs which finds nothing.
pub const LOOK_SECONDS: f64 = 100e-9;
/// The number of consecutive reads of the clock without cost.
pub const FREE_READS: u32 = 1000;
/// Room for a rank's calls; only what is touched becomes memory.
const STACK_BYTES: usize = 4 << 20;

/// A program that is being prepared.
pub struct Program<'a> {
    network: &'a dyn Network,
    ranks: u32,
    fairness: Fairness,
    limit: f64,
    observer: Option<&'a mut (dyn Observer + Send)>,
}

/// What the ranks returned, and when the last of them was done.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended<R> {
    /// What each rank returned, by rank.
    pub results: Vec<R>,
    /// Seconds of virtual time.
    pub finish: f64,
}

impl<'a> Program<'a> {
    /// Ranks on the network's first hosts, one on each.
    pub fn new(network: &'a dyn Network, ranks: u32) -> Program<'a> {
        let fairness = network.fairness();
        Program { network, ranks, fairness, limit: f64::INFINITY, observer: None }
    }

    /// Gives up after this number of seconds of virtual time.
    pub fn limit(mut self, seconds: f64) -> Program<'a> {
        self.limit = seconds;
        self
    }

    /// Lets flows part full links otherwise than the network says.
    pub fn fairness(mut self, fairness: Fairness) -> Program<'a> {
        self.fairness = fairness;
        self
    }

    /// Tells an observer of each message received and, where it asks for them, of loads.
    pub fn observed(mut self, observer: &'a mut (dyn Observer + Send)) -> Program<'a> {
        self.observer = Some(observer);
        self
    }

    /// Runs the program on every rank, all of them on this thread.
    pub fn run<R>(self, program: impl Fn(&dyn Comm) -> R) -> Result<Ended<R>, SimError> {
        let flows = Flows::with(self.network.resources(), self.fairness);
        let hosts: Vec<HostId> = (0..self.ranks).collect();
        let cluster = Cluster::new(self.network, hosts, flows, self.observer)?;
        let turns = Turns::new(self.network, cluster, self.limit);
        let rank = |rank: Rank, yielder: &Yielder<(), ()>| {
            let seat = Seat::new(&turns, rank, yielder);
            let end = catch_unwind(AssertUnwindSafe(|| {
                // One that was aborted ends here; one that failed gets its error with the first
                // call.
                drop(seat.state());
                program(&SimComm::world(seat))
            }));
            // A rank that was ended with the run says nothing more.
            let panicked = end.as_ref().err().filter(|payload| !payload.is::<Aborted>());
            seat.leave(panicked.map(|payload| words_of(&**payload)));
            end.ok()
        };
        let rank = &rank;
        let start = |number: Rank| {
            let stack = DefaultStack::new(STACK_BYTES)
                .map_err(|error| SimError::Stack { rank: number, error: error.to_string() })?;
            // SAFETY: what it borrows, `turns` and `program`, outlives this function's list of
            // coroutines, none of which is forgotten.
            Ok(unsafe { Coroutine::with_stack_unchecked(stack, move |y, ()| rank(number, y)) })
        };
        let mut ranks: Vec<_> = (0..self.ranks).map(start).collect::<Result<_, SimError>>()?;
        let mut results: Vec<Option<R>> = (0..self.ranks).map(|_| None).collect();
        turns.open();
        while let Some(number) = turns.turn() {
            if let CoroutineResult::Return(result) = ranks[number as usize].resume(()) {
                results[number as usize] = result;
            }
        }
        let finish = turns.concluded()?;
        Ok(Ended { results: results.into_iter().flatten().collect(), finish })
    }
}

/// What a panic said.
fn words_of(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    format!("it panicked: {}", text.unwrap_or("no message"))
}
