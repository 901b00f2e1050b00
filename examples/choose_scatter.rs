//! Chooses the fastest scatter for two sites, beside a lower bound.

use laneway::{Collective, Platform, Result, choose};

pub fn main() -> Result<()> {
    // Two sites of 16 hosts, 20 ms apart, 1 Gbit/s between them, 250 Mbit/s a connection.
    let platform = Platform::read("two-sites:16x16,latency=20ms")?;
    let choice = choose(&platform, Collective::Scatter, 1 << 20)?;
    let bound = choice.bound.as_ref().map_or(0.0, |bound| bound.time);
    for one in choice.all.iter().take(5) {
        println!("{:.3} s, {:.2} of the bound: {}", one.time, one.time / bound, one.spelled());
    }
    println!("1 MiB to each of 32 hosts at two sites: {}", choice.best.spelled());
    assert!(choice.best.time >= bound && bound > 0.0, "nothing beats the bound");
    Ok(())
}
