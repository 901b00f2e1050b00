//! The MPIBlib paper (Lastovetsky, Rychkov, O'Flynn): its table, its figures, its round trips.

mod cluster;
mod figure_1;
mod figure_2;
mod incast;
mod measured;
mod p2p;
mod table_1;

use laneway_core::{Observer, Stage};

use crate::error::PaperError;
use crate::paper::{PARTS_DONE, kept};
use crate::part::{How, Part};
use crate::{Paper, Request};
pub use cluster::Cluster;
use cluster::{OPERATIONS, PLATFORM};
use measured::Run;

/// What is reproduced of it.
pub static PAPER: Paper = Paper {
    name: "mpiblib",
    about: "Table 1, figures 1 and 2 and the point-to-point experiment of MPIBlib",
    effort: "All parts but `incast` run in virtual time on the simulated cluster mpiblib16, whose \
             clocks have offsets and drift, and take seconds. `incast` measures Open MPI over TCP \
             on 16 hosts of a lab, and takes a minute; without root, namespaces or an MPI it is \
             not measured, with the reason.",
    parts: &["figure-1", "table-1", "figure-2", "p2p", "incast"],
    slow: &["incast"],
    drawn: "figure-1",
    notes: NOTES,
    page: "docs/papers/mpiblib.md",
    platform: Some(PLATFORM),
    measures: false,
    reproduce,
};

const NOTES: &[&str] = &[
    "note: the cluster is simulated (mpiblib16, clocks off by up to 0.5 s and 10 ppm); all seconds \
     are virtual.",
    "note: the paper gives neither the costs of its hosts nor what its switch holds: ours are \
     assumed, and so is the 0.2 s until TCP sends again what was lost. This model of losses was \
     made to show the paper's escalations: that they are there is not independent evidence.",
    "note: our commands make a call of each size that is not counted, before the one that is, so \
     that calls cost twice what they take; the paper does not say that it did.",
    "note: the paper does not say how long its clocks were compared; ours are compared before and \
     after each call, until 10 round trips brought nothing better (--trips).",
    "note: after a barrier ranks begin apart by up to half of a small call, which therefore seems \
     shorter than it is: the root sends before the others wait, or the first messages of a gather \
     are through before the last rank begins. start-time, which lets all begin at one instant, \
     shows what the call takes.",
    "note: a size of 0 sends nothing in our schedules, and is left out of table 1 and figure 2.",
    "note: in our series of gathers small messages are lost as well, which the paper does not \
     say, and a loss is paid once: in a long series it is divided among more repetitions.",
    "note: the host costs are chosen, so that the factor between one pair at a time and disjoint \
     pairs at once follows from 120 pairs in 15 rounds of 8 for any of them: it is shown without a \
     verdict.",
];

/// One benchmark for each operation and each method: table 1 tells what they cost, figure 2 what
/// they found.
struct Compared {
    /// By operation, then by method.
    runs: Vec<Vec<Run>>,
}

impl Compared {
    fn new(cluster: &Cluster, observer: &dyn Observer) -> Result<Compared, PaperError> {
        let all = OPERATIONS.len() * measured::METHODS.len();
        let stage = Stage::new(observer, "benchmarks run", all as u64);
        let runs = |operation| measured::runs(cluster, operation, &stage);
        Ok(Compared { runs: OPERATIONS.into_iter().map(runs).collect::<Result<Vec<_>, _>>()? })
    }

    /// As a person would type them.
    fn commands(&self) -> Vec<String> {
        self.runs.iter().flatten().map(|run| run.line.clone()).collect()
    }
}

/// The wanted parts in the order of the paper, all where none is named; tells how far it is.
pub fn reproduce(request: &Request, observer: &dyn Observer) -> Result<Vec<Part>, PaperError> {
    let chosen = PAPER.chosen(request)?;
    let wants = |part: &str| chosen.contains(&part);
    let cluster = Cluster::new()?;
    let mut parts = Vec::new();
    let compared = match wants("table-1") || wants("figure-2") {
        true => Some(Compared::new(&cluster, observer)?),
        false => None,
    };
    let own = ["figure-1", "p2p"].into_iter().filter(|part| wants(part)).count();
    let stage = Stage::new(observer, PARTS_DONE, own as u64);
    if wants("figure-1") {
        parts.push(figure_1::part(&cluster)?);
        stage.step();
    }
    if let Some(compared) = compared.as_ref().filter(|_| wants("table-1")) {
        parts.push(table_1::part(compared));
    }
    if let Some(compared) = compared.as_ref().filter(|_| wants("figure-2")) {
        let mut part = figure_2::part(compared);
        if wants("table-1") {
            // They stand there.
            part.commands.clear();
        }
        parts.push(part);
    }
    if wants("p2p") {
        parts.push(p2p::part(&cluster)?);
    }
    if wants("incast") {
        parts.push(kept("incast", How::Lab, incast::part(request)));
    }
    Ok(parts)
}
