//! Where every rank is, and how those that ended did: what connections report, and what the
//! launcher says of them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use laneway_core::{Clock, Rank};
use laneway_message::World;
use laneway_processes::Monotonic;

use crate::words::Seat;

pub(crate) struct Roster {
    pub seats: Vec<Seat>,
    ended: Mutex<Vec<Option<String>>>,
    any: AtomicBool,
}

impl Roster {
    pub fn new(seats: Vec<Seat>) -> Roster {
        let ended = Mutex::new(vec![None; seats.len()]);
        Roster { seats, ended, any: AtomicBool::new(false) }
    }

    /// Records what a connection reports of its peer.
    pub fn note(&self, rank: Rank, how: &str) {
        self.set(rank, |ended| {
            ended.get_or_insert_with(|| how.into());
        });
    }

    /// What the launcher says, who has seen the end of the process.
    pub fn announce(&self, rank: Rank, how: String) {
        self.set(rank, |ended| *ended = Some(how));
    }

    fn set(&self, rank: Rank, set: impl FnOnce(&mut Option<String>)) {
        let mut all = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ended) = all.get_mut(rank as usize) {
            set(ended);
            self.any.store(true, Ordering::Release);
        }
    }

    pub fn any_ended(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    pub fn ended(&self, rank: Rank) -> Option<String> {
        if !self.any_ended() {
            return None;
        }
        let all = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(rank as usize).cloned().flatten()
    }

    /// Whether two ranks reach each other over loopback.
    pub fn are_near(&self, one: Rank, other: Rank) -> bool {
        self.seats[one as usize].machine == self.seats[other as usize].machine
    }

    /// The ranks that share this one's cores: of its kernel, whatever network they are in.
    pub fn core_mates(&self, rank: Rank) -> Vec<Rank> {
        let kernel = |rank: Rank| self.seats[rank as usize].machine.split('/').next();
        (0..self.seats.len() as Rank).filter(|&other| kernel(other) == kernel(rank)).collect()
    }
}

/// The ranks of a run, as one of them knows them.
pub(crate) struct RanksWorld {
    pub roster: Arc<Roster>,
    pub clock: Monotonic,
    pub description: Vec<(&'static str, String)>,
}

impl World for RanksWorld {
    fn size(&self) -> u32 {
        self.roster.seats.len() as u32
    }

    fn clock(&self) -> &dyn Clock {
        &self.clock
    }

    fn host(&self, rank: Rank) -> String {
        self.roster.seats[rank as usize].host.clone()
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        self.description.clone()
    }

    fn any_ended(&self) -> bool {
        self.roster.any_ended()
    }

    fn ended(&self, rank: Rank) -> Option<String> {
        self.roster.ended(rank)
    }

    fn abort(&self, code: i32, _missed: Option<Rank>) -> ! {
        // The launcher sees the end of this process, and ends the others.
        std::process::exit(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launcher_knows_better_how_a_rank_ended() {
        let seat = Seat {
            host: "a".into(),
            machine: "kernel/m".into(),
            near: "127.0.0.1:5".parse().expect("address"),
            far: vec![],
            networks: vec![],
        };
        let roster = Roster::new(vec![
            seat.clone(),
            Seat { machine: "kernel/n".into(), ..seat.clone() },
            seat,
        ]);
        assert_eq!((roster.any_ended(), roster.ended(1)), (false, None));
        roster.note(1, "it closed its connection");
        roster.note(1, "again");
        assert_eq!(roster.ended(1).as_deref(), Some("it closed its connection"));
        roster.announce(1, "exited with code 0".into());
        roster.note(1, "it closed its connection");
        assert_eq!(roster.ended(1).as_deref(), Some("exited with code 0"));
        roster.announce(9, "unknown".into());
        assert_eq!((roster.ended(0), roster.ended(9)), (None, None));
        assert!(roster.are_near(0, 2) && !roster.are_near(0, 1));
        assert_eq!(roster.core_mates(1), [0, 1, 2], "of one kernel");
    }
}
