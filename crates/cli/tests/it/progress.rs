//! Long work shows a bar with the time left on a terminal, takes it away before the results, and
//! says nothing to a pipe.

use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Work whose length can be chosen: permutations of 6,156 nodes, each of them counted.
fn random(trials: u64) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.args(["topo", "random", "--topology", "mlfm:d=18", "--format", "csv"]);
    command.args(["--trials", &trials.to_string()]).stdin(Stdio::null());
    command
}

/// The two ends of a terminal.
fn terminal() -> (File, OwnedFd) {
    let (mut near, mut far, none) = (0, 0, std::ptr::null_mut::<libc::c_void>());
    // SAFETY: both places are written to; no name, settings or size are given.
    let done = unsafe { libc::openpty(&mut near, &mut far, none.cast(), none.cast(), none.cast()) };
    assert_eq!(done, 0, "a terminal");
    // SAFETY: both descriptors are new, and have no other owner.
    unsafe { (File::from_raw_fd(near), OwnedFd::from_raw_fd(far)) }
}

/// What a command writes to the terminal that is its stderr, and when it first did; and its output.
fn on_terminal(mut command: Command) -> (String, Option<Duration>, Output) {
    let (mut near, far) = terminal();
    let begun = Instant::now();
    let child = command.stdout(Stdio::piped()).stderr(far).spawn().expect("it starts");
    // The other end of the terminal is the child's alone: reading ends with it.
    drop(command);
    let reader = thread::spawn(move || {
        let (mut all, mut first, mut some) = (Vec::new(), None, [0; 4096]);
        while let Ok(count @ 1..) = near.read(&mut some) {
            first.get_or_insert(begun.elapsed());
            all.extend(&some[..count]);
        }
        (String::from_utf8_lossy(&all).into_owned(), first)
    });
    let output = child.wait_with_output().expect("it ends");
    let (text, first) = reader.join().expect("the reader");
    (text, first, output)
}

#[test]
fn long_work_has_a_bar_on_a_terminal_and_none_elsewhere() {
    let (mut trials, mut begun) = (20_000, Instant::now());
    let (mut text, mut first, mut output) = on_terminal(random(trials));
    // However fast this machine and this build are.
    while begun.elapsed() < Duration::from_secs(4) && trials < 1_000_000 {
        (trials, begun) = ((3 * trials).min(1_000_000), Instant::now());
        (text, first, output) = on_terminal(random(trials));
    }
    assert!(output.status.success(), "{text}");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(stdout.lines().count(), 2, "{stdout}");
    assert!(text.contains(" left of stage: phases counted"), "no bar: {text:?}");
    assert!(!text.contains(" 0s left"), "nothing takes 0 s: {text:?}");
    assert!(first.is_some_and(|first| first >= Duration::from_secs(2)), "{first:?}");
    // What was last written cleared the line.
    let last = text.rsplit("phases counted").next().unwrap_or_default();
    assert!(last.contains("\u{1b}[2K"), "the bar stays: {last:?}");
    let piped = random(trials).output().expect("it starts");
    assert!(piped.stderr.is_empty(), "{}", String::from_utf8_lossy(&piped.stderr));
    assert_eq!(piped.stdout, output.stdout);
}

#[test]
fn short_work_has_none() {
    let (text, _, output) = on_terminal(random(2));
    assert!(output.status.success() && text.is_empty(), "{text:?}");
}
