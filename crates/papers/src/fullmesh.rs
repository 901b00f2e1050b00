//! The full-mesh paper (Nakashima, Miwa): its tables, its orders of messages, its throughputs.

mod orders;
mod printed;
mod shapes;
mod sizes;
mod traffic;

use laneway_core::{Observer, Stage};

use crate::error::PaperError;
use crate::paper::PARTS_DONE;
use crate::part::{Axes, Drawn, How, Part};
use crate::{Paper, Request};

/// What is reproduced of it.
pub static PAPER: Paper = Paper {
    name: "fullmesh",
    about: "Tables 1 to 3 and figures 4, 7 to 10 and 13 to 17 of the multi-layer full mesh",
    effort: "Everything is counted on cables and forwarding tables, message by message; it takes \
             seconds.",
    parts: &PARTS,
    slow: &[],
    drawn: "figure-10",
    notes: NOTES,
    page: "docs/papers/fullmesh.md",
    platform: None,
    measures: false,
    reproduce,
};

const PARTS: [&str; 14] = [
    "table-1",
    "figure-4",
    "figure-7",
    "figure-8",
    "equations",
    "figure-9",
    "figure-10",
    "table-2",
    "table-3",
    "figure-13",
    "figure-14",
    "figure-15",
    "figure-16",
    "figure-17",
];

const NOTES: &[&str] = &[
    "note: sizes are counted port by port on our wirings and set beside the paper's formulas.",
    "note: the rows of figures 4, 7 and 8 are printed as sources; they are phases, and the columns \
     are the sources.",
    "note: the paper does not say how its fat trees forward; ours choose the cable up by the \
     destination's number (d-mod-k), with which a shift has no conflict. In the half tree \
     neighbours share a cable instead, which gives the paper's figures; d-mod-k is set beside it.",
    "note: random permutations are those without fixed points, 10,000 at d = 4, 300 at d = 8 and \
     100 at d = 18 (the paper: 100 each), seed 1; the paper's seed is not known. Standard errors \
     are over permutations.",
    "note: figures 10 and 13 to 17 are drawings without numbers: what the text says of them is \
     what is compared.",
    "note: table 1 and figure 10 count a three-level tree of p^3/4 nodes, table 3 one of d^3.",
];

/// The degrees of the paper's evaluation.
const DEGREES: [u32; 3] = [4, 8, 18];

/// A part of which everything is counted.
fn counted(name: &'static str, heading: &'static str, axes: Axes) -> Part {
    Part::new(name, How::Counted, heading, axes)
}

/// A table of numbers.
const TABLE: Axes = Axes { across: "at", unit: None, up: "", along: "", drawn: Drawn::Not };

/// The wanted parts in the order of the paper, all where none is named; tells how far it is.
pub fn reproduce(request: &Request, observer: &dyn Observer) -> Result<Vec<Part>, PaperError> {
    let mut traffic = traffic::Traffic::default();
    let chosen = PAPER.chosen(request)?;
    let stage = Stage::new(observer, PARTS_DONE, chosen.len() as u64);
    stage.over(chosen).map(|part| one(part, &mut traffic)).collect()
}

fn one(part: &str, traffic: &mut traffic::Traffic) -> Result<Part, PaperError> {
    match part {
        "table-1" => sizes::table_1(),
        "figure-4" => Ok(orders::figure_4()),
        "figure-7" => Ok(orders::figure_7()),
        "figure-8" => Ok(orders::figure_8()),
        "equations" => Ok(orders::equations()),
        "figure-9" => Ok(shapes::figure_9()),
        "figure-10" => sizes::figure_10(),
        "table-2" => shapes::table_2(),
        "table-3" => sizes::table_3(),
        "figure-13" => traffic.figure_13(),
        "figure-14" => traffic.figure_14(),
        "figure-15" => traffic.histogram("figure-15", 0),
        "figure-16" => traffic.histogram("figure-16", 1),
        _ => traffic.histogram("figure-17", 2),
    }
}
