//! A paper as data: what it is called, which parts it has, and what a reader must know of them.

use laneway_core::{Document, Row};

use crate::error::PaperError;
use crate::part::{Claim, Part};

/// What the stage of all parts is called.
pub(crate) const PARTS_DONE: &str = "parts of the paper";

/// A paper whose experiments can be done again.
#[derive(Debug)]
#[non_exhaustive]
pub struct Paper {
    /// In one word.
    pub name: &'static str,
    /// What of it is reproduced.
    pub about: &'static str,
    /// What a run needs and how long it takes.
    pub effort: &'static str,
    /// The names of its parts, in the order of the paper.
    pub parts: &'static [&'static str],
    /// One of them that is a drawing.
    pub drawn: &'static str,
    /// What a reader must know of all figures.
    pub notes: &'static [&'static str],
    /// The page of the documentation that says more.
    pub page: &'static str,
    /// The simulated machine that it runs on, if anything runs.
    pub platform: Option<&'static str>,
}

impl Paper {
    /// The wanted parts in the order of the paper; all where none is named.
    pub(crate) fn chosen(&self, wanted: &[&str]) -> Result<Vec<&'static str>, PaperError> {
        if let Some(part) = wanted.iter().find(|part| !self.parts.contains(part)) {
            return Err(PaperError::UnknownPart { paper: self.name, part: (*part).into() });
        }
        let is_wanted = |part: &&str| wanted.is_empty() || wanted.contains(part);
        Ok(self.parts.iter().copied().filter(is_wanted).collect())
    }

    /// What was found, for a program: a row for each claim and each point of a curve.
    pub fn document(&self, parts: &[Part]) -> Document {
        let claims = || parts.iter().flat_map(|part| &part.claims).filter_map(Claim::holds);
        let count = |wanted: bool| claims().filter(|holds| *holds == wanted).count() as u64;
        Document {
            verb: "reproduce",
            env: match self.platform {
                Some(platform) => Row::new().with("backend", format!("sim:{platform}")),
                None => Row::new(),
            },
            params: Row::new()
                .with("paper", self.name)
                .with("notes", self.notes.join(" "))
                .with("remarks", remarks(parts))
                .with("commands", commands(parts)),
            rows: parts.iter().flat_map(Part::rows).collect(),
            summary: Some(Row::new().with("hold", count(true)).with("differ", count(false))),
        }
    }
}

/// What was run, a line each; several parts may rest on one run.
fn commands(parts: &[Part]) -> String {
    let mut all: Vec<&str> = Vec::new();
    for line in parts.iter().flat_map(|part| &part.commands) {
        if !all.contains(&line.as_str()) {
            all.push(line);
        }
    }
    all.join("\n")
}

/// What contradicts the paper, a line each; nothing where nothing has to be said.
fn remarks(parts: &[Part]) -> Option<String> {
    let all = parts
        .iter()
        .flat_map(|part| part.remarks.iter().map(|remark| format!("{}: {remark}", part.name)));
    let all: Vec<String> = all.collect();
    (!all.is_empty()).then(|| all.join("\n"))
}

#[cfg(test)]
mod tests {
    use laneway_core::Value;

    use crate::{PAPERS, fullmesh};

    #[test]
    fn parts_come_in_the_order_of_the_paper_and_unknown_ones_are_refused() {
        let paper = &fullmesh::PAPER;
        let chosen = paper.chosen(&["figure-9", "table-1"]).expect("parts");
        assert_eq!(chosen, ["table-1", "figure-9"]);
        assert_eq!(paper.chosen(&[]).expect("all"), paper.parts);
        let error = paper.chosen(&["figure-99"]).expect_err("no such part");
        assert_eq!(error.to_string(), "unknown part `figure-99` of the paper fullmesh");
        for paper in PAPERS {
            assert!(paper.parts.contains(&paper.drawn), "{}", paper.name);
        }
    }

    #[test]
    fn a_document_counts_the_claims() {
        let parts = fullmesh::reproduce(&["table-1"], &()).expect("a table");
        let document = fullmesh::PAPER.document(&parts);
        let summary = document.summary.expect("a summary");
        assert_eq!(summary.get("hold"), Some(&Value::Whole(18)));
        assert_eq!(summary.get("differ"), Some(&Value::Whole(0)));
        assert_eq!(document.rows.len(), 18);
    }
}
