//! The lab against what was asked of it: how soon it stands and goes, its latency and rates, and
//! how late the faults of a timetable are. Needs root, and a quiet machine.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use laneway_benches::ratio;
use laneway_lab::{LabName, Plan, carried, connect, read_plan};
use laneway_stats::median;

/// Seconds that 2 x 32 hosts may take.
const UP: f64 = 10.0;
const DOWN: f64 = 5.0;
/// Milliseconds that a fault may be late.
const LATE_MS: f64 = 5.0;
const FAULTS: usize = 1000;
const LAB: &str = "bench";
/// Of a full packet, what a user sees.
const PAYLOAD: f64 = 1448.0 / 1500.0;

fn laneway(program: &Path, words: &[&str]) -> Result<String, String> {
    let command = Command::new(program).args(words).stdin(Stdio::null()).output();
    let output = command.map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn seconds<T>(work: impl FnOnce() -> Result<T, String>) -> Result<f64, String> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed().as_secs_f64())
}

fn ends(lab: &LabName, plan: &Plan, at: usize) -> Result<(TcpStream, TcpStream), String> {
    let half = plan.hosts.len() / 2;
    let ends = connect(lab, &plan.hosts[at], &plan.hosts[half + at], 0);
    ends.map_err(|error| error.to_string())
}

/// Seconds one way: the median of half round trips.
fn one_way(lab: &LabName, plan: &Plan) -> Result<f64, String> {
    let (mut one, mut other) = ends(lab, plan, 0)?;
    let mut trip = || -> std::io::Result<f64> {
        let (begun, mut byte) = (Instant::now(), [0]);
        one.write_all(&byte)?;
        other.read_exact(&mut byte)?;
        other.write_all(&byte)?;
        one.read_exact(&mut byte)?;
        Ok(begun.elapsed().as_secs_f64() / 2.0)
    };
    let trips: Result<Vec<f64>, _> = (0..50).map(|_| trip()).collect();
    median(&trips.map_err(|error| error.to_string())?).ok_or("no trip".to_string())
}

/// Bits a second that some pairs carry together, once their connections have grown.
fn together(lab: &LabName, plan: &Plan, pairs: usize) -> Result<f64, String> {
    let all: Result<Vec<_>, String> = (0..pairs).map(|at| ends(lab, plan, at)).collect();
    Ok(8.0 * carried(all?, 1.0, 3.0))
}

/// Milliseconds by which each fault of a timetable was late.
fn lateness(program: &Path) -> Result<Vec<f64>, String> {
    let kinds = ["drop s0n{}", "carrier s1n{}", "loss s0n{} 5%", "slow s1n{} 10Mbit out"];
    let line = |number: usize| {
        let fault = kinds[number % kinds.len()].replace("{}", &(number % 8).to_string());
        format!("{}ms {fault} for 10ms\n", 20 * number)
    };
    let file = std::env::temp_dir().join(format!("laneway-bench-faults-{}", std::process::id()));
    let text: String = (0..FAULTS / 2).map(line).collect();
    std::fs::write(&file, text).map_err(|error| error.to_string())?;
    let name = file.display().to_string();
    let words = ["lab", "fault", "--lab", LAB, "--timetable", &name, "--format", "csv"];
    let rows = laneway(program, &words);
    _ = std::fs::remove_file(&file);
    let late = |row: &str| row.rsplit(',').next()?.parse::<f64>().ok().map(|late| late / 1e3);
    let mut all: Vec<f64> = rows?.lines().filter_map(late).collect();
    all.sort_by(f64::total_cmp);
    Ok(all)
}

fn measure(program: &Path) -> Result<(), String> {
    let up = ["lab", "up", "--lab", LAB, "--no-probe", "--sites"];
    let built = seconds(|| laneway(program, &[&up[..], &["2x32", "--wan", "5ms"]].concat()))?;
    ratio("2 x 32 hosts up, of 10 s", built / UP, 1.0);
    let gone = seconds(|| laneway(program, &["lab", "down", "--lab", LAB]))?;
    ratio("2 x 32 hosts down, of 5 s", gone / DOWN, 1.0);
    laneway(program, &[&up[..], &["2x8", "--wan", "5ms,25Mbit,100Mbit"]].concat())?;
    let lab = LabName::new(LAB).map_err(|error| error.to_string())?;
    let plan = read_plan(&lab).map_err(|error| error.to_string())?;
    ratio("one way over 5 ms, raw TCP", one_way(&lab, &plan)? / 5e-3, 1.1);
    for (pairs, planned) in [(1, 25e6), (4, 100e6), (8, 100e6)] {
        let part = together(&lab, &plan, pairs)? / (PAYLOAD * planned);
        println!("{pairs} connections: {part:.3} of their rate (0.9 to 1.1 asked)");
    }
    // The kernel takes the first lab's namespaces apart for a while.
    thread::sleep(Duration::from_secs(5));
    let (begun, before) = (Instant::now(), stolen());
    let late = lateness(program)?;
    let part = (stolen() - before) / begun.elapsed().as_secs_f64();
    println!("{} of {FAULTS} faults executed; others had {part:.2} of a core", late.len());
    let at = |part: f64| late[((late.len() - 1) as f64 * part) as usize];
    println!("late: median {:.2} ms, 99 % {:.2} ms, worst {:.2} ms", at(0.5), at(0.99), at(1.0));
    ratio("the latest fault, of 5 ms", at(1.0) / LATE_MS, 1.0);
    Ok(())
}

/// Seconds that other machines of this host have had of our cores.
fn stolen() -> f64 {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let words = text.lines().next().unwrap_or_default().split_whitespace();
    words.skip(8).find_map(|word| word.parse::<f64>().ok()).unwrap_or(0.0) / 100.0
}

/// The command beside this program.
fn built() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    Some(program.parent()?.parent()?.join("laneway"))
}

fn main() -> ExitCode {
    let Some(program) = built().filter(|program| program.exists()) else {
        eprintln!("error: no command is built\ntry:   cargo build --release -p laneway-cli first");
        return ExitCode::from(3);
    };
    let ended = measure(&program);
    _ = laneway(&program, &["lab", "down", "--lab", LAB]);
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}\ntry:   as root, on a machine with iproute2");
            ExitCode::from(3)
        }
    }
}
