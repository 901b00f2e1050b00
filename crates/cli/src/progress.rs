//! A bar with the time left, on a terminal, for work that takes more than two seconds; nothing
//! anywhere else.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shorter work needs no bar.
const PATIENCE: Duration = Duration::from_secs(2);

/// Draws itself on one line of stderr.
pub struct Progress {
    bar: ProgressBar,
    begun: Instant,
    shown: bool,
}

impl Progress {
    /// `shown` is false on ranks that do not print.
    pub fn new(total: usize, shown: bool) -> Progress {
        let target = ProgressDrawTarget::hidden();
        let bar = ProgressBar::with_draw_target(Some(total as u64), target);
        let style = "[{bar:30}] {pos}/{len}, {eta} left: {msg}";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style.progress_chars("#>-"));
        }
        Progress { bar, begun: Instant::now(), shown: shown && stderr().is_terminal() }
    }

    /// So many of so many that were not known before.
    pub fn of(&mut self, done: usize, all: usize, what: &str) {
        self.bar.set_length(all as u64);
        self.at(done, what);
    }

    /// So many are done, and this is next.
    pub fn at(&mut self, done: usize, what: &str) {
        if !self.shown {
            return;
        }
        if self.bar.is_hidden() && self.begun.elapsed() > PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position(done as u64);
        self.bar.set_message(what.to_string());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
