//! `laneway topo alltoall`: who meets whom when everybody sends to everybody.

use clap::{ArgMatches, Command};
use laneway_core::{Document, Exit, Failure, Phases, Row};
use laneway_topo::sample::follow_phases;
use laneway_topo::symmetry::prove_mesh;
use laneway_topo::{Counter, Tally, Wiring};

use super::machine::{self, Machine};
use super::orders::{self, Named};
use crate::output::{self, Output};

/// Of a fabric that is too large to count: phases, and messages, that are followed.
pub const SAMPLED_PHASES: u64 = 4;
const SAMPLED_MESSAGES: u64 = 1_000_000;
/// Messages up to which each is counted while somebody waits: after a failure, and where symmetry
/// tells as much.
const MOST_MESSAGES: u64 = 1 << 30;

pub fn command() -> Command {
    Command::new("alltoall")
        .about("Counts the conflicts of an all-to-all on the whole machine")
        .after_help(
            "A message's conflict is the largest number of messages on a link of its way. Two \
             throughputs follow: the mean over phases of 1 / the largest conflict in it, which is \
             what a barrier after each phase leaves, and the mean over messages of 1 / conflict. \
             The full-mesh paper's all-to-all is the first, its random traffic the second.\n\n\
             The time is the sum of the phases' largest conflicts; the ideal one is a phase for \
             each node with a cable or, of what is no all-to-all, for each message of the node \
             that sends or receives most. Exit code 1 where a message is lost, or a node cannot \
             be reached.\n\n\
             Examples:\n  \
             laneway topo alltoall --topology mlfm:d=18\n  \
             laneway topo alltoall --topology mlfm:d=8 --schedule shift\n  \
             laneway topo alltoall --topology mlfm:d=64     266,240 nodes, by symmetry\n  \
             laneway topo alltoall --topology mlfm:d=4 --schedule allgather/recursive-doubling\n  \
             laneway topo alltoall --topology mlfm:d=8 --fail link\n  \
             laneway topo alltoall --topology mlfm:d=8 --routing lfts.txt",
        )
        .args(machine::args())
        .arg(orders::arg("native; after a failure also repaired"))
        .arg(machine::seed_arg("Of the random schedule"))
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let machine = Machine::from(matches)?;
    let seed = matches.get_one::<u64>("seed").copied().unwrap_or(1);
    let word = matches.get_one::<String>("schedule").map(String::as_str);
    let (mut rows, mut is_short) = (Vec::new(), false);
    for name in word.map_or_else(|| machine.usual_orders(), |word| vec![word]) {
        let order = Named::new(&machine, name, seed)?;
        let (tally, proof) = counted(&machine, name, &*order.phases)?;
        is_short |= tally.lost > 0 || order.is_short(&machine);
        rows.push(row(&machine, &order, &tally, &proof));
    }
    let params = Row::new().with("topology", machine.spec.clone()).with("seed", seed);
    output.write(&Document { verb: "topo", env: Row::new(), params, rows, summary: None }, None)?;
    Ok(if is_short { Exit::Gate } else { Exit::Done })
}

/// Every message is counted; where they are too many, the mesh's symmetry proves the native order,
/// and of any other some phases are followed.
fn counted(
    machine: &Machine,
    name: &str,
    order: &(dyn Phases + Sync),
) -> Result<(Tally, String), Failure> {
    let messages = u64::from(machine.wiring().hosts()).pow(2);
    let is_symmetric = name == "native" && machine.mesh().is_some();
    let too_many = (machine.is_damaged() || is_symmetric) && messages > MOST_MESSAGES;
    if !too_many && let Ok(counter) = Counter::new(machine.wiring(), machine.routing()) {
        return Ok((counter.count(order), "every message".to_string()));
    }
    let (wiring, routing) = (machine.wiring(), machine.routing());
    let tally = follow_phases(wiring, routing, order, SAMPLED_PHASES, 1);
    if let Some(mesh) = machine.mesh().filter(|_| name == "native") {
        let proved = prove_mesh(&mesh, SAMPLED_MESSAGES, 1);
        if proved.holds() && tally.worst() == 1 && tally.lost == 0 {
            let (count, hosts) = (order.count(), u64::from(mesh.hosts()));
            let whole = Tally { phases: vec![0, count], flows: vec![0, count * hosts], lost: 0 };
            let proof = format!(
                "symmetry; {SAMPLED_MESSAGES} messages and {SAMPLED_PHASES} phases followed"
            );
            return Ok((whole, proof));
        }
        let cause = format!("{proved:?}");
        return Err(Failure::new(Exit::Gate, "the schedule has a conflict", cause, "report this"));
    }
    Ok((tally, format!("{SAMPLED_PHASES} phases of {}", order.count())))
}

fn row(machine: &Machine, order: &Named, tally: &Tally, proof: &str) -> Row {
    let (seen, count) = (tally.phases.iter().sum::<u64>(), order.phases.count());
    // What was seen of it stands for all phases.
    let time = tally.time() as f64 * count as f64 / seen.max(1) as f64;
    let ideal = order.ideal(machine).filter(|&ideal| ideal > 0);
    let is_known = tally.flows.iter().any(|&count| count > 0);
    Row::new()
        .with("topology", machine.spec.clone())
        .with("schedule", order.name.clone())
        .with("nodes", machine.wiring().hosts())
        .with("phases", count)
        .with("ideal_phases", ideal)
        .with("conflicts_max", tally.worst())
        .with("throughput_phase_mean", (seen > 0).then(|| tally.phase_mean()))
        .with("throughput_flow_mean", is_known.then(|| tally.flow_mean()))
        .with("time_over_ideal", ideal.map(|ideal| time / ideal as f64))
        .with("lost", tally.lost + order.left_out)
        .with("unreached", order.unreached(machine))
        .with("proof", proof)
}
