//! A bar on a terminal for work that takes more than two seconds, and nothing anywhere else.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// Draws itself on one line of stderr, at most ten times a second.
pub struct Progress {
    shown: bool,
    begun: Instant,
    drawn: Instant,
    total: usize,
}

impl Progress {
    /// `shown` is false on ranks that do not print.
    pub fn new(total: usize, shown: bool) -> Progress {
        let now = Instant::now();
        Progress { shown: shown && stderr().is_terminal(), begun: now, drawn: now, total }
    }

    /// So many of so many that were not known before.
    pub fn of(&mut self, done: usize, all: usize, what: &str) {
        self.total = all;
        self.at(done, what);
    }

    pub fn at(&mut self, done: usize, what: &str) {
        let now = Instant::now();
        if !self.shown
            || now - self.begun < Duration::from_secs(2)
            || now - self.drawn < Duration::from_millis(100)
        {
            return;
        }
        self.drawn = now;
        let width = 30;
        let filled = (done * width).checked_div(self.total).unwrap_or(0).min(width);
        let bar = "#".repeat(filled) + &"-".repeat(width - filled);
        let _ = write!(stderr(), "\r\x1b[K[{bar}] {done}/{} {what}", self.total);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown && self.drawn > self.begun {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}
