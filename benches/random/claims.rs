//! What is claimed of cells on random platforms, and which cells break it.

use super::cell::Cell;

/// Where ways are symmetric and without other traffic: the largest error of any cell, and the
/// largest parts of cells that fall back on another method and that carry a flag.
pub const MOST_ERROR: f64 = 0.002;
pub const MOST_FALLEN: f64 = 0.01;
pub const MOST_FLAGGED: f64 = 0.02;
/// Virtual time is rounded; SimGrid's to nanoseconds.
const ROUNDING_US: f64 = 2e-3;

/// A platform with its cells.
pub struct Judged {
    /// What it is, for people.
    pub platform: String,
    /// One line that does it again.
    pub replay: String,
    /// Ways are symmetric, and there is no other traffic.
    pub exact: bool,
    pub cells: Vec<Cell>,
}

/// Cells counted over all platforms.
#[derive(Default)]
pub struct Tally {
    pub platforms: usize,
    pub cells: usize,
    pub exact_cells: usize,
    pub inexact: usize,
    /// Inexact ones that nothing warns of: neither a flag nor another method.
    pub silent: usize,
    pub fallen: usize,
    pub flagged: usize,
    pub outside: usize,
    pub worst_error: f64,
    /// Platforms that could not be measured.
    pub failed: usize,
}

impl Tally {
    /// Adds a platform; a line for each cell that breaks a claim.
    pub fn add(&mut self, judged: &Judged) -> Vec<String> {
        self.platforms += 1;
        let mut lines = Vec::new();
        for cell in &judged.cells {
            lines.extend(self.add_cell(cell, judged.exact));
        }
        lines
    }

    fn add_cell(&mut self, cell: &Cell, exact: bool) -> Option<String> {
        self.cells += 1;
        let mut faults = Vec::new();
        if !is_inside(cell) {
            self.outside += 1;
            faults.push(match cell.bound {
                Some(bound) => format!("outside {:.3} to {:.3}", bound.low_us, bound.high_us),
                None => "no bound given".to_string(),
            });
        }
        if exact {
            self.exact_cells += 1;
            let error = cell.error();
            // NaN is a large error.
            if error.is_nan() || error > self.worst_error {
                self.worst_error = error;
            }
            if error.is_nan() || error > MOST_ERROR {
                self.inexact += 1;
                let warned = cell.has_fallen_back() || !cell.flags.is_empty();
                self.silent += usize::from(!warned);
                faults.push(format!("{:.3} % off", 100.0 * error));
            }
            if cell.has_fallen_back() {
                self.fallen += 1;
                faults.push(cell.timing.clone());
            }
            if !cell.flags.is_empty() {
                self.flagged += 1;
                faults.push(format!("flags {}", cell.flags));
            }
        }
        (!faults.is_empty()).then(|| {
            let Cell { op, algorithm, size_bytes, time_us, truth_us, .. } = cell;
            let figures = format!("{time_us:.3} us, {truth_us:.3} us in truth");
            format!("{op} {algorithm} {size_bytes}: {figures}: {}", faults.join(", "))
        })
    }

    fn part(&self, of: usize) -> f64 {
        of as f64 / self.exact_cells.max(1) as f64
    }

    /// Each claim in words, and whether it holds.
    pub fn claims(&self) -> Vec<(String, bool)> {
        let percent = |of: usize| 100.0 * self.part(of);
        vec![
            (
                format!("{} of {} platforms could not be measured", self.failed, self.platforms),
                self.failed == 0,
            ),
            (
                format!("{} of {} true times are outside their bound", self.outside, self.cells),
                self.outside == 0,
            ),
            (format!("{} exact cells are off without a warning", self.silent), self.silent == 0),
            (
                format!(
                    "{} of {} exact cells are off by more than {} %, the worst by {:.3} %",
                    self.inexact,
                    self.exact_cells,
                    100.0 * MOST_ERROR,
                    100.0 * self.worst_error
                ),
                self.inexact == 0,
            ),
            (
                format!("{} exact cells fall back, {:.2} %", self.fallen, percent(self.fallen)),
                self.part(self.fallen) <= MOST_FALLEN,
            ),
            (
                format!("{} exact cells are flagged, {:.2} %", self.flagged, percent(self.flagged)),
                self.part(self.flagged) <= MOST_FLAGGED,
            ),
        ]
    }
}

fn is_inside(cell: &Cell) -> bool {
    cell.bound.is_some_and(|bound| {
        let truth = cell.truth_us;
        bound.low_us - ROUNDING_US <= truth && truth <= bound.high_us + ROUNDING_US
    })
}
