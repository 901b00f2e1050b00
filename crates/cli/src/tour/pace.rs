//! A schedule at walking pace: every message takes one tick, a rank sends one and receives one at a
//! time. Enough to see the shape of an algorithm; a simulated cluster tells its time.

use std::collections::VecDeque;
use std::convert::Infallible;

use laneway_core::{At, Chan, Port, Progress, Rank, Run, Schedule, Slot, Step};

/// One message under way for one tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flight {
    pub tick: u32,
    pub from: Rank,
    pub to: Rank,
}

/// What a rank has started and what waits: one end of a transfer.
struct End {
    peer: Rank,
    chan: Chan,
    slot: Slot,
}

/// Notes the transfers that a rank starts; local steps take no time.
#[derive(Default)]
struct Started {
    sends: VecDeque<End>,
    recvs: VecDeque<End>,
}

impl Port for Started {
    type Error = Infallible;

    fn start(&mut self, at: At, step: &Step) -> Result<Progress, Infallible> {
        match *step {
            Step::Send { to: peer, chan, .. } => {
                self.sends.push_back(End { peer, chan, slot: at.slot });
            }
            Step::Recv { from: peer, chan, .. } => {
                self.recvs.push_back(End { peer, chan, slot: at.slot });
            }
            _ => return Ok(Progress::Done),
        }
        Ok(Progress::Pending)
    }
}

/// All messages by tick. A schedule that cannot go on ends early; the checker tells of those.
pub fn walk(schedule: &dyn Schedule) -> Vec<Flight> {
    let ranks = schedule.ranks();
    let mut runs: Vec<_> = (0..ranks).map(|rank| Run::new(schedule, rank)).collect();
    let mut started: Vec<Started> = (0..ranks).map(|_| Started::default()).collect();
    let mut flights = Vec::new();
    for tick in 0.. {
        for (run, started) in runs.iter_mut().zip(&mut started) {
            let Ok(_) = run.poll(started);
        }
        let before = flights.len();
        let mut receiving = vec![false; ranks as usize];
        let mut over = Vec::new();
        for from in 0..ranks {
            let Some((send, recv)) = ready(&started, from, &receiving) else { continue };
            let Some(send) = started[from as usize].sends.remove(send) else { continue };
            let Some(recv) = started[send.peer as usize].recvs.remove(recv) else { continue };
            receiving[send.peer as usize] = true;
            over.push((from, send.slot));
            over.push((send.peer, recv.slot));
            flights.push(Flight { tick, from, to: send.peer });
        }
        for (rank, slot) in over {
            runs[rank as usize].done(slot);
        }
        if flights.len() == before {
            break;
        }
    }
    flights
}

/// The first send of a rank that its peer can take now, and the receive that takes it.
fn ready(started: &[Started], from: Rank, receiving: &[bool]) -> Option<(usize, usize)> {
    started[from as usize].sends.iter().enumerate().find_map(|(index, send)| {
        let recvs = &started[send.peer as usize].recvs;
        let recv = recvs.iter().position(|r| (r.peer, r.chan) == (from, send.chan))?;
        (!receiving[send.peer as usize]).then_some((index, recv))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_core::{Collective, Shape};

    #[test]
    fn a_binomial_broadcast_takes_log_p_ticks() {
        let (algorithm, params) = laneway_coll::find(Collective::Bcast, "binomial").unwrap();
        let shape = Shape::new(Collective::Bcast, 16, 8);
        let flights = walk(&*algorithm.schedule(&shape, &params).unwrap());
        assert_eq!(flights.len(), 15);
        assert_eq!(flights.iter().map(|f| f.tick).max(), Some(3));
    }
}
