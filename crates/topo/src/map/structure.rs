//! Which found switch is which planned one, by nothing but the cables between them.

use crate::wiring::{End, Port, Switch, Wiring};

/// Guesses at most; what is still equal after them is taken in order.
const MOST_GUESSES: usize = 128;

/// First guesses that are tried, because the first one may have met a damaged switch.
const SEEDS: usize = 6;

/// Ways between two switches that are counted, in the lower bits of a view.
const MOST_WAYS: u16 = 0x0fff;

/// One way in so many may be missing.
const ONE_IN: u16 = 3;

/// What the same distance from hosts counts, beside 1 for each view that agrees.
const LEVEL: u16 = 4;

/// Switches that an improvement looks at; with more out of place the first guess was wrong.
const MOST_MISPLACED: usize = 200;

/// A fabric as seen from its switches.
struct Shape {
    count: usize,
    /// Cables between two switches.
    cables: Vec<u8>,
    hosts: Vec<u32>,
    /// Switches to the nearest host.
    level: Vec<u32>,
    /// Distance to another switch, and how many shortest ways lead there.
    seen: Vec<u16>,
}

impl Shape {
    fn of(wiring: &dyn Wiring) -> Shape {
        let count = wiring.switches() as usize;
        let mut near: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut cables = vec![0u8; count * count];
        let mut hosts = vec![0; count];
        for switch in 0..count {
            for port in 0..wiring.ports(switch as Switch) as Port {
                match wiring.end(switch as Switch, port) {
                    End::Nothing => {}
                    End::Host(_) => hosts[switch] += 1,
                    End::Switch(other, _) => {
                        let between = &mut cables[switch * count + other as usize];
                        *between = between.saturating_add(1);
                        near[switch].push(other as usize);
                    }
                }
            }
        }
        let leaves: Vec<usize> = (0..count).filter(|&switch| hosts[switch] > 0).collect();
        let level = walk(&near, &leaves).into_iter().map(|(far, _)| far).collect();
        let view = |from: usize| {
            let seen = walk(&near, &[from]).into_iter();
            seen.map(|(far, ways)| {
                (far.min(15) as u16) << 12 | ways.min(u32::from(MOST_WAYS)) as u16
            })
        };
        let seen = (0..count).flat_map(view).collect();
        Shape { count, cables, hosts, level, seen }
    }

    fn between(&self, one: usize, other: usize) -> u8 {
        self.cables[one * self.count + other]
    }
}

/// For each switch the distance and the number of shortest ways from one of these.
fn walk(near: &[Vec<usize>], from: &[usize]) -> Vec<(u32, u32)> {
    let mut all = vec![(u32::MAX, 0u32); near.len()];
    let mut reached = from.to_vec();
    for &switch in from {
        all[switch] = (0, 1);
    }
    let mut at = 0;
    while let Some(&switch) = reached.get(at) {
        at += 1;
        let (far, ways) = all[switch];
        for &other in &near[switch] {
            if all[other].0 == u32::MAX {
                all[other].0 = far + 1;
                reached.push(other);
            }
            if all[other].0 == far + 1 {
                all[other].1 = all[other].1.saturating_add(ways);
            }
        }
    }
    all
}

/// The planned switch of each found one.
pub fn lay(found: &dyn Wiring, plan: &dyn Wiring) -> Vec<Option<Switch>> {
    let (found, plan) = (Shape::of(found), Shape::of(plan));
    let mut best: Option<(u64, Vec<Option<usize>>)> = None;
    for seed in 0..SEEDS.min(found.count) {
        // Exactly alike first; a damaged fabric has fewer ways than planned, but not many fewer.
        let tolerance = if seed == 0 { 0 } else { ONE_IN };
        let mut laid = guess(&found, &plan, seed, tolerance);
        let mut cost = cost(&found, &plan, &laid);
        while cost > 0 && improve(&found, &plan, &mut laid) {
            cost = self::cost(&found, &plan, &laid);
        }
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, laid));
        }
        if cost == 0 {
            break;
        }
    }
    let laid = best.map_or_else(Vec::new, |(_, laid)| laid);
    laid.into_iter().map(|planned| planned.map(|planned| planned as Switch)).collect()
}

/// Lays switch by switch, the most alike first; equals are told apart by a guess.
fn guess(found: &Shape, plan: &Shape, seed: usize, tolerance: u16) -> Vec<Option<usize>> {
    let mut laid = vec![None; found.count];
    let mut taken = vec![false; plan.count];
    // One wrong cable can lift a switch to another level, so that counts, but not for all.
    let level = |&planned: &u32, found: u32| LEVEL * u16::from(planned == found);
    let rows = found.level.iter().map(|&own| plan.level.iter().map(move |at| level(at, own)));
    let mut alike: Vec<u16> = rows.flatten().collect();
    for round in 0..MOST_GUESSES {
        let choices = (0..found.count).filter(|&switch| laid[switch].is_none());
        let ranked = choices.filter_map(|switch| {
            let (score, equals, first) = likeness(found, plan, &alike, &taken, switch)?;
            (equals > 1).then_some((score, equals, switch, first))
        });
        let chosen = if round == 0 {
            // Of the most numerous kind, another one for each seed.
            let mut all: Vec<_> = ranked.collect();
            all.sort_by_key(|&(_, equals, switch, _)| (std::cmp::Reverse(equals), switch));
            all.get(seed * 7 % all.len().max(1)).copied()
        } else {
            ranked.max_by_key(|&(score, equals, switch, _)| {
                (score, equals, std::cmp::Reverse(switch))
            })
        };
        let Some((_, _, switch, planned)) = chosen else { break };
        laid[switch] = Some(planned);
        taken[planned] = true;
        for (other, row) in alike.chunks_mut(plan.count.max(1)).enumerate() {
            let seen = found.seen[switch * found.count + other];
            let planned = &plan.seen[planned * plan.count..][..plan.count];
            for (score, &as_seen) in row.iter_mut().zip(planned) {
                *score += u16::from(agree(seen, as_seen, tolerance));
            }
        }
    }
    let mut rest: Vec<usize> = (0..found.count).filter(|&at| laid[at].is_none()).collect();
    let score = |&switch: &usize| {
        let best = likeness(found, plan, &alike, &taken, switch);
        std::cmp::Reverse(best.map_or(0, |(score, ..)| score))
    };
    rest.sort_by_cached_key(score);
    for switch in rest {
        if let Some((_, _, planned)) = likeness(found, plan, &alike, &taken, switch) {
            laid[switch] = Some(planned);
            taken[planned] = true;
        }
    }
    laid
}

/// Whether two views are of the same distance and of about as many ways.
fn agree(one: u16, other: u16, tolerance: u16) -> bool {
    if one == other || tolerance == 0 {
        return one == other;
    }
    let (ways, as_many) = (one & MOST_WAYS, other & MOST_WAYS);
    let most = ways.max(as_many);
    one & !MOST_WAYS == other & !MOST_WAYS && ways.abs_diff(as_many) <= most / tolerance
}

/// The best likeness of a found switch with a planned one that is free, how many have it, and the
/// first of them.
fn likeness(
    found: &Shape,
    plan: &Shape,
    alike: &[u16],
    taken: &[bool],
    switch: usize,
) -> Option<(u16, usize, usize)> {
    let row = &alike[switch * plan.count..][..plan.count];
    let mut best: Option<(u16, usize, usize)> = None;
    for (planned, &score) in row.iter().enumerate() {
        if taken[planned] || (plan.level[planned] == 0) != (found.level[switch] == 0) {
            continue;
        }
        best = match best {
            Some((most, equals, first)) if most == score => Some((most, equals + 1, first)),
            Some((most, ..)) if most > score => best,
            _ => Some((score, 1, planned)),
        };
    }
    best
}

/// Cables of one found switch that are too many or too few, with their other ends as they are laid.
fn misplaced(found: &Shape, plan: &Shape, laid: &[Option<usize>], switch: usize) -> u64 {
    let own = laid[switch];
    let hosts = own.map_or(0, |own| plan.hosts[own]);
    let mut sum = u64::from(found.hosts[switch].abs_diff(hosts));
    for (other, at) in laid.iter().enumerate() {
        let planned = own.zip(*at).map_or(0, |(own, at)| plan.between(own, at));
        sum += u64::from(found.between(switch, other).abs_diff(planned));
    }
    sum
}

fn cost(found: &Shape, plan: &Shape, laid: &[Option<usize>]) -> u64 {
    (0..found.count).map(|switch| misplaced(found, plan, laid, switch)).sum()
}

/// Exchanges two switches where that puts more cables in their place; false where none does.
fn improve(found: &Shape, plan: &Shape, laid: &mut [Option<usize>]) -> bool {
    let wrong: Vec<usize> =
        (0..found.count).filter(|&at| misplaced(found, plan, laid, at) > 0).collect();
    if wrong.len() > MOST_MISPLACED {
        return false;
    }
    let mut better = false;
    for (index, &one) in wrong.iter().enumerate() {
        for &other in &wrong[index + 1..] {
            if (found.level[one] == 0) != (found.level[other] == 0) {
                continue;
            }
            let pair = |laid: &[Option<usize>]| {
                misplaced(found, plan, laid, one) + misplaced(found, plan, laid, other)
            };
            let before = pair(laid);
            laid.swap(one, other);
            match pair(laid) < before {
                true => better = true,
                false => laid.swap(one, other),
            }
        }
    }
    better
}
