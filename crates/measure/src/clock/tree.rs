//! All clocks in a logarithmic number of rounds: whoever knows rank 0's time tells it to one more.
//!
//! Rank r + d learns from rank r, for d from the largest power of two down to 1, so that in each
//! round all pairs are disjoint. A pair exchanges small messages until the shortest round trip has
//! not become shorter a few times; the offset is that of the shortest, because it was delayed
//! least. Question and answer are equally long, so that both take equally long.

use laneway_core::{CommError, Rank};

use super::{Epoch, GlobalClock};
use crate::talk::{CLOCK, bytes_of, numbers_of};

/// So many round trips in a row without a shorter one end a comparison.
const PATIENCE: u32 = 3;
/// In a comparison that follows another one.
const PATIENCE_AGAIN: u32 = 1;
/// On a real machine, where the system delays some.
const PATIENCE_REAL: u32 = 8;
const MOST_TRIPS: u32 = 60;
/// A round trip must be so much shorter to count as shorter.
const SHORTER: f64 = 0.98;

pub(super) fn epoch(clock: &GlobalClock) -> Result<Epoch, CommError> {
    let (rank, ranks) = (clock.comm.rank(), clock.comm.size());
    let mut own = Epoch { at: clock.local(), offset: 0.0, error: 0.0, unknowable: 0.0 };
    let mut distance = ranks.next_power_of_two() / 2;
    while distance > 0 {
        if rank % (2 * distance) == 0 && rank + distance < ranks {
            teach(clock, rank + distance, &own)?;
        } else if rank % (2 * distance) == distance {
            own = learn(clock, rank - distance)?;
        }
        distance /= 2;
    }
    Ok(own)
}

/// Answers with rank 0's time until the other has enough.
fn teach(clock: &GlobalClock, pupil: Rank, own: &Epoch) -> Result<(), CommError> {
    let mut question = [0; 24];
    loop {
        clock.comm.recv(Some(pupil), Some(CLOCK), &mut question)?;
        if numbers_of(&question)[0] != 0.0 {
            return Ok(());
        }
        // Within an epoch the teacher's own offset is fresh: it has had no time to drift.
        let answer = [clock.local() + own.offset, own.error, own.unknowable];
        clock.comm.send(pupil, CLOCK, &bytes_of(&answer))?;
    }
}

fn learn(clock: &GlobalClock, teacher: Rank) -> Result<Epoch, CommError> {
    let patience = if clock.epochs.is_empty() { PATIENCE } else { PATIENCE_AGAIN };
    let patience = if clock.clock.is_virtual() { patience } else { PATIENCE_REAL };
    let (mut shortest, mut second) = (f64::INFINITY, f64::INFINITY);
    let mut best = Epoch { at: 0.0, offset: 0.0, error: 0.0, unknowable: 0.0 };
    let mut in_vain = 0;
    for _ in 0..MOST_TRIPS {
        let mut answer = [0; 24];
        let asked = clock.local();
        clock.comm.send(teacher, CLOCK, &bytes_of(&[0.0; 3]))?;
        clock.comm.recv(Some(teacher), Some(CLOCK), &mut answer)?;
        let heard = clock.local();
        let trip = heard - asked;
        in_vain = if trip < SHORTER * shortest { 0 } else { in_vain + 1 };
        if trip < shortest {
            let answer = numbers_of(&answer);
            let (time, error, unknowable) = (answer[0], answer[1], answer[2]);
            second = shortest;
            shortest = trip;
            let middle = asked + trip / 2.0;
            best = Epoch { at: middle, offset: time - middle, error, unknowable };
        } else {
            second = second.min(trip);
        }
        if in_vain >= patience {
            break;
        }
    }
    clock.comm.send(teacher, CLOCK, &bytes_of(&[1.0; 3]))?;
    let jitter = if second.is_finite() { (second - shortest) / 2.0 } else { shortest / 2.0 };
    best.error += jitter + clock.tick;
    best.unknowable += shortest / 2.0;
    Ok(best)
}
