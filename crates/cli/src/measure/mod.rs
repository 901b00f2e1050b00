//! `laneway measure`: times operations, every figure with its interval.

mod bounds;
mod coll;
mod decided;
pub mod export;
mod launches;
pub mod memory;
mod p2p;
mod pairs;
mod plan;
mod refine;
pub mod rule;
mod skew;

use clap::{ArgMatches, Command};

use crate::failure::{Exit, Failure};

pub fn command() -> Command {
    Command::new("measure")
        .about("Times operations on the current backend, each with a confidence interval")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(coll::command())
        .subcommand(p2p::command())
        .subcommand(pairs::command())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    match matches.subcommand() {
        Some(("coll", matches)) => coll::run(matches),
        Some(("p2p", matches)) => p2p::run(matches),
        Some(("pairs", matches)) => pairs::run(matches),
        _ => Ok(Exit::Usage),
    }
}
