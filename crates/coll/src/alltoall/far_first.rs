//! Flat all-to-all over sites: the farthest site first, a few sends to each at a time.

use laneway_core::{Collective, Matrix, Placement, Rank};

use crate::registry::Algorithm;
use crate::script::{Lane, Script, Scripted};
use crate::sites;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Alltoall,
    name: "far-first",
    sentence: "`window` sends to each other site at a time, and `near` to the own site",
    source: "laneway; what crosses takes longest, and so begins first",
    parameters: sites::FarFirst::PARAMETERS,
    // Blocks arrive before those that lie in their places have left.
    in_place: false,
    build: |shape, params, placement| {
        let (matrix, placement) = (shape.matrix(), placement.clone());
        let (window, near) = (params.window(), params.near());
        Ok(Box::new(Scripted::new(FarFirst { matrix, placement, window, near })))
    },
    ..Algorithm::BASE
};

struct FarFirst {
    matrix: Matrix,
    placement: Placement,
    window: u32,
    near: u32,
}

impl FarFirst {
    /// The ranks of a site, beginning with another one for each of those who send to it.
    fn members(&self, site: u32, sender: Rank) -> Vec<Rank> {
        let own = self.placement.members(self.placement.location(sender).site);
        let place = own.iter().position(|rank| *rank == sender).unwrap_or(0);
        let mut members = self.placement.members(site).to_vec();
        let ranks = members.len();
        members.rotate_left(place % ranks);
        members
    }
}

impl Script for FarFirst {
    fn ranks(&self) -> u32 {
        self.placement.ranks()
    }

    fn tmp_len(&self, _rank: Rank) -> u64 {
        0
    }

    /// Lane 0 receives, the others send.
    fn lanes(&self, rank: Rank) -> Vec<Lane> {
        let mut lanes = vec![Lane::default()];
        let out = lanes[0].round();
        for from in (0..self.ranks()).filter(|from| *from != rank) {
            out.recv(from, self.matrix.received(from, rank));
        }
        out.copy(self.matrix.sent(rank, rank), self.matrix.received(rank, rank));
        let own = self.placement.location(rank).site;
        for site in self.placement.others(own) {
            let mut lane = Lane::default();
            for to in self.members(site, rank) {
                let out = lane.round();
                out.send_window(self.window);
                out.send(to, self.matrix.sent(rank, to));
            }
            lanes.push(lane);
        }
        // Beside the others, or after those to the nearest site.
        if self.near > 0 || lanes.len() == 1 {
            lanes.push(Lane::default());
        }
        let window = if self.near > 0 { self.near } else { self.window };
        let last = lanes.len() - 1;
        for to in self.members(own, rank).into_iter().filter(|to| *to != rank) {
            let out = lanes[last].round();
            out.send_window(window);
            out.send(to, self.matrix.sent(rank, to));
        }
        lanes
    }
}
