//! One measured cell (an operation at a size on a platform) as the command tells it.

use laneway_core::Value;
use laneway_report::{Record, read};

/// What every platform is measured with.
pub const OPERATIONS: &str = "bcast,scatter,gather,allreduce,alltoall";
pub const SIZES: &str = "8,1K,64K";
pub const CELLS: usize = 15;

/// Where the true time lies for sure, in microseconds.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    pub low_us: f64,
    pub high_us: f64,
}

#[derive(Clone, Debug)]
pub struct Cell {
    pub op: String,
    pub algorithm: String,
    pub size_bytes: u64,
    pub timing: String,
    pub flags: String,
    pub time_us: f64,
    pub truth_us: f64,
    /// `None` if the command gives none.
    pub bound: Option<Bound>,
}

impl Cell {
    fn new(record: &Record) -> Cell {
        let text = |name: &str| match record.get(name) {
            Some(Value::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let number = |name: &str| record.number(name).unwrap_or(f64::NAN);
        let (low, high) = (record.number("bound_low_us"), record.number("bound_high_us"));
        Cell {
            op: text("op"),
            algorithm: text("algorithm"),
            size_bytes: number("size_bytes") as u64,
            timing: text("timing"),
            flags: text("flags"),
            time_us: number("time_us"),
            truth_us: number("truth_us"),
            bound: low.zip(high).map(|(low_us, high_us)| Bound { low_us, high_us }),
        }
    }

    /// How far the printed time is from the true one, as a part of it.
    pub fn error(&self) -> f64 {
        (self.time_us / self.truth_us - 1.0).abs()
    }

    pub fn has_fallen_back(&self) -> bool {
        self.timing.contains('>')
    }
}

/// The cells of a run's JSON; an error where they are not all there.
pub fn read_cells(json: &str) -> Result<Vec<Cell>, String> {
    let run = read("a platform", json).map_err(|error| error.to_string())?;
    let cells: Vec<Cell> = run.rows.iter().map(Cell::new).collect();
    match cells.len() {
        CELLS => Ok(cells),
        other => Err(format!("{other} cells instead of {CELLS}")),
    }
}
