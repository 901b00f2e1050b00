//! The lines of a timeline: one for each rank, and as many of them as paper can show.

use laneway_sim::Delivery;

use super::blocks::{Block, Limits, blocks, covered};
use super::{LINE, WIDTH};

/// What a line has below its bars.
pub const BELOW: f64 = 7.0;
/// Messages of a rank that overlap in time are so far below each other.
pub const ROW: f64 = 11.0;
/// All lines are so high at most; beyond it bars are merged, and lines are lower.
const MOST_HEIGHT: f64 = 1600.0;
const LOWEST_LINE: f64 = 5.0;
/// Rows that a line may have however many there are: messages of a ring overlap the next a little.
const FEWEST_ROWS: f64 = 2.0;
/// Bars narrower than this are merged with their neighbours.
const NARROW: f64 = 1.5;
/// The number of silent neighbours that become one line, where lines are too many.
const SILENT: usize = 3;

/// What is drawn in one line: a rank, or several neighbours that send nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The ranks.
    pub first: u32,
    pub last: u32,
    pub blocks: Vec<Block>,
    /// Rows that the bars need.
    pub depth: u32,
    /// When something is on its way to the rank.
    pub arrivals: Vec<(f64, f64)>,
    /// Seconds within which messages were taken to be alike.
    pub alike: f64,
}

impl Line {
    fn height(&self) -> f64 {
        (f64::from(self.depth) * ROW + BELOW).max(LINE)
    }

    /// What it is called.
    pub fn label(&self) -> String {
        match (self.first, self.last) {
            (0, 0) => "rank 0".to_owned(),
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first}-{last} send nothing"),
        }
    }
}

/// A line for each rank, with as many bars as paper can show.
pub fn lines(seen: &[Delivery], ranks: u32, end: f64) -> Vec<Line> {
    let mut sent: Vec<Vec<Delivery>> = vec![Vec::new(); ranks as usize];
    let mut arrivals: Vec<Vec<(f64, f64)>> = vec![Vec::new(); ranks as usize];
    for message in seen {
        sent[message.from as usize].push(*message);
        if message.from != message.to {
            arrivals[message.to as usize].push((message.start, message.end));
        }
    }
    let pixel = end / WIDTH;
    let narrow = NARROW * pixel;
    let mut lines: Vec<Line> = Vec::new();
    for (rank, (sent, arrivals)) in sent.iter_mut().zip(arrivals).enumerate() {
        sent.sort_by(|a, b| a.start.total_cmp(&b.start));
        let (blocks, depth) = blocks(sent, Limits { narrow, alike: None });
        let (first, arrivals) = (rank as u32, covered(arrivals, narrow));
        lines.push(Line { first, last: first, blocks, depth, arrivals, alike: 0.0 });
    }
    if lines.iter().map(Line::height).sum::<f64>() <= MOST_HEIGHT {
        return lines;
    }
    let mut lines = fold(lines, narrow);
    let room = (MOST_HEIGHT / lines.len() as f64 - BELOW) / ROW;
    for line in &mut lines {
        let sent = &sent[line.first as usize];
        let mut alike = narrow;
        while f64::from(line.depth) > room.max(FEWEST_ROWS) && alike < 4.0 * end {
            let limits = Limits { narrow, alike: Some(alike) };
            (line.blocks, line.depth) = blocks(sent, limits);
            line.alike = alike;
            alike *= 2.0;
        }
    }
    lines
}

/// Neighbours that send nothing as one line.
fn fold(lines: Vec<Line>, apart: f64) -> Vec<Line> {
    let is_silent = |line: &Line| line.blocks.is_empty();
    let mut folded = Vec::new();
    for run in lines.chunk_by(|a, b| is_silent(a) && is_silent(b)) {
        match run {
            [first, .., last] if run.len() >= SILENT => {
                let arrivals = run.iter().flat_map(|line| line.arrivals.iter().copied()).collect();
                let arrivals = covered(arrivals, apart);
                folded.push(Line { last: last.last, arrivals, ..first.clone() });
            }
            run => folded.extend_from_slice(run),
        }
    }
    folded
}

/// How much lower lines are than they should be: where no merging is enough, lower than letters.
pub fn squeeze(lines: &[Line]) -> f64 {
    let all: f64 = lines.iter().map(Line::height).sum();
    match lines.len() as f64 * LINE > MOST_HEIGHT && all > MOST_HEIGHT {
        true => MOST_HEIGHT / all,
        false => 1.0,
    }
}

/// The top of each line from the first on, and the end of the last.
pub fn tops(lines: &[Line], top: f64) -> Vec<f64> {
    let squeeze = squeeze(lines);
    let mut tops = vec![top];
    for line in lines {
        let last = tops[tops.len() - 1];
        tops.push(last + (line.height() * squeeze).max(LOWEST_LINE));
    }
    tops
}
