//! Random platforms in our own simulator, measured by the command as it is built.

use std::path::Path;
use std::process::{Command, Stdio};

use laneway_sim::platform::Platform;

use super::cell::{OPERATIONS, SIZES, read_cells};
use super::claims::Judged;
use super::kind::{describe, is_exact, is_steady};
use super::truth::true_median_us;

/// Seconds that a platform may take on a real clock.
const LIMIT: &str = "300";

/// Measures the platform of a seed.
pub fn measure(laneway: &Path, seed: u64) -> Result<Judged, String> {
    let word = format!("random:{seed}");
    let platform = Platform::read(&word).map_err(|error| error.to_string())?;
    let backend = format!("sim:{word}");
    let args = ["measure", "coll", OPERATIONS, "--sizes", SIZES, "--backend", &backend, "--truth"];
    let output = Command::new("timeout")
        .args(["--kill-after=5", LIMIT])
        .arg(laneway)
        .args(args)
        .args(["--format", "json"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let replay = format!("laneway {}", args.join(" "));
    // A budget that was too short gives code 4, and must lie inside its bound as well.
    if !matches!(output.status.code(), Some(0 | 4)) {
        let err = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {}\n  {replay}", output.status, err.trim()));
    }
    let mut cells = read_cells(&String::from_utf8_lossy(&output.stdout))?;
    if !is_steady(&platform) {
        for cell in &mut cells {
            cell.truth_us = true_median_us(&platform, cell)?;
        }
    }
    Ok(Judged { platform: describe(&platform), replay, exact: is_exact(&platform), cells })
}
