//! What a survey found, and its verdict in words that hold for its rule: a pair is slow by the fast
//! end of its interval; one that is slow by its estimate alone is borderline, and printed with its
//! figures.

use super::sample::Sample;
use super::survey::Survey;
use crate::flags;
use crate::p2p::{Estimate, Mark, Pair, Verdict, name, verdict};

/// The number of pairs that are named; rows have them all.
const NAMED: usize = 8;

/// How far a survey is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rounds {
    /// Rounds that are over.
    pub done: usize,
    /// All there are.
    pub all: usize,
}

/// What a sample has looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Coverage {
    /// Pairs that were measured with care: the verdict rests on them.
    pub measured: u64,
    /// Pairs of hosts that had a quick look.
    pub quick: u64,
    /// Those of them that stood out.
    pub stand_out: u64,
    /// Those that stood out, were not measured with care, and that no slow host explains.
    pub open: u64,
    /// Pairs of hosts, and of ranks of one host.
    pub all: u64,
    /// Those of them that were neither measured nor looked at.
    pub unseen: u64,
}

impl Coverage {
    /// For the reader of a verdict.
    fn sentences(&self, sample: Option<Sample>) -> Vec<String> {
        let Coverage { measured, quick, stand_out, open, all, unseen } = self;
        let seed = sample.map_or(String::new(), |sample| format!(" (seed {})", sample.seed));
        let looked = match quick {
            0 => "no quick looks".to_string(),
            _ => format!("a quick look at {quick} pairs, of which {stand_out} stood out"),
        };
        let mut all = vec![format!("sample{seed}: {measured} of {all} pairs measured, {looked}")];
        all.extend((*unseen > 0).then(|| {
            format!(
                "not seen: {unseen} pairs; their hosts were seen with others, and a link that is \
                 slow for one of these pairs alone is missed"
            )
        }));
        all.extend((*open > 0).then(|| {
            format!("not judged: {open} pairs stood out at a quick look and were not measured")
        }));
        all
    }
}

/// All pairs of ranks, and what they say together.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Findings {
    /// The host of each rank.
    pub hosts: Vec<String>,
    /// The site of each rank.
    pub sites: Vec<u32>,
    /// The pairs that are done, by their ranks.
    pub pairs: Vec<Pair>,
    /// How far the survey is.
    pub rounds: Rounds,
    /// Who is to blame; none before all pairs are done.
    pub verdict: Option<Verdict>,
    /// What a sample has looked at; `None` if all pairs were measured.
    pub coverage: Option<Coverage>,
    /// What was asked for.
    pub survey: Survey,
}

/// A figure as a multiple of the usual time.
fn times(figure: &Estimate, mark: &Mark) -> Estimate {
    figure.map(|seconds| seconds / mark.usual)
}

/// A figure in percent of the usual bandwidth.
pub(super) fn percent(figure: &Estimate, mark: &Mark) -> Estimate {
    figure.map(|seconds| 100.0 * mark.usual / seconds)
}

/// What a reader must know of a pair.
pub(super) fn flags_of(pair: &Pair, survey: &Survey) -> Vec<&'static str> {
    let figures = [&pair.latency, &pair.there, &pair.back];
    let imprecise = figures.iter().any(|figure| !figure.reached);
    let missed = figures.iter().any(|figure| !figure.is_measured());
    let mut all = Vec::new();
    all.extend(imprecise.then_some(flags::PRECISION));
    all.extend(missed.then_some(flags::NO_TIME));
    all.extend(figures.iter().filter_map(|figure| figure.caution(&survey.rule)));
    all.dedup();
    all
}

impl Findings {
    /// With the verdict on all pairs.
    pub(super) fn judge(self) -> Findings {
        let limits = self.survey.limits();
        let verdict = Some(verdict(&self.pairs, &self.hosts, &self.sites, &limits));
        Findings { verdict, ..self }
    }

    /// Whether all pairs were judged and none is slow.
    pub fn is_healthy(&self) -> bool {
        let is_slow = |all: &Verdict| !all.is_healthy() || all.count_slow() > 0;
        self.verdict.as_ref().is_some_and(|all| !is_slow(all)) && self.count_open() == 0
    }

    /// Pairs that stood out at a quick look and were not measured.
    fn count_open(&self) -> u64 {
        self.coverage.map_or(0, |coverage| coverage.open)
    }

    /// Whether there is a gate, and a pair is slow.
    pub fn fails_gate(&self) -> bool {
        let slow = self.verdict.as_ref().is_some_and(|verdict| verdict.count_slow() > 0);
        self.survey.gate.is_some() && slow
    }

    /// Whether a figure of some pair could not be measured, or a pair that stood out was not.
    pub fn is_missed(&self) -> bool {
        self.has_flag(flags::NO_TIME) || self.count_open() > 0
    }

    /// Whether a figure of some pair is not as precise as the rule asks for.
    pub fn is_imprecise(&self) -> bool {
        self.has_flag(flags::PRECISION)
    }

    fn has_flag(&self, flag: &str) -> bool {
        self.pairs.iter().any(|pair| flags_of(pair, &self.survey).contains(&flag))
    }

    /// The places of pairs that are slow by their estimates alone.
    pub fn borderline(&self) -> Vec<usize> {
        let marks = self.verdict.iter().flat_map(|verdict| verdict.marks.iter().enumerate());
        marks.filter(|(_, marks)| marks.is_borderline()).map(|(index, _)| index).collect()
    }

    /// The verdict, a sentence each, then the rule and what else is to be known.
    pub fn sentences(&self) -> Vec<String> {
        [self.answer(), self.remarks()].concat()
    }

    /// The verdict, a sentence each.
    pub fn answer(&self) -> Vec<String> {
        let Some(verdict) = &self.verdict else {
            let Rounds { done, all } = self.rounds;
            return vec![format!("unfinished: {done} of {all} rounds of pairs")];
        };
        let is_compared = self.pairs.len() > 1 || self.survey.limits().least_rate.is_some();
        let is_certain = self.borderline().is_empty() && self.count_missed() == 0;
        if is_compared && self.is_healthy() && is_certain {
            let count = self.pairs.len();
            return vec![match self.coverage {
                None => format!("nothing suspicious: none of {count} pairs is slow"),
                Some(Coverage { quick, all, .. }) => format!(
                    "nothing suspicious: none of {count} measured pairs is slow; {quick} of all \
                     {all} pairs had a quick look"
                ),
            }];
        }
        verdict.sentences(&self.hosts, &self.survey.limits())
    }

    /// What a reader of the verdict has to know: the rule, borderline pairs, missing figures.
    pub fn remarks(&self) -> Vec<String> {
        let limits = self.survey.limits();
        let count = self.pairs.len();
        let is_compared = count > 1 || limits.least_rate.is_some();
        let Some(verdict) = self.verdict.as_ref().filter(|_| is_compared) else {
            return Vec::new();
        };
        let mut remarks = vec![limits.words(self.survey.rule.level())];
        let coverage = self.coverage.iter();
        remarks.extend(coverage.flat_map(|coverage| coverage.sentences(self.survey.sample)));
        let unsure = self.borderline();
        remarks.extend(unsure.iter().take(NAMED).map(|&index| self.doubt(verdict, index)));
        if unsure.len() > NAMED {
            remarks.push(format!("borderline: {} more pairs", unsure.len() - NAMED));
        }
        let missed = self.count_missed();
        if missed > 0 {
            remarks.push(format!(
                "not judged: {missed} of {count} pairs have a figure without a time, as where a \
                 long message takes no longer than a short one; a larger size helps"
            ));
        }
        remarks
    }

    /// Pairs with a figure that could not be measured.
    fn count_missed(&self) -> usize {
        let missed = |pair: &&Pair| {
            [pair.latency, pair.there, pair.back].iter().any(|figure| !figure.is_measured())
        };
        self.pairs.iter().filter(missed).count()
    }

    /// Why a pair is borderline, with its figures.
    fn doubt(&self, verdict: &Verdict, index: usize) -> String {
        let (pair, marks) = (&self.pairs[index], &verdict.marks[index]);
        let describe = |figure: Estimate, unit: &str, usual: &str| {
            let ends = figure.interval.map_or(String::new(), |i| {
                let (low, high) = (round(i.low), round(i.high));
                format!(" (interval {low} to {high}{unit})")
            });
            format!("{}{unit} {usual}{ends}", round(figure.value))
        };
        let ways = [(&pair.there, &marks.there), (&pair.back, &marks.back)];
        let worse = ways
            .into_iter()
            .filter(|(_, mark)| mark.borderline)
            .max_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio));
        let bandwidth = worse
            .map(|(figure, mark)| describe(percent(figure, mark), " %", "of the usual bandwidth"));
        let latency = marks
            .latency
            .borderline
            .then(|| describe(times(&pair.latency, &marks.latency), " times", "the usual latency"));
        let words: Vec<String> = [bandwidth, latency].into_iter().flatten().collect();
        format!(
            "borderline: {} and {} have {}",
            name(&self.hosts, pair.from),
            name(&self.hosts, pair.to),
            words.join(", and ")
        )
    }
}

/// With as many places as distinguish a percentage from its neighbours.
fn round(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::super::survey::Gate;
    use super::*;
    use laneway_stats::Interval;

    fn figure(value: f64, low: f64, high: f64) -> Estimate {
        let interval = Some(Interval { low, high, level: 0.95 });
        Estimate { value, interval, error: None, reps: 9, reached: true }
    }

    /// Three pairs of usual figures, of which the last is as given.
    fn judge(latency: Estimate, transfer: Estimate, least: f64) -> (Findings, Vec<String>) {
        let usual = figure(1.0, 1.0, 1.0);
        let pair = |from, to| Pair { from, to, latency: usual, there: usual, back: usual };
        let slow = Pair { latency, there: transfer, back: transfer, ..pair(1, 2) };
        let findings = Findings {
            hosts: ["a", "b", "c"].map(str::to_string).to_vec(),
            sites: vec![0; 3],
            pairs: vec![pair(0, 1), pair(0, 2), slow],
            rounds: Rounds { done: 2, all: 3 },
            verdict: None,
            coverage: None,
            survey: Survey { gate: Some(Gate::Share(least)), ..Survey::new() },
        };
        assert_eq!(findings.sentences(), ["unfinished: 2 of 3 rounds of pairs"]);
        assert!(!findings.is_healthy() && !findings.fails_gate());
        let findings = findings.judge();
        let words = findings.sentences();
        let doubts = words.iter().filter(|words| words.starts_with("borderline: ")).count();
        assert_eq!(findings.borderline().len(), doubts);
        assert_eq!(findings.is_healthy(), !findings.fails_gate());
        (findings, words)
    }

    #[test]
    fn what_is_slow_by_its_estimate_alone_is_borderline() {
        let usual = figure(1.0, 1.0, 1.0);
        let (findings, words) = judge(usual, figure(1.25, 1.0, 1.6), 0.97);
        assert!(findings.is_healthy());
        assert_eq!(
            words,
            [
                "none of 3 pairs is slow",
                "slow: below 97 % of the usual bandwidth, or above twice the usual latency, with \
                 95 % confidence",
                "borderline: b (rank 1) and c (rank 2) have 80 % of the usual bandwidth (interval \
                 62.5 to 100 %)",
            ]
        );
        let (_, words) = judge(figure(3.0, 1.5, 4.0), usual, 0.97);
        assert!(
            words[2].ends_with("3 times the usual latency (interval 1.5 to 4 times)"),
            "{words:?}"
        );
    }

    #[test]
    fn what_is_within_the_limits_is_not_suspicious() {
        let usual = figure(1.0, 1.0, 1.0);
        // Beyond it at the slow end of the interval alone is not a doubt.
        let (_, words) = judge(usual, figure(1.01, 0.9, 3.0), 0.975);
        let rule = "slow: below 97.5 % of the usual bandwidth, or above twice the usual latency, \
                    with 95 % confidence";
        assert_eq!(words, ["nothing suspicious: none of 3 pairs is slow", rule]);
    }

    #[test]
    fn a_verdict_names_the_rule() {
        let usual = figure(1.0, 1.0, 1.0);
        let (findings, words) = judge(usual, figure(5.0, 4.9, 5.1), 0.9);
        assert!(!findings.is_healthy());
        assert!(words[0].starts_with("the link between b"), "{words:?}");
        assert!(words[1].starts_with("slow: below 90 %"), "{words:?}");
    }
}
