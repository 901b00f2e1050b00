//! The process that builds a lab may be killed at any moment: nothing is left.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use laneway_stats::SplitMix64;

use super::standing::{laneway, left, needs};

/// How long the guard may take.
const LIMIT: Duration = Duration::from_secs(20);

fn seed() -> u64 {
    std::env::var("LANEWAY_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(13)
}

#[test]
fn a_command_that_is_killed_at_random_leaves_nothing() {
    if !needs() {
        return;
    }
    let seed = seed();
    let mut draws = SplitMix64::new(seed);
    for time in 0..20 {
        let name = format!("killed-{}-{time}", std::process::id());
        let (up, sites) = (time % 2 == 0, format!("2x{}", 1 + draws.index(30)));
        let mut words = vec!["lab", if up { "up" } else { "run" }];
        words.extend(["--sites", &sites, "--wan", "5ms,25Mbit"]);
        if up {
            words.extend(["--lab", &name]);
        } else {
            words.extend(["--no-probe", "--", "sh", "-c", "sleep 30 & sleep 30"]);
        }
        let mut child = Command::new(env!("CARGO_BIN_EXE_laneway"))
            .args(&words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command starts");
        // A lab for one run has the name of its process.
        let name = if up { name.clone() } else { format!("run-{}", child.id()) };
        let after = Duration::from_micros(draws.index(600_000) as u64);
        thread::sleep(after);
        child.kill().expect("it is killed");
        child.wait().expect("it is gone");
        let begun = Instant::now();
        while !left(&name).is_empty() && begun.elapsed() < LIMIT {
            thread::sleep(Duration::from_millis(20));
        }
        let left = left(&name);
        laneway(&["lab", "down", "--lab", &name]);
        assert!(left.is_empty(), "seed {seed}, {words:?} killed after {after:?}: {left:?}");
    }
}

#[test]
fn what_a_guard_could_not_remove_is_found_by_name() {
    if !needs() {
        return;
    }
    let name = format!("leftover-{}", std::process::id());
    let namespace = format!("laneway.{name}.host.n0");
    let made = Command::new("ip").args(["netns", "add", &namespace]).status().expect("ip starts");
    assert!(made.success());
    let mut sleeper = Command::new("ip")
        .args(["netns", "exec", &namespace, "sleep", "60"])
        .spawn()
        .expect("ip starts");
    thread::sleep(Duration::from_millis(200));
    assert_eq!(left(&name).len(), 1);
    let output = laneway(&["lab", "down", "--lab", &name]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("1 namespace and 1 process removed"), "{said}");
    assert!(!sleeper.wait().expect("it ends").success(), "it was killed");
    assert!(left(&name).is_empty());
}
