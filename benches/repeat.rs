//! Do figures repeat? `laneway measure` over MPI, five times with five launches each, while two
//! spinners take half of the machine: how far the runs differ, and whether their intervals hold.
//! And how far the machine itself differs: a byte between two threads, printed while each run is
//! made.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use laneway_benches::ratio;
use laneway_core::Value;
use laneway_report::{Record, read};
use laneway_stats::{SplitMix64, median};

const RUNS: u64 = 5;
const LAUNCHES: usize = 5;
/// Three operations at two sizes.
const POINTS: usize = 6;
/// The largest over the smallest of the runs, as a geometric mean over the points.
const MOST_SPREAD: f64 = 1.2;
/// Of 30 intervals this number must hold the pooled median, and half of them be as narrow as this.
const LEAST_HOLD: f64 = 26.0;
const MOST_WIDTH: f64 = 1.3;

/// Works and rests in turn, 5 to 50 ms each, until it is stopped.
fn spin(seed: u64, stop: &AtomicBool) {
    let mut random = SplitMix64::new(seed);
    while !stop.load(Ordering::Relaxed) {
        let while_s = 0.005 + 0.045 * random.uniform();
        let end = Instant::now() + Duration::from_secs_f64(while_s);
        while Instant::now() < end {
            std::hint::spin_loop();
        }
        thread::sleep(Duration::from_secs_f64(while_s));
    }
}

/// Between two looks at the machine, and round trips in each.
const PAUSE: Duration = Duration::from_millis(200);
const TRIPS: usize = 50;

/// What a byte to another thread and back takes on this machine, now and then while a run is made:
/// the median, in microseconds. Nothing of ours is in it.
fn machine(stop: &AtomicBool) -> std::io::Result<f64> {
    let (mut here, mut there) = UnixStream::pair()?;
    let echo = thread::spawn(move || {
        let mut byte = [0];
        while there.read_exact(&mut byte).is_ok() && there.write_all(&byte).is_ok() {}
    });
    let mut trips = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..TRIPS {
            let begun = Instant::now();
            here.write_all(&[0])?;
            here.read_exact(&mut [0])?;
            trips.push(begun.elapsed().as_secs_f64() * 1e6);
        }
        thread::sleep(PAUSE);
    }
    drop(here);
    // It ends with the socket that it reads.
    let _ = echo.join();
    Ok(median(&trips).unwrap_or(f64::NAN))
}

/// A run, and what the machine was like meanwhile.
fn watched_run(number: u64) -> Result<(Vec<Record>, f64), String> {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watch = scope.spawn(|| machine(&over));
        let rows = run(number);
        over.store(true, Ordering::Relaxed);
        let machine = watch.join().map_err(|_| "a thread failed".to_string())?;
        Ok((rows?, machine.map_err(|error| error.to_string())?))
    })
}

/// The rows of one run.
fn run(number: u64) -> Result<Vec<Record>, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = program.parent().and_then(|deps| deps.parent()).ok_or("no folder")?;
    let launcher = "mpirun --oversubscribe -n 4";
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "120"]).arg(folder.join("laneway"));
    command.args(["measure", "coll", "bcast,scatter,gather", "--sizes", "1K,64K"]);
    command.args(["--launches", &LAUNCHES.to_string(), "--launcher", launcher]);
    command.args(["--format", "json"]);
    command.args(["--seed", &(10 * number).to_string()]).stdin(Stdio::null());
    // Open MPI refuses the superuser otherwise.
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    read("run", &text).map(|run| run.rows).map_err(|error| error.to_string())
}

/// One point in all runs: the runs' figures and intervals, and the launches behind them.
#[derive(Default)]
struct Point {
    name: String,
    figures: Vec<f64>,
    intervals: Vec<(f64, f64)>,
    launches: Vec<f64>,
}

impl Point {
    /// The largest of the runs over the smallest; what is not a number stays none.
    fn spread(&self) -> f64 {
        let sorted = laneway_stats::sorted(&self.figures);
        match sorted[..] {
            [least, .., most] => most / least,
            _ => f64::NAN,
        }
    }

    /// The runs' figures as parts of what the machine itself took meanwhile.
    fn over(&self, machine: &[f64]) -> Point {
        let figures = self.figures.iter().zip(machine).map(|(own, machine)| own / machine);
        Point { figures: figures.collect(), ..Point::default() }
    }

    /// The median of all launches of all runs, each of which is a median itself.
    fn pooled(&self) -> f64 {
        median(&self.launches).unwrap_or(f64::NAN)
    }
}

fn points(runs: &[Vec<Record>]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for record in runs.iter().flatten() {
        let size = record.number("size_bytes").unwrap_or(0.0);
        let op = match record.get("op") {
            Some(Value::Text(op)) => op.as_str(),
            _ => "",
        };
        let name = format!("{op} {size}");
        let place = points.iter().position(|point| point.name == name).unwrap_or_else(|| {
            points.push(Point { name, ..Point::default() });
            points.len() - 1
        });
        let number = |name: &str| record.number(name).unwrap_or(f64::NAN);
        points[place].figures.push(number("time_us"));
        points[place].intervals.push((number("ci_low_us"), number("ci_high_us")));
        if let Some(Value::List(times)) = record.get("launch_times_us") {
            points[place].launches.extend(times);
        }
    }
    points
}

/// Why these are not all points of all launches of all runs.
fn incomplete(points: &[Point]) -> Option<String> {
    let (runs, launches) = (RUNS as usize, RUNS as usize * LAUNCHES);
    let short = points.iter().find(|p| p.figures.len() != runs || p.launches.len() != launches);
    if let Some(Point { name, figures, launches, .. }) = short {
        return Some(format!("{name}: {} runs, {} launches", figures.len(), launches.len()));
    }
    (points.len() != POINTS).then(|| format!("{} points instead of {POINTS}", points.len()))
}

fn main() {
    let stop = AtomicBool::new(false);
    let runs: Result<Vec<_>, String> = thread::scope(|scope| {
        for seed in 1..=2 {
            let stop = &stop;
            scope.spawn(move || spin(seed, stop));
        }
        let runs = (1..=RUNS).map(watched_run).collect();
        stop.store(true, Ordering::Relaxed);
        runs
    });
    let found = runs.and_then(|runs| {
        let (rows, machine): (Vec<Vec<Record>>, Vec<f64>) = runs.into_iter().unzip();
        let points = points(&rows);
        incomplete(&points).map_or(Ok((points, machine)), Err)
    });
    let (points, machine) = match found {
        Ok(found) => found,
        Err(why) => {
            return eprintln!("error: {why}\ntry:   cargo build --release, and an Open MPI");
        }
    };
    let (mut spreads, mut beside, mut widths, mut hold) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for point in &points {
        let (spread, pooled) = (point.spread(), point.pooled());
        println!("{}: {:.1?} us, {spread:.2} apart, pooled {pooled:.1}", point.name, point.figures);
        spreads.push(spread.ln());
        beside.push(point.over(&machine).spread().ln());
        for &(low, high) in &point.intervals {
            widths.push(high / low);
            hold += u8::from(low <= pooled && pooled <= high);
        }
    }
    let itself = Point { figures: machine.clone(), ..Point::default() }.spread();
    println!("the machine itself, a byte there and back: {machine:.1?} us, {itself:.2} apart");
    let mean = |logs: &[f64]| (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    println!("the same over the machine's: {:.2} apart, geometric mean", mean(&beside));
    ratio("largest / smallest of five runs, geometric mean", mean(&spreads), MOST_SPREAD);
    ratio("median high / low of an interval", median(&widths).unwrap_or(f64::NAN), MOST_WIDTH);
    println!("{hold} of {} intervals hold the pooled median", widths.len());
    ratio("26 / intervals that hold", LEAST_HOLD / f64::from(hold), 1.0);
}
