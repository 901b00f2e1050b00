//! Boxes of a mesh after a failure: which of them still are what they were.
//!
//! A box takes a phase for each node because of the mesh's own ways. Where a cable is gone, or the
//! forwarding is another, it does so wherever all ways between its nodes are still those.

use std::collections::BTreeMap;

use super::Ground;
use super::shape::{Board, Shape};
use crate::routing::{Routing, walk};
use crate::topologies::mlfm::FullMesh;
use crate::wiring::{Host, Port, Switch, Wiring};

/// Ways that the search for one box may follow: about a second.
const MOST_WAYS: u64 = 1 << 22;

/// The way of a message; `None` if it does not arrive.
fn way(
    wiring: &dyn Wiring,
    routing: &dyn Routing,
    from: Host,
    to: Host,
) -> Option<Vec<(Switch, Port)>> {
    let mut hops = Vec::with_capacity(5);
    let arrived = walk(wiring, routing, from, to, |hop| hops.push((hop.switch, hop.port)));
    arrived.is_ok().then_some(hops)
}

impl Ground<'_> {
    /// Whether all ways between hosts are the mesh's own; else the switch that has most others.
    pub(super) fn intact(&self, mesh: &FullMesh, hosts: &[Host]) -> Result<(), Switch> {
        if self.is_whole {
            return Ok(());
        }
        let switch = |host: Host| host / mesh.degree();
        let mut others: BTreeMap<Switch, u32> = BTreeMap::new();
        // Hosts of one switch share their ways.
        let mut senders = hosts.to_vec();
        senders.sort_unstable();
        senders.dedup_by_key(|host| switch(*host));
        for &from in &senders {
            for &to in hosts {
                let own = way(mesh, mesh, from, to);
                if own != way(self.wiring, self.routing, from, to) {
                    *others.entry(switch(from)).or_default() += 1;
                    *others.entry(switch(to)).or_default() += 1;
                }
            }
        }
        let most = others.into_iter().max_by_key(|&(_, count)| count);
        most.map_or(Ok(()), |(switch, _)| Err(switch))
    }

    /// Hosts of a box that is free and intact: a box that is not loses its worst switch, and
    /// another is looked for. `None` if no such box was found.
    pub fn find(&self, mesh: &FullMesh, free: &[Host], shape: Shape) -> Option<Vec<Host>> {
        let (mut free, mut left) = (free.to_vec(), MOST_WAYS);
        loop {
            let hosts = Board::new(mesh, &free).find(shape)?;
            let Err(spoilt) = self.intact(mesh, &hosts) else { return Some(hosts) };
            free.retain(|host| host / mesh.degree() != spoilt);
            left = left.checked_sub(shape.size() * u64::from(shape.layers * shape.vertices))?;
        }
    }
}
