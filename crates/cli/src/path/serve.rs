//! `laneway path serve`: the other end of `laneway path drill --to`.

use std::time::Duration;

use clap::{Arg, ArgMatches, Command};
use laneway_connections::drill::{State, serve};
use laneway_core::units::counted;
use laneway_core::{Document, Row};

use super::reach;
use crate::failure::{Exit, Failure};
use crate::lab::stop::on_signal;
use crate::output::{self, Output};
use crate::words;

pub fn command() -> Command {
    Command::new("serve")
        .about("Echoes the messages of `laneway path drill --to` until it is interrupted")
        .after_help(
            "Both ends need the same secret unless they are on one machine. Ends at Ctrl-C, or \
             after --seconds, and prints what it received.\n\n\
             Examples:\n  \
             laneway path serve --seconds 60\n  \
             laneway path serve --paths eth0,eth1 --secret job.secret\n  \
             laneway path drill --to 10.0.0.2,10.1.0.2 --secret job.secret    the other end",
        )
        .args(reach::args())
        .arg(
            Arg::new("largest")
                .long("largest")
                .value_name("SIZE")
                .default_value("16M")
                .help("The longest message that is accepted"),
        )
        .arg(
            Arg::new("seconds")
                .long("seconds")
                .value_name("TIME")
                .help("Stop after this time: 60, 60s, 5min [default: run until Ctrl-C]"),
        )
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let largest = matches.get_one::<String>("largest").map_or("16M", String::as_str);
    let largest = words::size(largest)? as usize;
    let secret = reach::secret(matches)?;
    let endpoint = reach::endpoint(reach::own_paths(matches, &secret)?, secret, true, false)?;
    let addresses = endpoint.addresses();
    let names: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    output::note(&format!("serving at {}", names.join(", ")));
    let (state, over) = (State::default(), on_signal(&[libc::SIGINT, libc::SIGTERM]));
    let limit = matches.get_one::<String>("seconds");
    let limit = limit.map(|text| words::seconds("seconds", text)).transpose()?;
    let limit = limit.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    let begun = std::time::Instant::now();
    let served = std::thread::scope(|scope| {
        let server = scope.spawn(|| serve(endpoint, None, largest, Duration::ZERO, &state));
        let is_over = || {
            over.load(std::sync::atomic::Ordering::Acquire)
                || limit.is_some_and(|limit| begun.elapsed() > limit)
        };
        while !is_over() && !server.is_finished() {
            std::thread::sleep(Duration::from_millis(20));
        }
        state.stop();
        server.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let served = served.map_err(reach::failure)?;
    let checked = &served.checked;
    let row = Row::new()
        .with("connections", served.connections)
        .with("messages", checked.received)
        .with("migrations", served.migrations)
        .with("duplicated", checked.duplicated)
        .with("reordered", checked.reordered)
        .with("damaged", checked.damaged)
        .with("broken", served.broken);
    let params = Row::new().with("paths", names.join(" "));
    let env = Row::new();
    let wrong = checked.duplicated + checked.reordered + checked.damaged + served.broken;
    let received = counted(checked.received, "message");
    let sentence = match wrong {
        0 => format!("{received} received: none duplicated, reordered or damaged."),
        _ => format!(
            "{received} received: {} duplicated, {} reordered, {} damaged; {} broken.",
            checked.duplicated,
            checked.reordered,
            checked.damaged,
            counted(served.broken, "connection"),
        ),
    };
    let document = Document { verb: "path", env, params, rows: vec![row], summary: None };
    output.write_said(&document, None, &[sentence])?;
    Ok(if wrong == 0 { Exit::Done } else { Exit::Gate })
}
