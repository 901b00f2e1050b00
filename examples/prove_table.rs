//! Proves a forwarding table: every host is reached, nothing can stand still, with a cable cut too.

use std::error::Error;

use laneway_topo::traffic::schedule::Named;
use laneway_topo::{Machine, check, count};

pub fn main() -> Result<(), Box<dyn Error>> {
    for failures in [vec![], vec!["link"], vec!["link", "switch"]] {
        // 576 hosts; what fails is drawn by a seed, and the forwarding takes detours.
        let machine = Machine::named("mlfm:d=8")?.fail(&failures, 7)?.route(None)?;
        let checked = check(&machine);
        println!(
            "{failures:?}: {} pairs, {} unreached, {} switches at most, credit loops: {}",
            checked.proof.pairs,
            checked.unreached(),
            checked.proof.longest,
            if checked.proof.credit_loop.is_empty() { "none" } else { "one" },
        );
        for sentence in checked.findings(machine.wiring(), "all pairs") {
            println!("  {sentence}");
        }
        // The all-to-all of every host, repaired where something failed.
        let schedule = if failures.is_empty() { "native" } else { "repaired" };
        let counted = count(&machine, &Named::new(&machine, schedule, 1)?)?;
        println!("  all-to-all: at most {} messages on a link at once", counted.tally.worst());
    }
    Ok(())
}
