//! `laneway topo diff`: which cables are not where they were planned.

use clap::{Arg, ArgMatches, Command};
use laneway_core::{Document, Exit, Failure, Row};
use laneway_topo::differ::{Difference, differ, find_by_first_word};
use laneway_topo::map::Map;
use laneway_topo::{Fabric, topology};

use super::machine::discovered;
use crate::output::{self, Output};

pub fn command() -> Command {
    Command::new("diff")
        .about("Names the wrong, missing and extra cables of a discovered fabric")
        .after_help(
            "Where the found switches have the planned names, ports must be the planned ones too; \
             otherwise only what is connected with what counts. A host may have further words \
             behind its planned name. Ports count from 1. Exit code 1 \
             where something differs.\n\nExamples:\n  \
             laneway topo diff mlfm:d=8 found.txt\n  \
             laneway topo diff file:plan.toml found.txt --format json",
        )
        .arg(Arg::new("plan").value_name("PLAN").required(true).help("mlfm:d=8, or file:FABRIC"))
        .arg(Arg::new("found").value_name("FOUND").required(true).help("The discovered fabric"))
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let output = Output::from(matches)?;
    let plan = match text("plan").strip_prefix("file:") {
        Some(file) => discovered(file)?.fabric,
        None => Fabric::of(&*topology(text("plan"))?),
    };
    let found = discovered(text("found"))?;
    let mut map = Map::new(&found.fabric, &plan)?;
    if map.by_name {
        find_by_first_word(&plan, &found.fabric, &mut map);
    }
    let differences = differ(&plan, &found.fabric, &map);
    let count = |kind: &str| {
        differences.iter().filter(|difference| parts(difference).0 == kind).count() as u64
    };
    let rows = differences.iter().map(|difference| {
        let (kind, planned, found) = parts(difference);
        Row::new().with("kind", kind).with("planned", planned).with("found", found)
    });
    let rows: Vec<Row> = rows.collect();
    let summary = Row::new()
        .with("wrong", count("wrong"))
        .with("missing", count("missing"))
        .with("extra", count("extra"))
        .with("compared_by", if map.by_name { "name" } else { "structure" });
    let params = Row::new().with("plan", text("plan")).with("found", text("found"));
    let (env, clean) = (Row::new(), rows.is_empty());
    output.write(&Document { verb: "topo", env, params, rows, summary: Some(summary) }, None)?;
    Ok(if clean { Exit::Done } else { Exit::Gate })
}

fn parts(difference: &Difference) -> (&'static str, Option<&str>, Option<&str>) {
    match difference {
        Difference::Wrong { planned, found } => ("wrong", Some(planned), Some(found)),
        Difference::Missing(planned) => ("missing", Some(planned), None),
        Difference::Extra(found) => ("extra", None, Some(found)),
    }
}

/// For a person.
pub fn told(difference: &Difference) -> String {
    match difference {
        Difference::Wrong { planned, found } => format!("wrong: {found}, planned {planned}"),
        Difference::Missing(planned) => format!("missing: {planned}"),
        Difference::Extra(found) => format!("extra: {found}"),
    }
}
