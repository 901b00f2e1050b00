//! Holds the LMO model to clusters that it was fitted to while others use them: our own, and
//! SimGrid's, whose messages follow other rules. Fresh seeds in every run.
//!
//! `LANEWAY_SEED=7` begins with that seed, and does one platform of each kind unless
//! `LANEWAY_PLATFORMS=20` says how many. `LANEWAY_SIMULATOR=ours` or `simgrid` does that one. Ends
//! with code 1 where a claim does not hold.

mod cluster;
mod judged;
mod ours;
mod simgrid;
mod xml;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use judged::{Bounds, Judged, tell};
use laneway_benches::seeds::Seeds;
use laneway_benches::smpirun::{built, is_old, is_there};

/// Clusters of 16 hosts and of 64 for each load, and platforms of SimGrid's.
const SMALL: usize = 16;
const LARGE: usize = 2;
const SIMGRIDS: usize = 60;

const OURS: Bounds = Bounds { median: 0.05, tail: 0.15 };
const OTHERS: Bounds = Bounds { median: 0.1, tail: 0.25 };

/// Judges so many platforms, from the first seed on, on all cores.
fn judge_all(
    seeds: &Seeds,
    usual: usize,
    judge: &(dyn Fn(u64) -> Result<Judged, String> + Sync),
) -> Vec<(u64, Result<Judged, String>)> {
    let count = seeds.count.unwrap_or(usual) as u64;
    let (next, all) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            let seed = seeds.first + number;
            let judged = judge(seed);
            if let Ok(judged) = &judged {
                eprintln!("seed {seed}: {}", judged.line());
            }
            // Whoever holds the list only adds to it: it does not panic.
            let Ok(mut all) = all.lock() else { return };
            all.push((seed, judged));
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, |cores| cores.get()) {
            scope.spawn(work);
        }
    });
    let mut all = all.into_inner().unwrap_or_default();
    all.sort_by_key(|(seed, _)| *seed);
    all
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
    println!("from seed {}", seeds.first);
    let mut holds = true;
    if simulator != "simgrid" {
        for (hosts, load, usual) in
            [(16, 0.05, SMALL), (16, 0.2, SMALL), (64, 0.05, LARGE), (64, 0.2, LARGE)]
        {
            let all = judge_all(&seeds, usual, &|seed| ours::judge(seed, hosts, load));
            let what = format!("{hosts} hosts, others take {:.0} %", 100.0 * load);
            holds &= tell(&what, &all, OURS);
        }
    }
    if simulator == "ours" {
        return if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    if !is_there() {
        eprintln!("error: SimGrid's smpirun cannot be started: nobody could judge");
        eprintln!("try:   apt-get install libsimgrid-dev");
        return ExitCode::from(3);
    }
    let object = folder.join("liblaneway_smpi.so");
    if is_old(&folder, &folder.join("laneway")) {
        eprintln!("error: the library for SimGrid is older than the command, or not there");
        eprintln!("try:   cargo build --release -p laneway-smpi");
        return ExitCode::from(3);
    }
    let all = judge_all(&seeds, SIMGRIDS, &|seed| simgrid::judge(&object, seed));
    holds &= tell("SimGrid", &all, OTHERS);
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
