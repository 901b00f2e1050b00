//! The smallest explanation of slow ways: what is at one end of many of them, and else what lies
//! between.
//!
//! The way of a message is as slow as its slowest part: the sender's card, what lies between, the
//! receiver's card. So a slow card does not show where something else is slower still, such as the
//! way to another site, and such a way says nothing for or against the card. Latencies add up, and
//! a little more does not show on a long way. An end is blamed for what is slow if it shows on two
//! ways at least, and on all that would show it, but for one of four at most. A host may have
//! a card of its own for other sites, so an end is also looked at for near ways alone and for far
//! ways alone.

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
    /// A time and what one end has.
    fn with(self, seconds: f64, end: f64) -> f64 {
        match self {
            Model::Slowest => seconds.max(end),
            Model::Sum => seconds + end,
        }
    }

    /// What an end has if it alone explains a time that is expected to be another.
    fn end(self, seconds: f64, expected: f64) -> f64 {
        match self {
            Model::Slowest => seconds,
            Model::Sum => seconds - expected,
        }
    }
}

/// What was seen of one way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// The place of its pair.
    pub pair: usize,
    /// Who is at the ends, by number: each for all of its ways, and for ways that are as near or as
    /// far as this one.
    pub ends: [usize; 4],
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

/// One way in this number of those that show an end to be slow may show that it is not.
const FOR_EACH_AGAINST: usize = 3;

struct Search<'s> {
    seen: &'s [Seen],
    model: Model,
    /// The multiple of the expected time that a way may take.
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
        way.ends.iter().fold(way.usual, |time, &end| self.model.with(time, self.blamed[end]))
    }

    /// Slow beyond what is explained, even at the fast end of its interval.
    fn is_unexplained(&self, place: usize) -> bool {
        self.seen[place].fastest > self.most * self.expected(place)
    }

    /// Whether a way would show that one of its ends has `seconds` more, and does not.
    fn is_against(&self, place: usize, seconds: f64) -> bool {
        let expected = self.expected(place);
        let shown = self.model.with(expected, seconds) > CLEARLY * self.most * expected;
        shown && self.seen[place].seconds < self.most * expected
    }

    /// What an end has if it alone explains what is not yet explained of a way.
    fn seconds(&self, place: usize) -> f64 {
        self.model.end(self.seen[place].seconds, self.expected(place))
    }

    /// The end that explains most of what is left; for all of its ways rather than for some.
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
        let seconds = |&place: &usize| self.seconds(place);
        let seconds = lower_quantile(slow.iter().map(seconds).collect(), 2);
        let enough = match slow[..] {
            [] => false,
            [only] => self.is_shown_by_others(end, only, seconds),
            _ => true,
        };
        if !enough {
            return None;
        }
        let against = own.iter().filter(|&&place| self.is_against(place, seconds)).count();
        let enough = slow.len() >= FOR_EACH_AGAINST * against;
        enough.then_some(Case { end, seconds, slow, against })
    }

    /// Whether an end that is left with one way is slow on others too, though another end
    /// explains these, while the other end of that way is not.
    fn is_shown_by_others(&self, end: usize, only: usize, seconds: f64) -> bool {
        let is_slow = |place: usize| {
            let way = &self.seen[place];
            let alone = self.model.with(way.usual, seconds);
            place != only && way.fastest > self.most * way.usual && way.fastest * self.most > alone
        };
        let [from_all, from_some, to_all, _] = self.seen[only].ends;
        let other = if end == from_all || end == from_some { to_all } else { from_all };
        self.own[end].iter().any(|&place| is_slow(place)) && self.is_cleared(other, seconds)
    }

    /// Whether some way of an end shows that it does not have `seconds` more.
    fn is_cleared(&self, end: usize, seconds: f64) -> bool {
        self.own[end].iter().any(|&place| self.is_against(place, seconds))
    }

    /// What no end explains.
    fn leftover(&self, found: &mut Blame) {
        let part = |place: usize| self.seen[place].seconds / self.expected(place);
        let level: Vec<f64> = self
            .own
            .iter()
            .map(|own| lower_quantile(own.iter().map(|&place| part(place)).collect(), 4).max(1.0))
            .collect();
        for place in (0..self.seen.len()).filter(|&place| self.is_unexplained(place)) {
            let way = &self.seen[place];
            let seconds = self.seconds(place);
            let [from, _, to, _] = way.ends;
            let ends = level[from] * level[to];
            let list = match part(place) / ends > ends {
                false => &mut found.together,
                true if [from, to].iter().all(|&end| self.is_cleared(end, seconds)) => {
                    &mut found.between
                }
                true => &mut found.unclear,
            };
            list.push(place);
        }
    }
}
