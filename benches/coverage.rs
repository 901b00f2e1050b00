//! Whether 95 % intervals hold what they promise while others send in bursts: a gather of 64 KiB on
//! 8 hosts, on 200 platforms for each kind of burst and of clocks, with the default budget.
//!
//! The truth is the median over isolated calls at random instants of other platforms that differ in
//! the seed alone. `LANEWAY_SEED=7` measures the platform of that seed in each case,
//! `LANEWAY_PLATFORMS=20` sets their number, `LANEWAY_BURSTS="1 MB"` one case alone. Ends with code
//! 1 where a claim does not hold.

#[path = "random/isolated.rs"]
mod isolated;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use isolated::isolated_times;
use laneway_core::{Collective, Shape, Value};
use laneway_measure::Starts;
use laneway_report::{Record, read};
use laneway_sim::platform::Platform;
use laneway_stats::{SplitMix64, median, median_interval, sequential_interval, sorted};

const PLATFORMS: u64 = 200;
const HOSTS: u32 = 8;
const SIZE_BYTES: u64 = 64 << 10;
/// The number of isolated calls behind each truth, on each of several platforms.
const CALLS: u32 = 10_000;
const TRUTH_SEEDS: std::ops::RangeInclusive<u64> = 1_000_001..=1_000_016;
/// Seconds between two of them: at least, and at random.
const APART: f64 = 0.2;
const SPREAD: f64 = 0.3;

const LEVEL: f64 = 0.95;
const LEAST_COVERAGE: f64 = 0.92;
/// The width of an interval over that of as many independent samples.
const MOST_WIDTH: f64 = 2.0;
/// Where independent samples do not differ at all: the width as a part of the time.
const MOST_WIDTH_OF_EQUALS: f64 = 0.002;
/// How far choosing among samples may move their median, as a part of it, and how often the
/// platforms are drawn anew to see by how much chance does.
const MOST_MOVED: f64 = 0.01;
const REDRAWN: usize = 400;
/// How the command ends where the budget did not suffice: a miss.
const TOO_LITTLE: i32 = 4;
/// Virtual time is rounded.
const ROUNDING_US: f64 = 1e-3;

/// What one host sends to the root; gaps are random, with this mean in milliseconds.
struct Bursts {
    name: &'static str,
    size: &'static str,
    every: &'static str,
}

const BURSTS: [Bursts; 5] = [
    Bursts { name: "no bursts", size: "", every: "" },
    Bursts { name: "64 KiB every 20 ms", size: "64K", every: "20ms" },
    // The bytes a second of the two below.
    Bursts { name: "64 KiB every 1.25 ms", size: "64K", every: "1.25ms" },
    Bursts { name: "1 MB every 20 ms", size: "1M", every: "20ms" },
    Bursts { name: "4 MB every 80 ms", size: "4M", every: "80ms" },
];

/// One platform for each core at a time.
fn cores() -> usize {
    thread::available_parallelism().map_or(2, |cores| cores.get())
}

/// One platform file.
fn platform(bursts: &Bursts, clocks_are_right: bool, seed: u64) -> String {
    let mut text = format!("seed = {seed}\n[[site]]\nname = \"s\"\nlatency = \"50us\"\n");
    text.push_str("[[host]]\nname = \"n[0-7]\"\nsite = \"s\"\nrate = \"1Gbit\"\n");
    if !clocks_are_right {
        text.push_str("clock-offset = \"+-500ms\"\nclock-drift = \"+-50ppm\"\n");
    }
    if !bursts.size.is_empty() {
        let Bursts { size, every, .. } = bursts;
        // Writing into a string cannot fail.
        _ = write!(text, "[[background]]\nfrom = \"n5\"\nto = \"n0\"\nrandom = true\n");
        _ = write!(text, "size = \"{size}\"\nevery = \"{every}\"\n");
    }
    text
}

/// Files of platforms, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, String> {
        let folder = std::env::temp_dir().join(format!("laneway-coverage-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        Ok(Folder(folder))
    }

    fn file(&self, bursts: &Bursts, clocks_are_right: bool, seed: u64) -> Result<String, String> {
        let file = self.0.join(format!("{seed}.toml"));
        let text = platform(bursts, clocks_are_right, seed);
        std::fs::write(&file, text).map_err(|error| error.to_string())?;
        Ok(file.display().to_string())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Isolated calls, in microseconds.
fn truth(folder: &Folder, bursts: &Bursts) -> Result<Vec<f64>, String> {
    let shape = Shape::new(Collective::Gather, HOSTS, SIZE_BYTES);
    on_all_cores(TRUTH_SEEDS.clone().collect(), |seed| {
        let file = folder.file(bursts, true, seed)?;
        let platform = Platform::read(&file).map_err(|error| error.to_string())?;
        let starts = Starts { count: CALLS, seed, apart: APART, spread: SPREAD };
        let times = isolated_times(&platform, &shape, starts)?;
        Ok(times.iter().map(|time| 1e6 * time).collect::<Vec<f64>>())
    })
    .map(|all| all.concat())
}

/// What is found for each seed, in no order.
fn on_all_cores<T: Send>(
    seeds: Vec<u64>,
    find: impl Fn(u64) -> Result<T, String> + Sync,
) -> Result<Vec<T>, String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut own = Vec::new();
        while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
            own.push(find(*seed)?);
        }
        Ok(own)
    };
    let found: Vec<Result<Vec<T>, String>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..cores()).map(|_| scope.spawn(work)).collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        ended.map(|end| end.unwrap_or_else(|_| Err("a thread failed".to_string()))).collect()
    });
    Ok(found.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// What the command printed for one platform.
struct Printed {
    seed: u64,
    low_us: f64,
    high_us: f64,
    level: f64,
    bound_us: Option<(f64, f64)>,
    reps: usize,
    flags: String,
    samples_us: Vec<f64>,
}

impl Printed {
    fn new(seed: u64, record: &Record) -> Printed {
        let number = |name: &str| record.number(name).unwrap_or(f64::NAN);
        let flags = match record.get("flags") {
            Some(Value::Text(flags)) => flags.clone(),
            _ => String::new(),
        };
        Printed {
            seed,
            low_us: number("ci_low_us"),
            high_us: number("ci_high_us"),
            level: number("ci_level"),
            bound_us: record.number("bound_low_us").zip(record.number("bound_high_us")),
            reps: number("reps") as usize,
            flags,
            samples_us: record.samples_us.clone(),
        }
    }

    fn width_us(&self) -> f64 {
        self.high_us - self.low_us
    }

    fn holds(&self, truth_us: f64) -> bool {
        self.level >= LEVEL && holds(self.low_us, truth_us, self.high_us)
    }
}

fn holds(low_us: f64, truth_us: f64, high_us: f64) -> bool {
    low_us - ROUNDING_US <= truth_us && truth_us <= high_us + ROUNDING_US
}

fn run(laneway: &Path, file: &str, seed: u64) -> Result<Printed, String> {
    let backend = format!("sim:{file}");
    let output = Command::new("timeout")
        .args(["--kill-after=5", "120"])
        .arg(laneway)
        .args(["measure", "coll", "gather", "--sizes", "64K", "--backend", &backend])
        .args(["--format", "json", "--keep"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if !matches!(output.status.code(), Some(0 | TOO_LITTLE)) {
        let err = String::from_utf8_lossy(&output.stderr);
        return Err(format!("seed {seed}: {}: {}", output.status, err.trim()));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let rows = read("a run", &text).map_err(|error| error.to_string())?.rows;
    rows.first().map(|row| Printed::new(seed, row)).ok_or_else(|| "no row".to_string())
}

/// Which platforms are measured.
#[derive(Clone, Copy)]
struct Seeds {
    first: u64,
    count: u64,
}

impl Seeds {
    fn from_env() -> Result<Seeds, String> {
        let number = |name: &str| match std::env::var(name) {
            Ok(text) => text.parse::<u64>().map(Some).map_err(|_| format!("{name}={text}")),
            Err(_) => Ok(None),
        };
        let (first, count) = (number("LANEWAY_SEED")?, number("LANEWAY_PLATFORMS")?);
        let usual = if first.is_some() { 1 } else { PLATFORMS };
        Ok(Seeds { first: first.unwrap_or(1), count: count.unwrap_or(usual) })
    }
}

/// The command on every platform of a case.
fn measure(
    laneway: &Path,
    folder: &Folder,
    bursts: &Bursts,
    clocks_are_right: bool,
    seeds: Seeds,
) -> Result<Vec<Printed>, String> {
    let numbers = (seeds.first..seeds.first + seeds.count).collect();
    let mut all = on_all_cores(numbers, |seed| {
        let file = folder.file(bursts, clocks_are_right, seed)?;
        run(laneway, &file, seed)
    })?;
    all.sort_by_key(|printed| printed.seed);
    Ok(all)
}

/// The width of the interval of as many independent samples.
fn independent_width(truth: &[f64], printed: &Printed) -> Option<f64> {
    let mut random = SplitMix64::new(printed.seed);
    let drawn: Vec<f64> = (0..printed.reps).map(|_| truth[random.index(truth.len())]).collect();
    sequential_interval(&sorted(&drawn), LEVEL, 1.0).map(|interval| interval.high - interval.low)
}

/// Between which values the median of all accepted samples lies, at the usual level: the platforms
/// are drawn anew, with repetition, because the samples of one run are not independent.
fn accepted_medians(all: &[Printed]) -> (f64, f64) {
    let mut random = SplitMix64::new(1);
    let mut medians: Vec<f64> = (0..REDRAWN)
        .filter_map(|_| {
            let drawn = (0..all.len()).map(|_| &all[random.index(all.len())]);
            median(
                &drawn.flat_map(|printed| printed.samples_us.iter().copied()).collect::<Vec<_>>(),
            )
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    let at = |part: f64| {
        let last = medians.len().saturating_sub(1);
        medians.get((part * last as f64).round() as usize).copied().unwrap_or(f64::NAN)
    };
    (at((1.0 - LEVEL) / 2.0), at((1.0 + LEVEL) / 2.0))
}

/// Prints what a case came to; whether its claims hold.
fn judge(name: &str, truth: &[f64], all: &[Printed]) -> bool {
    let centre = median(truth).unwrap_or(f64::NAN);
    let part = |counts: &dyn Fn(&Printed) -> bool| {
        all.iter().filter(|printed| counts(printed)).count() as f64 / all.len().max(1) as f64
    };
    let middle = |values: Vec<f64>| median(&values).unwrap_or(f64::NAN);
    let coverage = part(&|printed| printed.holds(centre));
    let bounded = part(&|printed| {
        printed.bound_us.is_some_and(|(low_us, high_us)| holds(low_us, centre, high_us))
    });
    let own = middle(all.iter().map(Printed::width_us).collect());
    let independent =
        middle(all.iter().filter_map(|printed| independent_width(truth, printed)).collect());
    let equals = independent <= ROUNDING_US;
    let narrow = match equals {
        true => own <= MOST_WIDTH_OF_EQUALS * centre,
        false => own <= MOST_WIDTH * independent,
    };
    let accepted: Vec<f64> =
        all.iter().flat_map(|printed| printed.samples_us.iter().copied()).collect();
    let alone = truth.iter().filter(|time| **time <= centre + ROUNDING_US).count();
    let below = accepted.iter().filter(|time| **time <= centre + ROUNDING_US).count();
    let reps = middle(all.iter().map(|printed| printed.reps as f64).collect());
    println!("{name}: true median {centre:.3} us, {reps} samples");
    let verdict = |holds: bool| if holds { "ok" } else { "MISSED" };
    println!(
        "  intervals hold it: {:.1} % {}",
        100.0 * coverage,
        verdict(coverage >= LEAST_COVERAGE)
    );
    println!("  bounds hold it: {:.1} %", 100.0 * bounded);
    println!(
        "  width {own:.3} us, of independent samples {independent:.3} us: {:.2} times {}",
        own / independent,
        verdict(narrow)
    );
    println!(
        "  flagged {:.1} %, precision {:.1} %, a lower level {:.1} %",
        100.0 * part(&|printed| !printed.flags.is_empty()),
        100.0 * part(&|printed| printed.flags.split(',').any(|flag| flag == "precision")),
        100.0 * part(&|printed| printed.level < LEVEL),
    );
    let (least, most) = accepted_medians(all);
    let (from, to) = median_interval(&sorted(truth), LEVEL)
        .map_or((centre, centre), |interval| (interval.low, interval.high));
    let unmoved = least <= (1.0 + MOST_MOVED) * to && (1.0 - MOST_MOVED) * from <= most;
    println!(
        "  accepted samples: median {:+.3} % off [{:+.3}, {:+.3}], {:.1} % up to the true one; \
         isolated: [{:+.3}, {:+.3}] {}, {:.1} %",
        100.0 * (median(&accepted).unwrap_or(f64::NAN) / centre - 1.0),
        100.0 * (least / centre - 1.0),
        100.0 * (most / centre - 1.0),
        100.0 * below as f64 / accepted.len().max(1) as f64,
        100.0 * (from / centre - 1.0),
        100.0 * (to / centre - 1.0),
        verdict(unmoved),
        100.0 * alone as f64 / truth.len().max(1) as f64,
    );
    let missed: Vec<String> = all
        .iter()
        .filter(|printed| !printed.holds(centre))
        .map(|printed| printed.seed.to_string())
        .collect();
    if !missed.is_empty() {
        println!("  not held with seeds {}", missed.join(" "));
    }
    coverage >= LEAST_COVERAGE && narrow && unmoved
}

fn all_cases() -> Result<bool, String> {
    let seeds = Seeds::from_env()?;
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let built = program.parent().and_then(Path::parent).ok_or("no folder")?;
    let (laneway, folder) = (built.join("laneway"), Folder::new()?);
    let mut holds = true;
    let asked = std::env::var("LANEWAY_BURSTS").unwrap_or_default();
    for bursts in BURSTS.iter().filter(|bursts| bursts.name.starts_with(&asked)) {
        let truth = truth(&folder, bursts)?;
        for clocks_are_right in [true, false] {
            let all = measure(&laneway, &folder, bursts, clocks_are_right, seeds)?;
            let clocks = if clocks_are_right { "right" } else { "wrong" };
            holds &= judge(&format!("{}, clocks {clocks}", bursts.name), &truth, &all);
        }
    }
    Ok(holds)
}

fn main() -> ExitCode {
    match all_cases() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("error: {why}\ntry:   cargo build --release -p laneway-cli first");
            ExitCode::from(3)
        }
    }
}
