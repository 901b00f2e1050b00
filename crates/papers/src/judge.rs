//! One judge for the claims of all papers: what a call adds up to, and the document that says it.

use laneway_core::{Document, Row};

use crate::claim::{Difference, Verdict};
use crate::paper::Paper;
use crate::part::Part;

/// A paper with the parts that were asked for.
#[derive(Debug)]
pub struct Reproduced {
    /// The paper.
    pub paper: &'static Paper,
    /// The parts, in its order.
    pub parts: Vec<Part>,
}

/// Verdicts of a call, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judgement {
    /// Claims that hold.
    pub hold: u64,
    /// Differences that a page explains, inside the range that it gives.
    pub known: u64,
    /// Differences that no page explains, or not as large ones: paper, part and claim.
    pub unknown: Vec<String>,
    /// What was asked for and was not measured, likewise.
    pub missing: Vec<String>,
    /// Figures of ours that are there, judged or only shown, and points of curves.
    pub figures: u64,
}

/// What a call ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All that was asked for was measured, and every difference is a known one.
    Done,
    /// A difference that is not known, or any at all in a strict call.
    Differs,
    /// No such difference, but something was not measured.
    NotMeasured,
}

impl Judgement {
    /// Goes through all parts.
    pub fn of(all: &[Reproduced]) -> Judgement {
        let mut judgement = Judgement::default();
        for Reproduced { paper, parts } in all {
            parts.iter().for_each(|part| judgement.add(paper.name, part));
        }
        judgement
    }

    fn add(&mut self, paper: &str, part: &Part) {
        let name = |what: &str| format!("{paper} {}: {what}", part.name);
        // The reason, before the claims that it leaves without a figure.
        self.missing.extend(part.missing.iter().map(|what| name(what)));
        for claim in &part.claims {
            match claim.verdict() {
                None => {}
                Some(Verdict::Holds) => self.hold += 1,
                Some(Verdict::Differs(Difference::Known(_))) => self.known += 1,
                Some(Verdict::Differs(_)) => self.unknown.push(name(claim.what())),
                Some(Verdict::NotMeasured) => self.missing.push(name(claim.what())),
            }
            self.figures += u64::from(claim.ours().is_some());
        }
        self.figures += part.curves.iter().map(|curve| curve.points.len() as u64).sum::<u64>();
    }

    /// What the call ends with; where it is strict, every difference fails.
    pub fn outcome(&self, strict: bool) -> Outcome {
        let differs = !self.unknown.is_empty() || strict && self.known > 0;
        match (differs, self.missing.is_empty()) {
            (true, _) => Outcome::Differs,
            (false, false) => Outcome::NotMeasured,
            // A call that measured nothing has not done what it was asked for.
            (false, true) if self.figures == 0 => Outcome::NotMeasured,
            (false, true) => Outcome::Done,
        }
    }

    /// In a sentence for each kind of verdict.
    pub fn sentences(&self, pages: &[&str]) -> Vec<String> {
        let claims = |count: usize| if count == 1 { "claim" } else { "claims" };
        let Judgement { hold, known, unknown, missing, .. } = self;
        let mut all = Vec::new();
        if *hold + *known > 0 {
            let explained = match known {
                0 => String::new(),
                _ => format!(
                    ", {known} {} for reasons that {} {}",
                    if *known == 1 { "differs" } else { "differ" },
                    pages.join(", "),
                    if pages.len() == 1 { "explains" } else { "explain" },
                ),
            };
            let verb = if *hold == 1 { "holds" } else { "hold" };
            all.push(format!("{hold} {} {verb}{explained}.", claims(*hold as usize)));
        }
        if !unknown.is_empty() {
            let count = unknown.len();
            let verb = if count == 1 { "differs" } else { "differ" };
            let list = unknown.join("; ");
            all.push(format!("{count} {} {verb} without an explanation: {list}.", claims(count)));
        }
        if !missing.is_empty() {
            all.push(format!("Not measured: {}.", missing.join("; ")));
        }
        all
    }

    fn row(&self) -> Row {
        Row::new()
            .with("hold", self.hold)
            .with("differ", self.known + self.unknown.len() as u64)
            .with("known", self.known)
            .with("not_measured", self.missing.len() as u64)
    }
}

/// What was found, for a program: a row for each claim, for each point of a curve, and for
/// everything that was not measured.
pub fn document(all: &[Reproduced]) -> Document {
    let papers: Vec<&str> = all.iter().map(|one| one.paper.name).collect();
    let notes: Vec<&str> = all.iter().flat_map(|one| one.paper.notes.iter().copied()).collect();
    let rows = |one: &Reproduced| -> Vec<Row> {
        one.parts.iter().flat_map(|part| part.rows(one.paper.name)).collect()
    };
    let platforms: Vec<&str> = all.iter().filter_map(|one| one.paper.platform).collect();
    let judgement = Judgement::of(all);
    Document {
        verb: "reproduce",
        env: match platforms[..] {
            [platform] => Row::new().with("backend", format!("sim:{platform}")),
            _ => Row::new(),
        },
        params: Row::new()
            .with("paper", papers.join(","))
            .with("notes", notes.join(" "))
            .with("remarks", remarks(all))
            .with("commands", commands(all))
            .with("not_measured", lines(judgement.missing.clone())),
        rows: all.iter().flat_map(rows).collect(),
        summary: Some(judgement.row()),
    }
}

/// A line each; nothing where there is none.
fn lines(all: Vec<String>) -> Option<String> {
    (!all.is_empty()).then(|| all.join("\n"))
}

/// What was run, a line each; several parts may rest on one run.
fn commands(all: &[Reproduced]) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in all.iter().flat_map(|one| &one.parts).flat_map(|part| &part.commands) {
        if !lines.contains(&line.as_str()) {
            lines.push(line);
        }
    }
    lines.join("\n")
}

/// What contradicts the paper, a line each.
fn remarks(all: &[Reproduced]) -> Option<String> {
    let parts = all.iter().flat_map(|one| &one.parts);
    let remark = |part: &Part| -> Vec<String> {
        part.remarks.iter().map(|remark| format!("{}: {remark}", part.name)).collect()
    };
    lines(parts.flat_map(remark).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Claim;
    use crate::part::{Axes, How};
    use crate::{Request, fullmesh};

    fn judged(claims: Vec<Claim>, missing: &[&str]) -> Judgement {
        let missing = missing.iter().map(|what| (*what).to_owned()).collect();
        let part = Part { claims, missing, ..Part::new("p", How::Counted, "P", Axes::TIMES) };
        Judgement::of(&[Reproduced { paper: &fullmesh::PAPER, parts: vec![part] }])
    }

    fn claim(ours: f64) -> Claim {
        let claim = Claim::own_ratio("gain", ours).at_least(1.5, "about 2");
        claim.known(3, 1.2, 1.3)
    }

    #[test]
    fn a_call_is_done_only_if_all_was_measured_and_every_difference_is_known() {
        for (ours, missing, outcome, strict) in [
            (1.6, &[][..], Outcome::Done, Outcome::Done),
            (1.25, &[], Outcome::Done, Outcome::Differs),
            (1.1, &[], Outcome::Differs, Outcome::Differs),
            (f64::NAN, &[], Outcome::NotMeasured, Outcome::NotMeasured),
            (1.6, &["the lab needs root"], Outcome::NotMeasured, Outcome::NotMeasured),
            (1.25, &["the lab needs root"], Outcome::NotMeasured, Outcome::Differs),
            (1.1, &["the lab needs root"], Outcome::Differs, Outcome::Differs),
        ] {
            let judgement = judged(vec![claim(ours)], missing);
            assert_eq!(judgement.outcome(false), outcome, "{ours} {missing:?}");
            assert_eq!(judgement.outcome(true), strict, "{ours} {missing:?}");
        }
    }

    #[test]
    fn nothing_measured_is_not_done() {
        assert_eq!(judged(Vec::new(), &[]).outcome(false), Outcome::NotMeasured);
        assert_eq!(Judgement::default().outcome(false), Outcome::NotMeasured);
        // A figure that is only shown was measured.
        let shown = judged(vec![Claim::own_ratio("gain", 1.1)], &[]);
        assert_eq!((shown.outcome(true), shown.hold), (Outcome::Done, 0));
    }

    #[test]
    fn what_fails_is_named() {
        let claims = vec![claim(1.6), claim(1.25), claim(1.1), claim(f64::NAN)];
        let judgement = judged(claims, &["no root"]);
        assert_eq!((judgement.hold, judgement.known), (1, 1));
        assert_eq!(judgement.unknown, ["fullmesh p: gain"]);
        assert_eq!(judgement.missing, ["fullmesh p: no root", "fullmesh p: gain"]);
        assert_eq!(
            judgement.sentences(&["docs/papers/fullmesh.md"]),
            [
                "1 claim holds, 1 differs for reasons that docs/papers/fullmesh.md explains.",
                "1 claim differs without an explanation: fullmesh p: gain.",
                "Not measured: fullmesh p: no root; fullmesh p: gain.",
            ]
        );
    }

    #[test]
    fn a_document_counts_the_claims() {
        let parts = fullmesh::reproduce(&Request::of(&["table-1"]), &()).expect("a table");
        let document = document(&[Reproduced { paper: &fullmesh::PAPER, parts }]);
        let summary = document.summary.expect("a summary");
        assert_eq!(summary.get("hold"), Some(&18_u64.into()));
        assert_eq!(summary.get("differ"), Some(&0_u64.into()));
        assert_eq!(document.rows.len(), 18);
    }
}
