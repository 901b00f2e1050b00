//! Which found switch is which planned one, by nothing but the cables between them.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::wiring::{End, Port, Switch, Wiring};

/// Guesses at most; what is still equal after them is taken in order.
const MOST_GUESSES: usize = 128;

/// First guesses that are tried, because the first one may have met a damaged switch.
const SEEDS: usize = 6;

/// Ways between two switches that are counted, in the lower bits of a view.
const MOST_WAYS: u16 = 0x0fff;

/// One way in this number may be missing.
const ONE_IN: u16 = 3;

/// What the same distance from hosts counts, beside 1 for each view that agrees.
const LEVEL: u8 = 4;

// Scores are one byte each: see `Likeness`.
const _: () = assert!(1 + LEVEL as usize + MOST_GUESSES <= u8::MAX as usize);

/// Switches that an improvement looks at; with more out of place the first guess was wrong.
const MOST_MISPLACED: usize = 200;

/// A fabric as seen from its switches.
pub struct Shape {
    /// The other switches at cables of each switch, in order, and how many cables lead there.
    pub beside: Vec<Vec<(usize, u32)>>,
    pub hosts: Vec<u32>,
    /// Switches to the nearest host.
    level: Vec<u32>,
    /// Of the switches that were looked from: see `view`.
    views: Vec<OnceCell<Vec<u16>>>,
}

impl Shape {
    pub fn of(wiring: &dyn Wiring) -> Shape {
        let count = wiring.switches() as usize;
        let mut beside = Vec::with_capacity(count);
        let mut hosts = vec![0; count];
        for (switch, hosts) in hosts.iter_mut().enumerate() {
            let mut others = BTreeMap::new();
            for port in 0..wiring.ports(switch as Switch) as Port {
                match wiring.end(switch as Switch, port) {
                    End::Nothing => {}
                    End::Host(_) => *hosts += 1,
                    End::Switch(other, _) => *others.entry(other as usize).or_insert(0) += 1,
                }
            }
            beside.push(others.into_iter().collect());
        }
        let leaves: Vec<usize> = (0..count).filter(|&switch| hosts[switch] > 0).collect();
        let level = walk(&beside, &leaves).into_iter().map(|(far, _)| far).collect();
        Shape { beside, hosts, level, views: vec![OnceCell::new(); count] }
    }

    fn count(&self) -> usize {
        self.hosts.len()
    }

    /// Distance to every switch, and how many shortest ways lead there.
    fn view(&self, from: usize) -> &[u16] {
        let seen = |(far, ways): (u32, u32)| {
            (far.min(15) as u16) << 12 | ways.min(u32::from(MOST_WAYS)) as u16
        };
        let look = || walk(&self.beside, &[from]).into_iter().map(seen).collect();
        self.views[from].get_or_init(look)
    }

    fn between(&self, one: usize, other: usize) -> u32 {
        let beside = &self.beside[one];
        beside.binary_search_by_key(&other, |&(at, _)| at).map_or(0, |at| beside[at].1)
    }

    fn is_leaf(&self, switch: usize) -> bool {
        self.hosts[switch] > 0
    }
}

/// For each switch the distance and the number of shortest ways from one of these.
fn walk(beside: &[Vec<(usize, u32)>], from: &[usize]) -> Vec<(u32, u32)> {
    let mut all = vec![(u32::MAX, 0u32); beside.len()];
    let mut reached = from.to_vec();
    for &switch in from {
        all[switch] = (0, 1);
    }
    let mut at = 0;
    while let Some(&switch) = reached.get(at) {
        at += 1;
        let (far, ways) = all[switch];
        for &(other, cables) in &beside[switch] {
            if all[other].0 == u32::MAX {
                all[other].0 = far + 1;
                reached.push(other);
            }
            if all[other].0 == far + 1 {
                all[other].1 = all[other].1.saturating_add(ways.saturating_mul(cables));
            }
        }
    }
    all
}

/// The planned switch of each found one.
pub fn lay(found: &Shape, plan: &Shape) -> Vec<Option<Switch>> {
    let mut best: Option<(u64, Vec<Option<usize>>)> = None;
    for seed in 0..SEEDS.min(found.count()) {
        // Exactly alike first; a damaged fabric has fewer ways than planned, but not many fewer.
        let tolerance = if seed == 0 { 0 } else { ONE_IN };
        let laid = guess(found, plan, seed, tolerance);
        let mut laid = Laid::new(found, plan, laid);
        let mut cost = laid.cost();
        while cost > 0 && laid.improve() {
            cost = laid.cost();
        }
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, laid.laid));
        }
        if cost == 0 {
            break;
        }
    }
    let laid = best.map_or_else(Vec::new, |(_, laid)| laid);
    laid.into_iter().map(|planned| planned.map(|planned| planned as Switch)).collect()
}

/// How alike found and planned switches are: a row of scores for each found one. A leaf is laid on
/// a leaf, so that its row has only those, and the row of another switch only the others.
struct Likeness<'a> {
    found: &'a Shape,
    /// Planned switches, leaves first.
    columns: Vec<usize>,
    leaves: usize,
    /// One more than the score, by found switch and column.
    rows: Vec<Vec<u8>>,
    /// By column: all bits where nothing has been laid there, else none.
    free: Vec<u8>,
}

impl Likeness<'_> {
    fn new<'a>(found: &'a Shape, plan: &Shape) -> Likeness<'a> {
        let mut columns: Vec<usize> = (0..plan.count()).collect();
        columns.sort_by_key(|&planned| !plan.is_leaf(planned));
        let leaves = columns.partition_point(|&planned| plan.is_leaf(planned));
        let free = vec![u8::MAX; columns.len()];
        let mut likeness = Likeness { found, columns, leaves, rows: Vec::new(), free };
        // One wrong cable can lift a switch to another level, so that counts, but not for all.
        let row = |switch: usize| {
            let level = found.level[switch];
            let columns = &likeness.columns[likeness.range(switch)];
            columns.iter().map(|&at| 1 + LEVEL * u8::from(plan.level[at] == level)).collect()
        };
        likeness.rows = (0..found.count()).map(row).collect();
        likeness
    }

    /// The columns of a row.
    fn range(&self, switch: usize) -> std::ops::Range<usize> {
        if self.found.is_leaf(switch) { 0..self.leaves } else { self.leaves..self.columns.len() }
    }

    /// The best score of a found switch with a planned one that is free, and how many have it.
    fn best(&self, switch: usize) -> Option<(u8, usize)> {
        let (row, free) = (&self.rows[switch], &self.free[self.range(switch)]);
        let most = row.iter().zip(free).map(|(score, free)| score & free).max()?;
        // Small sums, so that they are bytes too.
        let parts = row.chunks(128).zip(free.chunks(128));
        let equals = |(row, free): (&[u8], &[u8])| {
            let equal = row.iter().zip(free).map(|(score, free)| u8::from(score & free == most));
            usize::from(equal.sum::<u8>())
        };
        (most > 0).then(|| (most - 1, parts.map(equals).sum()))
    }

    /// Takes the first planned switch with this score.
    fn take(&mut self, switch: usize, score: u8) -> Option<usize> {
        let (row, range) = (&self.rows[switch], self.range(switch));
        let mut scores = row.iter().zip(&self.free[range.clone()]);
        let column = range.start + scores.position(|(own, free)| own & free == score + 1)?;
        self.free[column] = 0;
        Some(self.columns[column])
    }

    /// Counts for these found switches whether their views of one that is laid agree.
    fn see(&mut self, rest: &[usize], seen: &[u16], planned: &[u16], tolerance: u16) {
        let planned: Vec<u16> = self.columns.iter().map(|&at| planned[at]).collect();
        // Many have the same view.
        let mut agreeing: BTreeMap<u16, Vec<u8>> = BTreeMap::new();
        for &switch in rest {
            let range = self.range(switch);
            let view = seen[switch];
            let agreeing = agreeing.entry(view).or_insert_with(|| {
                planned.iter().map(|&as_seen| u8::from(agree(view, as_seen, tolerance))).collect()
            });
            for (score, agrees) in self.rows[switch].iter_mut().zip(&agreeing[range]) {
                *score += agrees;
            }
        }
    }
}

/// Lays switch by switch, the most alike first; equals are distinguished by a guess.
fn guess(found: &Shape, plan: &Shape, seed: usize, tolerance: u16) -> Vec<Option<usize>> {
    let mut laid = vec![None; found.count()];
    let mut likeness = Likeness::new(found, plan);
    let mut rest: Vec<usize> = (0..found.count()).collect();
    for round in 0..MOST_GUESSES {
        let ranked = rest.iter().filter_map(|&switch| {
            let (score, equals) = likeness.best(switch)?;
            (equals > 1).then_some((score, equals, switch))
        });
        let chosen = if round == 0 {
            // Of the most numerous kind, another one for each seed.
            let mut all: Vec<_> = ranked.collect();
            all.sort_by_key(|&(_, equals, switch)| (Reverse(equals), switch));
            all.get(seed * 7 % all.len().max(1)).copied()
        } else {
            ranked.max_by_key(|&(score, equals, switch)| (score, equals, Reverse(switch)))
        };
        let Some((score, _, switch)) = chosen else { break };
        let Some(planned) = likeness.take(switch, score) else { break };
        laid[switch] = Some(planned);
        rest.retain(|&other| other != switch);
        likeness.see(&rest, found.view(switch), plan.view(planned), tolerance);
    }
    rest.sort_by_cached_key(|&switch| Reverse(likeness.best(switch).map_or(0, |(score, _)| score)));
    for switch in rest {
        if let Some((score, _)) = likeness.best(switch) {
            laid[switch] = likeness.take(switch, score);
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

/// Found switches as they are laid on planned ones.
struct Laid<'a> {
    found: &'a Shape,
    plan: &'a Shape,
    laid: Vec<Option<usize>>,
    /// Cables of each planned switch to others that something is laid on.
    planned: Vec<u32>,
}

impl Laid<'_> {
    fn new<'a>(found: &'a Shape, plan: &'a Shape, laid: Vec<Option<usize>>) -> Laid<'a> {
        let mut taken = vec![false; plan.count()];
        for &planned in laid.iter().flatten() {
            taken[planned] = true;
        }
        let cables = |beside: &Vec<(usize, u32)>| {
            beside.iter().filter(|(other, _)| taken[*other]).map(|(_, cables)| cables).sum()
        };
        Laid { found, plan, laid, planned: plan.beside.iter().map(cables).collect() }
    }

    /// Cables of one found switch that are too many or too few, with their other ends as laid.
    fn misplaced(&self, switch: usize) -> u64 {
        let (found, plan) = (self.found, self.plan);
        let own = self.laid[switch];
        let hosts = own.map_or(0, |own| plan.hosts[own]);
        let mut sum = u64::from(found.hosts[switch].abs_diff(hosts));
        sum += u64::from(own.map_or(0, |own| self.planned[own]));
        for &(other, cables) in &found.beside[switch] {
            let planned = own.zip(self.laid[other]).map_or(0, |(own, at)| plan.between(own, at));
            // Those in their place were counted above.
            sum += u64::from(cables);
            sum -= u64::from(2 * cables.min(planned));
        }
        sum
    }

    fn cost(&self) -> u64 {
        (0..self.found.count()).map(|switch| self.misplaced(switch)).sum()
    }

    /// Exchanges two switches where that puts more cables in their place; false where none does.
    fn improve(&mut self) -> bool {
        let wrong: Vec<usize> =
            (0..self.found.count()).filter(|&at| self.misplaced(at) > 0).collect();
        if wrong.len() > MOST_MISPLACED {
            return false;
        }
        let mut better = false;
        for (index, &one) in wrong.iter().enumerate() {
            for &other in &wrong[index + 1..] {
                if self.found.is_leaf(one) != self.found.is_leaf(other) {
                    continue;
                }
                let before = self.misplaced(one) + self.misplaced(other);
                self.laid.swap(one, other);
                match self.misplaced(one) + self.misplaced(other) < before {
                    true => better = true,
                    false => self.laid.swap(one, other),
                }
            }
        }
        better
    }
}
