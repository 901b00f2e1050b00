//! What a verdict on slow pairs says: a host, in one direction or both, or what lies between two.
//! `judge.rs` finds it, and `words.rs` says it in sentences.

use laneway_core::Rank;

/// When a pair is slow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The part of the usual bandwidth that it must reach in both directions.
    pub least_bandwidth: f64,
    /// The multiple of the usual latency that it may have.
    pub most_latency: f64,
    /// The rate that it must reach in both directions, whatever is usual.
    pub least_rate: Option<LeastRate>,
}

/// Bytes a second that a long message of this length must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeastRate {
    /// The rate.
    pub bytes_per_second: f64,
    /// The length of the message.
    pub bytes: usize,
}

impl LeastRate {
    /// What the long message may take.
    pub(crate) fn seconds(&self) -> f64 {
        self.bytes as f64 / self.bytes_per_second
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { least_bandwidth: 0.8, most_latency: 2.0, least_rate: None }
    }
}

/// What all pairs together say.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// Every rank with its figures.
    pub nodes: Vec<Node>,
    /// Hosts, or ranks of a host, that explain slow pairs.
    pub slow_nodes: Vec<SlowNode>,
    /// Pairs that are slow as to what is between them.
    pub slow_pairs: Vec<SlowPair>,
    /// Pairs that are slow only as each of the two is a little.
    pub slow_together: Vec<SlowPair>,
    /// Pairs that are slow, and nothing tells whether it is one of the two or what is between.
    pub unclear_pairs: Vec<SlowPair>,
    /// Pairs that are slow, and too many for each to have a cause of its own: something that they
    /// share is narrow.
    pub scattered_pairs: Vec<SlowPair>,
    /// Of each pair, in its order, how it compares with what is usual.
    pub marks: Vec<Marks>,
}

/// How the figures of one pair compare.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Marks {
    /// Of a short message.
    pub latency: Mark,
    /// Of a long one from the first rank to the second.
    pub there: Mark,
    /// Of a long one back.
    pub back: Mark,
}

/// A figure beside what is usual for its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mark {
    /// Seconds.
    pub usual: f64,
    /// How many times the usual time.
    pub ratio: f64,
    /// Beyond a limit even at the fast end of its interval.
    pub slow: bool,
    /// Beyond a limit by its estimate, but not by the fast end of its interval.
    pub borderline: bool,
    /// Slow by the limit in seconds alone, whatever is usual.
    pub only_below_rate: bool,
}

impl Marks {
    /// Whether one of the figures is slow.
    pub fn is_slow(&self) -> bool {
        self.latency.slow || self.there.slow || self.back.slow
    }

    /// Whether one of them is slow by its estimate alone.
    pub fn is_borderline(&self) -> bool {
        self.latency.borderline || self.there.borderline || self.back.borderline
    }

    /// How many times the usual time the slower direction takes.
    pub fn worse(&self) -> f64 {
        self.there.ratio.max(self.back.ratio)
    }
}

/// A rank over all its pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// Which one.
    pub rank: Rank,
    /// Seconds, in the middle.
    pub latency: f64,
    /// Of long messages that it sends.
    pub sent: f64,
    /// Of long messages that it receives.
    pub received: f64,
    /// Slow pairs.
    pub slow: usize,
    /// All pairs that it has.
    pub pairs: usize,
}

/// Which direction of a host's card is slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Both ways.
    Both,
    /// Towards it.
    In,
    /// From it.
    Out,
}

impl Direction {
    /// As rows have it.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Both => "both",
            Direction::In => "in",
            Direction::Out => "out",
        }
    }
}

/// Which ways of a host are slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scope {
    /// All that would show it.
    All,
    /// Those to its own site alone.
    Near,
    /// Those to other sites alone, which may have a card of their own.
    Far,
}

impl Scope {
    pub(super) const ALL: [Scope; 3] = [Scope::All, Scope::Near, Scope::Far];
}

/// A host, or a rank among those of its host, that explains slow pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SlowNode {
    /// The first of its ranks.
    pub rank: Rank,
    /// How many ranks it has.
    pub ranks: usize,
    /// [`BANDWIDTH`] or [`LATENCY`].
    pub measure: &'static str,
    /// Which way it is slow.
    pub direction: Direction,
    /// Towards whom.
    pub scope: Scope,
    /// In the middle of the pairs that it explains, how many times the usual time.
    pub ratio: f64,
    /// Pairs that it explains.
    pub slow: usize,
    /// All pairs that it has.
    pub pairs: usize,
    /// Pairs of its partners with each other that are slow.
    pub others_slow: usize,
    /// All pairs of its partners with each other.
    pub others: usize,
}

/// A pair that no slow node explains.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SlowPair {
    /// The slow direction is from here, if it is one alone.
    pub from: Rank,
    /// The other rank.
    pub to: Rank,
    /// Whether both directions are slow.
    pub both_ways: bool,
    /// [`BANDWIDTH`] or [`LATENCY`].
    pub measure: &'static str,
    /// How many times the usual time.
    pub ratio: f64,
}

/// The measure of long messages.
pub const BANDWIDTH: &str = "bandwidth";
/// The measure of short messages.
pub const LATENCY: &str = "latency";

impl Verdict {
    /// Whether nothing is to blame for anything.
    pub fn is_healthy(&self) -> bool {
        let pairs = [&self.slow_pairs, &self.unclear_pairs, &self.scattered_pairs];
        self.slow_nodes.is_empty() && pairs.iter().all(|pairs| pairs.is_empty())
    }

    /// The places of pairs that are worth a second look: slow, surely or not.
    pub fn doubtful(&self) -> Vec<usize> {
        let marks = self.marks.iter().enumerate();
        let doubtful = marks.filter(|(_, marks)| marks.is_slow() || marks.is_borderline());
        doubtful.map(|(index, _)| index).collect()
    }

    /// Pairs with a slow figure.
    pub fn count_slow(&self) -> usize {
        self.marks.iter().filter(|marks| marks.is_slow()).count()
    }
}
