//! The multi-lane paper (Chiba, Endo, Matsuoka): its table of costs, its times over sizes and
//! numbers of links, its rates of the WAN over time; and the same in a lab with real MPI.

mod lab;
mod lanes;
mod rates;
mod regimes;
mod sizes;
mod table_1;
mod tcp;
mod testbed;
pub(crate) mod typed;
mod window;

use laneway_core::{Collective, Observer, Stage};

pub use testbed::{Crossing, Reading, Testbed};

use crate::error::PaperError;
use crate::paper::{PARTS_DONE, kept};
use crate::part::{Axes, How, Part};
use crate::{Paper, Request};

/// What is reproduced of it.
pub static PAPER: Paper = Paper {
    name: "multilane",
    about: "Section 3.2, table 1, figures 1, 4, 5, 7 to 10 of the multi-lane scatter and gather",
    effort: "All parts but `lab` and `tcp-*` run in virtual time on the simulated testbed, two \
             sites with 32 hosts each, and take a second. `lab` measures real MPI on 2 x 8 hosts \
             of a lab and takes about a minute; `tcp-*` on 2 x 32 hosts, at a quarter of the \
             paper's rates, and take ten minutes. Without root, namespaces or an MPI they are not \
             measured, with the reason.",
    parts: &PARTS,
    slow: &[
        "lab",
        "tcp-figure-4",
        "tcp-figure-5",
        "tcp-figure-7",
        "tcp-figure-8",
        "tcp-figure-9",
        "tcp-figure-10",
        "tcp-own",
    ],
    drawn: "figure-9",
    notes: NOTES,
    page: "docs/papers/multilane.md",
    platform: Some("two-sites:32x32,latency=2500us,window=156250"),
    measures: false,
    reproduce,
};

const PARTS: [&str; 18] = [
    "figure-1",
    "section-3.2",
    "table-1",
    "window",
    "figure-4",
    "figure-5",
    "figure-7",
    "figure-8",
    "figure-9",
    "figure-10",
    "lab",
    "tcp-figure-4",
    "tcp-figure-5",
    "tcp-figure-7",
    "tcp-figure-8",
    "tcp-figure-9",
    "tcp-figure-10",
    "tcp-own",
];

const NOTES: &[&str] = &[
    "note: outside the lab \"measured\" is the paper's algorithm as a schedule, simulated: flows \
     share cards and links fairly and at once. What TCP does packet by packet (slow start, \
     bursts, losses) is not modelled, and hosts cost no time.",
    "note: 4 MB of the paper is 4 MiB here. The block of figures 9 and 10 and the axes of all \
     figures are not in the paper's text: 4 MB at 5 ms is assumed, and figures 4 and 5 are drawn \
     from 16 KiB to 4 MiB.",
    "note: the model's latency is one way, that of the simulated platform; its alpha is 0.",
    "note: what is tried as an explanation was chosen after seeing what fits: 700 Mbit/s of 500, \
     600, 700 and 800; 2, 8 and all sends at a time of 2, 3, 4, 8, 16 and all. It shows what could \
     have been, and is not independent evidence.",
    "note: the figures are drawings without numbers: what the text says of them is what is \
     compared. What one connection gets, and that a full link carries 1 Gbit/s, are inputs of the \
     simulation: they are shown and not judged.",
];

/// The wanted parts in the order of the paper, all where none is named; tells how far it is. The
/// part `lab` needs root and takes about a minute.
pub fn reproduce(request: &Request, observer: &dyn Observer) -> Result<Vec<Part>, PaperError> {
    let chosen = PAPER.chosen(request)?;
    let stage = Stage::new(observer, PARTS_DONE, chosen.len() as u64);
    stage.over(chosen).map(|part| one(part, request)).collect()
}

fn one(part: &'static str, request: &Request) -> Result<Part, PaperError> {
    match part {
        "figure-1" => regimes::figure_1(),
        "section-3.2" => regimes::section_3_2(),
        "table-1" => table_1::part(),
        "window" => window::part(),
        "figure-4" => sizes::figure_4(),
        "figure-5" => sizes::figure_5(),
        "figure-7" => rates::figure_7(),
        "figure-8" => rates::figure_8(),
        "figure-9" => lanes::figure_9(),
        "figure-10" => lanes::figure_10(),
        "tcp-figure-4" => Ok(kept(part, How::Lab, tcp::figure_4(request))),
        "tcp-figure-5" => Ok(kept(part, How::Lab, tcp::figure_5(request))),
        "tcp-figure-7" => Ok(kept(part, How::Lab, tcp::figure_7(request))),
        "tcp-figure-8" => Ok(kept(part, How::Lab, tcp::figure_8(request))),
        "tcp-figure-9" => Ok(kept(part, How::Lab, tcp::figure_9(request))),
        "tcp-figure-10" => Ok(kept(part, How::Lab, tcp::figure_10(request))),
        "tcp-own" => Ok(kept(part, How::Lab, tcp::own(request))),
        _ => Ok(kept(part, How::Lab, lab::part(request))),
    }
}

/// A part that was simulated.
fn simulated(name: &'static str, heading: &'static str, axes: Axes) -> Part {
    Part::new(name, How::Simulated, heading, axes)
}

/// The paper's algorithm with `lanes` lanes and `window` sends of the root at a time.
fn multi_lane(op: Collective, lanes: u32, window: u32) -> String {
    match op {
        // A gather has no window: all lanes start at once.
        Collective::Gather => format!("multi-lane:lanes={lanes}"),
        _ => format!("multi-lane:lanes={lanes}:window={window}"),
    }
}

/// Says the model's refusal; none is possible for the testbed's numbers.
fn modelled<T>(found: Result<T, laneway_sites::model::ModelError>) -> Result<T, PaperError> {
    found.map_err(PaperError::testbed)
}

/// The largest part by which figures differ from others at the same places.
fn largest_difference(these: &[(u64, f64)], those: &[(u64, f64)]) -> f64 {
    let differences = these.iter().zip(those).map(|(this, that)| (this.1 / that.1 - 1.0).abs());
    differences.fold(0.0, f64::max)
}
