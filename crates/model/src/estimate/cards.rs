//! Experiments that tell cards: fans of every rank, wider and wider, and with the fastest partners.

use laneway_core::Rank;
use laneway_measure::p2p::Plan;
use laneway_measure::talk::broadcast;

use super::course::Course;
use super::{HUBS, around};
use crate::error::ModelError;
use crate::experiments::{Experiments, Kind};
use crate::lmo::{Lmo, SeenIn, fans_of};
use crate::probe::Direction;

/// And with messages of so many bytes, beside the sizes that are asked for: where protocols differ
/// most, and bytes count.
const SHORT_FAN: u64 = 1 << 10;
/// A card is known that is known to such a part.
const SHARP: f64 = 0.02;
/// Where others disturb, a fan of more ranks than these tells a card.
const FEW: usize = 8;
/// In place of a rank.
const NO_RANK: f64 = -1.0;
/// Times of a byte that differ by less are alike.
const ALIKE: f64 = 0.1;

/// Fans of every rank: with two others, and with more of them where two do not fill its card.
pub(super) fn fill_cards(
    course: &mut Course,
    hosts: &[String],
    eager_bytes: u64,
    sizes: &[u64],
) -> Result<(), ModelError> {
    let ranks = hosts.len() as u32;
    let bytes = sizes.last().copied().unwrap_or(0);
    let directions = [Direction::Out, Direction::In];
    // Whose card is not filled yet, by direction and rank.
    let mut open = vec![1.0; 2 * ranks as usize];
    let mut width = 2;
    loop {
        for (number, direction) in directions.into_iter().enumerate() {
            let is_open = |rank: &Rank| open[number * ranks as usize + *rank as usize] > 0.0;
            let fan = |hub: Rank| (0..=width).map(|step| (hub + step) % ranks).collect();
            let subsets: Vec<Vec<Rank>> = (0..ranks).filter(is_open).map(fan).collect();
            if !subsets.is_empty() {
                course.batch(Kind::Fan { bytes, direction }, &Plan::of(subsets)?)?;
            }
        }
        if width == ranks - 1 {
            return fill_by_rate(course, hosts, eager_bytes, bytes);
        }
        width = (2 * width).min(ranks - 1);
        if course.leads() {
            let timed = course.timed.clone();
            let hosts = hosts.to_vec();
            let so_far = Experiments { hosts, eager_bytes, timed, ..Experiments::default() };
            open = still_open(&so_far, bytes);
        }
        broadcast(course.comm, &mut open)?;
        if open.iter().all(|&flag| flag == 0.0) {
            return Ok(());
        }
    }
}

/// Of partners whose rates differ much the slowest hides what the others share: fans with the
/// fastest partners, of the cards that are still not filled.
fn fill_by_rate(
    course: &mut Course,
    hosts: &[String],
    eager_bytes: u64,
    bytes: u64,
) -> Result<(), ModelError> {
    let ranks = hosts.len() as u32;
    for width in [2, 4].into_iter().filter(|&width| width < ranks) {
        let room = (width as usize + 1) * ranks as usize;
        // One subset after another, of each direction; a hub of none where nothing is left to do.
        let mut members = vec![NO_RANK; 2 * room];
        if course.leads() {
            let (hosts, timed) = (hosts.to_vec(), course.timed.clone());
            let so_far = Experiments { hosts, eager_bytes, timed, ..Experiments::default() };
            for (number, fan) in fastest_fans(&so_far, bytes, width as usize) {
                let at = number * (width as usize + 1);
                let numbers = fan.iter().map(|&rank| f64::from(rank));
                members[at..].iter_mut().zip(numbers).for_each(|(to, from)| *to = from);
            }
        }
        broadcast(course.comm, &mut members)?;
        for (direction, members) in
            [Direction::Out, Direction::In].into_iter().zip(members.chunks(room))
        {
            let fans = members.chunks(width as usize + 1).filter(|fan| fan[0] != NO_RANK);
            let rank = |number: &f64| *number as Rank;
            let fans: Vec<Vec<Rank>> = fans.map(|fan| fan.iter().map(rank).collect()).collect();
            if !fans.is_empty() {
                course.batch(Kind::Fan { bytes, direction }, &Plan::of(fans)?)?;
            }
        }
    }
    Ok(())
}

/// Of each card that is not filled, by its number: its host with the fastest partners, if they did
/// not do that already.
fn fastest_fans(experiments: &Experiments, bytes: u64, width: usize) -> Vec<(usize, Vec<Rank>)> {
    let ranks = experiments.ranks();
    // What goes wrong here goes wrong in the fit as well, and is told there.
    let Ok(lmo) = Lmo::without_cards(experiments, SeenIn::Fastest) else { return Vec::new() };
    let open = still_open(experiments, bytes);
    let fan = |(number, _): (usize, &f64)| {
        let (hub, out) = (number as u32 % ranks, number < ranks as usize);
        let direction = if out { Direction::Out } else { Direction::In };
        let per_byte = |other: &Rank| match out {
            true => lmo.per_byte(hub, *other).value,
            false => lmo.per_byte(*other, hub).value,
        };
        // Of partners that are about as fast, the next ones.
        let part = |other: &Rank| (per_byte(other).max(f64::MIN_POSITIVE).ln() / ALIKE).round();
        let mut others: Vec<Rank> = (1..ranks).map(|step| (hub + step) % ranks).collect();
        others.sort_by(|one, other| part(one).total_cmp(&part(other)));
        let fan: Vec<Rank> = [hub].into_iter().chain(others.into_iter().take(width)).collect();
        let is_done = fans_of(experiments, hub, direction).any(|timed| timed.ranks == fan);
        (!is_done).then_some((number, fan))
    };
    open.iter().enumerate().filter(|(_, flag)| **flag > 0.0).filter_map(fan).collect()
}

/// Where messages of some sizes are no straight line: fans of messages shorter than those that tell
/// cards, of all ranks around some of them. They say whether what depends on the size takes from
/// cards as well.
pub(super) fn compare_sizes(
    course: &mut Course,
    hosts: &[String],
    eager_bytes: u64,
    sizes: &[u64],
) -> Result<(), ModelError> {
    let longest = sizes.last().copied().unwrap_or(0);
    let mut shorter: Vec<u64> = [SHORT_FAN].iter().chain(sizes).copied().collect();
    shorter.retain(|&bytes| bytes < longest);
    shorter.sort_unstable();
    shorter.dedup();
    let mut curved = [0.0];
    if course.leads() {
        let (hosts, timed) = (hosts.to_vec(), course.timed.clone());
        let so_far = Experiments { hosts, eager_bytes, timed, ..Experiments::default() };
        // What goes wrong here goes wrong in the fit as well, and is told there.
        let is_curved = |seen_in| {
            Lmo::without_cards(&so_far, seen_in).is_ok_and(|lmo: Lmo| !lmo.sizes.is_empty())
        };
        let any = [SeenIn::Middle, SeenIn::Fastest].into_iter().any(is_curved);
        curved = [f64::from(u8::from(any))];
    }
    broadcast(course.comm, &mut curved)?;
    if curved[0] == 0.0 {
        return Ok(());
    }
    let ranks = hosts.len() as u32;
    let mut hubs: Vec<Rank> = (0..HUBS).map(|part| part * ranks / HUBS).collect();
    hubs.dedup();
    for (bytes, hub) in
        shorter.into_iter().flat_map(|bytes| hubs.iter().map(move |&hub| (bytes, hub)))
    {
        for direction in [Direction::Out, Direction::In] {
            course.batch(Kind::Fan { bytes, direction }, &around(hub, ranks)?)?;
        }
    }
    Ok(())
}

/// Cards that were not filled, or that the times hardly tell, although messages were under way at
/// the same time; and where others disturb, those that few messages filled: one of two that meets
/// others is late, and tells nothing of the card. Where a host's processor is slower than the ways
/// from it, messages follow each other, and no number of them fills the card. What goes wrong here
/// goes wrong in the fit as well, and is told there.
fn still_open(experiments: &Experiments, bytes: u64) -> Vec<f64> {
    let ranks = experiments.ranks();
    let none = vec![0.0; 2 * ranks as usize];
    let lmo = Lmo::without_cards(experiments, SeenIn::Fastest);
    let Ok(lmo) = lmo.and_then(|lmo| lmo.as_fans(experiments)) else { return none };
    let is_open = |direction: Direction, rank: Rank| {
        let fans: Vec<_> = fans_of(experiments, rank, direction).collect();
        let card = lmo.card(&fans, direction, experiments.eager_bytes);
        let host = &lmo.hosts[rank as usize];
        let (each, byte) = match direction {
            Direction::Out => (host.send, host.per_byte_sent),
            Direction::In => (host.receive, host.per_byte_received),
        };
        let busy = each.value + bytes as f64 * byte.value;
        let way = |other: Rank| match direction {
            Direction::Out => lmo.per_byte(rank, other).value,
            Direction::In => lmo.per_byte(other, rank).value,
        };
        let slowest = (0..ranks).filter(|&other| other != rank).map(way).fold(0.0, f64::max);
        let few = fans.iter().all(|timed| timed.ranks.len() <= FEW);
        let disturbed = fans.iter().any(|timed| timed.is_disturbed());
        let known = match card {
            Ok(None) => false,
            Ok(Some(_)) if few && disturbed => false,
            Ok(Some(card)) => card.half() <= SHARP * card.value,
            Err(_) => true,
        };
        !known && busy < bytes as f64 * slowest
    };
    let flags = [Direction::Out, Direction::In].into_iter().flat_map(|direction| {
        (0..ranks).map(move |rank| f64::from(u8::from(is_open(direction, rank))))
    });
    flags.collect()
}
