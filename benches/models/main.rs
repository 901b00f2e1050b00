//! Holds the models to platforms of sites with uneven hosts, and LMO to clusters that it was fitted
//! to while others use them: our own, and SimGrid's, whose messages follow other rules. Fresh seeds
//! in every run.
//!
//! `LANEWAY_SEED=7` begins with that seed, and does one platform of each kind unless
//! `LANEWAY_PLATFORMS=20` says how many. `LANEWAY_SIMULATOR=uneven`, `ours` or `simgrid` does that
//! one, and
//! `LANEWAY_CLUSTER="64 hosts, others take 20 %"` of ours that alone. Ends with code 1 where a
//! claim does not hold.

#[path = "../../crates/model/tests/it/clusters/mod.rs"]
mod clusters;
mod judged;
mod ours;
mod simgrid;
mod uneven;
mod xml;

use std::process::ExitCode;

use judged::{Bounds, Judged, tell};
use laneway_benches::seeds::Seeds;
use laneway_benches::smpirun::{built, object};

/// Clusters of 16 hosts and of 64 for each load, and platforms of SimGrid's.
const SMALL: usize = 16;
const LARGE: usize = 2;
const SIMGRIDS: usize = 60;
/// Platforms of several sites with uneven hosts.
const UNEVEN: usize = 100;

const OURS: Bounds = Bounds { median: 0.05, tail: 0.15 };
const OTHERS: Bounds = Bounds { median: 0.1, tail: 0.25 };

/// Tells of each platform as it goes.
fn judge_all(
    seeds: &Seeds,
    usual: usize,
    judge: &(dyn Fn(u64) -> Result<Judged, String> + Sync),
) -> Vec<(u64, Result<Judged, String>)> {
    seeds.judge_all(usual, judge, |all| {
        if let Some((seed, Ok(judged))) = all.last() {
            eprintln!("seed {seed}: {}", judged.line());
        }
    })
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
    let cluster = std::env::var("LANEWAY_CLUSTER").ok();
    println!("from seed {}", seeds.first);
    let mut holds = true;
    if matches!(&simulator[..], "" | "uneven") {
        let all = judge_all(&seeds, UNEVEN, &uneven::judge);
        holds &= tell("uneven hosts", &all, OURS);
    }
    if matches!(&simulator[..], "" | "ours") {
        for (hosts, load, usual) in
            [(16, 0.05, SMALL), (16, 0.2, SMALL), (64, 0.05, LARGE), (64, 0.2, LARGE)]
        {
            let what = format!("{hosts} hosts, others take {:.0} %", 100.0 * load);
            if cluster.as_ref().is_some_and(|only| *only != what) {
                continue;
            }
            let all = judge_all(&seeds, usual, &|seed| ours::judge(seed, hosts, load));
            holds &= tell(&what, &all, OURS);
        }
    }
    if !matches!(&simulator[..], "" | "simgrid") {
        return if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let Some(object) = object(&folder) else { return ExitCode::from(3) };
    let all = judge_all(&seeds, SIMGRIDS, &|seed| simgrid::judge(&object, seed));
    holds &= tell("SimGrid", &all, OTHERS);
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
