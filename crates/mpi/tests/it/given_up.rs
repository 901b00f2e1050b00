//! Operations that are given up while they are under way, under every MPI of this machine: memory
//! that went back to its owner is not used any more, and where that cannot be, the run ends.

use std::time::Duration;

use laneway_needs::some_of;

use crate::mpis::{Tidy, all};
use crate::process::{probe, run};

const LIMIT: Duration = Duration::from_secs(60);

/// The check prints its ok before the run ends, which may be by an abort: ranks may not agree any
/// more on what was sent.
fn hold(mode: &str) {
    let _tidy = Tidy::new();
    for mpi in some_of(all()) {
        let mut command = mpi.command(2, &probe());
        command.arg(mode);
        let text = run(command, LIMIT).text;
        assert!(text.contains(&format!("ok {mode}")), "{}, {}:\n{text}", mpi.name, mpi.version);
    }
}

#[test]
fn a_collective_goes_on_to_its_end_when_what_is_done_meanwhile_fails() {
    hold("meanwhile-error");
}

#[test]
fn a_collective_goes_on_to_its_end_when_what_is_done_meanwhile_panics() {
    hold("meanwhile-panic");
}

#[test]
fn a_receive_that_a_message_has_met_is_waited_for() {
    hold("given-up-receive");
}

#[test]
fn a_send_that_was_given_up_arrives_as_it_was() {
    hold("given-up-send");
}

#[test]
fn a_send_that_was_late_arrives_as_it_was() {
    hold("given-up-late");
}

#[test]
fn a_send_without_a_receive_ends_the_run_with_a_sentence() {
    let _tidy = Tidy::new();
    for mpi in some_of(all()) {
        let mut command = mpi.command(2, &probe());
        command.arg("given-up-stuck");
        let outcome = run(command, LIMIT);
        let (code, text) = (outcome.code, &outcome.text);
        if text.contains("the library has taken all of it") {
            // Intel's does so, up to its own limit; then the bytes must be right.
            assert!(text.contains("ok given-up-stuck"), "{}:\n{text}", mpi.name);
            continue;
        }
        assert!(code.is_some_and(|code| code != 0), "{}: {code:?}\n{text}", mpi.name);
        let expected = "error: a send was given up and is still under way";
        assert!(text.contains(expected), "{}:\n{text}", mpi.name);
    }
}
