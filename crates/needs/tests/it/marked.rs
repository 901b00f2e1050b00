//! Processes with a mark: this program is started again for one of its own tests.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use laneway_needs::marked::{Outcome, start};

/// What the others start: says something, and leaves a process behind where it is asked to.
#[test]
fn says_something() {
    println!("\nthis is {} indeed", std::process::id());
    if std::env::var_os("TEST_LEAVES").is_some() {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "sleep 60 &"]).stdin(Stdio::null());
        let left = shell.stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(left.expect("a shell").success());
    }
}

const SAYS: [&str; 3] = ["--exact", "marked::says_something", "--nocapture"];

#[test]
fn a_run_is_heard_and_comes_to_its_end() {
    let mut running = start(&SAYS, &[], "").expect("a process");
    let rest = running.await_line("this is ").expect("a line");
    assert_eq!(rest, format!("{} indeed", running.launcher()));
    let outcome = running.finish().expect("an end");
    assert!(outcome.stdout.contains(&rest), "{outcome:?}");
    assert_eq!(outcome.expect_output(&["this is ", "1 passed"]), Ok(()));
    let mut running = start(&SAYS, &[], "").expect("a process");
    let error = running.await_line("a missing line").expect_err("no such line");
    assert!(error.contains("ended before"), "{error}");
}

#[test]
fn a_process_that_is_left_is_informed_and_ended() {
    let running = start(&SAYS, &[("TEST_LEAVES", "1")], "").expect("a process");
    let error = running.finish().expect_err("one is left");
    let pid = error.strip_prefix("processes [").and_then(|rest| rest.strip_suffix("] are left"));
    let environment = format!("/proc/{}/environ", pid.expect("one number"));
    let begun = Instant::now();
    while std::fs::read(&environment).is_ok_and(|bytes| !bytes.is_empty()) {
        assert!(begun.elapsed() < Duration::from_secs(5), "{environment} is still there");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_outcome_is_what_was_expected_or_says_what_it_was() {
    let outcome = |code| Outcome {
        code,
        stdout: "words".into(),
        stderr: "error: why".into(),
        took: Duration::from_millis(20),
    };
    assert_eq!(outcome(Some(3)).expect(3, &["error:", "why"]), Ok(()));
    let wrong = [
        outcome(Some(3)).expect(0, &[]),
        outcome(None).expect(3, &[]),
        outcome(Some(3)).expect(3, &["try:"]),
        outcome(Some(0)).expect_output(&["nothing"]),
        outcome(Some(3)).expect_output(&["words"]),
        outcome(Some(0)).in_time(Duration::from_millis(20)).map(|_| ()),
    ];
    assert!(wrong.iter().all(Result::is_err), "{wrong:?}");
    assert!(outcome(Some(0)).in_time(Duration::from_millis(21)).is_ok());
}
