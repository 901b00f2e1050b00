//! Which of the free nodes a job takes.

use laneway_stats::SplitMix64;

use super::flows::{Flows, Unreached};
use super::shape::{Board, Shape};
use super::{Ground, MOST_LISTED};
use crate::routing::walk;
use crate::wiring::{Host, by_switch};

/// Larger shapes that are looked at where none has exactly the nodes that are wanted.
const NEAR_SHAPES: usize = 64;

/// More free nodes than this are not compared one by one.
const MOST_COMPARED: usize = 4096;

/// Looks at a link that the exchange of nodes may take.
const EFFORT: usize = 1 << 26;

/// Chooses nodes whose all-to-all needs few phases: a shape where one is free, else the best of
/// some ways to choose, and of exchanges of one node for another. Both lists are in order.
pub fn place(
    ground: &Ground,
    free: &[Host],
    size: usize,
    seed: u64,
) -> Result<Vec<Host>, Unreached> {
    let mut choices: Vec<Vec<Host>> = Vec::new();
    if let Some(mesh) = ground.mesh {
        let mut shapes = Shape::of_size(size as u64, mesh.degree()).into_iter();
        if let Some(hosts) = shapes.find_map(|shape| ground.find(mesh, free, shape)) {
            return Ok(hosts);
        }
        // After a failure it may have nodes that others do not reach.
        if ground.is_whole {
            choices.extend(near_shape(&Board::new(mesh, free), mesh.degree(), size));
        }
    }
    let (free, flows) = match free.len() > MOST_LISTED {
        true => (free.to_vec(), None),
        false => reaching(ground, free, size).map(|(free, flows)| (free, Some(flows)))?,
    };
    let free = &free[..];
    choices.extend([switch_by_switch(ground, free, size), round_about(ground, free, size)]);
    choices.iter_mut().for_each(|hosts| hosts.sort_unstable());
    let Some(flows) = flows.filter(|_| free.len() <= MOST_COMPARED) else {
        return Ok(choices.swap_remove(0));
    };
    // Every choice is of free nodes.
    let number = |host: &Host| free.binary_search(host).unwrap_or_default();
    let mut best: Option<Chosen> = None;
    for hosts in &choices {
        let chosen = Chosen::new(&flows, hosts.iter().map(number).collect());
        if best.as_ref().is_none_or(|best| chosen.excess < best.excess) {
            best = Some(chosen);
        }
    }
    let Some(mut best) = best else { return Ok(Vec::new()) };
    best.exchange(seed);
    let mut hosts: Vec<Host> = best.members.iter().map(|&member| free[member]).collect();
    hosts.sort_unstable();
    Ok(hosts)
}

/// The next larger shape that is free, less a node here and there.
fn near_shape(board: &Board, degree: u32, size: usize) -> Option<Vec<Host>> {
    let most = u64::from(degree) * u64::from(degree) * (u64::from(degree) + 1);
    let larger = (size as u64 + 1..=most).flat_map(|size| Shape::of_size(size, degree));
    let mut found = larger.take(NEAR_SHAPES).find_map(|shape| {
        let hosts = board.find(shape)?;
        Some((shape.nodes as usize, hosts))
    })?;
    // Every switch loses its last node before any loses another.
    let (nodes, hosts) = (found.0, &mut found.1);
    let mut order: Vec<usize> = (0..hosts.len()).collect();
    order.sort_by_key(|&at| (at % nodes, at / nodes));
    Some(order[..size].iter().map(|&at| hosts[at]).collect())
}

/// The free nodes that reach each other, with their ways. A node that others do not reach is left
/// out, as long as there are enough without it.
fn reaching(ground: &Ground, free: &[Host], size: usize) -> Result<(Vec<Host>, Flows), Unreached> {
    let lost = match Flows::new(ground.wiring, ground.routing, free) {
        Ok(flows) => return Ok((free.to_vec(), flows)),
        Err(lost) => lost,
    };
    let reached = reached(ground, free);
    if reached.len() < size {
        return Err(lost);
    }
    let flows = Flows::new(ground.wiring, ground.routing, &reached)?;
    Ok((reached, flows))
}

/// Free nodes that all reach each other, as many as there are: those that most reach come first,
/// and then each who reaches all before him. In order.
fn reached(ground: &Ground, free: &[Host]) -> Vec<Host> {
    // Hosts of one switch reach the same others.
    let mut row = vec![0; free.len()];
    let mut reach: Vec<Vec<bool>> = Vec::new();
    for hosts in by_switch(ground.wiring, free.iter().copied()).values() {
        let arrives =
            |&to: &Host| walk(ground.wiring, ground.routing, hosts[0], to, |_| {}).is_ok();
        for host in hosts {
            // Every host of the map is free.
            row[free.binary_search(host).unwrap_or_default()] = reach.len();
        }
        reach.push(free.iter().map(arrives).collect());
    }
    let both = |one: usize, other: usize| {
        let one_way = |from: usize, to: usize| reach.get(row[from]).is_some_and(|row| row[to]);
        one_way(one, other) && one_way(other, one)
    };
    let mut order: Vec<usize> = (0..free.len()).filter(|&at| both(at, at)).collect();
    order.sort_by_cached_key(|&at| free.len() - (0..free.len()).filter(|&to| both(at, to)).count());
    let mut members: Vec<usize> = Vec::new();
    for at in order {
        if members.iter().all(|&member| both(at, member)) {
            members.push(at);
        }
    }
    members.sort_unstable();
    members.into_iter().map(|at| free[at]).collect()
}

/// All nodes of the switch that has most of them free, of the next, and so on.
fn switch_by_switch(ground: &Ground, free: &[Host], size: usize) -> Vec<Host> {
    let mut switches: Vec<Vec<Host>> =
        by_switch(ground.wiring, free.iter().copied()).into_values().collect();
    switches.sort_by_key(|hosts| std::cmp::Reverse(hosts.len()));
    switches.into_iter().flatten().take(size).collect()
}

/// A node of every switch, another of every switch, and so on.
fn round_about(ground: &Ground, free: &[Host], size: usize) -> Vec<Host> {
    let mut all: Vec<(usize, Host)> = Vec::new();
    for hosts in by_switch(ground.wiring, free.iter().copied()).into_values() {
        all.extend(hosts.into_iter().enumerate());
    }
    all.sort_by_key(|&(turn, _)| turn);
    all.into_iter().take(size).map(|(_, host)| host).collect()
}

/// A choice, as numbers of free nodes, with the load of its all-to-all.
struct Chosen<'f> {
    flows: &'f Flows,
    members: Vec<usize>,
    load: Vec<i64>,
    /// What links carry beyond a message for each node, squared and summed: to be nothing.
    excess: i64,
}

impl Chosen<'_> {
    fn new(flows: &Flows, members: Vec<usize>) -> Chosen<'_> {
        let load = vec![0; flows.resources()];
        let most = members.len();
        let mut chosen = Chosen { flows, members: Vec::with_capacity(most), load, excess: 0 };
        for member in members {
            chosen.change(member, most as i64, 1);
            chosen.members.push(member);
        }
        chosen
    }

    /// The load that comes or goes with a node, beside the members.
    fn change(&mut self, node: usize, limit: i64, by: i64) {
        for &other in &self.members {
            for (from, to) in [(node, other), (other, node)] {
                for need in self.flows.needs(from, to) {
                    let over = |load: i64| (load - limit).max(0).pow(2);
                    let load = &mut self.load[need];
                    self.excess += over(*load + by) - over(*load);
                    *load += by;
                }
            }
        }
    }

    /// Exchanges a member for another free node as long as that helps.
    fn exchange(&mut self, seed: u64) {
        let (size, free) = (self.members.len(), self.flows.ranks());
        let mut outside: Vec<usize> = (0..free).filter(|at| !self.members.contains(at)).collect();
        if size == 0 || outside.is_empty() {
            return;
        }
        let mut draws = SplitMix64::new(seed);
        let limit = size as i64;
        for _ in 0..EFFORT / (16 * size) {
            if self.excess == 0 {
                return;
            }
            let before = self.excess;
            let (at, new) = (draws.index(size), draws.index(outside.len()));
            let (old, new_node) = (self.members.swap_remove(at), outside[new]);
            self.change(old, limit, -1);
            self.change(new_node, limit, 1);
            if self.excess <= before {
                self.members.push(new_node);
                outside[new] = old;
            } else {
                self.change(new_node, limit, -1);
                self.change(old, limit, 1);
                self.members.push(old);
            }
        }
    }
}
