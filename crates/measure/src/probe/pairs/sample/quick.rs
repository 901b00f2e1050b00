//! Quick looks: one message of each kind between two hosts. A pair that stands out looks again at
//! once, as a disturbance passes and a slow link does not; a pair that stands out each time is
//! reported to rank 0. `looks.rs` says which pairs look, and when.

use laneway_core::{Comm, CommError, Rank, talk};

use super::super::found::Bench;
use super::usual::{Bounds, Seconds};
use crate::p2p::{Estimate, Latencies, Plan, Sizes};
use crate::talk::{DATA, WORD, bytes_of, numbers_of, synchronise};

/// Looks at a pair at most.
const TRIES: usize = 5;

/// Pairs that one rank reports, the slowest.
const MOST_REPORTED: usize = 256;

/// Words of a leader to the other rank.
const END: u8 = 0;
const LOOK: u8 = 1;

/// A pair that stands out, by its best figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StandOut {
    pub from: Rank,
    pub to: Rank,
    pub latency: f64,
    pub there: f64,
    pub back: f64,
}

/// What quick looks found, on rank 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Quick {
    /// Pairs of hosts of one site that were looked at, and of two sites.
    pub near: u64,
    pub far: u64,
    pub stand_out: Vec<StandOut>,
    /// Pairs that stand out and were not reported.
    pub dropped: u64,
}

/// What one rank needs for its looks, and what it found as a leader.
pub(super) struct Looker<'c> {
    comm: &'c dyn Comm,
    sizes: Sizes,
    bounds: &'c Bounds,
    sites: &'c [u32],
    short: Vec<u8>,
    /// Both ways: no byte of it is read.
    long: Vec<u8>,
    near: u64,
    far: u64,
    /// With how far beyond the bounds they are.
    stand_out: Vec<(f64, StandOut)>,
}

impl<'c> Looker<'c> {
    pub fn new(comm: &'c dyn Comm, sizes: Sizes, bounds: &'c Bounds, sites: &'c [u32]) -> Self {
        // In virtual time all ranks share one memory: pages that are not written take none.
        let byte = u8::from(!comm.clock().is_virtual());
        let (short, long) = (vec![byte; sizes.latency], vec![byte; sizes.bandwidth]);
        let (near, far, stand_out) = (0, 0, Vec::new());
        Looker { comm, sizes, bounds, sites, short, long, near, far, stand_out }
    }

    fn send(&self, other: Rank) -> Result<(), CommError> {
        self.comm.send(other, DATA, &self.short)
    }

    fn recv(&mut self, other: Rank) -> Result<(), CommError> {
        self.comm.recv(Some(other), Some(DATA), &mut self.short).map(|_| ())
    }

    /// How far a look is beyond its bounds: above 1 it stands out.
    fn excess(&self, look: &StandOut) -> f64 {
        let [from, to] = [look.from, look.to].map(|rank| self.sites[rank as usize]);
        let Seconds { latency, transfer } = self.bounds.get(from, to);
        let back = self.bounds.get(to, from).transfer;
        (look.latency / latency).max(look.there / transfer).max(look.back / back)
    }

    /// The part of the rank that times.
    pub fn lead(&mut self, other: Rank) -> Result<(), CommError> {
        let comm = self.comm;
        let now = || comm.clock().now();
        let Sizes { latency: short, bandwidth: long } = self.sizes;
        let scale = long as f64 / long.saturating_sub(short).max(1) as f64;
        let none = f64::INFINITY;
        let from = comm.rank();
        let mut best = StandOut { from, to: other, latency: none, there: none, back: none };
        if self.excess(&best).is_nan() {
            // No such pair was measured: a look would say nothing.
            return self.skip(other);
        }
        // The other one is there when it answers.
        comm.send(other, WORD, &[LOOK])?;
        comm.recv(Some(other), Some(WORD), &mut [])?;
        for left in (0..TRIES).rev() {
            let begun = now();
            self.send(other)?;
            self.recv(other)?;
            let short = now();
            comm.send(other, DATA, &self.long)?;
            self.recv(other)?;
            let there = now();
            self.send(other)?;
            comm.recv(Some(other), Some(DATA), &mut self.long)?;
            let back = now();
            let trip = short - begun;
            best.latency = best.latency.min(trip / 2.0);
            best.there = best.there.min((there - short - trip) * scale);
            best.back = best.back.min((back - there - trip) * scale);
            let again = left > 0 && self.excess(&best) > 1.0;
            comm.send(other, WORD, &[if again { LOOK } else { END }])?;
            if !again {
                break;
            }
        }
        let is_near = self.sites[from as usize] == self.sites[other as usize];
        *(if is_near { &mut self.near } else { &mut self.far }) += 1;
        let excess = self.excess(&best);
        self.stand_out.extend((excess > 1.0).then_some((excess, best)));
        Ok(())
    }

    /// A leader that has no time for this look.
    pub fn skip(&self, other: Rank) -> Result<(), CommError> {
        self.comm.send(other, WORD, &[END])
    }

    /// The part of the other rank.
    pub fn follow(&mut self, other: Rank) -> Result<(), CommError> {
        let comm = self.comm;
        let mut word = [END];
        comm.recv(Some(other), Some(WORD), &mut word)?;
        if word == [LOOK] {
            comm.send(other, WORD, &[])?;
        }
        while word == [LOOK] {
            self.recv(other)?;
            self.send(other)?;
            comm.recv(Some(other), Some(DATA), &mut self.long)?;
            self.send(other)?;
            self.recv(other)?;
            comm.send(other, DATA, &self.long)?;
            comm.recv(Some(other), Some(WORD), &mut word)?;
        }
        Ok(())
    }

    /// Collective: what all ranks found, on rank 0.
    pub fn gather(mut self) -> Result<Quick, CommError> {
        self.stand_out.sort_by(|a, b| b.0.total_cmp(&a.0));
        let dropped = self.stand_out.len().saturating_sub(MOST_REPORTED);
        let mut numbers = vec![self.near as f64, self.far as f64, dropped as f64];
        for (_, look) in self.stand_out.iter().take(MOST_REPORTED) {
            numbers.extend([f64::from(look.to), look.latency, look.there, look.back]);
        }
        let all = talk::gather(self.comm, &bytes_of(&numbers))?;
        let mut quick = Quick::default();
        for (bytes, from) in all.iter().zip(0..) {
            let numbers = numbers_of(bytes);
            let Some((&[near, far, dropped], looks)) = numbers.split_first_chunk() else {
                continue;
            };
            quick.near += near as u64;
            quick.far += far as u64;
            quick.dropped += dropped as u64;
            quick.stand_out.extend(looks.as_chunks().0.iter().map(
                |&[to, latency, there, back]| {
                    let to = to as Rank;
                    StandOut { from, to, latency, there, back }
                },
            ));
        }
        Ok(quick)
    }
}

/// Collective: the latency of every pair of ranks, the better of two round trips, on rank 0.
pub(super) fn latencies(bench: &Bench) -> Result<Latencies, CommError> {
    let comm = bench.lab.comm;
    let (rank, ranks) = (comm.rank(), comm.size());
    let mut own = Vec::new();
    let mut word = [0; 8];
    synchronise(comm)?;
    let rounds = Plan::rounds_of_pairs(ranks);
    for turn in 0..rounds {
        (bench.lab.each_round)(turn as usize, rounds as usize);
        let Some(other) = Plan::partner(ranks, turn, rank) else { continue };
        if rank > other {
            for _ in 0..3 {
                comm.recv(Some(other), Some(DATA), &mut word)?;
                comm.send(other, DATA, &word)?;
            }
            continue;
        }
        let mut trip = || {
            let begun = comm.clock().now();
            comm.send(other, DATA, &word)?;
            comm.recv(Some(other), Some(DATA), &mut word)?;
            Ok::<f64, CommError>(comm.clock().now() - begun)
        };
        // The first is over when the other one is there.
        let (_, one, another) = (trip()?, trip()?, trip()?);
        own.extend([f64::from(other), one.min(another) / 2.0]);
    }
    synchronise(comm)?;
    let all = talk::gather(comm, &bytes_of(&own))?;
    let mut latencies = Latencies::default();
    for (bytes, from) in all.iter().zip(0..) {
        for &[to, value] in numbers_of(bytes).as_chunks::<2>().0 {
            let estimate = Estimate { value, interval: None, error: None, reps: 2, reached: true };
            latencies.0.insert((from, to as Rank), estimate);
        }
    }
    Ok(latencies)
}
