//! What a call asks of the papers: which parts, how much of them, and how long it may take.

use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What is to be reproduced, and with what.
#[derive(Clone, Debug)]
pub struct Request {
    /// The names of parts; all where none is named.
    pub parts: Vec<String>,
    /// Fewer queue pairs, sizes and repetitions, and no part that takes minutes unless it is named.
    pub quick: bool,
    /// When measuring must end; what was measured by then is kept.
    pub deadline: Option<Instant>,
    /// The command `laneway`, which guards labs and runs ranks in them.
    pub program: PathBuf,
    /// The largest number of queue pairs.
    pub pairs: usize,
}

impl Default for Request {
    /// All parts and 512 queue pairs, without a limit; `laneway` is found by the search path.
    fn default() -> Request {
        Request {
            parts: Vec::new(),
            quick: false,
            deadline: None,
            program: "laneway".into(),
            pairs: 512,
        }
    }
}

impl Request {
    /// These parts alone.
    pub fn of(parts: &[&str]) -> Request {
        let parts = parts.iter().map(|part| (*part).to_owned()).collect();
        Request { parts, ..Request::default() }
    }

    /// How long a measurement may take that usually takes at most `usual`.
    pub fn left(&self, usual: Duration) -> Duration {
        let left = |end: Instant| end.saturating_duration_since(Instant::now());
        self.deadline.map_or(usual, left)
    }

    /// Whether the time is over.
    pub fn is_over(&self) -> bool {
        self.deadline.is_some_and(|end| Instant::now() >= end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_over_at_the_deadline_and_never_without_one() {
        let usual = Duration::from_secs(85);
        let free = Request::default();
        assert!(!free.is_over() && free.left(usual) == usual);
        let over = Request { deadline: Some(Instant::now()), ..Request::default() };
        assert!(over.is_over() && over.left(usual).is_zero());
        let hour = Instant::now() + Duration::from_secs(3600);
        let long = Request { deadline: Some(hour), ..Request::default() };
        assert!(!long.is_over() && long.left(usual) > usual);
    }
}
