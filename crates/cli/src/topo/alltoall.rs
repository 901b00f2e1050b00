//! `laneway topo alltoall`: which messages share a link when all nodes send to all others.

use clap::{ArgMatches, Command};
use laneway_core::Row;
use laneway_topo::count;

use super::machine;
use super::orders;
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};

pub fn command() -> Command {
    Command::new("alltoall")
        .about("Counts the conflicts of an all-to-all on the whole machine")
        .after_help(
            "The answer comes first: no conflict, or in how many phases messages share a link, \
             and where. `messages_per_link_max` is the largest number of messages of a phase on a \
             link: 1 is free of conflicts.\n\n\
             A message's conflict is the largest number of messages on a link of its path. Two \
             throughputs follow: the mean over phases of 1 / the largest conflict of the phase, \
             which is what a barrier after each phase leaves, and the mean over messages of 1 / \
             conflict. The full-mesh paper's all-to-all is the first, its random traffic the \
             second.\n\n\
             The time is the sum of the phases' largest conflicts; the ideal time is one phase \
             for each node with a cable or, where the schedule is not an all-to-all, one for each \
             message of the busiest node. The exit code is 1 if a message is lost or a pair of \
             nodes is unreached; `unreached` is what `topo check` counts.\n\n\
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
        .arg(machine::seed_arg("Seed of the random schedule"))
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let machine = machine::from(matches)?;
    let seed = machine::seed(matches);
    let word = matches.get_one::<String>("schedule").map(String::as_str);
    let (mut rows, mut answer, mut is_short) = (Vec::new(), Vec::new(), false);
    let names = word.map_or_else(|| orders::usual(&machine).to_vec(), |word| vec![word]);
    for name in &names {
        let order = orders::named(&machine, name, seed)?;
        let counted = count(&machine, &order)?;
        is_short |= counted.is_short();
        rows.push(counted.row(&machine));
        let of = if names.len() > 1 { format!("{name}: ") } else { String::new() };
        answer.push(of + &counted.sentence(&machine));
    }
    let params = Row::new().with("topology", machine.spec.clone()).with("seed", seed);
    machine::write_columns(&output, params, rows, &answer)?;
    Ok(machine::exit(!is_short))
}
