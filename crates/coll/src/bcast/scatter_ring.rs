//! Scatter and ring broadcast: a binomial scatter, then a ring in which the blocks go round.

use laneway_core::{Collective, Rank, Round, Schedule};

use super::scatter::Scattered;
use crate::registry::{Algorithm, Parameter};
use crate::shift::down;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Bcast,
    name: "scatter-ring",
    sentence: "a binomial scatter of p blocks, then a ring that skips what a rank already has",
    source: "van de Geijn 1994; Thakur, Rabenseifner, Gropp 2005; MPICH",
    parameters: &[(Parameter::Window, 4), Parameter::BY_RANK],
    build: |shape, params, _| {
        Ok(Box::new(ScatterRing { scattered: Scattered::new(shape), window: params.window() }))
    },
    ..Algorithm::BASE
};

/// Lane 0 receives, lane 1 sends; round 0 is the scatter, and in round k block place - k + 1 goes
/// to the place above.
struct ScatterRing {
    scattered: Scattered,
    window: u32,
}

impl ScatterRing {
    /// Turns of the ring in which a place receives: until the block is one that it holds.
    fn turns(&self, place: u32) -> u64 {
        u64::from(self.scattered.circle.ranks - self.scattered.held(place))
    }
}

impl Schedule for ScatterRing {
    fn ranks(&self) -> u32 {
        self.scattered.circle.ranks
    }

    fn lanes(&self, _rank: Rank) -> u32 {
        2
    }

    fn rounds(&self, rank: Rank, lane: u32) -> u64 {
        let (place, p) = (self.scattered.circle.place(rank), self.ranks());
        match lane {
            0 => 1 + self.turns(place),
            // The last place has no children, and the root above it lacks nothing.
            _ if place + 1 == p => 0,
            _ => 1 + self.turns(place + 1),
        }
    }

    fn round(&self, rank: Rank, lane: u32, k: u64, out: &mut Round) {
        let (scattered, circle, p) = (&self.scattered, self.scattered.circle, self.ranks());
        let place = circle.place(rank);
        // What goes from a place to the one above in this turn.
        let block = |sender: u32| {
            let number = ((u64::from(sender) + u64::from(p) + 1 - k) % u64::from(p)) as u32;
            scattered.blocks(number, number + 1)
        };
        let below = down(p, place, 1);
        match (lane, k) {
            (0, 0) => scattered.receive(rank, out),
            (0, _) => {
                out.recv_window(self.window);
                out.recv(circle.rank(below), block(below));
            }
            (_, 0) => {
                if place > 0 && scattered.blocks(place, place + 1).len > 0 {
                    out.after(0, 0);
                }
                scattered.pass_on(rank, out);
            }
            _ => {
                let sent = block(place);
                // Later turns send what came with the scatter.
                if (2..=self.turns(place) + 1).contains(&k) && sent.len > 0 {
                    out.after(0, k - 1);
                }
                out.send_window(self.window);
                out.send(circle.rank(place + 1), sent);
            }
        }
    }
}
