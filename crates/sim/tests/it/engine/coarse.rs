//! Coarse runs: about the same times for less work.

use laneway_core::Collective;
use laneway_sim::platform::Platform;
use laneway_sim::{Outcome, Simulation};

use super::support::*;

/// Hosts of unlike sites, so that transfers end at different times.
const UNLIKE: &str = "sites:9,5,2,rate=1Gbit,wan-rate=300Mbit,uplink=2Gbit,connection=100Mbit";

fn run(platform: &Platform, name: &str, part: f64) -> Outcome {
    let schedule = algorithm(Collective::Alltoall, name, 16, 30_000);
    let outcome = Simulation::new(platform).coarse(part).run(&*schedule);
    outcome.expect("a run that ends")
}

#[test]
fn coarse_runs_are_less_work_and_nearly_as_long() {
    let platform = Platform::read(UNLIKE).expect("a platform");
    let mut less = 0;
    for name in ["linear:window=4", "linear:window=16", "pairwise", "linear-sync", "bruck"] {
        let exact = run(&platform, name, 0.0);
        let coarse = run(&platform, name, 0.02);
        let off = coarse.finish / exact.finish - 1.0;
        assert!(off.abs() < 0.03, "{name}: {off}");
        assert!(coarse.shares <= exact.shares, "{name}: {} {}", coarse.shares, exact.shares);
        assert_eq!((coarse.messages, coarse.bytes), (exact.messages, exact.bytes), "{name}");
        less += usize::from(10 * coarse.shares < 9 * exact.shares);
    }
    assert!(less > 0, "no run was less work");
}
