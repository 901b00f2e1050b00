//! Offsets rank after rank, as MPIBench does it and the MPIBlib paper tells (section 2.1): rank 0
//! sends its time plus half the shortest round trip so far, the other one sends it back, and takes
//! the difference to its own clock whenever the round trip before was the shortest yet; until no
//! shorter one was seen a number of times.

use laneway_core::{CommError, Rank};

use super::{Epoch, GlobalClock, Heard};
use crate::talk::{CLOCK, bytes_of, numbers_of};

/// So many round trips in a row without a shorter one end the comparison.
const PATIENCE: u32 = 10;
const MOST_TRIPS: u32 = 1000;

pub(super) fn epoch(clock: &GlobalClock) -> Result<Epoch, CommError> {
    let mut own = Epoch { at: clock.local(), ..Epoch::default() };
    for other in 1..clock.comm.size() {
        if clock.comm.rank() == 0 {
            lead(clock, other)?;
        } else if clock.comm.rank() == other {
            own = follow(clock)?;
        }
    }
    Ok(own)
}

/// Numbers in a message.
const WORDS: usize = 7;

/// Rank 0's part for one other rank. Each message says: the time of its arrival as estimated,
/// whether the round trip before was the shortest, that trip, the second shortest, whether to go
/// on, when it left, and when the answer before came.
fn lead(clock: &GlobalClock, other: Rank) -> Result<(), CommError> {
    let (mut shortest, mut in_vain, mut better) = (f64::INFINITY, 0, 0.0);
    let mut second = f64::INFINITY;
    let mut echo = [0; 8 * WORDS];
    let mut came = f64::INFINITY;
    for _ in 0..MOST_TRIPS {
        let half = if shortest.is_finite() { shortest / 2.0 } else { 0.0 };
        let sent = clock.local();
        let words = [sent + half, better, shortest, second, 1.0, sent, came];
        clock.comm.send(other, CLOCK, &bytes_of(&words))?;
        clock.comm.recv(Some(other), Some(CLOCK), &mut echo)?;
        came = clock.local();
        let trip = came - sent;
        better = f64::from(u8::from(trip < shortest));
        if trip < shortest {
            second = shortest;
            shortest = trip;
            in_vain = 0;
        } else {
            second = second.min(trip);
            in_vain += 1;
        }
        if in_vain >= PATIENCE {
            break;
        }
    }
    let words = [0.0, better, shortest, second, 0.0, clock.local(), came];
    clock.comm.send(other, CLOCK, &bytes_of(&words))
}

fn follow(clock: &GlobalClock) -> Result<Epoch, CommError> {
    let begun = clock.local();
    let mut own = Epoch { at: begun, ..Epoch::default() };
    let mut ways = Heard { teacher: 0, there: f64::INFINITY, back: f64::INFINITY };
    let mut bytes = [0; 8 * WORDS];
    let mut answered = f64::NEG_INFINITY;
    loop {
        clock.comm.recv(Some(0), Some(CLOCK), &mut bytes)?;
        let heard = clock.local();
        let words = numbers_of(&bytes);
        let (time, shortest, second, go_on) = (words[0], words[2], words[3], words[4] != 0.0);
        let (left, came) = (words[5], words[6]);
        ways = ways.and(Heard { teacher: 0, there: came - answered, back: heard - left });
        if !go_on {
            own.error = if second.is_finite() { (second - shortest) / 2.0 } else { 0.0 };
            own.heard.push(ways);
            own.lasted = heard - begun;
            return Ok(own);
        }
        // The estimate that this message carries rests on the shortest trip: take it if that trip
        // was the one before.
        if words[1] != 0.0 || own.offset == 0.0 {
            (own.at, own.offset) = (heard, time - heard);
        }
        answered = clock.local();
        clock.comm.send(0, CLOCK, &bytes)?;
    }
}
