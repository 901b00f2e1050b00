//! A paper as data: what it is called, which parts it has, and what a reader must know of them.

use laneway_core::Observer;

use crate::error::PaperError;
use crate::part::{How, Part};
use crate::request::Request;

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
    /// Those that take minutes, which a quick run leaves out.
    pub slow: &'static [&'static str],
    /// One of them that is a drawing.
    pub drawn: &'static str,
    /// What a reader must know of all figures.
    pub notes: &'static [&'static str],
    /// The page of the documentation that says more, and numbers the reasons for differences.
    pub page: &'static str,
    /// The simulated machine that it runs on, if anything runs.
    pub platform: Option<&'static str>,
    /// Whether clocks of this machine are read, so that nothing may disturb it.
    pub measures: bool,
    /// The wanted parts in the order of the paper.
    pub reproduce: fn(&Request, &dyn Observer) -> Result<Vec<Part>, PaperError>,
}

impl Paper {
    /// The parts that are asked for, in the order of the paper.
    pub fn chosen(&self, request: &Request) -> Result<Vec<&'static str>, PaperError> {
        let wanted = &request.parts;
        if let Some(part) = wanted.iter().find(|part| !self.parts.contains(&part.as_str())) {
            return Err(PaperError::UnknownPart { paper: self.name, part: part.clone() });
        }
        let is_wanted = |part: &&str| match wanted.is_empty() {
            true => !(request.quick && self.slow.contains(part)),
            false => wanted.iter().any(|wanted| wanted == part),
        };
        Ok(self.parts.iter().copied().filter(is_wanted).collect())
    }
}

/// A part, or the reason why it is not there: what other parts have found is kept.
pub(crate) fn kept(name: &'static str, how: How, found: Result<Part, PaperError>) -> Part {
    found.unwrap_or_else(|why| Part { how, ..Part::not_measured(name, why) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PAPERS, fullmesh};

    #[test]
    fn parts_come_in_the_order_of_the_paper_and_unknown_ones_are_refused() {
        let paper = &fullmesh::PAPER;
        let chosen = |parts: &[&str]| paper.chosen(&Request::of(parts));
        assert_eq!(chosen(&["figure-9", "table-1"]).expect("parts"), ["table-1", "figure-9"]);
        assert_eq!(chosen(&[]).expect("all"), paper.parts);
        let error = chosen(&["figure-99"]).expect_err("no such part");
        assert_eq!(error.to_string(), "unknown part `figure-99` of the paper fullmesh");
        for paper in PAPERS {
            assert!(paper.parts.contains(&paper.drawn), "{}", paper.name);
            assert!(paper.slow.iter().all(|part| paper.parts.contains(part)), "{}", paper.name);
        }
    }

    #[test]
    fn a_quick_run_leaves_out_what_takes_minutes_unless_it_is_named() {
        for paper in PAPERS {
            let quick = Request { quick: true, ..Request::default() };
            let chosen = paper.chosen(&quick).expect("parts");
            assert_eq!(chosen.len(), paper.parts.len() - paper.slow.len());
            for slow in paper.slow {
                let named = Request { quick: true, ..Request::of(&[slow]) };
                assert_eq!(paper.chosen(&named).expect("a part"), [*slow]);
            }
        }
    }

    #[test]
    fn a_part_that_failed_is_kept_with_its_reason() {
        let part = kept("lab", How::Lab, Err(PaperError::testbed("no root")));
        assert_eq!(part.missing, ["the testbed cannot be simulated: no root"]);
    }
}
