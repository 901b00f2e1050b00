//! Runs real ranks over loopback in every way that should work and every way that should end well.
//!
//! This program is three things: the driver (no arguments, or words that choose cases), the
//! launcher of one scenario (`run SCENARIO RANKS CONNECTIONS`), and each of its ranks.

mod cases;
mod endings;
mod messages;

use std::process::ExitCode;
use std::time::Duration;

use laneway_core::{Comm, CommError};
use laneway_net::{Launch, RanksComm, Starter, attach, parse_hosts};

type Scenario = fn(&RanksComm) -> Result<(), CommError>;

/// What the ranks can be asked to do.
const SCENARIOS: &[(&str, Scenario)] = &[
    ("lengths", messages::lengths),
    ("order", messages::order),
    ("own", messages::own),
    ("any-source", messages::any_source),
    ("storm", messages::storm),
    ("split", messages::split),
    ("late", messages::late),
    ("last-words", messages::last_words),
    ("describe", messages::describe),
    ("killed", endings::killed),
    ("panic", endings::panic),
    ("code", endings::code),
    ("leave", endings::leave),
    ("hang", endings::hang),
    ("child", endings::child),
    ("forever", endings::forever),
];

fn main() -> ExitCode {
    laneway_needs::cases::main(run, cases::all)
}

fn run(words: &[&str]) -> u8 {
    let &[scenario, ranks, connections] = words else { panic!("the driver gives three words") };
    let failed = |error: laneway_net::RanksError| {
        eprintln!("error: {error}\ncause: {}", error.cause());
        3
    };
    let comm = match attach() {
        Ok(Some(comm)) => comm,
        Ok(None) => {
            return match launch(ranks, connections).run() {
                Ok(code) => code as u8,
                Err(error) => failed(error),
            };
        }
        Err(error) => return failed(error),
    };
    let (_, scenario) =
        SCENARIOS.iter().find(|(name, _)| *name == scenario).expect("the driver knows the names");
    match scenario(&comm) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("rank {}: {error}", comm.rank());
            3
        }
    }
}

fn launch(ranks: &str, connections: &str) -> Launch {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let hosts = std::env::var("TEST_HOSTS").map(|hosts| parse_hosts(&hosts).expect("hosts"));
    let devices = std::env::var("TEST_DEVICES").unwrap_or_default();
    Launch {
        ranks: ranks.parse().expect("the driver gives a number"),
        hosts: hosts.unwrap_or_default(),
        devices: devices.split_terminator(',').map(str::to_string).collect(),
        starter: Starter::Ssh,
        connections: connections.parse().expect("the driver gives a number"),
        spread: std::env::var_os("TEST_SPREAD").is_some(),
        limit: Duration::from_secs_f64(number("TEST_LIMIT").unwrap_or(30.0)),
    }
}
