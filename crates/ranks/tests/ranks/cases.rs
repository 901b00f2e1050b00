//! The cases: what is started, what is done to it, and how it must end.

use std::process::ExitCode;
use std::time::Duration;

use crate::process::{Outcome, start};

type Verdict = Result<(), String>;
type Case = (String, Box<dyn Fn() -> Verdict>);

/// Runs the cases whose name contains one of the words, or all. Understands what test runners ask
/// of a harness: `--list`, `--ignored` (there are none) and `--exact`.
pub fn drive(arguments: &[String]) -> ExitCode {
    let asked = |flag: &str| arguments.iter().any(|word| word == flag);
    if asked("--list") {
        if !asked("--ignored") {
            all().iter().for_each(|(name, _)| println!("{name}: test"));
        }
        return ExitCode::SUCCESS;
    }
    let words: Vec<&String> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
    let chosen = |name: &str| {
        let fits =
            |word: &&String| if asked("--exact") { *word == name } else { name.contains(*word) };
        words.is_empty() || words.iter().any(fits)
    };
    let (mut passed, mut failed) = (0, 0);
    for (name, case) in all().into_iter().filter(|(name, _)| chosen(name)) {
        match case() {
            Ok(()) => {
                passed += 1;
                println!("ok      {name}");
            }
            Err(why) => {
                failed += 1;
                println!("FAILED  {name}\n        {}", why.replace('\n', "\n        "));
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn all() -> Vec<Case> {
    let mut cases = messages();
    cases.extend(endings());
    cases.extend(from_outside());
    cases.extend(refusals());
    cases
}

fn case(name: impl Into<String>, run: impl Fn() -> Verdict + 'static) -> Case {
    (name.into().replace(' ', "::"), Box::new(run))
}

fn run(
    scenario: &str,
    ranks: u32,
    connections: u32,
    variables: &[(&str, &str)],
) -> Result<Outcome, String> {
    start(scenario, ranks, connections, variables)?.finish()
}

/// The exit code, and words that the error output must have.
fn expect(outcome: Outcome, code: i32, words: &[&str]) -> Verdict {
    let missing = words.iter().find(|word| !outcome.stderr.contains(**word));
    if outcome.code == Some(code) && missing.is_none() {
        return Ok(());
    }
    let Outcome { code: got, stdout, stderr, took } = outcome;
    Err(format!("code {got:?}, expected {code} and {words:?}, after {took:?}\n{stdout}{stderr}"))
}

fn messages() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut good = |scenario: &'static str, ranks, connections| {
        cases.push(case(format!("{scenario} {ranks} {connections}"), move || {
            expect(run(scenario, ranks, connections, &[])?, 0, &[])
        }));
    };
    for (ranks, connections) in [(2, 1), (3, 1), (5, 1), (2, 3), (4, 2)] {
        for scenario in ["lengths", "order", "any-source", "storm"] {
            good(scenario, ranks, connections);
        }
    }
    good("own", 1, 1);
    good("own", 2, 1);
    good("split", 5, 1);
    good("late", 2, 1);
    good("late", 2, 4);
    good("last-words", 4, 1);
    good("storm", 12, 1);
    good("child", 2, 1);
    cases.push(case("describe", || {
        let outcome = run("describe", 3, 2, &[])?;
        let said =
            ["(\"backend\", \"net\")", "loopback", "(\"connections_per_pair\", \"2\")", "binding"];
        match said.iter().find(|word| !outcome.stdout.contains(**word)) {
            None => expect(outcome, 0, &[]),
            Some(word) => Err(format!("no {word:?} in {:?}", outcome.stdout)),
        }
    }));
    cases
}

fn endings() -> Vec<Case> {
    let ends: [(&'static str, i32, &'static [&'static str]); 5] = [
        ("killed", 3, &["rank 2 on ", " died: killed by signal 9 (SIGKILL)", "try:"]),
        ("panic", 3, &["on purpose", "rank 2 on ", " died: exited with code 101"]),
        ("code", 4, &["rank 2 says why"]),
        ("leave", 0, &[]),
        ("hang", 0, &[]),
    ];
    let ended = |(scenario, code, words)| {
        case(scenario, move || {
            let limit = if scenario == "hang" { "1" } else { "30" };
            let outcome = run(scenario, 4, 1, &[("TEST_LIMIT", limit)])?;
            if outcome.took > Duration::from_secs(10) {
                return Err(format!("it took {:?} to end\n{}", outcome.took, outcome.stderr));
            }
            expect(outcome, code, words)
        })
    };
    ends.into_iter().map(ended).collect()
}

/// Signals to one process of a run that is on its way.
fn from_outside() -> Vec<Case> {
    let mut cases = Vec::new();
    for rank in [0, 2] {
        cases.push(case(format!("SIGKILL to rank {rank}"), move || {
            let outcome = signalled(Some(rank), libc::SIGKILL)?;
            expect(outcome, 3, &[&format!("rank {rank} on "), "died: killed by signal 9"])
        }));
    }
    cases.push(case("SIGKILL to the launcher", || {
        let outcome = signalled(None, libc::SIGKILL)?;
        // What matters is that `finish` found nothing left.
        if outcome.code.is_none() { Ok(()) } else { expect(outcome, -1, &[]) }
    }));
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        cases.push(case(format!("signal {signal} to the launcher"), move || {
            expect(signalled(None, signal)?, 128 + signal, &[])
        }));
    }
    cases
}

fn signalled(rank: Option<u32>, signal: i32) -> Result<Outcome, String> {
    let mut running = start("forever", 4, 1, &[])?;
    let first = running.await_rank(rank.unwrap_or(0))?;
    let pid = if rank.is_some() { first } else { running.launcher() };
    // SAFETY: the process is our child or its child, and has not been waited for.
    unsafe { libc::kill(pid, signal) };
    let outcome = running.finish()?;
    match outcome.took < Duration::from_secs(3) {
        true => Ok(outcome),
        false => Err(format!("it took {:?} to end\n{}", outcome.took, outcome.stderr)),
    }
}

/// What cannot be run says why, and leaves nothing.
fn refusals() -> Vec<Case> {
    let refused = |name: &'static str, ranks, variables: &'static [(&str, &str)], code, words| {
        case(name, move || expect(run("order", ranks, 1, variables)?, code, words))
    };
    vec![
        refused("no ranks", 0, &[], 2, &["error: 0 ranks", "try:"]),
        refused("too few slots", 4, &[("TEST_HOSTS", "a,b:2")], 2, &["no room for 4 ranks"]),
        refused(
            "a device that does not exist",
            3,
            &[("TEST_DEVICES", "no-such-dev")],
            3,
            &["rank ", "no-such-dev can be no path", "this host has ", "laneway path info"],
        ),
        refused(
            "a program that starts nothing",
            2,
            &[("TEST_HOSTS", "localhost,elsewhere"), ("LANEWAY_SSH", "false")],
            3,
            &["rank 1 could not be started on elsewhere: exited with code 1", "try:"],
        ),
        refused(
            "a program that is not there",
            2,
            &[("TEST_HOSTS", "localhost,elsewhere"), ("LANEWAY_SSH", "/no/such/ssh")],
            3,
            &["rank 1 could not be started by /no/such/ssh"],
        ),
        refused(
            "a host that never answers",
            2,
            &[
                ("TEST_HOSTS", "localhost,far"),
                ("LANEWAY_SSH", "tail -f /dev/null"),
                ("TEST_LIMIT", "1"),
            ],
            3,
            &["rank 1 on far did not say where it is within 1 s"],
        ),
    ]
}
