//! `laneway topo job`: nodes for a job on a part of the machine, and an order for its all-to-all.

use std::collections::BTreeMap;
use std::path::Path;

use clap::{Arg, ArgGroup, ArgMatches, Command, value_parser};
use laneway_core::{Document, Exit, Failure, Row};
use laneway_topo::job::{Ground, Job, MOST_LISTED, Refused, Shape, Unreached, place};
use laneway_topo::node_list::{compress, expand};
use laneway_topo::routing::Lost;
use laneway_topo::sample::follow_phases;
use laneway_topo::{Counter, Host, Wiring};

use super::alltoall::SAMPLED_PHASES;
use super::machine::{self, Machine};
use super::schedule::range;
use crate::output::{self, Output};

/// Rows of partners that are printed at most.
const MOST_ROWS: u64 = 1_000_000;

pub fn command() -> Command {
    let list = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("LIST").help(help)
    };
    let wanted = ArgGroup::new("wanted").args(["size", "shape", "nodes"]);
    Command::new("job")
        .about("Chooses nodes for a job among the free ones, and an order for its all-to-all")
        .after_help(
            "Lists of nodes are written as Slurm writes them: node[0-3,7]. In no phase of the \
             order two messages use the same link, with the forwarding that is installed. No such \
             order has fewer phases than `bound`: the messages on the busiest link, or one for \
             each node. A shape of a full mesh, LAYERSxVERTICESxNODES with fewer nodes at a \
             switch than vertices, takes exactly as many phases as it has nodes; other sets come \
             near the bound.\n\nExamples:\n  \
             laneway topo job --topology mlfm:d=8 --size 72\n  \
             laneway topo job --topology mlfm:d=8 --free 'node[0-99,200-575]' --size 144\n  \
             laneway topo job --topology mlfm:d=8 --shape 2x4x3 --phase 0\n  \
             laneway topo job --topology mlfm:d=8 --nodes 'node[3,17,100-160]' --schedule a.txt\n  \
             laneway topo alltoall --topology mlfm:d=8 --schedule file:a.txt",
        )
        .args(machine::args())
        .arg(list("free", "Nodes to choose from [default: all]"))
        .arg(
            Arg::new("size")
                .long("size")
                .value_name("M")
                .value_parser(value_parser!(u32))
                .help("Nodes that the job needs"),
        )
        .arg(
            Arg::new("shape")
                .long("shape")
                .value_name("KxVxP")
                .help("Take this shape: layers, vertices, and nodes at each of their switches"),
        )
        .arg(
            list("nodes", "Take these nodes and no others")
                .conflicts_with_all(["free", "size", "shape"]),
        )
        .group(wanted.required(true).multiple(true))
        .arg(machine::seed_arg("Of the searches for nodes and for an order"))
        .arg(
            Arg::new("phase")
                .long("phase")
                .value_name("I")
                .help("Print whom each node sends to in phases 12, 0-8 or all"),
        )
        .arg(
            Arg::new("schedule")
                .long("schedule")
                .value_name("FILE")
                .help("Write all phases to FILE, a pair of nodes a line, an empty line between"),
        )
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let output = Output::from(matches)?;
    let machine = Machine::from(matches)?;
    let seed = matches.get_one::<u64>("seed").copied().unwrap_or(1);
    let order = machine.order();
    let (mesh, is_whole) = (machine.planned_mesh(), machine.mesh().is_some());
    let (wiring, routing) = (machine.wiring(), machine.routing());
    let ground = Ground { wiring, routing, order: &*order, mesh: mesh.as_ref(), is_whole };
    let hosts = chosen(&ground, matches, seed)?;
    let job = Job::new(&ground, hosts, seed).map_err(|refused| failure(wiring, refused))?;
    let (row, exit) = row(&machine, &job);
    if let Some(file) = text("schedule") {
        output::replace(Path::new(file), &written(wiring, &job))?;
    }
    let params = Row::new().with("topology", machine.spec.clone()).with("seed", seed);
    let (rows, summary) = match text("phase") {
        None => (vec![row], None),
        Some(word) => (partners(wiring, &job, word)?, Some(row)),
    };
    output.write(&Document { verb: "topo", env: Row::new(), params, rows, summary }, None)?;
    Ok(exit)
}

/// The job's hosts, in order.
fn chosen(ground: &Ground, matches: &ArgMatches, seed: u64) -> Result<Vec<Host>, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    if let Some(list) = text("nodes") {
        return hosts(ground.wiring, "nodes", list);
    }
    let free = match text("free") {
        Some(list) => hosts(ground.wiring, "free", list)?,
        None => {
            let all = 0..ground.wiring.hosts();
            all.filter(|&host| ground.wiring.attached(host).is_some()).collect()
        }
    };
    let size = matches.get_one::<u32>("size").copied();
    if let Some(word) = text("shape") {
        return shaped(ground, &free, word, size);
    }
    let size = size.unwrap_or_default() as usize;
    if !(1..=free.len()).contains(&size) {
        let cause = format!("{} nodes are free, and a job has one at least", free.len());
        let what = format!("no job of {size} nodes");
        return Err(Failure::usage(what, cause, format!("--size {}", free.len())));
    }
    let placed = place(ground, &free, size, seed);
    placed.map_err(|lost| failure(ground.wiring, Refused::Unreached(lost)))
}

/// The hosts of a shape that is free.
fn shaped(
    ground: &Ground,
    free: &[Host],
    word: &str,
    size: Option<u32>,
) -> Result<Vec<Host>, Failure> {
    let refused = |cause: String, try_this: String| {
        Failure::usage(format!("no job of the shape `{word}`"), cause, try_this)
    };
    let Some(mesh) = ground.mesh else {
        let cause = "shapes are parts of a full mesh that was planned by its formula";
        return Err(refused(cause.into(), "--topology mlfm:d=8, or --size 24".into()));
    };
    let example = "--shape 1x2x1".to_string();
    let shape = Shape::parse(word, mesh.degree()).map_err(|cause| refused(cause, example))?;
    let many = shape.size();
    if size.is_some_and(|size| u64::from(size) != many) {
        let cause = format!("it has {many} nodes");
        return Err(refused(cause, format!("--size {many}, or no --size")));
    }
    ground.find(mesh, free, shape).ok_or_else(|| {
        let (cause, try_this) = match ground.is_whole {
            true => ("", "which takes any nodes"),
            false => (
                " whose ways are still the mesh's own",
                "which takes any nodes, with the same --fail and --routing",
            ),
        };
        let cause = format!("no {shape}{cause} was found among the {} free nodes", free.len());
        refused(cause, format!("--size {many}, {try_this}"))
    })
}

/// The hosts of a list, in order; each is there, has a cable, and is named once.
fn hosts(wiring: &dyn Wiring, what: &str, list: &str) -> Result<Vec<Host>, Failure> {
    let last = wiring.hosts().saturating_sub(1);
    let refused = |cause: String| {
        let try_this = format!("--{what} '{}'", compress(&[0, last].map(|h| wiring.host_name(h))));
        Failure::usage(format!("cannot take the nodes of --{what}"), cause, try_this)
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

fn failure(wiring: &dyn Wiring, refused: Refused) -> Failure {
    let Unreached { from, to, why } = match refused {
        Refused::Unreached(unreached) => unreached,
        Refused::TooLarge => {
            let cause = format!("an order is searched for up to {MOST_LISTED} nodes");
            let what = "the job is too large, and no shape";
            return Failure::usage(what, cause, "--shape 2x4x3, or a smaller --size");
        }
    };
    let (from, to) = (wiring.host_name(from), wiring.host_name(to));
    let cause = match why {
        Lost::Unplugged(host) => format!("{} has no cable", wiring.host_name(host)),
        Lost::NoWay(switch) => format!("{} knows no way", wiring.switch_name(switch)),
        Lost::Astray(host) => format!("its messages come to {}", wiring.host_name(host)),
        Lost::Loop(switch) => format!("its messages go round by {}", wiring.switch_name(switch)),
    };
    let try_this = format!("--free or --nodes without {to}, or another --routing");
    Failure::usage(format!("{from} cannot reach {to}"), cause, try_this)
}

/// Everything about a job in one row. That all messages arrive was seen when the order was found;
/// here all are counted again, by the order on the whole machine, where they are not too many.
fn row(machine: &Machine, job: &Job) -> (Row, Exit) {
    let wiring = machine.wiring();
    let order = job.on_machine(wiring.hosts());
    let (worst, proof) = match Counter::new(wiring, machine.routing()) {
        Ok(counter) => (counter.count(&order).worst(), "every message".to_string()),
        Err(_) => {
            let followed = follow_phases(wiring, machine.routing(), &order, SAMPLED_PHASES, 1);
            (followed.worst(), format!("{SAMPLED_PHASES} phases of {}", job.phases()))
        }
    };
    let names: Vec<String> = job.hosts.iter().map(|&host| wiring.host_name(host)).collect();
    let row = Row::new()
        .with("topology", machine.spec.clone())
        .with("size", job.hosts.len() as u64)
        .with("shape", job.shape.map(|shape| shape.to_string()))
        .with("is_shaped", job.is_shaped())
        .with("phases", job.phases())
        .with("bound", job.bound)
        .with("phases_over_bound", job.phases() as f64 / job.bound as f64)
        .with("conflicts_max", worst)
        .with("proof", proof)
        .with("nodes", compress(&names));
    (row, if worst <= 1 { Exit::Done } else { Exit::Gate })
}

/// Whom each node sends to in some of the phases; nothing where it rests.
fn partners(wiring: &dyn Wiring, job: &Job, word: &str) -> Result<Vec<Row>, Failure> {
    let phases = range("phase", word, job.phases())?;
    let many = (phases.end - phases.start) * job.hosts.len() as u64;
    if many > MOST_ROWS {
        let cause = format!("{many} rows are more than {MOST_ROWS}");
        return Err(Failure::usage("too much to print", cause, "--phase 0, or --schedule FILE"));
    }
    let mut rows = Vec::new();
    for phase in phases {
        for (rank, &host) in job.hosts.iter().enumerate() {
            let to = job.order.partner(rank as u32, phase);
            let to = (to != rank as u32).then(|| wiring.host_name(job.hosts[to as usize]));
            let row = Row::new().with("phase", phase).with("source", wiring.host_name(host));
            rows.push(row.with("destination", to));
        }
    }
    Ok(rows)
}

/// All phases in the form that `topo alltoall --schedule file:` reads.
fn written(wiring: &dyn Wiring, job: &Job) -> String {
    let names: Vec<String> = job.hosts.iter().map(|&host| wiring.host_name(host)).collect();
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
