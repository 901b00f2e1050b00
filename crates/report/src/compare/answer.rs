//! What a comparison comes to: counts, what is missing, the sentence that a reader needs, and of
//! many pairs of ranks the points that stand out.

use laneway_core::Row;
use laneway_core::units::{are, counted, format_size};

use super::{Comparison, Missing, Point, Presence, Side, Verdict};
use crate::figure::{Metric, plain};
use crate::run::Extent;
use crate::table::significant;

/// Pairs of ranks that are more points than this are summed up for people.
const MANY: usize = 40;
/// The number of points that are shown then.
const SHOWN: usize = 20;

/// What stands out of many points.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outliers {
    /// The points that stand out the most.
    pub rows: Vec<Row>,
    /// How many more stand out.
    pub rest: usize,
    /// A sentence for each operation: how many points have which verdict, and how ratios spread.
    pub sums: Vec<String>,
}

impl Comparison {
    /// How many points have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.points.iter().filter(|point| point.verdict == verdict).count()
    }

    /// How many points are in these runs.
    pub fn present(&self, presence: Presence) -> usize {
        self.points.iter().filter(|point| point.presence == presence).count()
    }

    /// How many figures one of the runs lacks.
    pub fn missing(&self, run: Missing) -> usize {
        self.points.iter().filter(|point| point.missing_in() == Some(run)).count()
    }

    /// Whether the new run passes: nothing is slower, and nothing is missing unless that is
    /// allowed.
    pub fn passes(&self) -> bool {
        let is_whole = self.allow_missing || self.gap().is_none();
        is_whole && self.count(Verdict::Slower) == 0
    }

    /// A row for each point; a figure stands under its unit.
    pub fn rows(&self) -> Vec<Row> {
        self.rows_of(self.points.iter())
    }

    fn rows_of<'p>(&self, points: impl Iterator<Item = &'p Point>) -> Vec<Row> {
        let rates = self.points.iter().any(|point| point.metric == Metric::Bandwidth);
        points.map(|point| point.row(rates)).collect()
    }

    /// How many there are of each verdict, and what is missing.
    pub fn summary(&self) -> Row {
        let count = |verdict: Verdict| self.count(verdict) as u64;
        let complete = |side: &Side| match side.extent {
            Extent::Unknown => None,
            _ => Some(!side.extent.is_incomplete()),
        };
        Row::new()
            .with("ok", self.passes())
            .with("verdict", self.answer())
            .with("slower", count(Verdict::Slower))
            .with("faster", count(Verdict::Faster))
            .with("same", count(Verdict::Same))
            .with("unknown", count(Verdict::Unknown))
            .with("only_old", self.present(Presence::OnlyOld) as u64)
            .with("only_new", self.present(Presence::OnlyNew) as u64)
            .with("missing_old", self.missing(Missing::Old) as u64)
            .with("missing_new", self.missing(Missing::New) as u64)
            .with("complete_old", complete(&self.old))
            .with("complete_new", complete(&self.new))
    }

    /// The counts in words.
    pub fn sentence(&self) -> String {
        let count = |verdict: Verdict| self.count(verdict) as u64;
        let (slower, faster) = (count(Verdict::Slower), count(Verdict::Faster));
        let (same, unknown) = (count(Verdict::Same), count(Verdict::Unknown));
        let points = counted(self.points.len() as u64, "point");
        let mut said = format!(
            "Of {points}, {slower} {} slower, {faster} faster, {same} the same and {unknown} \
             unknown",
            are(slower)
        );
        let only = [(Presence::OnlyOld, "old"), (Presence::OnlyNew, "new")];
        let only = only.map(|(presence, run)| (self.present(presence) as u64, run));
        let only = only.into_iter().filter(|(count, _)| *count > 0);
        let only: Vec<String> = only
            .map(|(count, run)| format!("{count} {} only in the {run} run", are(count)))
            .collect();
        if !only.is_empty() {
            said += &format!("; {}", only.join(" and "));
        }
        said + "."
    }

    /// What is missing, in one sentence that names the runs; none if nothing is.
    pub fn gap(&self) -> Option<String> {
        let mut parts = Vec::new();
        for (side, run) in [(&self.old, Missing::Old), (&self.new, Missing::New)] {
            if let Extent::Incomplete(done) = &side.extent {
                let done = if done.is_empty() { "stopped early" } else { done };
                parts.push(format!("{} is incomplete ({done})", side.name));
            }
            let missing = self.missing(run) as u64;
            if missing > 0 {
                let other = if run == Missing::Old { &self.new } else { &self.old };
                let points = counted(missing, "point");
                parts.push(format!("{} lacks {points} of {}", side.name, other.name));
            }
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// The sentence that a reader needs: whether the new run passes, and why not.
    pub fn answer(&self) -> String {
        let all = counted(self.points.len() as u64, "point");
        let of = |verdict: Verdict| format!("{} of {all}", self.count(verdict));
        let slower = self.worst(Verdict::Slower, |point| point.slowdown()).map(|(point, times)| {
            let what = point.describe();
            let most = format!("the most {what}, by a factor of {}", significant(times));
            format!("Slower: {}, {most}.", of(Verdict::Slower))
        });
        let speedup = |point: &Point| point.slowdown().map(f64::recip);
        let faster = self.worst(Verdict::Faster, speedup).map(|(point, times)| {
            let most =
                format!("the most {}, by a factor of {}", point.describe(), significant(times));
            format!("; faster: {}, {most}", of(Verdict::Faster))
        });
        let passed = || format!("Nothing is slower{}.", faster.unwrap_or_default());
        let verdict = slower.unwrap_or_else(passed);
        match self.gap() {
            None => verdict,
            Some(gap) if self.allow_missing => format!("{verdict} Allowed: {gap}."),
            Some(gap) => format!("{verdict} Not all was compared: {gap}."),
        }
    }

    /// The point that lost or gained the most, and its factor.
    fn worst(
        &self,
        verdict: Verdict,
        factor: impl Fn(&Point) -> Option<f64>,
    ) -> Option<(&Point, f64)> {
        let points = self.points.iter().filter(|point| point.verdict == verdict);
        let points = points.filter_map(|point| Some((point, factor(point)?)));
        points.max_by(|(_, one), (_, other)| one.total_cmp(other))
    }

    /// Of many pairs of ranks, which grow with the square of the ranks: what stands out, slower
    /// points first. None for fewer points, which are shown all.
    pub fn outliers(&self) -> Option<Outliers> {
        let is_pair = |point: &Point| point.identity.get("to").is_some();
        if self.points.len() <= MANY || !self.points.iter().all(is_pair) {
            return None;
        }
        let mut shown: Vec<&Point> = self.points.iter().filter(|p| p.rank().is_some()).collect();
        let factor = |point: &Point| point.slowdown().unwrap_or(1.0);
        shown.sort_by(|a, b| {
            a.rank().cmp(&b.rank()).then(factor(b).ln().abs().total_cmp(&factor(a).ln().abs()))
        });
        let rest = shown.len().saturating_sub(SHOWN);
        shown.truncate(SHOWN);
        Some(Outliers { rows: self.rows_of(shown.into_iter()), rest, sums: self.sums() })
    }

    /// How the ratios of each operation spread.
    fn sums(&self) -> Vec<String> {
        let mut ops: Vec<String> = Vec::new();
        let op = |point: &Point| point.identity.get("op").map(plain).unwrap_or_default();
        for point in &self.points {
            if !ops.contains(&op(point)) {
                ops.push(op(point));
            }
        }
        let sum = |name: String| {
            let own = || self.points.iter().filter(|point| op(point) == name);
            let count = |verdict| own().filter(|point| point.verdict == verdict).count();
            let ratios: Vec<f64> = own().filter_map(|point| point.ratio).collect();
            let ratios = laneway_stats::sorted(&ratios);
            let counts = format!(
                "{name}: {}, {} slower, {} faster, {} the same, {} unknown",
                counted(own().count() as u64, "point"),
                count(Verdict::Slower),
                count(Verdict::Faster),
                count(Verdict::Same),
                count(Verdict::Unknown),
            );
            match (ratios.first(), laneway_stats::median(&ratios), ratios.last()) {
                (Some(least), Some(middle), Some(most)) => {
                    let [least, middle, most] = [*least, middle, *most].map(significant);
                    format!("{counts}; ratios from {least} to {most}, median {middle}.")
                }
                _ => format!("{counts}."),
            }
        };
        ops.into_iter().map(sum).collect()
    }
}

impl Point {
    /// Where it stands among the points that stand out, if it does.
    fn rank(&self) -> Option<u8> {
        match (self.verdict, self.missing_in()) {
            (Verdict::Slower, _) => Some(0),
            (_, Some(_)) => Some(1),
            (Verdict::Faster, _) => Some(2),
            _ => None,
        }
    }

    /// What it is in a sentence: `bcast ring at 64K B`.
    fn describe(&self) -> String {
        let word = |name: &str| {
            let value = self.identity.get(name)?;
            Some(plain(value)).filter(|word| !word.is_empty())
        };
        let mut words: Vec<String> = ["op", "algorithm"].into_iter().filter_map(word).collect();
        if let (Some(from), Some(to)) = (word("from"), word("to")) {
            words.push(format!("from rank {from} to {to}"));
        }
        if let Some(size) = word("size_bytes").and_then(|size| size.parse().ok()) {
            words.push(format!("at {} B", format_size(size)));
        }
        words.join(" ")
    }
}
