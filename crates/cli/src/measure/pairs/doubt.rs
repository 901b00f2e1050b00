//! A verdict whose words hold for its rule: a pair is slow by the fast end of its interval, so one
//! that is slow by its estimate alone is told, with its figures, as not surely slow.

use laneway_core::Rank;
use laneway_measure::p2p::{Estimate, Limits, Pair, Verdict, verdict};

use super::found::is_missed;

/// One of the two figures of a pair.
#[derive(Clone, Copy, PartialEq)]
enum Measure {
    Bandwidth,
    Latency,
}

impl Measure {
    const ALL: [Measure; 2] = [Measure::Bandwidth, Measure::Latency];

    /// Seconds, of a long message or of a short one.
    fn figure(self, pair: &Pair) -> &Estimate {
        match self {
            Measure::Bandwidth => &pair.transfer,
            Measure::Latency => &pair.latency,
        }
    }
}

/// So many pairs are named; JSON and CSV have them all.
const NAMED: usize = 8;

/// What all pairs together say, and how they compare with what is usual.
pub struct Judged {
    pub verdict: Verdict,
    /// The same question of short messages; its figures alone count.
    short: Verdict,
    limits: Limits,
}

impl Judged {
    pub fn new(pairs: &[Pair], hosts: &[String], sites: &[u32], limits: &Limits) -> Judged {
        let latency = |pair: &Pair| Pair { transfer: pair.latency, ..*pair };
        let turned: Vec<Pair> = pairs.iter().map(latency).collect();
        let most = Limits { least_bandwidth: 1.0 / limits.most_latency, ..*limits };
        Judged {
            verdict: verdict(pairs, hosts, sites, limits),
            short: verdict(&turned, hosts, sites, &most),
            limits: *limits,
        }
    }

    /// What is said of it, and how many times the usual time it may have.
    fn of(&self, measure: Measure) -> (&Verdict, f64) {
        match measure {
            Measure::Bandwidth => (&self.verdict, 1.0 / self.limits.least_bandwidth),
            Measure::Latency => (&self.short, self.limits.most_latency),
        }
    }

    /// The time of a pair over the usual one, with its interval.
    fn ratio(&self, pairs: &[Pair], index: usize, measure: Measure) -> Estimate {
        let figure = measure.figure(&pairs[index]);
        let usual = figure.value / self.of(measure).0.ratios[index];
        figure.map(|seconds| seconds / usual)
    }

    /// The bandwidth of a pair in percent of the usual one.
    pub fn usual_percent(&self, pairs: &[Pair], index: usize) -> Estimate {
        self.ratio(pairs, index, Measure::Bandwidth).map(|ratio| 100.0 / ratio)
    }

    /// Whether a pair is slow by its estimate, but not by the fast end of its interval.
    fn is_unsure(&self, pairs: &[Pair], index: usize, measure: Measure) -> bool {
        let (verdict, most) = self.of(measure);
        let missed = is_missed(measure.figure(&pairs[index]));
        !missed && verdict.ratios[index] > most && !verdict.slow[index]
    }

    pub fn is_not_surely_slow(&self, pairs: &[Pair], index: usize) -> bool {
        Measure::ALL.iter().any(|measure| self.is_unsure(pairs, index, *measure))
    }

    /// The places of such pairs.
    pub fn not_surely_slow(&self, pairs: &[Pair]) -> Vec<usize> {
        (0..pairs.len()).filter(|&index| self.is_not_surely_slow(pairs, index)).collect()
    }

    /// The verdict, a sentence each, the rule among them.
    pub fn sentences(&self, pairs: &[Pair], hosts: &[String]) -> Vec<String> {
        let count = pairs.len();
        if count == 1 {
            return self.verdict.sentences(hosts, &self.limits);
        }
        let missed = |pair: &Pair| is_missed(&pair.latency) || is_missed(&pair.transfer);
        let missed = pairs.iter().filter(|pair| missed(pair)).count();
        let unsure = self.not_surely_slow(pairs);
        let bounds = self.limits.words();
        let clean = self.verdict.is_healthy() && self.verdict.slow_together.is_empty();
        let mut sentences = match (clean, unsure.is_empty() && missed == 0) {
            (true, true) => {
                vec![format!(
                    "nothing suspicious: by their estimates none of {count} pairs has {bounds}"
                )]
            }
            (true, false) => self.verdict.sentences(hosts, &self.limits),
            (false, _) => {
                let rule =
                    format!("slow is what has {bounds} even at the fast end of its interval");
                let mut all = self.verdict.sentences(hosts, &self.limits);
                all.push(rule);
                all
            }
        };
        for &index in unsure.iter().take(NAMED) {
            sentences.push(self.doubt(pairs, hosts, index));
        }
        if unsure.len() > NAMED {
            sentences.push(format!("not surely slow: {} more pairs", unsure.len() - NAMED));
        }
        if missed > 0 {
            sentences.push(format!("{missed} of {count} pairs took no time and are not judged"));
        }
        sentences
    }

    /// Why a pair is not surely slow, with its figures.
    fn doubt(&self, pairs: &[Pair], hosts: &[String], index: usize) -> String {
        let pair = &pairs[index];
        let name = |rank: Rank| match hosts.get(rank as usize) {
            Some(host) => format!("{host} (rank {rank})"),
            None => format!("rank {rank}"),
        };
        let said = |measure: Measure| {
            let (figure, unit, usual) = match measure {
                Measure::Bandwidth => {
                    (self.usual_percent(pairs, index), " %", "of the usual bandwidth")
                }
                Measure::Latency => {
                    (self.ratio(pairs, index, measure), " times", "the usual latency")
                }
            };
            let ends = figure.interval.map_or(String::new(), |i| {
                let (low, high) = (rounded(i.low), rounded(i.high));
                format!(", but their interval is {low} to {high}{unit}")
            });
            let words = format!("{}{unit} {usual}{ends}", rounded(figure.value));
            self.is_unsure(pairs, index, measure).then_some(words)
        };
        let words: Vec<String> = Measure::ALL.into_iter().filter_map(said).collect();
        format!(
            "not surely slow: {} and {} have {}",
            name(pair.from),
            name(pair.to),
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
        let pair = |from, to| Pair { from, to, latency: usual, transfer: usual };
        let pairs = [pair(0, 1), pair(0, 2), Pair { latency, transfer, ..pair(1, 2) }];
        let hosts = ["a", "b", "c"].map(str::to_string);
        let limits = Limits { least_bandwidth: least, ..Limits::default() };
        let judged = Judged::new(&pairs, &hosts, &[0; 3], &limits);
        let words = judged.sentences(&pairs, &hosts);
        let doubts = words.iter().filter(|words| words.starts_with("not surely slow: ")).count();
        assert_eq!(judged.not_surely_slow(&pairs).len(), doubts);
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
