//! Prints what is chosen for calls on a platform, and how long choosing takes.
//!
//! `cargo run -p laneway-sites --example choose -- two-sites:32x32 4194304 0 scatter,bcast`

use std::error::Error;
use std::time::Instant;

use laneway_core::{Collective, Shape};
use laneway_sim::platform::Platform;
use laneway_sites::Sites;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let spec = words.next().unwrap_or_else(|| "two-sites:32x32".to_string());
    let block: u64 = words.next().map_or(Ok(4 << 20), |word| word.parse())?;
    let root: u32 = words.next().map_or(Ok(0), |word| word.parse())?;
    let operations = words.next().unwrap_or_else(|| "scatter,gather".to_string());
    let platform = Platform::read(&spec)?;
    let sites = Sites::one_each(&platform);
    for op in operations.split(',').filter_map(Collective::by_name) {
        let shape = Shape::new(op, sites.placement().ranks(), block).with_root(root);
        let begun = Instant::now();
        let choice = sites.choose(&shape)?;
        let (took, simulated) = (begun.elapsed(), choice.simulated);
        let bound = choice.bound.map_or(f64::NAN, |bound| bound.time);
        let (work, unsearched) = (choice.work, choice.unsearched.join(" "));
        println!(
            "{}: bound {bound:.6} s, {simulated} simulated, {work} units of work in {took:?}; not \
             searched: {unsearched}",
            op.name()
        );
        for one in &choice.all {
            println!("  {:.6} s, {:.3}: {}", one.time, one.time / bound, one.spelled());
        }
    }
    Ok(())
}
