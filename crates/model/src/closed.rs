//! Formulas for the algorithms that have one. The reader of schedules says the same, and a test
//! holds the two together.
//!
//! Trees have a formula where all hosts are alike and their number is a power of two. In LMO trees
//! have none: which child comes first, and which is slow, decides.

use laneway_core::{Collective, Rank};

use crate::lmo::Lmo;
use crate::model::Model;
use crate::parameter::End;

/// The seconds of a call with root 0 and equal blocks (or one vector) of `bytes` bytes; `None` if
/// there is no formula. `eager_bytes` is the longest message that leaves before its receive.
pub fn closed_form(
    model: &Model,
    collective: Collective,
    algorithm: &str,
    ranks: u32,
    bytes: u64,
    eager_bytes: u64,
) -> Option<f64> {
    if ranks < 2 || bytes == 0 {
        return None;
    }
    let others = f64::from(ranks - 1);
    let levels = ranks.is_power_of_two().then(|| ranks.trailing_zeros());
    match (model, collective, algorithm) {
        (Model::Hockney(hockney), _, _) if hockney.hosts.is_none() => {
            let time = |bytes: u64| hockney.time(0, 1, bytes, eager_bytes, End::Value);
            match (collective, algorithm) {
                (Collective::Scatter | Collective::Gather | Collective::Bcast, "linear") => {
                    Some(others * time(bytes))
                }
                (Collective::Bcast, "binomial") => Some(f64::from(levels?) * time(bytes)),
                (Collective::Scatter | Collective::Gather, "binomial") => {
                    Some((0..levels?).map(|level| time(bytes << level)).sum())
                }
                _ => None,
            }
        }
        // o + (p - 1) (m - 1) G + (p - 2) g + L + o, where the gap is at least the overhead.
        (Model::LogGp(loggp), Collective::Scatter, "linear") => {
            let between = (bytes - 1) as f64 * loggp.per_byte.value;
            let step = between + loggp.gap.value;
            let [send, receive] = [loggp.send.value, loggp.receive.value];
            let paced = loggp.send.value <= step;
            let rest = (others - 1.0) * step + between + loggp.latency.value;
            paced.then_some(send + rest + receive)
        }
        // L + (p - 1) g(m).
        (Model::PLogP(plogp), Collective::Scatter, "linear") => {
            Some(plogp.latency.value + others * plogp.gap(bytes, End::Value))
        }
        (Model::Lmo(lmo), Collective::Scatter, "linear") if fits(lmo, ranks) => {
            Some(linear_scatter(lmo, bytes, eager_bytes))
        }
        (Model::Lmo(lmo), Collective::Gather, "linear") if fits(lmo, ranks) => {
            // All receives are posted, so that messages are taken in as they come.
            (ranks <= 1 + POSTED && bytes <= eager_bytes).then(|| linear_gather(lmo, bytes))
        }
        _ => None,
    }
}

/// Receives that a linear gather keeps posted.
const POSTED: u32 = 8;

/// Of these hosts, no two messages share a card, and nothing depends on the size.
fn fits(lmo: &Lmo, ranks: u32) -> bool {
    let free = lmo.hosts.iter().all(|host| host.card_out.is_none() && host.card_in.is_none());
    let is_straight = lmo.sizes.is_empty() && lmo.overheads.is_empty();
    lmo.hosts.len() == ranks as usize && free && is_straight
}

/// What one message takes from its sender's hands on, until its receiver may take it in.
fn under_way(lmo: &Lmo, from: Rank, to: Rank, bytes: f64) -> f64 {
    lmo.pair(from, to).latency.value + bytes * lmo.per_byte(from, to).value
}

/// What a host's processor takes for one message.
fn taking(lmo: &Lmo, host: Rank, bytes: f64, send: bool) -> f64 {
    let host = &lmo.hosts[host as usize];
    let (each, byte) = match send {
        true => (host.send, host.per_byte_sent),
        false => (host.receive, host.per_byte_received),
    };
    each.value + bytes * byte.value
}

/// Each message leaves when the root has prepared it and all before it; beyond the eager size, when
/// the one before has arrived.
fn linear_scatter(lmo: &Lmo, bytes: u64, eager_bytes: u64) -> f64 {
    let (size, step) = (bytes as f64, taking(lmo, 0, bytes as f64, true));
    let (mut free, mut last): (f64, f64) = (0.0, 0.0);
    for to in 1..lmo.hosts.len() as Rank {
        let arrives = free + step + under_way(lmo, 0, to, size);
        free = if bytes <= eager_bytes { free + step } else { arrives };
        last = last.max(arrives + taking(lmo, to, size, false));
    }
    last.max(free)
}

/// The root takes in one message after another as they arrive.
fn linear_gather(lmo: &Lmo, bytes: u64) -> f64 {
    let size = bytes as f64;
    let arrives = |from: Rank| taking(lmo, from, size, true) + under_way(lmo, from, 0, size);
    let mut arrivals: Vec<f64> = (1..lmo.hosts.len() as Rank).map(arrives).collect();
    arrivals.sort_by(f64::total_cmp);
    let step = taking(lmo, 0, size, false);
    arrivals.into_iter().fold(0.0, |free: f64, arrives| free.max(arrives) + step)
}
