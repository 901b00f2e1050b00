//! Random platforms with fixed seeds in our own simulator: the claims of the benchmark `random`.

#[path = "../../../../benches/random/cell.rs"]
mod cell;
#[path = "../../../../benches/random/claims.rs"]
mod claims;
#[path = "../../../../benches/random/isolated.rs"]
mod isolated;
#[path = "../../../../benches/random/kind.rs"]
mod kind;
#[path = "../../../../benches/random/ours.rs"]
mod ours;
#[path = "../../../../benches/random/truth.rs"]
mod truth;

use std::path::Path;

use claims::Tally;

/// Measures the platforms of these seeds and holds every claim.
fn hold(seeds: std::ops::RangeInclusive<u64>) {
    let laneway = Path::new(env!("CARGO_BIN_EXE_laneway"));
    let mut tally = Tally::default();
    for seed in seeds {
        let judged =
            ours::measure(laneway, seed).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        println!("seed {seed}: {}", judged.platform);
        tally.add(&judged).iter().for_each(|line| println!("  {line}"));
        println!("  {}", judged.replay);
    }
    for (claim, holds) in tally.claims() {
        assert!(holds, "{claim}");
    }
}

#[test]
fn claims_hold_on_the_first_platforms() {
    hold(101..=124);
}

#[test]
fn claims_hold_on_the_second_platforms() {
    hold(125..=148);
}
