//! Ranks that die, and runs that are interrupted: an error that names the rank, and nothing left.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A run that would go on for long, with a word in its environment to find its processes by.
fn long_run(backend: &str, mark: &str) -> Child {
    let sizes = vec!["4M"; 2000].join(",");
    Command::new(env!("CARGO_BIN_EXE_laneway"))
        .args(["check", "allreduce", "--ranks", "4", "--backend", backend, "--sizes", &sizes])
        .env("LANEWAY_TEST_MARK", mark)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts")
}

/// Processes whose environment holds the mark.
fn marked(mark: &str) -> Vec<u32> {
    let wanted = format!("LANEWAY_TEST_MARK={mark}\0");
    let pids = std::fs::read_dir("/proc").expect("/proc").flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.windows(wanted.len()).any(|window| window == wanted.as_bytes())
        })
        .collect()
}

/// Waits until launcher and ranks are there; gives the ranks.
fn ranks(child: &Child, mark: &str) -> Vec<u32> {
    let begun = Instant::now();
    loop {
        let mut ranks = marked(mark);
        ranks.retain(|pid| *pid != child.id());
        if ranks.len() == 4 {
            // They are at work and not only started.
            sleep(Duration::from_millis(300));
            return ranks;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{ranks:?}");
        sleep(Duration::from_millis(20));
    }
}

fn signal(pid: u32, name: &str) {
    let status = Command::new("sh").args(["-c", &format!("kill -{name} {pid}")]).status();
    assert!(status.expect("sh").success());
}

/// The exit code and stderr, which must come within a second or so.
fn ended(child: &mut Child) -> (Option<i32>, String) {
    let begun = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begun.elapsed() > Duration::from_secs(5) {
            let _ = child.kill();
            panic!("the run did not end");
        }
        sleep(Duration::from_millis(5));
    }
    assert!(begun.elapsed() < Duration::from_millis(1000), "took {:?}", begun.elapsed());
    let mut text = String::new();
    let mut pipe = child.stderr.take().expect("a pipe");
    pipe.read_to_string(&mut text).expect("text");
    (child.wait().expect("a child").code(), text)
}

fn nothing_left(mark: &str) {
    let begun = Instant::now();
    while !marked(mark).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(1), "left: {:?}", marked(mark));
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_killed_rank_is_named() {
    for backend in ["local:shm", "local:unix", "local:tcp"] {
        let mark = format!("rank-{backend}-{}", std::process::id());
        let mut child = long_run(backend, &mark);
        let victim = ranks(&child, &mark)[2];
        let environment = std::fs::read(format!("/proc/{victim}/environ")).expect("environ");
        let environment = String::from_utf8_lossy(&environment).into_owned();
        let rank = environment.split('\0').find_map(|v| v.strip_prefix("LANEWAY_LOCAL_RANK="));
        let rank = rank.expect("the rank is in its environment").to_owned();
        signal(victim, "KILL");
        let (code, text) = ended(&mut child);
        assert_eq!(code, Some(3), "{text}");
        assert!(text.contains(&format!("rank {rank}")), "{backend}: {text}");
        assert!(text.contains("SIGKILL"), "{backend}: {text}");
        assert_eq!(text.matches("error:").count(), 1, "{backend}: {text}");
        nothing_left(&mark);
    }
}

#[test]
fn an_interrupt_ends_everything() {
    for name in ["INT", "TERM", "HUP"] {
        let mark = format!("{name}-{}", std::process::id());
        let mut child = long_run("local:shm", &mark);
        ranks(&child, &mark);
        signal(child.id(), name);
        let (code, _) = ended(&mut child);
        assert!(code.is_none_or(|code| code > 128), "{name}: {code:?}");
        nothing_left(&mark);
    }
}

#[test]
fn a_killed_launcher_takes_its_ranks_along() {
    for backend in ["local:shm", "local:unix", "local:tcp"] {
        let mark = format!("launcher-{backend}-{}", std::process::id());
        let mut child = long_run(backend, &mark);
        ranks(&child, &mark);
        signal(child.id(), "KILL");
        child.wait().expect("a child");
        nothing_left(&mark);
    }
}
