//! Does `laneway measure pairs` name what is slow? 200 random damaged clusters and 50 healthy ones,
//! simulated, new ones in each run; `LANEWAY_SEED=n` repeats a run.
//!
//! With `sample` as its argument it measures samples of 100 fleets of 1,024 hosts with zero to four
//! slow hosts or links each, a process for each at a time, as many as there are cores; `fleet SEED`
//! is one of them. `LANEWAY_HOSTS=256` and `LANEWAY_PLATFORMS=20` make it smaller.

#[path = "../crates/measure/tests/it/p2p_damage/cluster.rs"]
mod cluster;
#[path = "../crates/measure/tests/it/p2p_damage/score.rs"]
mod score;

use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

#[path = "seeds.rs"]
mod seeds;

use cluster::Damage;
use score::{Outcome, Score, outcome, sampled};

const HOSTS: u64 = 1024;
const FLEETS: usize = 100;
const MOST_SECONDS: f64 = 120.0;
const MOST_MIB: f64 = 1024.0;
const DAMAGED: u64 = 200;
const HEALTHY: u64 = 50;
const LEAST_PRECISION: f64 = 0.97;
const LEAST_RECALL: f64 = 0.97;
const LEAST_RECALL_OF_A_KIND: f64 = 0.9;
const MOST_HEALTHY_BLAMED: usize = 1;

/// Prints a share with the least that it may be.
fn share(what: &str, share: f64, least: f64) {
    let verdict = if share >= least { "ok" } else { "MISSED" };
    println!("{what}: {share:.3} (at least {least}) {verdict}");
}

/// What is not as it should be, with the platform that shows it again.
fn print(seed: u64, cluster: &cluster::Cluster, outcome: &Outcome) {
    println!("seed {seed}: wrong {:?}, missed {:?}", outcome.wrong, outcome.missed);
    println!("  {}", outcome.sentences.join("\n  "));
    println!("  {}", cluster.text.replace('\n', "\n  "));
}

fn number(name: &str, usual: u64) -> Result<u64, String> {
    match std::env::var(name) {
        Ok(text) => text.parse().map_err(|_| format!("{name}={text} is not a number")),
        Err(_) => Ok(usual),
    }
}

/// Seconds of processor time and the largest memory of this process, in bytes.
fn used() -> (f64, u64) {
    // SAFETY: `getrusage` fills the structure, of which zeros are a value.
    let usage = unsafe {
        let mut usage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let libc::rusage { ru_utime, ru_stime, ru_maxrss, .. } = usage;
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    (seconds(ru_utime) + seconds(ru_stime), ru_maxrss as u64 * 1024)
}

/// One fleet; the last line is for [`fleets`].
fn fleet(seed: u64) -> Result<(), String> {
    let hosts = number("LANEWAY_HOSTS", HOSTS)? as u32;
    let cluster = cluster::fleet(seed, hosts);
    let found = sampled(&format!("fleet{seed}"), &cluster)?;
    let (seconds, bytes) = used();
    let list = |all: &[Damage]| format!("{all:?}").replace(' ', "");
    println!("  {}", found.sentences.join("\n  "));
    println!(
        "{seed} sites {} right {} wrong {} missed {} seconds {seconds:.2} bytes {bytes}",
        cluster.text.matches("[[site]]").count(),
        list(&found.right),
        list(&found.wrong),
        list(&found.missed)
    );
    Ok(())
}

/// Words of the last line of a fleet.
struct Line {
    right: Vec<String>,
    wrong: Vec<String>,
    missed: Vec<String>,
    seconds: f64,
    bytes: f64,
}

fn parsed(line: &str) -> Option<Line> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, _, _, _, right, _, wrong, _, missed, _, seconds, _, bytes] = words[..] else {
        return None;
    };
    let list = |text: &str| {
        let inner = text.trim_matches(['[', ']']);
        let items = inner.split_inclusive(')').map(|item| item.trim_start_matches(','));
        items.filter(|item| !item.is_empty()).map(str::to_string).collect()
    };
    Some(Line {
        right: list(right),
        wrong: list(wrong),
        missed: list(missed),
        seconds: seconds.parse().ok()?,
        bytes: bytes.parse().ok()?,
    })
}

/// Many fleets, a process for each: memory is that of one.
fn fleets() -> Result<(), String> {
    let seeds = seeds::Seeds::from_env()?;
    println!("LANEWAY_SEED={}", seeds.first);
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let judge = |seed: u64| {
        let mut command = Command::new(&program);
        command.args(["fleet", &seed.to_string()]).stderr(Stdio::inherit());
        let output = command.output().map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let last = text.lines().last().and_then(parsed);
        let line = last.ok_or(format!("fleet {seed} ended with {}: {text}", output.status))?;
        let is_right = line.wrong.is_empty() && line.missed.is_empty();
        if !is_right || std::env::var_os("LANEWAY_ALL").is_some() {
            println!("{text}");
        }
        Ok(line)
    };
    let lines = seeds.judge_all(FLEETS, judge, |_| ());
    let lines: Result<Vec<Line>, String> = lines.into_iter().map(|(_, line)| line).collect();
    let lines = lines?;
    let count = lines.len();
    let sum = |part: fn(&Line) -> usize| lines.iter().map(part).sum::<usize>();
    let [right, wrong, missed] =
        [sum(|line| line.right.len()), sum(|l| l.wrong.len()), sum(|l| l.missed.len())];
    println!("{count} fleets in {:.0} s: {right} right", begun.elapsed().as_secs_f64());
    share("precision", right as f64 / (right + wrong).max(1) as f64, LEAST_PRECISION);
    share("recall", right as f64 / (right + missed).max(1) as f64, LEAST_RECALL);
    let kind = |name: &str| name.split('(').next().unwrap_or_default().to_string();
    let mut kinds: std::collections::BTreeMap<String, (usize, usize)> = Default::default();
    for line in &lines {
        line.right.iter().for_each(|name| kinds.entry(kind(name)).or_default().0 += 1);
        line.missed.iter().for_each(|name| kinds.entry(kind(name)).or_default().1 += 1);
    }
    for (name, (found, missed)) in kinds {
        println!("recall, {name}: {found} of {}", found + missed);
    }
    for (what, part, most) in [
        ("processor seconds", (|line| line.seconds) as fn(&Line) -> f64, MOST_SECONDS),
        ("MiB", |line| line.bytes / 1048576.0, MOST_MIB),
    ] {
        let largest = lines.iter().map(part).fold(0.0, f64::max);
        let verdict = if largest <= most { "ok" } else { "MISSED" };
        println!("{what} of a fleet: {largest:.0} (at most {most}) {verdict}");
    }
    Ok(())
}

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [what, seed] = &words[..]
        && what == "fleet"
    {
        return fleet(seed.parse().map_err(|_| format!("{seed} is not a seed"))?);
    }
    if words == ["sample"] {
        return fleets();
    }
    let fresh = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64);
    let seed = match std::env::var("LANEWAY_SEED") {
        Ok(text) => text.parse().map_err(|_| format!("LANEWAY_SEED={text} is not a number"))?,
        Err(_) => fresh() % 1_000_000_000,
    };
    println!("LANEWAY_SEED={seed}");
    let mut score = Score::default();
    for number in (0..DAMAGED).map(|number| seed.wrapping_add(number)) {
        let cluster = cluster::damaged(number);
        let found = outcome("bench", &cluster)?;
        if !found.wrong.is_empty() || !found.missed.is_empty() {
            print(number, &cluster, &found);
        }
        score.add(&found);
    }
    let mut blamed = 0;
    for number in (0..HEALTHY).map(|number| seed.wrapping_add(number)) {
        let cluster = cluster::healthy(number);
        let found = outcome("bench", &cluster)?;
        if !found.wrong.is_empty() {
            blamed += 1;
            print(number, &cluster, &found);
        }
    }
    println!("{DAMAGED} damaged clusters:");
    share("precision", score.precision(), LEAST_PRECISION);
    share("recall", score.recall(), LEAST_RECALL);
    for (kind, recall, count) in score.recalls() {
        share(&format!("recall, {kind} ({count})"), recall, LEAST_RECALL_OF_A_KIND);
    }
    let verdict = if blamed <= MOST_HEALTHY_BLAMED { "ok" } else { "MISSED" };
    println!(
        "{HEALTHY} healthy clusters, blamed: {blamed} (at most {MOST_HEALTHY_BLAMED}) {verdict}"
    );
    Ok(())
}
