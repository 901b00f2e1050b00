//! The cases: what is started, what is done to it, and how it must end.

use std::time::Duration;

use laneway_needs::cases::{Case, case};
use laneway_needs::marked::{Outcome, start};

pub fn all() -> Vec<Case> {
    let mut cases = messages();
    cases.extend(endings());
    cases.extend(from_outside());
    cases.extend(refusals());
    cases
}

fn run(
    scenario: &str,
    ranks: u32,
    connections: u32,
    variables: &[(&str, &str)],
) -> Result<Outcome, String> {
    start(&[scenario, &ranks.to_string(), &connections.to_string()], variables, "")?.finish()
}

fn messages() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut good = |scenario: &'static str, ranks, connections| {
        cases.push(case(format!("{scenario} {ranks} {connections}"), move || {
            run(scenario, ranks, connections, &[])?.expect(0, &[])
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
        let said =
            ["(\"backend\", \"net\")", "loopback", "(\"connections_per_pair\", \"2\")", "binding"];
        run("describe", 3, 2, &[])?.expect_output(&said)
    }));
    cases
}

fn endings() -> Vec<Case> {
    let ends: [(&'static str, i32, &'static [&'static str]); 5] = [
        ("killed", 3, &["rank 2 on ", " died: killed by signal 9 (SIGKILL)", "out-of-memory"]),
        ("panic", 3, &["on purpose", "rank 2 on ", " died: exited with code 101"]),
        ("code", 4, &["rank 2 says why"]),
        ("leave", 0, &[]),
        ("hang", 0, &[]),
    ];
    let ended = |(scenario, code, words)| {
        case(scenario, move || {
            let limit = if scenario == "hang" { "1" } else { "30" };
            let outcome = run(scenario, 4, 1, &[("TEST_LIMIT", limit)])?;
            outcome.in_time(Duration::from_secs(10))?.expect(code, words)
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
            outcome.expect(3, &[&format!("rank {rank} on "), "died: killed by signal 9"])
        }));
    }
    cases.push(case("SIGKILL to the launcher", || {
        let outcome = signalled(None, libc::SIGKILL)?;
        // What matters is that `finish` found nothing left.
        if outcome.code.is_none() { Ok(()) } else { outcome.expect(-1, &[]) }
    }));
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        cases.push(case(format!("signal {signal} to the launcher"), move || {
            signalled(None, signal)?.expect(128 + signal, &[])
        }));
    }
    cases
}

fn signalled(rank: Option<u32>, signal: i32) -> Result<Outcome, String> {
    let mut running = start(&["forever", "4", "1"], &[], "")?;
    let first = running.await_line(&format!("rank {} is ", rank.unwrap_or(0)))?;
    let pid = match rank {
        Some(_) => first.parse().map_err(|_| format!("{first:?} is not a process number"))?,
        None => running.launcher(),
    };
    // SAFETY: the process is our child or its child, and has not been waited for.
    unsafe { libc::kill(pid, signal) };
    running.finish()?.in_time(Duration::from_secs(3))
}

/// What cannot be run says why, and leaves nothing.
fn refusals() -> Vec<Case> {
    let refused = |name: &'static str, ranks, variables: &'static [(&str, &str)], code, words| {
        case(name, move || run("order", ranks, 1, variables)?.expect(code, words))
    };
    vec![
        refused("no ranks", 0, &[], 3, &["error: 0 ranks", "every rank has a connection"]),
        refused("too few slots", 4, &[("TEST_HOSTS", "a,b:2")], 3, &["no room for 4 ranks"]),
        refused(
            "a device that does not exist",
            3,
            &[("TEST_DEVICES", "no-such-dev")],
            3,
            &["rank ", "no-such-dev cannot be a path", "this host has "],
        ),
        refused(
            "a program that starts nothing",
            2,
            &[("TEST_HOSTS", "localhost,elsewhere"), ("LANEWAY_SSH", "false")],
            3,
            &["rank 1 could not be started on elsewhere: exited with code 1", "printed above"],
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
