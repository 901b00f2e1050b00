//! The cases: what is started, what is done to it, and how it must end.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use laneway_needs::Need;
use laneway_needs::cases::{Case, Verdict, case};
use laneway_needs::marked::{Outcome, Running, start};

use crate::left::leaves_no_file;
use crate::storm::random;
use crate::{stress, surroundings};

const TRANSPORTS: [&str; 3] = ["shm", "unix", "tcp"];

/// No run takes longer to end when something has gone wrong.
const SHORT: Duration = Duration::from_secs(1);

pub fn all() -> Vec<Case> {
    let mut cases = messages();
    cases.extend(limits());
    cases.extend(endings());
    cases.extend(misuse());
    cases.extend(surrounded());
    cases.extend(from_outside());
    cases.extend(pauses());
    cases.into_iter().map(leaves_no_file).collect()
}

/// Starts a scenario and expects it to end well.
fn good(scenario: &'static str, ranks: u32, transport: &'static str) -> Case {
    case(format!("{scenario} {ranks} {transport}"), move || {
        run(scenario, ranks, transport, &[])?.expect(0, &[])
    })
}

fn run(
    scenario: &str,
    ranks: u32,
    transport: &str,
    variables: &[(&str, &str)],
) -> Result<Outcome, String> {
    start(&[scenario, &ranks.to_string(), transport], variables, "for rank 0")?.finish()
}

fn messages() -> Vec<Case> {
    let mut cases = Vec::new();
    for transport in TRANSPORTS {
        for ranks in [2, 3, 8, 16] {
            for scenario in ["lengths", "order", "split", "all-to-all", "ring", "storm"] {
                // At least three ranks have two colours and one without.
                if scenario != "split" || ranks > 2 {
                    cases.push(good(scenario, ranks, transport));
                }
            }
        }
        cases.push(good("own", 1, transport));
        cases.push(good("own", 2, transport));
        cases.push(good("all-to-all", 64, transport));
        cases.push(good("ring", 64, transport));
        cases.push(good("storm", 40, transport));
        cases.push(good("input", 3, transport));
        cases.push(good("give-up", 2, transport));
        cases.push(good("mismatch", 2, transport));
        for len in ["9", "3000", "5000000"] {
            cases.push(case(format!("truncate {len} {transport}"), move || {
                run("truncate", 2, transport, &[("TEST_LEN", len)])?.expect(0, &[])
            }));
        }
    }
    for (scenario, ranks) in [("lengths", 2), ("lengths", 5), ("order", 3), ("storm", 8)] {
        cases.push(case(format!("{scenario} {ranks} shm without direct copies"), move || {
            let refused = [(surroundings::VARIABLE, "no direct copies")];
            run(scenario, ranks, "shm", &refused)?.expect(0, &[])
        }));
    }
    cases
}

/// Sizes at the edge: many ranks, a message past 2 GiB, numbers that cannot be.
fn limits() -> Vec<Case> {
    let described = |variables: &'static [(&str, &str)], words: &'static [&str]| {
        move || run("describe", 2, "shm", variables)?.expect_output(words)
    };
    vec![
        good("all-to-all", 200, "shm"),
        good("ring", 256, "shm"),
        good("big", 2, "shm"),
        good("big", 2, "unix"),
        case("describe", described(&[], &["local:shm", "process_vm, both sides", "clock true"])),
        case(
            "describe without direct copies",
            described(&[(surroundings::VARIABLE, "no direct copies")], &["local:shm", "\"ring\""]),
        ),
        case(
            "describe without direct writes",
            described(&[(surroundings::VARIABLE, "no direct writes")], &["local:shm", "\"ring\""]),
        ),
        case("describe without binding", {
            described(&[("LANEWAY_LOCAL_BIND", "none")], &["\"binding\", \"none\""])
        }),
        case("a binding that does not exist", || {
            let outcome = run("ring", 2, "shm", &[("LANEWAY_LOCAL_BIND", "moon")])?;
            outcome.expect(3, &["LANEWAY_LOCAL_BIND is \"moon\""])
        }),
        case("no ranks", || {
            run("ring", 0, "shm", &[])?.expect(3, &["error: 0 ranks", "1 to 1024"])
        }),
        case("too many ranks", || {
            run("ring", 1025, "shm", &[])?
                .expect(3, &["error: 1025 ranks", "each rank is a process"])
        }),
        case("a limit that is not a number", || {
            let outcome = run("ring", 2, "shm", &[("LANEWAY_WAIT_LIMIT", "soon")])?;
            outcome.expect(3, &["LANEWAY_WAIT_LIMIT is \"soon\""])
        }),
        // The mark of another launcher: this process is not one of its ranks.
        case("a stranger's environment", || {
            let stranger = [("LANEWAY_LOCAL_LAUNCHER", "1"), ("LANEWAY_LOCAL_RANK", "0")];
            run("ring", 2, "shm", &stranger)?.expect(0, &[])
        }),
    ]
}

fn endings() -> Vec<Case> {
    let mut cases = Vec::new();
    for transport in TRANSPORTS {
        cases.push(good("last-words", 6, transport));
        for scenario in ["leave", "leave-any", "leave-mid"] {
            cases.push(good(scenario, 3, transport));
        }
        cases.push(case(format!("hang {transport}"), move || {
            run("hang", 3, transport, &[("LANEWAY_WAIT_LIMIT", "1")])?.expect(0, &[])
        }));
        let ends = [
            ("leave-abort", 3, "error: rank 1 left before the others"),
            ("killed", 3, "rank 4 died: killed by signal 9 (SIGKILL)"),
            ("code", 3, "rank 4 died: exited with code 101"),
            ("agree", 4, ""),
            ("abort", 42, ""),
        ];
        for (scenario, code, words) in ends {
            cases.push(case(format!("{scenario} {transport}"), move || {
                let outcome = run(scenario, 5, transport, &[])?.in_time(SHORT)?;
                outcome.expect(code, &[words])
            }));
        }
    }
    cases
}

/// Buffers that are taken back too early, and schedules that break the rules.
fn misuse() -> Vec<Case> {
    let mut cases = Vec::new();
    for transport in TRANSPORTS {
        for (scenario, ranks) in [
            ("drop-sender", 2),
            ("drop-sender-late", 2),
            ("free-sender", 2),
            ("drop-queue", 2),
            ("late-receiver", 2),
            ("fail-beside", 3),
            ("overlap", 1),
            ("overlap-in-queue", 1),
        ] {
            cases.push(case(format!("{scenario} {transport}"), move || {
                run(scenario, ranks, transport, &[("LANEWAY_WAIT_LIMIT", "1")])?.expect(0, &[])
            }));
        }
        cases.push(case(format!("stuck {transport}"), move || {
            let outcome = run("stuck", 2, transport, &[])?.in_time(SHORT)?;
            let words = "rank 0 can never go on: lane 0 waits until round 0 of lane 7 is complete";
            outcome.expect(3, &[words, "rank 0 died: exited with code 9"])
        }));
    }
    cases
}

/// Machines and shells that give a run less than it is used to.
fn surrounded() -> Vec<Case> {
    let within = |scenario: &'static str, ranks, transport: &'static str, around: &'static str| {
        move || {
            let outcome = run(scenario, ranks, transport, &[(surroundings::VARIABLE, around)])?;
            let made = match outcome.code == Some(surroundings::SKIPPED.into()) {
                true => Err(outcome.stderr.trim().to_owned()),
                false => Ok(()),
            };
            let test = format!("local::{scenario}::{ranks}::{transport} with {around}");
            Ok::<_, String>(Need::Rights.is_met_in(&test, made).then_some(outcome))
        }
    };
    let mut cases = Vec::new();
    let mut ends = |scenario, ranks, transport, around, code, words: &'static [&str]| {
        cases.push(case(format!("{scenario} {ranks} {transport} with {around}"), move || {
            let outcome = within(scenario, ranks, transport, around)()?;
            outcome.map_or(Ok(()), |outcome| outcome.expect(code, words))
        }));
    };
    for transport in TRANSPORTS {
        ends("talk", 3, transport, "tostop", 0, &[]);
    }
    ends("all-to-all", 16, "unix", "queues of 4", 0, &[]);
    ends("storm", 16, "unix", "queues of 4", 0, &[]);
    ends("ring", 2, "shm", "files of 1 MiB", 0, &[]);
    let too_large = &["error: cannot create", "shared memory", "cause: File too large"];
    ends("ring", 16, "shm", "files of 1 MiB", 3, too_large);
    for transport in ["unix", "tcp"] {
        ends("all-to-all", 4, transport, "64 open files", 0, &[]);
        ends("ring", 24, transport, "64 open files", 0, &[]);
        ends("all-to-all", 40, transport, "64 open files", 3, &["ulimit -n"]);
        ends("lengths", 3, transport, "tracing refused", 0, &[]);
    }
    ends("lengths", 3, "shm", "no direct writes", 0, &[]);
    ends("lengths", 3, "shm", "tracers recorded", 0, &[]);
    cases
}

/// Signals to one process of a run that is on its way.
fn from_outside() -> Vec<Case> {
    let mut cases = Vec::new();
    for transport in TRANSPORTS {
        for rank in [0, 2] {
            cases.push(case(format!("SIGKILL to rank {rank} {transport}"), move || {
                let outcome = signalled(transport, Some(rank), libc::SIGKILL)?;
                outcome.expect(3, &[&format!("rank {rank} died: killed by signal 9 (SIGKILL)")])
            }));
        }
        cases.push(case(format!("SIGKILL to the launcher {transport}"), move || {
            let outcome = signalled(transport, None, libc::SIGKILL)?;
            // What matters is that `finish` found nothing left.
            if outcome.code.is_none() { Ok(()) } else { outcome.expect(-1, &[]) }
        }));
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            cases.push(case(format!("signal {signal} to the launcher {transport}"), move || {
                signalled(transport, None, signal)?.expect(128 + signal, &[])
            }));
        }
    }
    cases
}

fn signalled(transport: &str, rank: Option<u32>, signal: i32) -> Result<Outcome, String> {
    let mut running = start(&["forever", "5", transport], &[], "")?;
    running.await_line("running")?;
    let pid = match rank {
        Some(rank) => processes(&running, 5)?[rank as usize],
        None => running.launcher(),
    };
    // SAFETY: the process is our child or its child, and has not been waited for.
    unsafe { libc::kill(pid, signal) };
    running.finish()?.in_time(SHORT)
}

/// The processes of all ranks, found in one look.
fn processes(running: &Running, ranks: u32) -> Result<Vec<i32>, String> {
    let all = running.processes();
    let of = |rank| {
        let wanted = format!("LANEWAY_LOCAL_RANK={rank}");
        let found = all.iter().find(|(_, environment)| environment.contains(&wanted));
        found.map(|(pid, _)| *pid).ok_or_else(|| format!("rank {rank} is not running"))
    };
    (0..ranks).map(of).collect()
}

/// Ranks that are stopped at any moment and go on after any time.
fn pauses() -> Vec<Case> {
    let mut cases = Vec::new();
    for (ranks, transport, around) in [
        (2, "shm", ""),
        (5, "shm", ""),
        (36, "shm", ""),
        (3, "shm", "no direct copies"),
        (4, "unix", ""),
        (4, "tcp", ""),
    ] {
        let name = format!("stress {ranks} {transport} {around}");
        cases.push(case(name.trim(), move || paused(ranks, transport, around)));
    }
    cases
}

fn paused(ranks: u32, transport: &str, around: &str) -> Verdict {
    // From the clock, and in what a failure prints.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos() as u64);
    let seed = stress::from_environment(stress::SEED, now >> 8 & 0xffff_ffff);
    let text = seed.to_string();
    let variables = [(stress::SEED, text.as_str()), (surroundings::VARIABLE, around)];
    let mut running = start(&["stress", &ranks.to_string(), transport], &variables, "")?;
    running.await_line("running")?;
    let pids = processes(&running, ranks)?;
    let pause = Duration::from_secs(stress::from_environment(stress::SECONDS, 1)) * 7 / 10;
    let end = Instant::now() + pause;
    let mut draw = seed;
    while Instant::now() < end {
        draw = random(draw);
        let pid = pids[(draw % u64::from(ranks)) as usize];
        // SAFETY: plain calls; the launcher waits for its ranks, and it has not ended.
        unsafe { libc::kill(pid, libc::SIGSTOP) };
        std::thread::sleep(Duration::from_micros(draw >> 8 & 0x1fff));
        // SAFETY: as above.
        unsafe { libc::kill(pid, libc::SIGCONT) };
        std::thread::sleep(Duration::from_micros(draw >> 24 & 0xfff));
    }
    running.finish()?.expect(0, &[]).map_err(|why| format!("{}={seed}: {why}", stress::SEED))
}
