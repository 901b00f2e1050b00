//! One repetition of an experiment on one of its ranks.

use laneway_core::{Buffers, CommError, Exec, Rank, Schedule};
use laneway_measure::p2p::{Cache, Members, Pattern, Work, round_trip};

use crate::error::ModelError;
use crate::experiments::Kind;
use crate::follow::{Double, Overtake};
use crate::probe::{Direction, Echo, Fan, Shift};

/// What a repetition needs.
pub(super) enum Once {
    Trip { out: Vec<u8>, back: Vec<u8> },
    Pattern { pattern: Pattern, work: Work },
    Schedule { kind: Kind, sent: Vec<u8>, received: Vec<u8> },
}

impl Once {
    /// Room for the subsets of this rank; the largest that it leads has `led` members.
    pub fn new(kind: Kind, led: usize) -> Result<Once, ModelError> {
        let pattern = |pattern: Pattern, bytes: u64| -> Result<Once, ModelError> {
            let work = Work::new(pattern, room(bytes, 1)?.len(), 1, Cache::Warm);
            Ok(Once::Pattern { pattern, work })
        };
        match kind {
            Kind::RoundTrip { out_bytes, back_bytes } => {
                Ok(Once::Trip { out: room(out_bytes, 1)?, back: room(back_bytes, 1)? })
            }
            Kind::Curve { bytes } => Ok(Once::Trip { out: room(bytes, 1)?, back: Vec::new() }),
            Kind::SendOverhead { bytes } => pattern(Pattern::SendOverhead, bytes),
            Kind::ReceiveOverhead { bytes } => pattern(Pattern::ReceiveOverhead, bytes),
            Kind::Gap { bytes } => pattern(Pattern::Gap, bytes),
            Kind::Fan { bytes, .. }
            | Kind::Shift { bytes, .. }
            | Kind::Overtake { bytes }
            | Kind::Double { bytes }
            | Kind::Echo { bytes } => {
                let messages = match kind {
                    // The leader has a message of each of the others.
                    Kind::Fan { direction: Direction::In, .. } | Kind::Echo { .. } => led.max(1),
                    Kind::Overtake { .. } | Kind::Double { .. } => 2,
                    _ => 1,
                };
                let (sent, received) = (room(bytes, 1)?, room(bytes, messages)?);
                Ok(Once::Schedule { kind, sent, received })
            }
        }
    }

    /// The seconds, on the leader.
    pub fn run(&mut self, members: &Members) -> Result<f64, CommError> {
        match self {
            Once::Trip { out, back } => round_trip(members, out, back),
            Once::Pattern { pattern, work } => pattern.once(members, work),
            Once::Schedule { kind, sent, received } => {
                let ranks = members.comm.size();
                match *kind {
                    Kind::Fan { bytes, direction } => {
                        let members_of = members.ranks.to_vec();
                        let fan = Fan { ranks, members: members_of, bytes, direction };
                        execute(members, &fan, sent, received)
                    }
                    Kind::Shift { bytes, distance } => {
                        execute(members, &Shift { ranks, distance, bytes }, sent, received)
                    }
                    Kind::Echo { bytes } => {
                        let echo = Echo { ranks, members: members.ranks.to_vec(), bytes };
                        execute(members, &echo, sent, received)
                    }
                    Kind::Overtake { bytes } => {
                        let overtake = Overtake { ranks, members: two(members)?, bytes };
                        execute(members, &overtake, sent, received)
                    }
                    Kind::Double { bytes } => {
                        let double = Double { ranks, members: two(members)?, bytes };
                        execute(members, &double, sent, received)
                    }
                    _ => Err(CommError::Argument { what: format!("{kind:?} is not a schedule") }),
                }
            }
        }
    }
}

fn two(members: &Members) -> Result<[Rank; 2], CommError> {
    let what = || format!("{} ranks where a pair belongs", members.ranks.len());
    members.ranks.try_into().map_err(|_| CommError::Argument { what: what() })
}

fn execute(
    members: &Members,
    schedule: &dyn Schedule,
    sent: &[u8],
    received: &mut [u8],
) -> Result<f64, CommError> {
    let buffers = Buffers::new(sent, received, &mut []);
    let mut exec = Exec::new(members.comm, schedule, buffers, None, 0)?;
    let begun = members.now();
    exec.run()?;
    Ok(members.now() - begun)
}

fn room(bytes: u64, times: usize) -> Result<Vec<u8>, ModelError> {
    let bytes = usize::try_from(bytes).ok().and_then(|bytes| bytes.checked_mul(times));
    let mut room = Vec::new();
    match bytes.filter(|&bytes| room.try_reserve_exact(bytes).is_ok()) {
        Some(bytes) => {
            room.resize(bytes, 1);
            Ok(room)
        }
        None => Err(ModelError::Sizes { why: "messages that do not fit into memory".into() }),
    }
}
