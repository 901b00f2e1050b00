//! Chooses the fastest scatter for two sites, beside what nothing can beat.

use std::error::Error;

use laneway_core::{Collective, Shape};
use laneway_sim::platform::Platform;
use laneway_sites::Sites;

pub fn main() -> Result<(), Box<dyn Error>> {
    // Two sites of 16 hosts, 20 ms apart, 1 Gbit/s between them, 250 Mbit/s a connection.
    let platform = Platform::read("two-sites:16x16,latency=20ms")?;
    let sites = Sites::one_each(&platform);
    let shape = Shape::new(Collective::Scatter, sites.placement().ranks(), 1 << 20);
    let choice = sites.choose(&shape)?;
    let bound = choice.bound.ok_or("no bound is known")?.time;
    for one in choice.all.iter().take(5) {
        println!("{:.3} s, {:.2} of the bound: {}", one.time, one.time / bound, one.spelled());
    }
    let best = &choice.best;
    println!("1 MiB to each of 32 hosts at two sites: {}", best.spelled());
    assert!(best.time >= bound, "nothing beats the bound");
    Ok(())
}
