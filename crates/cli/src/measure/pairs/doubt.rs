//! A verdict whose words hold for its rule: a pair is slow by the fast end of its interval, so one
//! that is slow by its estimate alone is told, with its figures, as not surely slow.

use laneway_measure::p2p::{Estimate, Limits, Mark, Pair, Verdict, name, verdict};

/// So many pairs are named; JSON and CSV have them all.
const NAMED: usize = 8;

/// What all pairs together say, and how they compare with what is usual.
pub struct Judged {
    pub verdict: Verdict,
    limits: Limits,
}

/// A figure as a multiple of the usual time.
pub fn times(figure: &Estimate, mark: &Mark) -> Estimate {
    figure.map(|seconds| seconds / mark.usual)
}

/// A figure in percent of the usual bandwidth.
pub fn percent(figure: &Estimate, mark: &Mark) -> Estimate {
    figure.map(|seconds| 100.0 * mark.usual / seconds)
}

impl Judged {
    pub fn new(pairs: &[Pair], hosts: &[String], sites: &[u32], limits: &Limits) -> Judged {
        Judged { verdict: verdict(pairs, hosts, sites, limits), limits: *limits }
    }

    /// The places of pairs that are slow by their estimates alone.
    pub fn not_surely_slow(&self) -> Vec<usize> {
        let marks = self.verdict.marks.iter().enumerate();
        marks.filter(|(_, marks)| marks.is_not_surely_slow()).map(|(index, _)| index).collect()
    }

    /// The verdict, a sentence each, the rule among them.
    pub fn sentences(&self, pairs: &[Pair], hosts: &[String]) -> Vec<String> {
        let (count, bounds) = (pairs.len(), self.limits.words());
        let mut sentences = self.verdict.sentences(hosts, &self.limits);
        if count == 1 && self.limits.least_rate.is_none() {
            return sentences;
        }
        let missed = |pair: &&Pair| {
            [pair.latency, pair.there, pair.back].iter().any(|figure| !figure.is_measured())
        };
        let missed = pairs.iter().filter(missed).count();
        let unsure = self.not_surely_slow();
        let clean = self.verdict.is_healthy() && self.verdict.count_slow() == 0;
        match (clean, unsure.is_empty() && missed == 0) {
            (true, true) => {
                sentences = vec![format!(
                    "nothing suspicious: by their estimates none of {count} pairs has {bounds}"
                )];
            }
            (true, false) => {}
            (false, _) => sentences
                .push(format!("slow is what has {bounds} even at the fast end of its interval")),
        }
        for &index in unsure.iter().take(NAMED) {
            sentences.push(self.doubt(pairs, hosts, index));
        }
        if unsure.len() > NAMED {
            sentences.push(format!("not surely slow: {} more pairs", unsure.len() - NAMED));
        }
        if missed > 0 {
            sentences.push(format!(
                "{missed} of {count} pairs have a figure without time, as where a long message \
                 takes no longer than a short one, and it is not judged; a larger --size helps"
            ));
        }
        sentences
    }

    /// Why a pair is not surely slow, with its figures.
    fn doubt(&self, pairs: &[Pair], hosts: &[String], index: usize) -> String {
        let (pair, marks) = (&pairs[index], &self.verdict.marks[index]);
        let said = |figure: Estimate, unit: &str, usual: &str| {
            let ends = figure.interval.map_or(String::new(), |i| {
                let (low, high) = (rounded(i.low), rounded(i.high));
                format!(", but their interval is {low} to {high}{unit}")
            });
            format!("{}{unit} {usual}{ends}", rounded(figure.value))
        };
        let ways = [(&pair.there, &marks.there), (&pair.back, &marks.back)];
        let worse = ways
            .into_iter()
            .filter(|(_, mark)| mark.not_surely)
            .max_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio));
        let bandwidth =
            worse.map(|(figure, mark)| said(percent(figure, mark), " %", "of the usual bandwidth"));
        let latency = marks
            .latency
            .not_surely
            .then(|| said(times(&pair.latency, &marks.latency), " times", "the usual latency"));
        let words: Vec<String> = [bandwidth, latency].into_iter().flatten().collect();
        format!(
            "not surely slow: {} and {} have {}",
            name(hosts, pair.from),
            name(hosts, pair.to),
            words.join(", and ")
        )
    }
}

/// With as many places as a percentage needs to be told from its neighbours.
fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_stats::Interval;

    fn figure(value: f64, low: f64, high: f64) -> Estimate {
        let interval = Some(Interval { low, high, level: 0.95 });
        Estimate { value, interval, error: None, reps: 9, reached: true }
    }

    /// Three pairs of usual figures, of which the last is as given.
    fn sentences(latency: Estimate, transfer: Estimate, least: f64) -> (Judged, Vec<String>) {
        let usual = figure(1.0, 1.0, 1.0);
        let pair = |from, to| Pair { from, to, latency: usual, there: usual, back: usual };
        let slow = Pair { latency, there: transfer, back: transfer, ..pair(1, 2) };
        let pairs = [pair(0, 1), pair(0, 2), slow];
        let hosts = ["a", "b", "c"].map(str::to_string);
        let limits = Limits { least_bandwidth: least, ..Limits::default() };
        let judged = Judged::new(&pairs, &hosts, &[0; 3], &limits);
        let words = judged.sentences(&pairs, &hosts);
        let doubts = words.iter().filter(|words| words.starts_with("not surely slow: ")).count();
        assert_eq!(judged.not_surely_slow().len(), doubts);
        (judged, words)
    }

    #[test]
    fn what_is_slow_by_its_estimate_alone_is_told_with_its_figures() {
        let usual = figure(1.0, 1.0, 1.0);
        let (judged, words) = sentences(usual, figure(1.25, 1.0, 1.6), 0.97);
        assert!(judged.verdict.is_healthy());
        assert_eq!(
            words,
            [
                "nothing is surely slow: even at the fast end of its interval none of 3 pairs has \
                 less than 97 % of the usual bandwidth or more than 2 times the usual latency",
                "not surely slow: b (rank 1) and c (rank 2) have 80 % of the usual bandwidth, but \
                 their interval is 62.5 to 100 %",
            ]
        );
        let (_, words) = sentences(figure(3.0, 1.5, 4.0), usual, 0.97);
        assert!(
            words[1].ends_with("3 times the usual latency, but their interval is 1.5 to 4 times"),
            "{words:?}"
        );
    }

    #[test]
    fn what_is_within_the_bounds_is_said_to_be() {
        let usual = figure(1.0, 1.0, 1.0);
        // Beyond it at the slow end of the interval alone is no doubt.
        let (_, words) = sentences(usual, figure(1.01, 0.9, 3.0), 0.975);
        let bounds =
            "less than 97.5 % of the usual bandwidth or more than 2 times the usual latency";
        assert_eq!(
            words,
            [format!("nothing suspicious: by their estimates none of 3 pairs has {bounds}")]
        );
    }

    #[test]
    fn what_is_surely_slow_names_the_rule() {
        let usual = figure(1.0, 1.0, 1.0);
        let (judged, words) = sentences(usual, figure(5.0, 4.9, 5.1), 0.9);
        assert!(!judged.verdict.is_healthy());
        assert!(words[0].starts_with("what is between b"), "{words:?}");
        assert!(words[1].starts_with("slow is what has less than 90 %"), "{words:?}");
    }
}
