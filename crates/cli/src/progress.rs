//! A bar with the time left, on a terminal, for work that takes more than two seconds; nothing
//! anywhere else.

use std::fmt::Write;
use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use laneway_backend::is_rank;
use laneway_core::Observer;

/// Shorter work needs no bar.
const PATIENCE: Duration = Duration::from_secs(2);
/// The interval at which the time left is shown anew, where nothing is measured meanwhile.
const TICK: Duration = Duration::from_secs(1);
/// The shortest time left that is shown: nothing takes 0 s.
const SHORTEST: Duration = Duration::from_secs(1);

/// The bar of this process, which leaves its line to whatever else is printed.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn shown() -> MutexGuard<'static, Option<ProgressBar>> {
    locked(&SHOWN)
}

/// What is behind a lock, also when who held it panicked.
fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints something above the bar.
pub fn aside<T>(print: impl FnOnce() -> T) -> T {
    let bar = shown().clone();
    match bar {
        Some(bar) if !bar.is_hidden() => bar.suspend(print),
        _ => print(),
    }
}

/// Takes the bar away: results come. Work that goes on after them has a bar of its own.
pub fn clear() {
    if let Some(bar) = shown().take() {
        bar.finish_and_clear();
    }
}

/// Draws itself on one line of stderr.
pub struct Progress {
    bar: ProgressBar,
    /// What is being done, which the bar shows behind its figures.
    what: Arc<Mutex<String>>,
    begun: Instant,
    shown: bool,
    /// Redraws the bar until it is dropped.
    ticker: Option<Sender<()>>,
    left: Left,
}

/// What the bar knows the end of.
#[derive(Clone, Copy)]
enum Left {
    /// The whole work.
    OfAll,
    /// A stage: others may follow, of which nothing is known.
    OfStage,
}

impl Progress {
    /// `shown` is false on ranks that do not print.
    pub fn new(total: usize, shown: bool) -> Progress {
        Progress::begin(total as u64, shown && stderr().is_terminal(), false, Left::OfAll)
    }

    fn begin(total: u64, is_shown: bool, ticks: bool, left: Left) -> Progress {
        let target = ProgressDrawTarget::hidden();
        let bar = ProgressBar::with_draw_target(Some(total), target);
        let what = Arc::new(Mutex::new(String::new()));
        let text_of = what.clone();
        let write_what = move |_: &ProgressState, text: &mut dyn Write| {
            _ = text.write_str(&locked(&text_of));
        };
        if let Ok(style) = ProgressStyle::with_template("[{bar:20}] {pos}/{len}, {left}: {what}") {
            let style = style.progress_chars("#>-").with_key("what", write_what);
            let write_left =
                move |state: &ProgressState, text: &mut dyn Write| left.write(state, text);
            bar.set_style(style.with_key("left", write_left));
        }
        if is_shown {
            *shown() = Some(bar.clone());
        }
        let ticker = (is_shown && ticks).then(|| ticker(bar.clone()));
        Progress { bar, what, begun: Instant::now(), shown: is_shown, ticker, left }
    }

    /// Adds `done` of `all` that were not known before.
    pub fn of(&mut self, done: usize, all: usize, what: &str) {
        if self.shown && self.bar.is_finished() {
            *self = Progress::begin(all as u64, self.shown, self.ticker.is_some(), self.left);
        }
        self.show(done, Some(all), what);
    }

    /// Shows that `done` are done, and this is next.
    pub fn at(&mut self, done: usize, what: &str) {
        self.show(done, None, what);
    }

    fn show(&mut self, done: usize, all: Option<usize>, what: &str) {
        if !self.shown {
            return;
        }
        if self.bar.is_hidden() && self.begun.elapsed() > PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        what.clone_into(&mut locked(&self.what));
        // All of it at once: no line has the figures of one stage and the name of another.
        self.bar.update(|state| {
            if let Some(all) = all {
                state.set_len(all as u64);
            }
            state.set_pos(done as u64);
        });
    }
}

impl Left {
    /// The time left, as soon as something tells it.
    fn write(self, state: &ProgressState, text: &mut dyn Write) {
        let is_done = state.len().is_some_and(|all| state.pos() >= all);
        let eta = state.eta();
        // A name that is too long is cut, as the whole line is.
        _ = match (is_done, self) {
            (true, Left::OfAll) => text.write_str("done"),
            (true, Left::OfStage) => text.write_str("stage done"),
            (false, _) if state.pos() == 0 || eta.is_zero() => text.write_str("time left unknown"),
            (false, left) => {
                let of = if matches!(left, Left::OfStage) { " of stage" } else { "" };
                write!(text, "{:#} left{of}", HumanDuration(eta.max(SHORTEST)))
            }
        };
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Shows a bar once there was patience, and then counts down the time left: work may be silent for
/// long.
fn ticker(bar: ProgressBar) -> Sender<()> {
    let (stop, stopped) = channel();
    thread::spawn(move || {
        let mut wait = PATIENCE;
        while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(wait) {
            wait = TICK;
            let is_measured = bar.length().is_some_and(|length| length > 0);
            match is_measured {
                _ if bar.is_finished() => return,
                false => continue,
                true => {}
            }
            if bar.is_hidden() {
                bar.set_draw_target(ProgressDrawTarget::stderr());
            }
            bar.tick();
        }
    });
    stop
}

/// The bar as the observer of libraries, which gets the progress of their work.
pub struct Bar(Mutex<Progress>);

impl Bar {
    /// For work that is not timed itself: one for all that a command does.
    pub fn working() -> Arc<Bar> {
        static WORKING: OnceLock<Arc<Bar>> = OnceLock::new();
        let is_first = laneway_mpi::launched_rank().is_none_or(|rank| rank == 0);
        let is_shown = stderr().is_terminal() && is_first && !is_rank();
        let begin = || Arc::new(Bar(Mutex::new(Progress::begin(0, is_shown, true, Left::OfStage))));
        WORKING.get_or_init(begin).clone()
    }

    /// For ranks that measure: nothing is drawn but when they tell something. `shown` is false on
    /// ranks that do not print.
    pub fn measuring(shown: bool) -> Bar {
        let is_shown = shown && stderr().is_terminal();
        Bar(Mutex::new(Progress::begin(0, is_shown, false, Left::OfStage)))
    }
}

impl Observer for Bar {
    fn progress(&self, done: u64, all: u64, what: &str) {
        let mut progress = locked(&self.0);
        // Of threads that share a stage one may come late.
        let is_late = done > 0 && done < progress.bar.position() && *locked(&progress.what) == what;
        if !is_late {
            progress.of(done as usize, all as usize, what);
        }
    }
}
