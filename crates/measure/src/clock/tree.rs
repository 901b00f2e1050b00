//! Binomial-tree clock synchronisation: every rank that knows rank 0's time teaches one more, so
//! that all do after a logarithmic number of rounds.
//!
//! Rank r + d learns from rank r, for d from the largest power of two down to 1, so that in each
//! round all pairs are disjoint. A pair exchanges small messages until the shortest round trip was
//! seen again, or none was shorter for a while; the offset is that of the shortest, because it was
//! delayed least. Question and answer are equally long, so that both take equally long.
//!
//! Then each rank asks the others whose number differs in one bit, once: these answers tell nothing
//! new where ways are symmetric, but limit what clocks could be where they are not (`ways.rs`).

use laneway_core::{CommError, Rank};

use super::{Epoch, GlobalClock, Heard, MOST_DRIFT};
use crate::talk::{CLOCK, bytes_of, numbers_of, synchronise};

/// In virtual time an undisturbed round trip always takes equally long: this number of trips like
/// the shortest end a comparison, and fewer where it is as short as any before. What was shorter
/// before is waited for, because the same neighbours can disturb several in the same way.
const CONFIRMED: u32 = 3;
const CONFIRMED_AGAIN: u32 = 1;
/// This number in a row without a shorter one ends it too, for others delay some; and on a real
/// machine the system does as well. More where a shorter one was seen before.
const PATIENCE: u32 = 4;
const PATIENCE_KNOWN: u32 = 12;
const PATIENCE_REAL: u32 = 8;
const MOST_TRIPS: u32 = 60;
/// A round trip must be so much shorter to count as shorter, or so near to count as equal.
const SHORTER: f64 = 0.98;
const EQUAL: f64 = 1.002;
/// Numbers in a question, and in an answer.
const WORDS: usize = 4;
/// What a question says: that more will follow, that there was none, that it is the only one.
const MORE: f64 = 0.0;
const LAST: f64 = 1.0;
const ONLY: f64 = 2.0;

pub(super) fn epoch(clock: &GlobalClock) -> Result<Epoch, CommError> {
    let (rank, ranks) = (clock.comm.rank(), clock.comm.size());
    let begun = clock.local();
    let mut own = Epoch { at: begun, ..Epoch::default() };
    let largest = ranks.next_power_of_two() / 2;
    for distance in halves(largest) {
        if rank % (2 * distance) == 0 && rank + distance < ranks {
            teach(clock, rank + distance, &own)?;
        } else if rank % (2 * distance) == distance {
            own = learn(clock, rank - distance)?;
        }
    }
    for distance in halves(largest).filter(|distance| rank % distance != 0) {
        if rank & distance != 0 {
            own.heard.push(ask_once(clock, rank - distance)?);
        } else if rank + distance < ranks {
            teach(clock, rank + distance, &own)?;
        }
    }
    // Early ranks stay silent until the round ends: a long message into a slow
    // card delays every question there equally, and would not be noticed.
    synchronise(clock.comm)?;
    own.lasted = clock.local() - begun;
    Ok(own)
}

/// A power of two and its halves, down to 1.
fn halves(largest: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(largest), |distance| Some(distance / 2)).take_while(|d| *d > 0)
}

/// How many others a rank asks at most in one comparison.
pub(super) fn most_heard(ranks: u32) -> usize {
    ranks.next_power_of_two().trailing_zeros() as usize
}

/// Answers with rank 0's time until the other has enough.
fn teach(clock: &GlobalClock, pupil: Rank, own: &Epoch) -> Result<(), CommError> {
    let mut question = [0; 8 * WORDS];
    loop {
        clock.comm.recv(Some(pupil), Some(CLOCK), &mut question)?;
        let came = clock.local();
        if numbers_of(&question)[0] == LAST {
            return Ok(());
        }
        // The teacher has learnt its offset a while ago, in which its clock has drifted.
        let answered = clock.local();
        let (rate, doubt) = match clock.drift_until(own) {
            _ if clock.comm.rank() == 0 => (0.0, 0.0),
            Some(drift) => (drift.rate, drift.doubt.min(MOST_DRIFT)),
            None => (0.0, MOST_DRIFT),
        };
        let since = answered - own.at;
        let answer =
            [answered + own.offset + rate * since, own.error + doubt * since, came, answered];
        clock.comm.send(pupil, CLOCK, &bytes_of(&answer))?;
        if numbers_of(&question)[0] == ONLY {
            return Ok(());
        }
    }
}

/// The result of a question and its answer.
struct Trip {
    asked: f64,
    heard: f64,
    /// The teacher's idea of rank 0's time when it answered, and what that left uncertain.
    time: f64,
    error: f64,
    /// By the teacher's clock.
    came: f64,
    answered: f64,
}

impl Trip {
    fn took(&self) -> f64 {
        self.heard - self.asked
    }

    /// What it says of the two clocks.
    fn ways(&self, teacher: Rank) -> Heard {
        Heard { teacher, there: self.came - self.asked, back: self.heard - self.answered }
    }
}

fn ask(clock: &GlobalClock, teacher: Rank, word: f64) -> Result<Trip, CommError> {
    let mut answer = [0; 8 * WORDS];
    let asked = clock.local();
    clock.comm.send(teacher, CLOCK, &bytes_of(&[word; WORDS]))?;
    clock.comm.recv(Some(teacher), Some(CLOCK), &mut answer)?;
    let heard = clock.local();
    let answer = numbers_of(&answer);
    let [time, error, came, answered] = [answer[0], answer[1], answer[2], answer[3]];
    Ok(Trip { asked, heard, time, error, came, answered })
}

/// One question for its ways alone.
fn ask_once(clock: &GlobalClock, teacher: Rank) -> Result<Heard, CommError> {
    Ok(ask(clock, teacher, ONLY)?.ways(teacher))
}

fn learn(clock: &GlobalClock, teacher: Rank) -> Result<Epoch, CommError> {
    let known = clock.epochs.iter().filter_map(|epoch| epoch.trip).reduce(f64::min);
    let mut shortest = Shortest::default();
    let mut best = Epoch::default();
    let mut ways = Heard { teacher, there: f64::INFINITY, back: f64::INFINITY };
    for _ in 0..MOST_TRIPS {
        let trip = ask(clock, teacher, MORE)?;
        ways = ways.and(trip.ways(teacher));
        if shortest.is_beaten(trip.took()) {
            let middle = trip.asked + trip.took() / 2.0;
            let (offset, error) = (trip.time - middle, trip.error);
            best = Epoch { at: middle, offset, error, ..Epoch::default() };
        }
        let enough = match clock.clock.is_virtual() {
            true => shortest.is_enough(known),
            false => shortest.in_vain >= PATIENCE_REAL,
        };
        if enough {
            break;
        }
    }
    clock.comm.send(teacher, CLOCK, &bytes_of(&[LAST; WORDS]))?;
    best.error += shortest.doubt(known) + clock.tick;
    best.trip = Some(shortest.took);
    best.heard.push(ways);
    Ok(best)
}

/// The shortest of some round trips, and how sure it is that none is shorter.
struct Shortest {
    took: f64,
    second: f64,
    /// As short ones beside it.
    confirmed: u32,
    /// In a row that were not shorter.
    in_vain: u32,
}

impl Default for Shortest {
    fn default() -> Shortest {
        Shortest { took: f64::INFINITY, second: f64::INFINITY, confirmed: 0, in_vain: 0 }
    }
}

impl Shortest {
    /// Takes one more, and returns whether it is the shortest now.
    fn is_beaten(&mut self, took: f64) -> bool {
        self.in_vain = if took < SHORTER * self.took { 0 } else { self.in_vain + 1 };
        if EQUAL * took < self.took {
            self.confirmed = 0;
        } else if took < EQUAL * self.took {
            self.confirmed += 1;
        }
        let beaten = took < self.took;
        self.second = if beaten { self.took } else { self.second.min(took) };
        self.took = self.took.min(took);
        beaten
    }

    /// In virtual time, with the shortest that was ever seen before.
    fn is_enough(&self, known: Option<f64>) -> bool {
        match known {
            Some(known) if self.took < EQUAL * known => {
                self.confirmed >= CONFIRMED_AGAIN || self.in_vain >= PATIENCE
            }
            Some(_) => self.in_vain >= PATIENCE_KNOWN,
            None => self.confirmed >= CONFIRMED || self.in_vain >= PATIENCE,
        }
    }

    /// What it leaves uncertain, if ways take equally long.
    fn doubt(&self, known: Option<f64>) -> f64 {
        let jitter = if self.second.is_finite() { self.second - self.took } else { self.took };
        let longer = known.map_or(0.0, |known| (self.took - known).max(0.0));
        jitter.max(longer) / 2.0
    }
}
