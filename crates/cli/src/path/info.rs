//! `laneway path info`: the interfaces that can be paths, what stands in the way of the others, and
//! what the kernel and InfiniBand offer.

use std::net::IpAddr;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use laneway_connections::PathName;
use laneway_connections::survey::{Survey, SurveyError};
use laneway_core::error::nearest;
use laneway_core::{Document, Row};

use super::reach;
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};

pub fn command() -> Command {
    Command::new("info")
        .about("Which interfaces can be paths of their own, and why others cannot")
        .after_help(
            "`usable` says whether an interface can be a path now, `why_not` why it cannot. Below \
             the table: interfaces that interfere with each other, pairs that can be two paths of \
             a connection, UDP features of the kernel, and InfiniBand devices. Nothing is \
             changed, and root is not needed. JSON and CSV have the findings in each row; JSON \
             has the kernel's features under `env`. Exits with 1 if an address of --peer gets no \
             interface.\n\n\
             Examples:\n  \
             laneway path info\n  \
             laneway path info eth0 eth1\n  \
             laneway path info eth0 eth0/2\n  \
             laneway path info --peer 10.0.0.2,10.1.0.2\n  \
             laneway path info --format json",
        )
        .arg(
            Arg::new("device")
                .value_name("DEVICE")
                .action(ArgAction::Append)
                .help("Only these interfaces; eth0/2 is a second path through one"),
        )
        .arg(
            Arg::new("peer")
                .long("peer")
                .value_name("ADDRESS")
                .action(ArgAction::Append)
                .value_delimiter(',')
                .value_parser(value_parser!(IpAddr))
                .help(
                    "Addresses of another machine, comma-separated: assigns an interface to each",
                ),
        )
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let peers: Vec<IpAddr> = matches.get_many("peer").into_iter().flatten().copied().collect();
    let words = matches.get_many::<String>("device").into_iter().flatten();
    let paths = PathName::list(words.map(String::as_str)).map_err(reach::failure)?;
    let survey = Survey::new(&paths, &peers).map_err(failure)?;
    let peers: Vec<String> = peers.iter().map(ToString::to_string).collect();
    let full = Document {
        verb: "path",
        env: survey.environment(),
        params: Row::new().with("peers", peers.join(" ")),
        rows: survey.rows(),
        summary: Some(survey.summary()),
    };
    output.write_said(&full, Some(&brief(&full, !peers.is_empty())), &survey.sentences())?;
    Ok(if survey.unreached().is_empty() { Exit::Done } else { Exit::Gate })
}

/// Without what stands below the table.
fn brief(full: &Document, has_peers: bool) -> Document {
    let is_shown = |name: &str| match name {
        "driver" | "findings" => false,
        "peer" => has_peers,
        _ => true,
    };
    let shown = |row: &Row| row.only(is_shown);
    Document { rows: full.rows.iter().map(shown).collect(), ..full.clone() }
}

fn failure(error: SurveyError) -> Failure {
    let what = error.to_string();
    match error {
        SurveyError::Unknown { name, have } => {
            let try_this = match nearest(&name, have.iter().map(String::as_str)) {
                Some(near) => format!("laneway path info {near}, or laneway path info for all"),
                None => "laneway path info".into(),
            };
            Failure::environment(what, format!("the interfaces are {}", have.join(", ")), try_this)
        }
        SurveyError::Socket(error) => {
            let what = "cannot open a UDP socket";
            Failure::environment(what, error.to_string(), "a machine with IPv4 or IPv6")
        }
        _ => {
            let cause = "the kernel's list of interfaces or routes could not be read";
            Failure::environment(what, cause, "ip link, to see whether others can read it")
        }
    }
}
