//! Watches the ranks until all have ended, and ends them when one dies or a signal asks for it.

use std::time::{Duration, Instant};

use laneway_core::Rank;

use crate::board::Board;
use crate::error::{Death, LocalError};
use crate::system;

/// How long the others may take to end by themselves after a rank has failed in an orderly way.
const GRACE: Duration = Duration::from_millis(300);

/// How long a look may be away where no signal comes: in a program with other threads one of those
/// may have taken it.
const LOOK: Duration = Duration::from_secs(1);

/// The signals that a launcher answers, blocked while it runs so that none is lost.
pub(crate) struct Signals {
    set: libc::sigset_t,
    before: libc::sigset_t,
}

/// Signals that end a run.
const ENDING: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Whether this process was started with a signal ignored, as nohup does.
fn is_ignored(signal: i32) -> bool {
    // SAFETY: an all-zero sigaction may be overwritten; no new action is given.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

impl Signals {
    pub fn block() -> Result<Signals, LocalError> {
        // SAFETY: the sets are initialised by sigemptyset before they are read, and a signal set
        // of zeros may be overwritten.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, libc::SIGCHLD);
            for signal in ENDING {
                if signal != libc::SIGHUP || !is_ignored(signal) {
                    libc::sigaddset(&mut set, signal);
                }
            }
            // A parent that ignores the ends of its children would have left us without statuses.
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            if libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut before) != 0 {
                return Err(system::local_error("block signals"));
            }
            Ok(Signals { set, before })
        }
    }

    /// The mask of before, which ranks get back.
    pub fn before(&self) -> libc::sigset_t {
        self.before
    }

    /// The next signal, if one comes in time.
    fn next(&self, limit: Duration) -> Option<i32> {
        let time = libc::timespec {
            tv_sec: limit.as_secs() as libc::time_t,
            tv_nsec: limit.subsec_nanos().into(),
        };
        // SAFETY: set and time live through the call; the details of the signal are not asked for.
        let signal = unsafe { libc::sigtimedwait(&self.set, std::ptr::null_mut(), &time) };
        (signal > 0).then_some(signal)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: the mask was given to us by the system.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut()) };
    }
}

#[derive(Clone, Copy)]
struct Child {
    pid: i32,
    ended: Option<Death>,
}

pub(crate) struct Supervisor<'a> {
    board: Board,
    signals: &'a Signals,
    children: Vec<Child>,
    /// The first rank that ended with a failure, and when.
    first: Option<(Rank, Instant)>,
}

impl Supervisor<'_> {
    pub fn new(board: Board, signals: &Signals) -> Supervisor<'_> {
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
                // Ranks are told of others that ended well, and of no other end.
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
        // Orderly: every rank came to the same end as rank 0, or had nothing to complain about.
        let orderly = |child: &Child| match child.ended {
            Some(Death::Code(other)) => other == 0 || other == code,
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
            // SAFETY: plain calls. The group may not exist yet, so the process is named as well.
            unsafe {
                libc::kill(-child.pid, libc::SIGKILL);
                libc::kill(child.pid, libc::SIGKILL);
            }
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

impl Drop for Supervisor<'_> {
    fn drop(&mut self) {
        self.end_all();
    }
}
