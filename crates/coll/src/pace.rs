//! A schedule at walking pace: every message takes one tick, a rank sends one and receives one at a
//! time. Enough to see the shape of an algorithm; a simulated cluster tells its time.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;

use laneway_core::{At, Chan, Port, Progress, Rank, Run, Schedule, Slot, Step};

/// One message under way for one tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flight {
    /// The tick that it is under way in.
    pub tick: u32,
    /// Who sends it.
    pub from: Rank,
    /// Who receives it.
    pub to: Rank,
}

/// A send that waits.
struct Sent {
    to: Rank,
    chan: Chan,
    slot: Slot,
}

/// Notes the transfers that a rank starts; local steps take no time.
#[derive(Default)]
struct Started {
    sends: VecDeque<Sent>,
    /// By the peer and the channel, in order.
    recvs: BTreeMap<(Rank, Chan), VecDeque<Slot>>,
}

impl Port for Started {
    type Error = Infallible;

    fn start(&mut self, at: At, step: &Step) -> Result<Progress, Infallible> {
        match *step {
            Step::Send { to, chan, .. } => self.sends.push_back(Sent { to, chan, slot: at.slot }),
            Step::Recv { from, chan, .. } => {
                self.recvs.entry((from, chan)).or_default().push_back(at.slot);
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
            let Some(send) = ready(&started, from, &receiving) else { continue };
            let Some(Sent { to, chan, slot }) = started[from as usize].sends.remove(send) else {
                continue;
            };
            let recvs = started[to as usize].recvs.get_mut(&(from, chan));
            let Some(taken) = recvs.and_then(VecDeque::pop_front) else { continue };
            receiving[to as usize] = true;
            over.push((from, slot));
            over.push((to, taken));
            flights.push(Flight { tick, from, to });
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

/// The first send of a rank that its peer can take now.
fn ready(started: &[Started], from: Rank, receiving: &[bool]) -> Option<usize> {
    started[from as usize].sends.iter().position(|send| {
        let recvs = started[send.to as usize].recvs.get(&(from, send.chan));
        !receiving[send.to as usize] && recvs.is_some_and(|recvs| !recvs.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_core::{Collective, Shape};

    #[test]
    fn a_binomial_broadcast_takes_log_p_ticks() {
        let (algorithm, params) = crate::find(Collective::Bcast, "binomial").unwrap();
        let shape = Shape::new(Collective::Bcast, 16, 8);
        let flights = walk(&*algorithm.schedule(&shape, &params).unwrap());
        assert_eq!(flights.len(), 15);
        assert_eq!(flights.iter().map(|f| f.tick).max(), Some(3));
    }
}
