//! The same platforms under SimGrid, an independent simulator; without background and costs of
//! hosts, which it has not, and with its own collectives.

use std::path::Path;

use laneway_benches::smpirun::Exported;
use laneway_sim::platform::Platform;

use super::cell::{OPERATIONS, SIZES, read_cells};
use super::claims::Judged;
use super::kind::{describe, has_right_clocks, is_exact};

const EAGER: &str = "--cfg=smpi/async-small-thresh:";

/// Measures the platform of a seed: even seeds with eager messages and odd ones without, two in
/// four with each of two libraries' choices of algorithms.
pub fn measure(object: &Path, seed: u64) -> Result<Judged, String> {
    let word = format!("random:{seed},background=none");
    let platform = Platform::read(&word).map_err(|error| error.to_string())?;
    let mut exported = Exported::new(&platform, &format!("random-{seed}"))?;
    let (eager, selector) = (seed.is_multiple_of(2), ["ompi", "mpich"][(seed / 2 % 2) as usize]);
    let mut settings = vec![format!("--cfg=smpi/coll-selector:{selector}")];
    if !platform.hosts().is_power_of_two() {
        // SimGrid's choice of MPICH's for 64 KiB serves powers of two alone, and aborts otherwise.
        settings.push("--cfg=smpi/alltoall:ring".into());
    }
    exported.arguments.retain(|word| eager || !word.starts_with(EAGER));
    let mut words = vec!["measure", "coll", OPERATIONS, "--sizes", SIZES, "--truth"];
    words.extend(["--format", "json"]);
    if !has_right_clocks(&platform) {
        words.extend(["--clock-offset", "0.5", "--clock-drift", "50"]);
    }
    let number = seed.to_string();
    words.extend(["--seed", &number]);
    let replay = format!(
        "LANEWAY_SIMULATOR=simgrid LANEWAY_SEED={seed} cargo bench -p laneway-benches \
         --bench random"
    );
    let text =
        exported.run(&settings, object, &words).map_err(|why| format!("{why}\n  {replay}"))?;
    let cells = read_cells(&text)?;
    let mode = if eager { "async-small-thresh" } else { "no async-small-thresh" };
    let what = format!("{}, {mode}, {selector}", describe(&platform));
    Ok(Judged { platform: what, replay, exact: is_exact(&platform), cells })
}
