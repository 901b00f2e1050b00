//! The MPIBlib paper (Lastovetsky, Rychkov, O'Flynn): its table, its figures, its round trips.

mod cluster;
mod figure_1;
mod figure_2;
mod p2p;
mod table_1;

use laneway_core::Failure;

use super::Paper;
use super::part::Part;
use cluster::{COMPARED, Cluster, OPERATIONS, PLATFORM, Sweep, sizes};

pub const PAPER: Paper = Paper {
    name: "mpiblib",
    about: "Table 1, figures 1 and 2 and the point-to-point experiment of MPIBlib",
    help: "All runs in virtual time on the simulated cluster mpiblib16, whose clocks are off and \
           drift, and takes seconds.",
    parts: &["figure-1", "table-1", "figure-2", "p2p"],
    drawn: "figure-1",
    reproduce: parts,
    notes: NOTES,
    platform: Some(PLATFORM),
};

const NOTES: &[&str] = &[
    "note: the cluster is simulated (mpiblib16, clocks off by up to 0.5 s and 10 ppm); all seconds \
     are virtual.",
    "note: the paper gives neither the costs of its hosts nor what its switch holds: ours are \
     assumed, and so is the 0.2 s until TCP sends again what was lost. This model of losses was \
     made to show the paper's escalations: that they are there is no independent evidence.",
    "note: the paper does not say how long its clocks were compared; ours are compared before and \
     after each call, until 10 round trips brought nothing better.",
    "note: a size of 0 sends nothing in our schedules; it counts in table 1 and is left out of \
     figure 2.",
    "note: in our series of gathers small messages are lost as well, which the paper does not \
     say, and a loss is paid once: in a long series it is parted among more repetitions.",
    "note: verdicts are on what the paper's text says; the bounds are ours, set with these figures \
     in view (docs/reproduce-mpiblib.md).",
];

/// One sweep for each operation and each compared method: table 1 tells what they cost, figure 2
/// what they found.
struct Compared {
    sizes: Vec<u64>,
    /// By operation, then by method.
    sweeps: Vec<Vec<Sweep>>,
}

fn compared(cluster: &Cluster) -> Result<Compared, Failure> {
    let sizes = sizes();
    let sweep = |operation| {
        let by = |method| cluster.sweep(operation, method, &sizes, 1);
        COMPARED.into_iter().map(by).collect::<Result<Vec<_>, _>>()
    };
    let sweeps = OPERATIONS.into_iter().map(sweep).collect::<Result<Vec<_>, _>>()?;
    Ok(Compared { sizes, sweeps })
}

fn parts(wanted: &[&str]) -> Result<Vec<Part>, Failure> {
    let wants = |part: &str| wanted.is_empty() || wanted.contains(&part);
    let cluster = Cluster::new()?;
    let mut parts = Vec::new();
    let compared = match wants("table-1") || wants("figure-2") {
        true => Some(compared(&cluster)?),
        false => None,
    };
    if wants("figure-1") {
        parts.push(figure_1::part(&cluster)?);
    }
    if let Some(compared) = compared.as_ref().filter(|_| wants("table-1")) {
        parts.push(table_1::part(compared));
    }
    if let Some(compared) = compared.as_ref().filter(|_| wants("figure-2")) {
        parts.push(figure_2::part(&cluster, compared)?);
    }
    if wants("p2p") {
        parts.push(p2p::part(&cluster)?);
    }
    Ok(parts)
}
