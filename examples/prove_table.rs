//! Proves forwarding tables: every host is reached, no credit loop, with a cable cut too.

use laneway::{Machine, MachineOrder, Result, count, prove_fabric};

pub fn main() -> Result<()> {
    for failed in [&[][..], &["link"], &["link", "switch"]] {
        // 576 hosts; the parts are drawn, and the forwarding takes detours.
        let proved = prove_fabric("mlfm:d=8", failed)?;
        let (pairs, longest) = (proved.proof.pairs, proved.proof.longest);
        println!("{failed:?}: {pairs} pairs over at most {longest} switches");
        println!("  {} pairs unreached, proved: {}", proved.unreached(), proved.holds());
    }
    // The all-to-all of every host, message by message.
    let machine = Machine::named("mlfm:d=8")?;
    let counted = count(&machine, &MachineOrder::new(&machine, "native", 1)?)?;
    println!("all-to-all: at most {} messages on a link at once", counted.tally.worst());
    Ok(())
}
