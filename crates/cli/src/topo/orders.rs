//! The order of messages that `--schedule` names.

use clap::{Arg, ArgMatches};
use laneway_topo::machine::MOST_SPREAD;
pub use laneway_topo::traffic::schedule::Named;
use laneway_topo::traffic::schedule::usual_orders;

use super::machine::{self, Machine};
use crate::failure::Failure;
use crate::output;

/// The argument of every verb that takes an order; `usual` is what holds without it.
pub fn arg(usual: &'static str) -> Arg {
    let help =
        "native, shift, random, repaired, any OP/ALGORITHM of the registry, or a file of pairs";
    Arg::new("schedule").long("schedule").value_name("S").help(format!("{help} [default: {usual}]"))
}

/// The order that a word means.
pub fn named(machine: &Machine, name: &str, seed: u64) -> Result<Named, Failure> {
    let order = Named::new(machine, name, seed)?;
    order.repair.iter().for_each(|repair| output::note(&repair.to_string()));
    Ok(order)
}

/// The orders that a report shows where none is named.
pub fn usual(machine: &Machine) -> &'static [&'static str] {
    let names = usual_orders(machine);
    if machine.needs_repair() && names.len() == 1 {
        output::note(&format!("no repaired schedule above {MOST_SPREAD} nodes"));
    }
    names
}

/// The order that a verb is asked about: after a failure the repaired one, if no other is named.
pub fn from(machine: &Machine, matches: &ArgMatches) -> Result<Named, Failure> {
    let seed = machine::seed(matches);
    let word = matches.get_one::<String>("schedule").map(String::as_str);
    let name = word.or_else(|| usual(machine).last().copied()).unwrap_or("native");
    if word.is_none() && name != "native" {
        output::note("the order is the repaired one; --schedule native shows the unchanged one");
    }
    named(machine, name, seed)
}
