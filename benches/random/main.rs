//! Holds `laneway measure` to the truth on random platforms: 200 of our simulator's and 100 of
//! SimGrid's, fresh ones in every run.
//!
//! `LANEWAY_SEED=7` begins with that seed, and does one platform of each simulator unless
//! `LANEWAY_PLATFORMS=20` says how many. `LANEWAY_SIMULATOR=ours` or `simgrid` does that one. Ends
//! with code 1 where a claim does not hold; each cell that breaks one is printed with a line that
//! does its platform again.

mod cell;
mod claims;
mod isolated;
mod kind;
mod ours;
mod simgrid;
mod truth;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use claims::{Judged, Tally};
use laneway_benches::seeds::Seeds;
use laneway_benches::smpirun::{built, object};

const OURS: usize = 200;
const SIMGRIDS: usize = 100;

type Measure = fn(&Path, u64) -> Result<Judged, String>;

/// Measures all platforms of a simulator, prints them, and tells whether all claims hold.
fn hold(simulator: &str, seeds: &Seeds, usual: usize, folder: &Path, measure: Measure) -> bool {
    let count = seeds.count.unwrap_or(usual);
    println!("{simulator}: {count} platforms from seed {}", seeds.first);
    let tally = Mutex::new(Tally::default());
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            let seed = seeds.first + number as u64;
            let judged = measure(folder, seed);
            // A thread that holds the tally only counts and prints: it does not panic.
            let Ok(mut tally) = tally.lock() else { return };
            print(&mut tally, simulator, seed, judged);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, |cores| cores.get()) {
            scope.spawn(work);
        }
    });
    let Ok(tally) = tally.into_inner() else { return false };
    let claims = tally.claims();
    for (claim, holds) in &claims {
        println!("{simulator}: {claim}: {}", if *holds { "ok" } else { "MISSED" });
    }
    claims.iter().all(|(_, holds)| *holds)
}

fn print(tally: &mut Tally, simulator: &str, seed: u64, judged: Result<Judged, String>) {
    match judged {
        Ok(judged) => {
            let lines = tally.add(&judged);
            println!("seed {seed}: {}, {} cells fail", judged.platform, lines.len());
            lines.iter().for_each(|line| println!("  {line}"));
            if !lines.is_empty() {
                println!("  {}", judged.replay);
            }
        }
        Err(why) => {
            tally.platforms += 1;
            tally.failed += 1;
            println!("seed {seed}: failed: {why}");
        }
    }
    if tally.platforms.is_multiple_of(20) {
        eprintln!("{simulator}: {} platforms done", tally.platforms);
    }
}

fn main() -> ExitCode {
    let (seeds, folder) = match Seeds::from_env().and_then(|seeds| Ok((seeds, built()?))) {
        Ok(found) => found,
        Err(why) => {
            eprintln!("error: {why}\ntry:   LANEWAY_SEED=7 LANEWAY_PLATFORMS=20");
            return ExitCode::from(2);
        }
    };
    let simulator = std::env::var("LANEWAY_SIMULATOR").unwrap_or_default();
    let mut holds = true;
    if simulator != "simgrid" {
        holds &= hold("ours", &seeds, OURS, &folder, |folder, seed| {
            ours::measure(&folder.join("laneway"), seed)
        });
    }
    if simulator != "ours" {
        let Some(object) = object(&folder) else { return ExitCode::from(3) };
        holds &= hold("simgrid", &seeds, SIMGRIDS, &object, simgrid::measure);
    }
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
