//! Experiments that no fit sees, to judge it by: another size, all ranks at once, one with all
//! others, and groups that echo.

use laneway_core::Rank;
use laneway_measure::p2p::Plan;
use laneway_stats::SplitMix64;

use super::course::Course;
use super::{ECHOES, around};
use crate::error::ModelError;
use crate::experiments::Kind;
use crate::probe::Direction;

/// The shortest message: where there are many of them, headers fill cards.
const SHORT_ECHO: u64 = 1;
/// Where hosts stand for others, bytes of what all ranks do at once: more of them would not fit
/// into memory.
const MOST_BYTES: u64 = 32 << 10;
/// And every rank is in so many pairs that were drawn.
const DRAWN: u64 = 3;

/// What no fit sees.
pub(super) fn check(course: &mut Course, sizes: &[u64]) -> Result<(), ModelError> {
    let largest = sizes.last().copied().unwrap_or(1);
    let before = sizes.iter().rev().nth(1).copied().unwrap_or(largest.div_ceil(4));
    let bytes = (largest as f64 * before as f64).sqrt().round().max(1.0) as u64;
    exchange(course, bytes)
}

/// Collective: the same where hosts stand for others, of all ranks: also pairs that were drawn.
pub(super) fn check_all(course: &mut Course, sizes: &[u64]) -> Result<(), ModelError> {
    let bytes = sizes.last().copied().unwrap_or(1).min(MOST_BYTES);
    for turn in 0..DRAWN {
        let pairs = Plan::of(drawn_pairs(course.comm.size(), turn))?;
        course.batch(Kind::RoundTrip { out_bytes: bytes, back_bytes: 0 }, &pairs)?;
    }
    exchange(course, bytes)
}

/// All ranks in pairs that no order of ranks suggests, another draw in every turn.
fn drawn_pairs(ranks: u32, turn: u64) -> Vec<Vec<Rank>> {
    let (mut draws, mut all) = (SplitMix64::new(turn), (0..ranks).collect::<Vec<Rank>>());
    for last in (1..all.len()).rev() {
        all.swap(last, draws.index(last + 1));
    }
    all.chunks_exact(2).map(<[Rank]>::to_vec).collect()
}

fn exchange(course: &mut Course, bytes: u64) -> Result<(), ModelError> {
    let ranks = course.comm.size();
    let everybody = Plan::of(vec![(0..ranks).collect()])?;
    for distance in [1, ranks / 2] {
        course.batch(Kind::Shift { bytes, distance }, &everybody)?;
    }
    for (hub, direction) in [(0, Direction::Out), (ranks / 2, Direction::In)] {
        course.batch(Kind::Fan { bytes, direction }, &around(hub, ranks)?)?;
    }
    if ranks > 2 {
        for (bytes, turn) in
            [SHORT_ECHO, bytes].into_iter().flat_map(|bytes| (0..ECHOES).map(move |t| (bytes, t)))
        {
            course.batch(Kind::Echo { bytes }, &Plan::of(groups(ranks, turn))?)?;
        }
    }
    Ok(())
}

/// Groups of about as many ranks as there are turns, each of ranks far apart; in every turn another
/// of them leads.
fn groups(ranks: u32, turn: u32) -> Vec<Vec<Rank>> {
    let count = (ranks / ECHOES).max(1);
    let group = |first: Rank| {
        let mut group: Vec<Rank> = (first..ranks).step_by(count as usize).collect();
        let members = group.len();
        group.rotate_left((turn * ranks / count / ECHOES) as usize % members);
        group
    };
    (0..count).map(group).collect()
}
