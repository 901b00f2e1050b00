//! Does `laneway measure pairs` name what is slow? 200 random damaged clusters and 50 healthy ones,
//! simulated, new ones in each run; `LANEWAY_SEED=n` repeats a run.

#[path = "../crates/measure/tests/p2p_damage/cluster.rs"]
mod cluster;
#[path = "../crates/measure/tests/p2p_damage/score.rs"]
mod score;

use std::time::{SystemTime, UNIX_EPOCH};

use score::{Outcome, Score, outcome};

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

fn main() -> Result<(), String> {
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
