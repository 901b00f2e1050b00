//! Watches the ranks until all have ended, and ends them when one dies or a signal asks for it.

use std::time::{Duration, Instant};

use laneway_core::Rank;
use laneway_processes::{Awaited, ENDING, REPORTED, kill_group};

use crate::board::Board;
use crate::error::{Death, LocalError};
use crate::system;

/// How long the others may take to end by themselves after a rank has failed in an orderly way.
const GRACE: Duration = Duration::from_millis(300);

/// How long a look may be away where no signal comes: in a program with other threads one of those
/// may have taken it.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Clone, Copy)]
struct Child {
    pid: i32,
    ended: Option<Death>,
}

pub(crate) struct Supervisor {
    board: Board,
    signals: Awaited,
    children: Vec<Child>,
    /// The first rank that ended with a failure, and when.
    first: Option<(Rank, Instant)>,
}

impl Supervisor {
    pub fn new(board: Board, signals: Awaited) -> Supervisor {
        Supervisor { board, signals, children: Vec::new(), first: None }
    }

    pub fn add(&mut self, pid: u32) {
        self.children.push(Child { pid: pid as i32, ended: None });
    }

    /// Returns when every rank has ended, by itself or by our hand.
    pub fn watch(&mut self) -> Result<i32, LocalError> {
        loop {
            self.reap();
            if let Some(code) = self.board.aborted() {
                self.end_all();
                // Ranks learn of others that ended well, and of no other end.
                let missed = self.board.missed().filter(|_| code != 0);
                return missed.map_or(Ok(code), |rank| Err(LocalError::RankLeft { rank }));
            }
            if self.children.iter().all(|child| child.ended.is_some()) {
                return self.verdict();
            }
            let mut limit = LOOK;
            if let Some((rank, when)) = self.first {
                let spent = when.elapsed();
                let signalled =
                    matches!(self.children[rank as usize].ended, Some(Death::Signal(_)));
                if signalled || spent >= GRACE {
                    self.end_all();
                    return self.died(rank);
                }
                limit = GRACE - spent;
            }
            match self.signals.next(limit) {
                Some(signal) if ENDING.contains(&signal) => {
                    self.end_all();
                    return Ok(128 + signal);
                }
                _ => {}
            }
        }
    }

    /// Takes note of every rank that has ended since the last look.
    fn reap(&mut self) {
        let mut signalled = None;
        for rank in 0..self.children.len() {
            if self.children[rank].ended.is_some() {
                continue;
            }
            let mut status = 0;
            // SAFETY: the status is valid for the call's duration.
            let pid = unsafe { libc::waitpid(self.children[rank].pid, &mut status, libc::WNOHANG) };
            if pid != self.children[rank].pid {
                continue;
            }
            let death = Death::of(status);
            self.children[rank].ended = Some(death);
            match death {
                // Others may wait for it in vain: they shall know.
                Death::Code(0) => self.board.announce_end(rank as Rank, status),
                Death::Code(_) => {
                    self.first.get_or_insert((rank as Rank, Instant::now()));
                }
                Death::Signal(_) => {
                    signalled.get_or_insert(rank as Rank);
                }
            }
        }
        // A signal says more than an exit code that it may have caused.
        if let Some(rank) = signalled {
            self.first = Some((rank, Instant::now()));
        }
    }

    /// All have ended by themselves: what do their codes say together?
    fn verdict(&self) -> Result<i32, LocalError> {
        let Some((first, _)) = self.first else { return Ok(0) };
        let root = self.children.first().and_then(|child| child.ended);
        let Some(Death::Code(code)) = root.filter(|&death| death != Death::Code(0)) else {
            return self.died(first);
        };
        // Orderly: every rank came to the same end as rank 0, had nothing to complain about, or
        // has reported its own end: one may find figures imprecise where rank 0 cannot write them.
        let orderly = |child: &Child| match child.ended {
            Some(Death::Code(other)) => {
                let reported = [code, other].iter().all(|end| REPORTED.contains(end));
                other == 0 || other == code || reported
            }
            _ => false,
        };
        if self.children.iter().all(orderly) { Ok(code) } else { self.died(first) }
    }

    fn died(&self, rank: Rank) -> Result<i32, LocalError> {
        let how = self.children[rank as usize].ended.unwrap_or(Death::Code(0));
        Err(LocalError::RankDied { rank, how })
    }

    /// Kills every rank that still runs, with its group, and waits for its end.
    fn end_all(&mut self) {
        let alive = |child: &&mut Child| child.ended.is_none();
        // Not yet waited for, so the numbers cannot mean other processes.
        for child in self.children.iter_mut().filter(alive) {
            kill_group(child.pid as u32);
        }
        for child in self.children.iter_mut().filter(alive) {
            let mut status = 0;
            // SAFETY: the status is valid for the call's duration.
            while unsafe { libc::waitpid(child.pid, &mut status, 0) } < 0
                && system::last_errno() == libc::EINTR
            {}
            child.ended = Some(Death::of(status));
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.end_all();
    }
}
