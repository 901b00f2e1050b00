//! Offsets rank after rank, as MPIBench does it and the MPIBlib paper tells (section 2.1): rank 0
//! sends its time, the other one sends the message back, and if the round trip was the shortest so
//! far, the next message tells when this one must have arrived: half of it after it was sent. Until
//! no shorter one was seen a number of times.

use laneway_core::{CommError, Rank};

use super::{Epoch, GlobalClock, Heard};
use crate::talk::{CLOCK, bytes_of, numbers_of};

/// Round trips in a row without a shorter one that end a comparison, unless another number is asked
/// for.
pub const TRIPS: u32 = 10;
/// A comparison ends after this multiple of that number at the latest.
const MOST: u32 = 100;

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

/// What rank 0 says with each message.
#[derive(Clone, Copy)]
struct Word {
    /// When the message before arrived by its clock, if that was the shortest round trip so far.
    arrival: Option<f64>,
    /// The shortest round trip and the next.
    shortest: f64,
    second: f64,
    go_on: bool,
    /// When this message left, and when the answer before came, by its clock.
    left: f64,
    came: f64,
}

/// Its numbers as bytes.
type Bytes = [u8; 56];

impl Word {
    fn bytes(self) -> Vec<u8> {
        let Word { arrival, shortest, second, go_on, left, came } = self;
        let has_arrival = f64::from(u8::from(arrival.is_some()));
        let go_on = f64::from(u8::from(go_on));
        bytes_of(&[arrival.unwrap_or(0.0), has_arrival, shortest, second, go_on, left, came])
    }

    fn from(bytes: &Bytes) -> Word {
        let numbers = numbers_of(bytes);
        Word {
            arrival: (numbers[1] != 0.0).then_some(numbers[0]),
            shortest: numbers[2],
            second: numbers[3],
            go_on: numbers[4] != 0.0,
            left: numbers[5],
            came: numbers[6],
        }
    }
}

/// Rank 0's part for one other rank.
fn lead(clock: &GlobalClock, other: Rank) -> Result<(), CommError> {
    let (shortest, second) = (f64::INFINITY, f64::INFINITY);
    let (left, came) = (0.0, f64::INFINITY);
    let mut word = Word { arrival: None, shortest, second, go_on: true, left, came };
    let mut in_vain = 0;
    let mut echo: Bytes = [0; 56];
    for _ in 0..clock.trips.saturating_mul(MOST) {
        let sent = clock.local();
        word.left = sent;
        clock.comm.send(other, CLOCK, &word.bytes())?;
        clock.comm.recv(Some(other), Some(CLOCK), &mut echo)?;
        word.came = clock.local();
        let trip = word.came - sent;
        if trip < word.shortest {
            word.arrival = Some(sent + trip / 2.0);
            (word.shortest, word.second) = (trip, word.shortest);
            in_vain = 0;
        } else {
            word.arrival = None;
            word.second = word.second.min(trip);
            in_vain += 1;
        }
        if in_vain >= clock.trips {
            break;
        }
    }
    clock.comm.send(other, CLOCK, &Word { go_on: false, left: clock.local(), ..word }.bytes())
}

fn follow(clock: &GlobalClock) -> Result<Epoch, CommError> {
    let begun = clock.local();
    let mut own = Epoch { at: begun, ..Epoch::default() };
    let mut ways = Heard { teacher: 0, there: f64::INFINITY, back: f64::INFINITY };
    let mut bytes: Bytes = [0; 56];
    let (mut before, mut answered) = (begun, f64::NEG_INFINITY);
    loop {
        clock.comm.recv(Some(0), Some(CLOCK), &mut bytes)?;
        let heard = clock.local();
        let Word { arrival, shortest, second, go_on, left, came } = Word::from(&bytes);
        ways = ways.and(Heard { teacher: 0, there: came - answered, back: heard - left });
        if let Some(arrival) = arrival {
            (own.at, own.offset) = (before, arrival - before);
        }
        if !go_on {
            own.error = if second.is_finite() { (second - shortest) / 2.0 } else { 0.0 };
            own.heard.push(ways);
            own.lasted = heard - begun;
            return Ok(own);
        }
        before = heard;
        answered = clock.local();
        clock.comm.send(0, CLOCK, &bytes)?;
    }
}
