//! Random platforms with fixed seeds under SimGrid: the claims of the benchmark `random`.

use super::Cluster;
use super::claims::Tally;
use super::simgrid::measure;
use crate::common::object;

#[test]
fn claims_hold_on_random_platforms() {
    if Cluster::new("random").is_none() {
        return;
    }
    let mut tally = Tally::default();
    for seed in 149..=160 {
        let judged = measure(object(), seed).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        println!("seed {seed}: {}", judged.platform);
        tally.add(&judged).iter().for_each(|line| println!("  {line}"));
        println!("  {}", judged.replay);
    }
    for (claim, holds) in tally.claims() {
        assert!(holds, "{claim}");
    }
}
