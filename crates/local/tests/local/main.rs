//! Runs real ranks in every way that should work and every way that should end well.
//!
//! This program is three things: the driver (no arguments, or words that choose cases), the
//! launcher of one scenario (`run SCENARIO RANKS TRANSPORT`), and each of its ranks.

mod cases;
mod endings;
mod messages;
mod misuse;
mod process;
mod seccomp;
mod storm;
mod stress;
mod surroundings;

use std::process::ExitCode;

use laneway_core::{Comm, CommError};
use laneway_local::{Launch, LocalComm, LocalError, attach};

type Scenario = fn(&LocalComm) -> Result<(), CommError>;

/// What the ranks can be asked to do.
const SCENARIOS: &[(&str, Scenario)] = &[
    ("lengths", messages::lengths),
    ("order", messages::order),
    ("own", messages::own),
    ("split", messages::split),
    ("all-to-all", messages::all_to_all),
    ("ring", messages::ring),
    ("truncate", messages::truncate),
    ("mismatch", messages::mismatch),
    ("describe", messages::describe),
    ("big", messages::big),
    ("storm", storm::storm),
    ("stress", stress::stress),
    ("killed", endings::killed),
    ("code", endings::code),
    ("agree", endings::agree),
    ("leave", endings::leave),
    ("leave-any", endings::leave_any),
    ("leave-mid", endings::leave_mid),
    ("hang", endings::hang),
    ("forever", endings::forever),
    ("abort", endings::abort),
    ("give-up", endings::give_up),
    ("leave-abort", endings::leave_abort),
    ("input", endings::input),
    ("talk", endings::talk),
    ("drop-sender", misuse::drop_sender),
    ("drop-sender-late", misuse::drop_sender_late),
    ("free-sender", misuse::free_sender),
    ("drop-queue", misuse::drop_queue),
    ("late-receiver", misuse::late_receiver),
    ("fail-beside", misuse::fail_beside),
    ("stuck", misuse::stuck),
    ("overlap", misuse::overlap),
    ("overlap-in-queue", misuse::overlap_in_queue),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["run", scenario, ranks, transport] => ExitCode::from(run(scenario, ranks, transport)),
        _ => cases::drive(&arguments),
    }
}

fn run(scenario: &str, ranks: &str, transport: &str) -> u8 {
    let failed = |failure: laneway_core::Failure| {
        eprintln!("{failure}");
        failure.exit as u8
    };
    let comm = match attach() {
        Ok(Some(comm)) => comm,
        Ok(None) => {
            let after = match surroundings::make() {
                Ok(after) => after,
                Err(error) => {
                    eprintln!("this machine does not let us: {error}");
                    return surroundings::SKIPPED;
                }
            };
            let ranks = ranks.parse().expect("the driver gives a number");
            let transport = transport.parse().expect("the driver gives a transport");
            let code = match (Launch { ranks, transport, limit: None }).run() {
                Ok(code) => code as u8,
                Err(error) => failed(LocalError::into_failure(error)),
            };
            let words: Vec<String> =
                (0..ranks).map(|rank| format!("this is rank {rank}")).collect();
            return after.expect(&words).map_or_else(
                |why| {
                    eprintln!("{why}");
                    8
                },
                |()| code,
            );
        }
        Err(error) => return failed(error.into_failure()),
    };
    let (_, scenario) =
        SCENARIOS.iter().find(|(name, _)| *name == scenario).expect("the driver knows the names");
    match scenario(&comm) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("rank {}: {error}", comm.rank());
            9
        }
    }
}
