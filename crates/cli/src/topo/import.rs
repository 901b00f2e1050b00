//! `laneway topo import`: which topology a discovered fabric is.

use clap::{Arg, ArgMatches, Command};
use laneway_core::Row;
use laneway_topo::machine::recognise::{self, recognise};

use super::machine::{self, discovered};
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};

pub fn command() -> Command {
    Command::new("import")
        .about("Reads a discovered fabric and recognises which topology it is")
        .after_help(
            "The format is recognised by content: netlists of ibnetdiscover and ibsim, TOML, \
             lists of cables, topology.conf, graphs of Graphviz, platforms of SimGrid. Names, \
             GUIDs and the order of ports do not matter. Differences from the topology are \
             listed.\n\n\
             Examples:\n  \
             ibnetdiscover > found.txt; laneway topo import found.txt\n  \
             laneway topo import found.txt --map    which part is which\n  \
             laneway topo import drawn.dot          graph { a -- b; a -- h1; b -- h2 }\n  \
             laneway topo import platform.xml       hosts, routers, links and routes",
        )
        .arg(Arg::new("file").value_name("FILE").required(true).help("The discovered fabric"))
        .arg(
            Arg::new("map")
                .long("map")
                .action(clap::ArgAction::SetTrue)
                .help("A row for each switch and host: what it is in the topology"),
        )
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let file = matches.get_one::<String>("file").map_or("", String::as_str);
    let fabric = discovered(file)?.fabric;
    let recognised = recognise(&fabric);
    let row = recognise::row(file, &fabric, recognised.as_ref());
    let answer = [recognise::answer(file, &fabric, recognised.as_ref())];
    let (rows, summary) = match (&recognised, matches.get_flag("map")) {
        (None, true) => {
            let cause = "the fabric is none of the known topologies";
            let what = format!("cannot map `{file}`");
            return Err(Failure::usage(what, cause, format!("laneway topo import {file}")));
        }
        (Some(recognised), true) => (recognised.rows(&fabric), Some(row)),
        (_, false) => (vec![row], None),
    };
    let differences = recognised.iter().flat_map(|found| &found.differences);
    machine::notes(differences.map(ToString::to_string));
    let params = Row::new().with("file", file);
    match summary {
        None => machine::write_records(&output, params, rows, &answer)?,
        summary => machine::write_list(&output, params, rows, summary, &answer)?,
    }
    Ok(Exit::Done)
}
