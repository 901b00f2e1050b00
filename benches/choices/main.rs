//! Holds the choice for calls over sites to what else could have been chosen, on platforms that
//! users have: 300 fresh ones in every run (`draw.rs`), 30 of them large.
//!
//! `LANEWAY_SEED=7` begins with that seed, and does one platform unless `LANEWAY_PLATFORMS=20` says
//! how many; one alone shows its file and all of its calls. `LANEWAY_FILES=folder` keeps the files
//! of all platforms there. Ends with code 1 where a claim does not hold.

mod case;
mod claims;
mod dice;
mod draw;
mod opponents;

use std::path::Path;
use std::process::ExitCode;

use case::Case;
use laneway_benches::seeds::Seeds;

const PLATFORMS: usize = 300;

fn main() -> ExitCode {
    let seeds = match Seeds::from_env() {
        Ok(seeds) => seeds,
        Err(why) => {
            eprintln!("error: {why}\ntry:   LANEWAY_SEED=7 LANEWAY_PLATFORMS=20");
            return ExitCode::from(2);
        }
    };
    let count = seeds.count.unwrap_or(PLATFORMS);
    println!("{count} platforms from seed {}", seeds.first);
    let folder = std::env::var_os("LANEWAY_FILES");
    let judge = |seed: u64| {
        let case = case::judge(seed);
        keep(folder.as_ref().map(Path::new), seed, &case);
        case
    };
    let all = seeds.judge_all(PLATFORMS, judge, |all| {
        if let Some((seed, case)) = all.last() {
            let worst = case.rows.iter().map(|row| row.loss()).fold(0.0, f64::max);
            let (done, failed) = (all.len(), case.failures.len());
            eprintln!("{done}: seed {seed}: loses {:.2} %, {failed} failures", 100.0 * worst);
        }
    });
    if let [(seed, case)] = &all[..] {
        println!("{}", case.drawn.text);
        case.rows.iter().for_each(|row| println!("{}", claims::line(*seed, row)));
    }
    if claims::print(&all) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Writes a platform's file where a folder is given.
fn keep(folder: Option<&Path>, seed: u64, case: &Case) {
    let Some(folder) = folder else { return };
    let file = folder.join(format!("{seed}.toml"));
    if let Err(error) = std::fs::write(&file, &case.drawn.text) {
        eprintln!("warning: {} was not written: {error}", file.display());
    }
}
