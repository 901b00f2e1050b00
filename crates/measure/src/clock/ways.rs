//! What clocks could be at most: no message arrives before it leaves.
//!
//! A common time rests on ways that take as long out as back, which cannot be observed.
//! What is certain is that each message left before it arrived. If `c[i]` is what must be
//! added to rank i's idea of the time to make it true, a message of rank i to rank j says that
//! `c[i] - c[j]` is at most its arrival less its departure, each by that rank's own idea. Such
//! constraints of many messages, over third ranks too, leave for each two ranks the most by which
//! one can be ahead: a shortest path. From these follow the least and the most that an operation
//! can have taken, exactly (a test enumerates all clocks).

use laneway_stats::SplitMix64;

/// Up to this number of ranks every pair is examined; of more, what the way over rank 0 allows.
const MOST_PAIRS: usize = 256;

/// For each two ranks, the most by which the first one's correction can exceed the second one's.
#[derive(Clone, Debug, PartialEq)]
pub enum Ways {
    /// All ranks read one clock.
    OneClock,
    /// Row after row: of rank i to each rank j.
    Pairs {
        /// How many ranks there are.
        ranks: usize,
        /// Seconds, at `i * ranks + j`; infinite without a message.
        most: Vec<f64>,
    },
    /// Of each rank to rank 0, and of rank 0 to each.
    OverRank0 {
        /// Seconds of each rank to rank 0.
        up: Vec<f64>,
        /// Seconds of rank 0 to each rank.
        down: Vec<f64>,
    },
}

/// One message between two ranks, by the ranks' own ideas of the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Message {
    /// The rank that sent it.
    pub from: usize,
    /// The rank that received it.
    pub to: usize,
    /// Arrival less departure, in seconds.
    pub took: f64,
}

/// The least and the most that something can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The least, in seconds.
    pub low: f64,
    /// The most, in seconds; infinite where nothing limits it.
    pub high: f64,
}

impl Bound {
    /// This or the other.
    pub fn or(self, other: Option<Bound>) -> Bound {
        let Some(other) = other else { return self };
        Bound { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Wider by `by` seconds at each end; nothing takes less than nothing.
    pub fn widened(self, by: f64) -> Bound {
        Bound { low: (self.low - by).max(0.0), high: self.high + by }
    }
}

impl Ways {
    /// What these messages allow.
    pub fn of(ranks: usize, messages: &[Message]) -> Ways {
        if ranks > MOST_PAIRS {
            let from = |rank: usize| Message { from: rank, to: rank, took: 0.0 };
            let down = shortest(ranks, messages, from(0));
            let back = |message: &Message| Message {
                from: message.to,
                to: message.from,
                took: message.took,
            };
            let turned: Vec<Message> = messages.iter().map(back).collect();
            return Ways::OverRank0 { up: shortest(ranks, &turned, from(0)), down };
        }
        let mut most = vec![f64::INFINITY; ranks * ranks];
        (0..ranks).for_each(|rank| most[rank * ranks + rank] = 0.0);
        for Message { from, to, took } in messages {
            let place = &mut most[from * ranks + to];
            *place = place.min(*took);
        }
        // Floyd and Warshall's: paths over the first ranks, then over one more.
        for over in 0..ranks {
            for from in 0..ranks {
                let first = most[from * ranks + over];
                if first.is_infinite() {
                    continue;
                }
                for to in 0..ranks {
                    let longer = first + most[over * ranks + to];
                    let place = &mut most[from * ranks + to];
                    *place = place.min(longer);
                }
            }
        }
        Ways::Pairs { ranks, most }
    }

    /// By how much rank `one`'s correction can exceed rank `other`'s.
    pub fn most(&self, one: usize, other: usize) -> f64 {
        match self {
            Ways::OneClock => 0.0,
            _ if one == other => 0.0,
            Ways::Pairs { ranks, most } => most[one * ranks + other],
            Ways::OverRank0 { up, down } => up[one] + down[other],
        }
    }

    /// What both allow: between two comparisons clocks lie between what each says.
    pub fn or(self, other: &Ways) -> Ways {
        let larger = |mine: Vec<f64>, theirs: &[f64]| {
            mine.iter().zip(theirs).map(|(a, b)| a.max(*b)).collect::<Vec<f64>>()
        };
        match (self, other) {
            (Ways::Pairs { ranks, most }, Ways::Pairs { most: others, .. }) => {
                Ways::Pairs { ranks, most: larger(most, others) }
            }
            (Ways::OverRank0 { up, down }, Ways::OverRank0 { up: ups, down: downs }) => {
                Ways::OverRank0 { up: larger(up, ups), down: larger(down, downs) }
            }
            (mine, _) => mine,
        }
    }

    /// The same where clocks may have gone wrong by `by` seconds since.
    pub fn widened(self, by: f64) -> Ways {
        let wider = |all: Vec<f64>, by: f64| all.into_iter().map(|most| most + by).collect();
        match self {
            Ways::OneClock => Ways::OneClock,
            Ways::Pairs { ranks, most } => Ways::Pairs { ranks, most: wider(most, by) },
            Ways::OverRank0 { up, down } => {
                Ways::OverRank0 { up: wider(up, by / 2.0), down: wider(down, by / 2.0) }
            }
        }
    }

    /// The most by which any two ranks' ideas of the time can differ from the truth.
    pub fn widest(&self) -> f64 {
        match self {
            Ways::OneClock => 0.0,
            Ways::Pairs { most, .. } => most.iter().copied().fold(0.0, f64::max),
            Ways::OverRank0 { up, down } => {
                let largest = |all: &[f64]| all.iter().copied().fold(0.0, f64::max);
                largest(up) + largest(down)
            }
        }
    }

    /// Corrections that the messages allow, by chance: one after the other, each between what those
    /// before it leave. One in three is at an end of that. Rank 0's is nothing.
    pub fn draw(&self, ranks: usize, random: &mut SplitMix64) -> Vec<f64> {
        let mut drawn: Vec<f64> = Vec::with_capacity(ranks);
        for rank in 0..ranks {
            let others = || drawn.iter().enumerate();
            let low = others().map(|(other, c)| c - self.most(other, rank));
            let high = others().map(|(other, c)| c + self.most(rank, other));
            let low = low.fold(f64::NEG_INFINITY, f64::max);
            let high = high.fold(f64::INFINITY, f64::min).max(low);
            let part = (1.5 * random.uniform() - 0.25).clamp(0.0, 1.0);
            let range = high - low;
            drawn.push(if range.is_finite() { low + part * range } else { 0.0 });
        }
        drawn
    }

    /// The least (last exit - last entry) and the most (last exit - first entry) of an operation
    /// whose ranks have entered and left at these times by their own ideas. If it takes no longer
    /// to begin earlier, an operation that all begin at once takes between these.
    pub fn bound(&self, spans: &[(f64, f64)]) -> Bound {
        match self {
            Ways::Pairs { .. } => self.bound_of_pairs(spans),
            Ways::OneClock => {
                let last = spans.iter().map(|span| span.1).fold(f64::NEG_INFINITY, f64::max);
                let entries = || spans.iter().map(|span| span.0);
                let high = last - entries().fold(f64::INFINITY, f64::min);
                Bound { low: last - entries().fold(f64::NEG_INFINITY, f64::max), high }
            }
            Ways::OverRank0 { up, down } => {
                // Through rank 0 the two ends part, and neither needs to know the other.
                let place = |rank: usize| (spans[rank], up[rank], down[rank]);
                let all = || (0..spans.len()).map(place);
                let exit_high = all().map(|((_, exit), up, _)| exit + up);
                let entry_low = all().map(|((entry, _), _, down)| entry - down);
                let exit_low = all().map(|((_, exit), _, down)| exit - down);
                let entry_high = all().map(|((entry, _), up, _)| entry + up);
                let largest =
                    |all: &mut dyn Iterator<Item = f64>| all.fold(f64::NEG_INFINITY, f64::max);
                let first = { entry_low }.fold(f64::INFINITY, f64::min);
                Bound {
                    low: largest(&mut { exit_low }) - largest(&mut { entry_high }),
                    high: largest(&mut { exit_high }) - first,
                }
            }
        }
    }

    fn bound_of_pairs(&self, spans: &[(f64, f64)]) -> Bound {
        let mut bound = Bound { low: f64::INFINITY, high: f64::NEG_INFINITY };
        for (rank, &(entry, _)) in spans.iter().enumerate() {
            // This rank as the last to enter, and all others as early as they can be beside it; and
            // as the first to enter, with the others as late.
            let (mut least, mut most) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
            for (other, &(_, exit)) in spans.iter().enumerate() {
                least = least.max(exit - self.most(rank, other));
                most = most.max(exit + self.most(other, rank));
            }
            bound.low = bound.low.min(least - entry);
            bound.high = bound.high.max(most - entry);
        }
        bound
    }
}

/// The shortest path from a rank to each, over messages as edges; Bellman and Ford's, which takes
/// few rounds where few edges lead anywhere.
fn shortest(ranks: usize, messages: &[Message], start: Message) -> Vec<f64> {
    let mut found = vec![f64::INFINITY; ranks];
    found[start.from] = start.took;
    for _ in 0..ranks {
        let mut better = false;
        for Message { from, to, took } in messages {
            let over = found[*from] + took;
            if over < found[*to] {
                found[*to] = over;
                better = true;
            }
        }
        if !better {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_stats::SplitMix64;

    /// Ranks with clocks that are off by whole numbers, messages of whole delays between some of
    /// them, and an operation. All that is seen is what the clocks show.
    struct World {
        ranks: usize,
        messages: Vec<Message>,
        spans: Vec<(f64, f64)>,
    }

    fn world(seed: u64) -> World {
        let mut random = SplitMix64::new(seed);
        let ranks = 2 + random.index(5);
        let mut below = |limit: usize| random.index(limit) as f64;
        let off: Vec<f64> = (0..ranks).map(|_| below(3)).collect();
        let mut messages = Vec::new();
        // Both ways along a tree, so that nothing is without a limit; and some more.
        let pairs: Vec<(usize, usize)> = (1..ranks).map(|rank| (rank, rank / 2)).collect();
        for &(one, other) in pairs.iter().chain(&pairs[..ranks / 2]) {
            for (from, to) in [(one, other), (other, one)] {
                // What must be added is the opposite of what the clock shows too much.
                messages.push(Message { from, to, took: off[to] - off[from] + below(3) });
            }
        }
        if ranks > 2 {
            let (from, to) = (ranks - 1, 1);
            messages.push(Message { from, to, took: off[to] - off[from] + below(2) });
        }
        let spans = (0..ranks).map(|_| {
            let entry = below(4);
            (entry, entry + below(6))
        });
        World { ranks, messages, spans: spans.collect() }
    }

    /// Over every whole correction that the messages allow, with rank 0's left as it is. As all
    /// numbers are whole, so are the extremes.
    fn enumerate(world: &World) -> Bound {
        const FAR: i32 = 6;
        let mut bound = Bound { low: f64::INFINITY, high: f64::NEG_INFINITY };
        let mut corrections = vec![-FAR; world.ranks];
        corrections[0] = 0;
        loop {
            let c = |rank: usize| f64::from(corrections[rank]);
            if world.messages.iter().all(|m| c(m.from) - c(m.to) <= m.took) {
                let true_times = || {
                    let shifted =
                        |(rank, span): (usize, &(f64, f64))| (span.0 + c(rank), span.1 + c(rank));
                    world.spans.iter().enumerate().map(shifted)
                };
                let last = true_times().map(|span| span.1).fold(f64::NEG_INFINITY, f64::max);
                let latest = true_times().map(|span| span.0).fold(f64::NEG_INFINITY, f64::max);
                let first = true_times().map(|span| span.0).fold(f64::INFINITY, f64::min);
                bound.low = bound.low.min(last - latest);
                bound.high = bound.high.max(last - first);
            }
            let Some(place) = (1..world.ranks).find(|&rank| corrections[rank] < FAR) else {
                return bound;
            };
            corrections[1..place].fill(-FAR);
            corrections[place] += 1;
        }
    }

    #[test]
    fn the_bound_is_that_of_all_clocks_there_could_be() {
        for seed in 0..40 {
            let world = world(seed);
            let ways = Ways::of(world.ranks, &world.messages);
            // Nothing lies at the rim of what is enumerated.
            assert!(ways.widest() <= 6.0, "seed {seed}: {ways:?}");
            assert_eq!(ways.bound(&world.spans), enumerate(&world), "seed {seed}");
        }
    }

    #[test]
    fn over_rank_0_is_never_narrower() {
        for seed in 0..200 {
            let world = world(seed);
            let exact = Ways::of(world.ranks, &world.messages);
            let column = |from: usize, to: usize| exact.most(from, to);
            let over = Ways::OverRank0 {
                up: (0..world.ranks).map(|rank| column(rank, 0)).collect(),
                down: (0..world.ranks).map(|rank| column(0, rank)).collect(),
            };
            let (exact, over) = (exact.bound(&world.spans), over.bound(&world.spans));
            assert!(over.low <= exact.low && over.high >= exact.high, "seed {seed}");
        }
    }

    #[test]
    fn many_ranks_find_the_same_ways_to_rank_0() {
        let ranks = 300;
        let edges = (1..ranks).flat_map(|rank| {
            let above = rank & (rank - 1);
            [(rank, above, 2.0 + rank as f64), (above, rank, 3.0)]
        });
        let edge = |(from, to, took)| Message { from, to, took };
        let messages: Vec<Message> = edges.map(edge).collect();
        let Ways::OverRank0 { up, down } = Ways::of(ranks, &messages) else {
            panic!("many ranks are not looked at in pairs");
        };
        assert_eq!((up[0], up[4], down[6]), (0.0, 6.0, 6.0));
        // 255 is above by 254, 252, 248, ... 128.
        assert_eq!(
            up[255],
            [255, 254, 252, 248, 240, 224, 192, 128].map(|r| 2.0 + f64::from(r)).iter().sum()
        );
    }

    #[test]
    fn one_clock_leaves_what_was_seen() {
        let spans = [(1.0, 5.0), (2.0, 4.0)];
        assert_eq!(Ways::OneClock.bound(&spans), Bound { low: 3.0, high: 4.0 });
        let certain =
            Ways::of(2, &[(0, 1), (1, 0)].map(|(from, to)| Message { from, to, took: 0.0 }));
        assert_eq!(certain.bound(&spans), Bound { low: 3.0, high: 4.0 });
        let wider = certain.or(&Ways::of(2, &[])).widened(1.0);
        assert_eq!(wider.widest(), f64::INFINITY);
    }
}
