//! The smallest explanation of slow ways: what is at one end of many of them, and else what lies
//! between.
//!
//! The way of a message is as slow as its slowest part: the sender's card, what lies between, the
//! receiver's card. So a slow card does not show where something else is slower still, such as the
//! way to another site, and such a way says nothing for or against the card. Latencies add up, and
//! a little more does not show on a long way. An end is blamed for what is slow if it shows on two
//! ways at least, and on all that would show it, but for one of four.

use super::usual::lower_quantile;

/// How parts of a way make a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Model {
    /// The slowest part counts.
    Slowest,
    /// All parts count.
    Sum,
}

impl Model {
    /// The time of a way that usually takes `usual`, and whose ends have what is given.
    fn expected(self, usual: f64, ends: [f64; 2]) -> f64 {
        match self {
            Model::Slowest => usual.max(ends[0]).max(ends[1]),
            Model::Sum => usual + ends[0] + ends[1],
        }
    }

    /// What one end has if it alone explains the time, beside what the other end has.
    fn end(self, seen: &Seen, other: f64) -> f64 {
        match self {
            Model::Slowest => seen.seconds,
            Model::Sum => seen.seconds - seen.usual - other,
        }
    }
}

/// What was seen of one way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// The place of its pair.
    pub pair: usize,
    /// Who is at the ends, by number.
    pub ends: [usize; 2],
    pub usual: f64,
    pub seconds: f64,
    /// At the fast end of the interval.
    pub fastest: f64,
}

/// Who or what explains the slow ways; ways are named by their places.
#[derive(Clone, Debug, Default)]
pub(super) struct Blame {
    pub ends: Vec<BlamedEnd>,
    /// Slow as to what is between.
    pub between: Vec<usize>,
    /// Slow only as both ends are a little slower than most.
    pub together: Vec<usize>,
    /// Slow, and too few other ways to tell why.
    pub unclear: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct BlamedEnd {
    pub end: usize,
    /// What it explains.
    pub ways: Vec<usize>,
}

/// A way that is expected to be slow by less than this beyond the bound may not show it.
const CLEARLY: f64 = 1.03;

/// Of so many ways that show an end to be slow one may show that it is not.
const FOR_EACH_AGAINST: usize = 4;

struct Search<'s> {
    seen: &'s [Seen],
    model: Model,
    /// So many times the expected time a way may take.
    most: f64,
    /// What each end is blamed for, in seconds.
    blamed: Vec<f64>,
    /// The ways of each end.
    own: Vec<Vec<usize>>,
}

/// What stands for and against an end.
struct Case {
    end: usize,
    seconds: f64,
    slow: Vec<usize>,
    against: usize,
}

/// Blames as few as possible of `ends` for all ways that take more than `most` times the usual.
pub(super) fn blame(seen: &[Seen], ends: usize, model: Model, most: f64) -> Blame {
    let mut own = vec![Vec::new(); ends];
    for (place, way) in seen.iter().enumerate() {
        way.ends.iter().for_each(|&end| own[end].push(place));
    }
    let mut search = Search { seen, model, most, blamed: vec![0.0; ends], own };
    let mut found = Blame::default();
    while let Some(case) = search.strongest() {
        search.blamed[case.end] = case.seconds;
        found.ends.push(BlamedEnd { end: case.end, ways: case.slow });
    }
    search.leftover(&mut found);
    found
}

impl Search<'_> {
    fn expected(&self, place: usize) -> f64 {
        let way = &self.seen[place];
        self.model.expected(way.usual, way.ends.map(|end| self.blamed[end]))
    }

    /// Slow beyond what is explained, even at the fast end of its interval.
    fn is_unexplained(&self, place: usize) -> bool {
        self.seen[place].fastest > self.most * self.expected(place)
    }

    /// Whether a way would show that one of its ends has so many seconds, and does not.
    fn is_against(&self, place: usize, end: usize, seconds: f64) -> bool {
        let (way, explained) = (&self.seen[place], self.most * self.expected(place));
        let ends = way.ends.map(|e| if e == end { seconds } else { self.blamed[e] });
        way.seconds < explained && self.model.expected(way.usual, ends) > CLEARLY * explained
    }

    /// The end that explains most of what is left.
    fn strongest(&self) -> Option<Case> {
        let cases = (0..self.own.len()).filter(|&end| self.blamed[end] == 0.0);
        let cases = cases.filter_map(|end| self.case(end));
        let strength = |case: &Case| case.slow.len() as f64 - case.against as f64;
        cases.reduce(|best, case| {
            let order = strength(&case).total_cmp(&strength(&best));
            if order.then(case.seconds.total_cmp(&best.seconds)).is_gt() { case } else { best }
        })
    }

    /// The case of an end, if there is one.
    fn case(&self, end: usize) -> Option<Case> {
        let own = &self.own[end];
        let slow: Vec<usize> =
            own.iter().copied().filter(|&place| self.is_unexplained(place)).collect();
        if slow.len() < 2 {
            return None;
        }
        let seconds = |place: usize| {
            let way = &self.seen[place];
            let other = way.ends.iter().find(|&&e| e != end).map_or(0.0, |&e| self.blamed[e]);
            self.model.end(way, other)
        };
        let seconds = lower_quantile(slow.iter().map(|&place| seconds(place)).collect(), 2);
        let against = own.iter().filter(|&&place| self.is_against(place, end, seconds)).count();
        let enough = slow.len() >= FOR_EACH_AGAINST * against;
        enough.then_some(Case { end, seconds, slow, against })
    }

    /// What no end explains.
    fn leftover(&self, found: &mut Blame) {
        let part = |place: usize| self.seen[place].seconds / self.expected(place);
        let level: Vec<f64> = self
            .own
            .iter()
            .map(|own| lower_quantile(own.iter().map(|&place| part(place)).collect(), 2).max(1.0))
            .collect();
        for place in (0..self.seen.len()).filter(|&place| self.is_unexplained(place)) {
            let way = &self.seen[place];
            let is_cleared = |end: usize| {
                let other = way.ends.iter().find(|&&e| e != end).map_or(0.0, |&e| self.blamed[e]);
                let seconds = self.model.end(way, other);
                self.own[end].iter().any(|&other| self.is_against(other, end, seconds))
            };
            let ends = level[way.ends[0]] * level[way.ends[1]];
            let list = match part(place) / ends > ends {
                false => &mut found.together,
                true if way.ends.iter().all(|&end| is_cleared(end)) => &mut found.between,
                true => &mut found.unclear,
            };
            list.push(place);
        }
    }
}
