//! `laneway lab status`: which labs stand, and what is in them.

use clap::{ArgMatches, Command};
use laneway_core::{Document, Row};
use laneway_lab::{LabName, address, read_plan, status};

use crate::failure::{Exit, Failure};
use crate::output::{self, Output};

pub fn command() -> Command {
    Command::new("status")
        .about("Lists the labs of this machine, with their hosts and addresses")
        .after_help(
            "`wan` says whether the process that emulates the WAN responds. A lab that is not \
             ready is being built, or its builder was killed: `laneway lab down --lab NAME` \
             removes it.\n\n\
             Examples:\n  laneway lab status\n  laneway lab status --format json",
        )
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let mut rows = Vec::new();
    for lab in LabName::all() {
        let found = status(&lab);
        let row = |host: Option<(&str, &str, String)>| {
            let (host, site, address) = host.unwrap_or_default();
            Row::new()
                .with("lab", lab.as_str())
                .with("ready", found.ready)
                .with("wan", found.wan)
                .with("namespaces", found.namespaces as u64)
                .with("processes", found.processes as u64)
                .with("host", host)
                .with("site", site)
                .with("address", address)
        };
        match read_plan(&lab) {
            Ok(plan) => rows.extend(plan.hosts.iter().map(|host| {
                let site = plan.sites[host.site].as_str();
                row(Some((&host.name, site, address(0, host).to_string())))
            })),
            Err(_) => rows.push(row(None)),
        }
    }
    if rows.is_empty() {
        eprintln!("no lab exists");
    }
    let (env, params) = (Row::new(), Row::new());
    output.write(&Document { verb: "lab", env, params, rows, summary: None }, None)?;
    Ok(Exit::Done)
}
