//! Which pairs of hosts have a quick look, and when. Within the sites all pairs meet by the circle
//! method, those without a common host at the same time. Two sites share the way between them: one
//! pair after another looks, and a token goes from leader to leader, until the time is over.

use laneway_core::{CommError, Rank};

use super::super::found::{Bench, Found};
use super::quick::{Looker, Quick};
use super::usual::Bounds;
use crate::p2p::Plan;
use crate::talk::{TASK, synchronise};

/// Seconds that the looks between two sites take at most; in virtual time they may take any.
const MOST_SECONDS: f64 = 30.0;

/// Words of the token.
const GO: u8 = 1;
const STOP: u8 = 0;

/// The first ranks of the hosts of a site, which look for them.
fn firsts(found: &Found, site: u32) -> Vec<Rank> {
    let mut seen = vec![false; found.numbers.len()];
    let is_first = |&rank: &Rank| {
        let host = found.numbers[rank as usize] as usize;
        !std::mem::replace(&mut seen[host], true)
    };
    let ranks = (0..found.numbers.len() as Rank).filter(is_first);
    ranks.filter(|&rank| found.sites[rank as usize] == site).collect()
}

/// Collective: a quick look at each pair of hosts.
pub(super) fn look_at_all(
    bench: &Bench,
    found: &Found,
    bounds: &Bounds,
    sites: u32,
) -> Result<Quick, CommError> {
    let comm = bench.lab.comm;
    let mut looker = Looker::new(comm, found.survey.sizes(), bounds, &found.sites);
    synchronise(comm)?;
    let own_site = found.sites[comm.rank() as usize];
    let own = firsts(found, own_site);
    near(bench, &mut looker, &own)?;
    synchronise(comm)?;
    // Sites meet as ranks do: each with one other at a time.
    for turn in 0..Plan::rounds_of_pairs(sites) {
        if let Some(other) = Plan::partner(sites, turn, own_site) {
            let others = firsts(found, other);
            if own_site < other {
                far_leaders(bench, &mut looker, &own, &others)?;
            } else {
                far_followers(bench, &mut looker, &others, &own)?;
            }
        }
        synchronise(comm)?;
    }
    looker.gather()
}

/// All pairs of one site.
fn near(bench: &Bench, looker: &mut Looker, own: &[Rank]) -> Result<(), CommError> {
    let rank = bench.lab.comm.rank();
    let Some(place) = own.iter().position(|&other| other == rank) else { return Ok(()) };
    let count = own.len() as u32;
    let rounds = Plan::rounds_of_pairs(count);
    for turn in 0..rounds {
        (bench.lab.each_round)(turn as usize, rounds as usize);
        let Some(other) = Plan::partner(count, turn, place as u32) else { continue };
        let other = own[other as usize];
        if rank < other { looker.lead(other)? } else { looker.follow(other)? }
    }
    Ok(())
}

/// Leaders look in turns: each with one of the other site, then the next leader; then each with the
/// next of the other site.
fn far_leaders(
    bench: &Bench,
    looker: &mut Looker,
    leaders: &[Rank],
    others: &[Rank],
) -> Result<(), CommError> {
    let comm = bench.lab.comm;
    let Some(place) = leaders.iter().position(|&rank| rank == comm.rank()) else { return Ok(()) };
    let (count, last) = (leaders.len(), others.len() - 1);
    let [before, next] = [place + count - 1, place + 1].map(|place| leaders[place % count]);
    let begun = comm.clock().now();
    let most = if comm.clock().is_virtual() { f64::INFINITY } else { MOST_SECONDS };
    let mut token = [GO];
    for step in 0..others.len() {
        (bench.lab.each_round)(step, others.len());
        if count > 1 && (step, place) != (0, 0) {
            comm.recv(Some(before), Some(TASK), &mut token)?;
        }
        if comm.clock().now() - begun > most {
            token = [STOP];
        }
        let other = others[(place + step) % others.len()];
        if token == [GO] {
            looker.lead(other)?
        } else {
            looker.skip(other)?
        }
        if count > 1 && (step, place) != (last, count - 1) {
            comm.send(next, TASK, &token)?;
        }
    }
    Ok(())
}

/// The others look with the leaders in the order of these.
fn far_followers(
    bench: &Bench,
    looker: &mut Looker,
    leaders: &[Rank],
    others: &[Rank],
) -> Result<(), CommError> {
    let rank = bench.lab.comm.rank();
    let Some(place) = others.iter().position(|&other| other == rank) else { return Ok(()) };
    for step in 0..others.len() {
        (bench.lab.each_round)(step, others.len());
        for (number, &leader) in leaders.iter().enumerate() {
            if (number + step) % others.len() == place {
                looker.follow(leader)?;
            }
        }
    }
    Ok(())
}
