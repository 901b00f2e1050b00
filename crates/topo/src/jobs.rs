//! Jobs on a machine: nodes by a list, a number or a shape, and the order of their all-to-all.

pub mod job;

use std::collections::BTreeMap;
use std::ops::Range;

use laneway_core::Row;
use laneway_core::node_list::{compress, expand};
use laneway_core::units::{are, counted, grouped};

use crate::error::{Error, ErrorKind};
use crate::jobs::job::{Ground, Job, MOST_LISTED, Refused, Shape, place};
use crate::machine::Machine;
use crate::proof::explain;
use crate::topologies::mlfm::FullMesh;
use crate::traffic::alltoall::{EVERY_MESSAGE, SAMPLED_PHASES};
use crate::traffic::conflicts::Counter;
use crate::traffic::sample::follow_phases;
use crate::traffic::schedule::ensure_rows;
use crate::wiring::{Host, Wiring};

/// The nodes of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// These, as Slurm writes lists: `node[0-3,7]`.
    Nodes(&'a str),
    /// This number of the free ones.
    Size(u32),
    /// A shape of a full mesh, `LAYERSxVERTICESxNODES`, among the free ones; and its number of
    /// nodes, if it must be this.
    Shape(&'a str, Option<u32>),
}

/// Finds nodes for a job and an order of its all-to-all without conflict. Nodes are chosen among
/// the `free` ones, or among all that have a cable.
///
/// ```
/// use laneway_topo::jobs::{self, Wanted};
/// use laneway_topo::Machine;
///
/// let machine = Machine::named("mlfm:d=4")?;
/// let job = jobs::plan(&machine, Wanted::Size(16), Some("node[0-39]"), 1)?;
/// assert_eq!(jobs::conflicts(&machine, &job).0, 1);
/// # Ok::<(), laneway_topo::Error>(())
/// ```
pub fn plan(
    machine: &Machine,
    wanted: Wanted,
    free: Option<&str>,
    seed: u64,
) -> Result<Job, Error> {
    let order = machine.order();
    let (mesh, is_whole) = (machine.planned_mesh(), machine.mesh().is_some());
    let (wiring, routing) = (machine.wiring(), machine.routing());
    let ground = Ground { wiring, routing, order: &*order, mesh: mesh.as_ref(), is_whole };
    let free = || match free {
        Some(list) => hosts(wiring, list),
        None => Ok((0..wiring.hosts()).filter(|&host| wiring.attached(host).is_some()).collect()),
    };
    let hosts = match wanted {
        Wanted::Nodes(list) => hosts(wiring, list)?,
        Wanted::Size(size) => placed(&ground, &free()?, size as usize, seed)?,
        Wanted::Shape(word, size) => shaped(&ground, mesh.as_ref(), &free()?, word, size)?,
    };
    let job = Job::observed(&ground, hosts, seed, machine.observer());
    job.map_err(|reason| refused(wiring, reason))
}

fn placed(ground: &Ground, free: &[Host], size: usize, seed: u64) -> Result<Vec<Host>, Error> {
    if !(1..=free.len()).contains(&size) {
        let nodes = counted(free.len() as u64, "node");
        let cause = format!("{nodes} {} free, and a job has at least one", are(free.len() as u64));
        let what = format!("cannot place a job of {}", counted(size as u64, "node"));
        return Err(Error::new(ErrorKind::Size, what, cause).with_hint(free.len().to_string()));
    }
    let placed = place(ground, free, size, seed);
    placed.map_err(|lost| refused(ground.wiring, Refused::Unreached(lost)))
}

/// The hosts of a shape that is free.
fn shaped(
    ground: &Ground,
    mesh: Option<&FullMesh>,
    free: &[Host],
    word: &str,
    size: Option<u32>,
) -> Result<Vec<Host>, Error> {
    let refused = |cause: String| {
        Error::new(ErrorKind::Shape, format!("cannot place a job of the shape `{word}`"), cause)
    };
    let Some(mesh) = mesh else {
        let cause = "shapes are parts of a full mesh that was planned by its formula";
        return Err(refused(cause.into()));
    };
    let shape = Shape::parse(word, mesh.degree()).map_err(refused)?;
    let many = shape.size();
    if size.is_some_and(|size| u64::from(size) != many) {
        return Err(refused(format!("it has {many} nodes")).with_hint(many.to_string()));
    }
    ground.find(mesh, free, shape).ok_or_else(|| {
        let intact = match ground.is_whole {
            true => "",
            false => " whose paths are unaffected by the failure",
        };
        let cause = format!("no {shape}{intact} was found among the {} free nodes", free.len());
        refused(cause).with_hint(many.to_string())
    })
}

/// The hosts of a list, in order; each is there, has a cable, and is named once.
fn hosts(wiring: &dyn Wiring, list: &str) -> Result<Vec<Host>, Error> {
    let last = wiring.hosts().saturating_sub(1);
    let refused = |cause: String| {
        let hint = compress(&[0, last].map(|host| wiring.host_name(host)));
        Error::new(ErrorKind::Nodes, format!("cannot take the nodes `{list}`"), cause)
            .with_hint(hint)
    };
    let names =
        expand(list, wiring.hosts() as usize).map_err(|error| refused(error.to_string()))?;
    let known: BTreeMap<String, Host> =
        (0..wiring.hosts()).map(|host| (wiring.host_name(host), host)).collect();
    let mut hosts = Vec::with_capacity(names.len());
    for name in &names {
        match known.get(name) {
            None => return Err(refused(format!("the machine has no node `{name}`"))),
            Some(&host) if wiring.attached(host).is_none() => {
                return Err(refused(format!("{name} has no cable")));
            }
            Some(&host) => hosts.push(host),
        }
    }
    hosts.sort_unstable();
    match hosts.windows(2).find(|two| two[0] == two[1]) {
        Some(two) => Err(refused(format!("{} is named twice", wiring.host_name(two[0])))),
        None => Ok(hosts),
    }
}

fn refused(wiring: &dyn Wiring, refused: Refused) -> Error {
    match refused {
        Refused::Unreached(lost) => {
            let (from, to) = (wiring.host_name(lost.from), wiring.host_name(lost.to));
            let (what, cause) =
                (format!("{from} cannot reach {to}"), explain::lost(wiring, lost.why));
            Error::new(ErrorKind::Unreached, what, cause).with_hint(to)
        }
        Refused::TooLarge => {
            let cause = format!("an order is searched for up to {MOST_LISTED} nodes");
            Error::new(ErrorKind::Shape, "the job is too large and has no shape", cause)
        }
    }
}

/// The largest conflict of a job's order, and what was counted. That all messages arrive was seen
/// when the order was found; here all are counted again, by the order on the whole machine, where
/// they are not too many.
pub fn conflicts(machine: &Machine, job: &Job) -> (u32, String) {
    let wiring = machine.wiring();
    let order = job.on_machine(wiring.hosts());
    let (routing, observer) = (machine.routing(), machine.observer());
    match Counter::observed(wiring, routing, observer) {
        Ok(counter) => {
            (counter.count_observed(&order, observer).worst(), EVERY_MESSAGE.to_string())
        }
        Err(_) => {
            let followed = follow_phases(wiring, routing, &order, SAMPLED_PHASES, 1, observer);
            (followed.worst(), format!("{SAMPLED_PHASES} phases of {}", job.phases()))
        }
    }
}

fn names(machine: &Machine, job: &Job) -> Vec<String> {
    job.hosts.iter().map(|&host| machine.wiring().host_name(host)).collect()
}

/// Everything about a job in one row; and whether no two of its messages meet.
pub fn row(machine: &Machine, job: &Job, worst: u32, proof: &str) -> Row {
    Row::new()
        .with("topology", machine.spec.clone())
        .with("size", job.hosts.len() as u64)
        .with("shape", job.shape.map(|shape| shape.to_string()))
        .with("is_shaped", job.is_shaped())
        .with("phases", job.phases())
        .with("bound", job.bound)
        .with("phases_over_bound", job.phases() as f64 / job.bound as f64)
        .with("messages_per_link_max", worst)
        .with("proof", proof)
        .with("nodes", compress(&names(machine, job)))
}

/// What a row of a job says, in words; `worst` and `proof` are its [`conflicts`].
pub fn sentence(machine: &Machine, job: &Job, worst: u32, proof: &str) -> String {
    let shape = job.shape.map_or(String::new(), |shape| format!(" (shape {shape})"));
    let size = job.hosts.len() as u64;
    let pairs = grouped(size * size.saturating_sub(1));
    let conflict = match worst {
        0 | 1 if proof == EVERY_MESSAGE => {
            format!("No conflict: {pairs} pairs, every message counted")
        }
        0 | 1 => format!("No conflict in {proof}; nothing is known of the others"),
        _ => format!("Conflicts: up to {worst} messages of a phase share a link"),
    };
    let bound = match job.phases().saturating_sub(job.bound) {
        0 => "no order without conflicts takes fewer".to_string(),
        _ => format!("no order without conflicts takes fewer than {}", job.bound),
    };
    format!(
        "{conflict}. The all-to-all of {}{shape} takes {}; {bound}. Nodes: {}.",
        counted(size, "node"),
        counted(job.phases(), "phase"),
        compress(&names(machine, job)),
    )
}

/// Whom each node sends to in some of the phases; nothing where it rests.
pub fn partners(machine: &Machine, job: &Job, phases: Range<u64>) -> Result<Vec<Row>, Error> {
    ensure_rows((phases.end - phases.start) * job.hosts.len() as u64)?;
    let names = names(machine, job);
    let mut rows = Vec::new();
    for phase in phases {
        for (rank, name) in names.iter().enumerate() {
            let to = job.order.partner(rank as u32, phase) as usize;
            let row = Row::new().with("phase", phase).with("source", name.clone());
            rows.push(row.with("destination", (to != rank).then(|| names[to].clone())));
        }
    }
    Ok(rows)
}

/// All phases as pairs of nodes, in the form that [`crate::files::formats::pairs`] reads.
pub fn pairs(machine: &Machine, job: &Job) -> String {
    let names = names(machine, job);
    let mut text = String::new();
    for phase in 0..job.phases() {
        text.push_str(&format!("# phase {phase}\n"));
        for (rank, name) in names.iter().enumerate() {
            let to = job.order.partner(rank as u32, phase) as usize;
            if to != rank {
                text.push_str(&format!("{name} {}\n", names[to]));
            }
        }
        text.push('\n');
    }
    text
}
