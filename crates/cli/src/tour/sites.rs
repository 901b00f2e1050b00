//! The stop of several sites: what is fastest across a WAN, and what nothing can beat.

use laneway_core::units::format_size;
use laneway_core::{Collective, Shape};
use laneway_sites::Sites;

use super::{SIMULATED, say};
use crate::failure::Failure;
use crate::platform;

const SIZE: u64 = 1 << 20;

/// Chooses a scatter and a gather over two sites.
pub fn stop() -> Result<(), Failure> {
    say(&format!("8. Several sites: the fastest way across, on {SIMULATED}\n"))?;
    let platform = platform::read("", SIMULATED)?;
    let sites = Sites::one_each(&platform);
    for op in [Collective::Scatter, Collective::Gather] {
        let shape = Shape::new(op, sites.placement().ranks(), SIZE);
        let begun = std::time::Instant::now();
        let choice = sites.choose(&shape).map_err(|error| {
            Failure::environment("the tour cannot choose", error.to_string(), "report this")
        })?;
        let took_ms = begun.elapsed().as_millis();
        let time = |name: &str| {
            let found = choice.all.iter().find(|one| one.algorithm.name == name);
            found.map_or(f64::NAN, |one| one.time * 1e3)
        };
        let bound = choice.bound.as_ref().map_or(f64::NAN, |bound| bound.time * 1e3);
        say(&format!(
            "   {} of {}: {} {:.0} ms, chosen in {took_ms} ms; one lane {:.0} ms, the paper's \
             lanes {:.0} ms, nothing beats {bound:.0} ms",
            op.name(),
            format_size(SIZE),
            choice.best.spelled(),
            choice.best.time * 1e3,
            time("single-lane"),
            time("multi-lane"),
        ))?;
    }
    say("")
}
