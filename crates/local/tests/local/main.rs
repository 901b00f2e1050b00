//! Runs real ranks in every way that should work and every way that should end well.
//!
//! This program is three things: the driver (no arguments, or words that choose cases), the
//! launcher of one scenario (`run SCENARIO RANKS TRANSPORT`), and each of its ranks.

mod cases;
mod endings;
mod left;
mod messages;
mod misuse;
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
    ("last-words", endings::last_words),
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
    laneway_needs::cases::main(run, cases::all)
}

fn run(words: &[&str]) -> u8 {
    let &[scenario, ranks, transport] = words else { panic!("the driver gives three words") };
    let comm = match attach() {
        Ok(Some(comm)) => comm,
        Ok(None) => return launch(ranks, transport),
        Err(error) => return failed(error),
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

fn failed(error: LocalError) -> u8 {
    eprintln!("error: {error}\ncause: {}", error.cause());
    3
}

fn launch(ranks: &str, transport: &str) -> u8 {
    let after = match surroundings::make() {
        Ok(after) => after,
        Err(error) => {
            eprintln!("this machine does not let us: {error}");
            return surroundings::SKIPPED;
        }
    };
    let ranks = ranks.parse().expect("the driver gives a number");
    let transport = transport.parse().expect("the driver gives a transport");
    let launched = Launch { ranks, transport, limit: None }.run();
    let code = launched.map_or_else(failed, |code| code as u8);
    let words: Vec<String> = (0..ranks).map(|rank| format!("this is rank {rank}")).collect();
    match after.expect(&words) {
        Ok(()) => code,
        Err(why) => {
            eprintln!("{why}");
            8
        }
    }
}
