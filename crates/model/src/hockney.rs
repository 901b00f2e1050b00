//! The Hockney model, T = a + b m: one for all pairs, one for each pair, and one for each protocol.
//!
//! A rank sends one message after another and receives one after another, each for all of its time.

use laneway_core::Rank;

use crate::error::ModelError;
use crate::experiments::{ALL_EAGER, Experiments, Index, Kind};
use crate::line::{Line, Point};
use crate::lmo::pairs;
use crate::parameter::{End, Parameter};
use crate::ports::Passage;

/// The lines of one pair, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lines {
    /// Of messages up to the eager size, or of all.
    pub short: Line,
    /// Of messages beyond the eager size, where they have one of their own.
    pub long: Option<Line>,
}

/// A start and a time for each byte.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hockney {
    /// How many hosts, if each pair has its own lines; `None` if all have the same.
    pub hosts: Option<u32>,
    /// Of ranks i < j by i and then j, or one.
    pub lines: Vec<Lines>,
}

/// What differs in a Hockney model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apart {
    /// One line serves all.
    Nothing,
    /// Each pair has its own.
    Pairs,
    /// Eager and rendezvous.
    Segments,
}

impl Hockney {
    /// The lines of a pair.
    pub fn lines(&self, one: Rank, other: Rank) -> Lines {
        let (i, j) = (one.min(other) as usize, one.max(other) as usize);
        let at = self.hosts.map_or(0, |hosts| i * (2 * hosts as usize - i - 1) / 2 + j - i - 1);
        self.lines.get(at).copied().unwrap_or_default()
    }

    /// The seconds of a message.
    pub fn time(&self, from: Rank, to: Rank, bytes: u64, eager_bytes: u64, end: End) -> f64 {
        let Lines { short, long } = self.lines(from, to);
        long.filter(|_| bytes > eager_bytes).unwrap_or(short).at(bytes, end)
    }

    pub(crate) fn passage(&self, ends: [Rank; 2], bytes: u64, eager: u64, end: End) -> Passage {
        let time = self.time(ends[0], ends[1], bytes, eager, end);
        Passage { out: time, latency: 0.0, transfer: time, into: time }
    }

    /// From round trips.
    pub fn fit(experiments: &Experiments, apart: Apart) -> Result<Hockney, ModelError> {
        let ranks = experiments.ranks();
        let lines = |points: Vec<Point>| -> Result<Lines, ModelError> {
            let eager = experiments.eager_bytes;
            let (short, long): (Vec<Point>, Vec<Point>) =
                points.iter().partition(|(size, _)| *size <= eager);
            match apart {
                Apart::Segments => {
                    let why = |error| segment_error(error, eager);
                    let long = Line::fit(&long).map_err(why)?;
                    Ok(Lines { short: Line::fit(&short).map_err(why)?, long: Some(long) })
                }
                _ => Ok(Lines { short: Line::fit(&points)?, long: None }),
            }
        };
        if apart == Apart::Pairs {
            let (index, sizes) = (experiments.index(), experiments.sizes()?);
            let of = |pair: [Rank; 2]| lines(one_way(&index, &sizes, pair)?);
            let all = pairs(ranks).map(of).collect::<Result<Vec<_>, _>>()?;
            return Ok(Hockney { hosts: Some(ranks), lines: all });
        }
        Ok(Hockney { hosts: None, lines: vec![lines(pooled(experiments)?)?] })
    }
}

fn segment_error(error: ModelError, eager_bytes: u64) -> ModelError {
    match error {
        ModelError::Sizes { why } => {
            let why = match eager_bytes {
                ALL_EAGER.. => format!("{why}: all messages are eager, and none is beyond"),
                _ => format!("{why}, on one side of the eager size of {eager_bytes} B"),
            };
            ModelError::Sizes { why }
        }
        other => other,
    }
}

/// What messages of one pair take one way: the round trip without the empty answer.
fn one_way(index: &Index, sizes: &[u64], pair: [Rank; 2]) -> Result<Vec<Point>, ModelError> {
    let trip = |out_bytes: u64, back_bytes: u64| {
        index.needed(Kind::RoundTrip { out_bytes, back_bytes }, &pair)
    };
    let empty = trip(0, 0)?.scaled(0.5);
    let mut points = vec![(0, empty)];
    for &size in sizes {
        for time in [trip(size, 0)?, trip(0, size)?] {
            points.push((size, Parameter::sum(&[(1.0, time), (-1.0, empty)])));
        }
    }
    Ok(points)
}

/// The same of all pairs together.
pub(crate) fn pooled(experiments: &Experiments) -> Result<Vec<Point>, ModelError> {
    let (index, sizes) = (experiments.index(), experiments.sizes()?);
    let mut all = Vec::new();
    for pair in pairs(experiments.ranks()) {
        all.extend(one_way(&index, &sizes, pair)?);
    }
    Ok(all)
}
