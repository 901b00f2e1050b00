//! The line that packets came by last: most likely the next ones do, too.

use std::os::fd::RawFd;

use laneway_path::Nanos;

use super::wire::{LineId, OPEN};
use crate::system::readiness::Readiness;

/// All lines are looked at this rarely, and the likely one in between.
const RARELY: u32 = 8;
/// Also if the program has not looked at all for this time: to one that comes each few
/// milliseconds, packets of other lines would come late by many, and their paths look dead.
const LONG: Nanos = 50_000;
/// A line by which this many arrivals came in a row is watched apart from the others.
const STEADY: u32 = 64;

pub(super) struct Focus {
    hot: LineId,
    /// The number of consecutive arrivals by it.
    in_a_row: u32,
    /// Whether it is watched apart from the others.
    is_apart: bool,
    /// Whether a thread waits as well.
    is_served: bool,
    looks: u32,
    /// When all lines were looked at last.
    looked_at: Nanos,
}

impl Focus {
    pub fn new() -> Focus {
        let hot = LineId { path: 0, line: OPEN };
        Focus { hot, in_a_row: 0, is_apart: false, is_served: false, looks: 0, looked_at: 0 }
    }

    pub fn hot(&self) -> LineId {
        self.hot
    }

    /// The line to look at now; `None` if it is time to look at all.
    pub fn likely(&mut self, now: Nanos) -> Option<LineId> {
        self.looks = self.looks.wrapping_add(1);
        let all = self.looks.is_multiple_of(RARELY) || now >= self.looked_at + LONG;
        if all {
            self.looked_at = now;
        }
        (!all).then_some(self.hot)
    }

    /// The line that is watched apart from the others, if one is.
    pub fn apart(&self) -> Option<LineId> {
        self.is_apart.then_some(self.hot)
    }

    /// Something came by this line, whose descriptor waits for room where it is `full`.
    pub fn note_arrival(&mut self, by: LineId, (fd, full): (RawFd, bool), readiness: &Readiness) {
        if self.hot != by {
            self.rejoin(readiness);
            (self.hot, self.in_a_row) = (by, 0);
        } else if !self.is_apart && !self.is_served {
            self.in_a_row += 1;
            if self.in_a_row >= STEADY {
                readiness.keep_apart(fd, by.key(), full);
                self.is_apart = true;
            }
        }
    }

    /// A line is gone, or left alone.
    pub fn forget(&mut self, line: LineId, readiness: &Readiness) {
        if self.hot == line {
            self.rejoin(readiness);
            (self.hot, self.in_a_row) = (LineId { path: line.path, line: OPEN }, 0);
        }
    }

    /// A thread waits as well from now on.
    pub fn serve(&mut self, readiness: &Readiness) {
        self.is_served = true;
        self.rejoin(readiness);
    }

    /// The line that was watched apart is one of all again.
    fn rejoin(&mut self, readiness: &Readiness) {
        if self.is_apart {
            readiness.rejoin();
            (self.is_apart, self.in_a_row) = (false, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lines_are_looked_at_now_and_then_and_by_who_comes_rarely_each_time() {
        let looks = |apart: Nanos| {
            let mut focus = Focus::new();
            (1..=800).filter(|k| focus.likely(LONG + k * apart).is_none()).count()
        };
        assert_eq!(looks(LONG), 800);
        assert_eq!(looks(1), 101, "each eighth, and the first one");
        assert!((200..300).contains(&looks(LONG / 4)));
    }
}
