//! The same platforms under SimGrid, which nobody here wrote; without background and costs of
//! hosts, which it has not, and with its own collectives.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use laneway_sim::Network;
use laneway_sim::platform::Platform;

use crate::cell::{OPERATIONS, SIZES, read_cells};
use crate::claims::Judged;
use crate::kind::{describe, has_right_clocks, is_exact};

/// Seconds that a platform may take on a real clock.
const LIMIT: &str = "300";
const EAGER: &str = "--cfg=smpi/async-small-thresh:";

/// Files of one platform, removed at the end.
struct Files(PathBuf);

impl Files {
    fn write(seed: u64, platform_xml: &str, hostfile: &str) -> Result<Files, String> {
        let folder = format!("laneway-random-{seed}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let wrong = |error: std::io::Error| error.to_string();
        std::fs::create_dir_all(&folder).map_err(wrong)?;
        let files = Files(folder);
        std::fs::write(files.0.join("platform.xml"), platform_xml).map_err(wrong)?;
        std::fs::write(files.0.join("hostfile"), hostfile).map_err(wrong)?;
        Ok(files)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Measures the platform of a seed: even seeds with eager messages and odd ones without, two in
/// four with each of two libraries' choices of algorithms.
pub fn measure(object: &Path, seed: u64) -> Result<Judged, String> {
    let word = format!("random:{seed},background=none");
    let platform = Platform::read(&word).map_err(|error| error.to_string())?;
    let export = platform.export_simgrid().map_err(|error| error.to_string())?;
    let files = Files::write(seed, &export.platform_xml, &export.hostfile)?;
    let (eager, selector) = (seed.is_multiple_of(2), ["ompi", "mpich"][(seed / 2 % 2) as usize]);
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", LIMIT, "smpirun", "-np", &platform.hosts().to_string()]);
    command.arg("-platform").arg(files.0.join("platform.xml"));
    command.arg("-hostfile").arg(files.0.join("hostfile"));
    command.arg("--cfg=smpi/privatization:dlopen");
    command.arg(format!("--cfg=smpi/coll-selector:{selector}"));
    if !platform.hosts().is_power_of_two() {
        // SimGrid's choice of MPICH's for 64 KiB serves powers of two alone, and aborts otherwise.
        command.arg("--cfg=smpi/alltoall:ring");
    }
    command.args(export.arguments.iter().filter(|word| eager || !word.starts_with(EAGER)));
    command.arg(object).args(["measure", "coll", OPERATIONS, "--sizes", SIZES, "--truth"]);
    command.args(["--format", "json"]);
    if !has_right_clocks(&platform) {
        command.args(["--clock-offset", "0.5", "--clock-drift", "50"]);
    }
    command.args(["--seed", &seed.to_string()]);
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    let replay = format!(
        "LANEWAY_SIMULATOR=simgrid LANEWAY_SEED={seed} cargo bench -p laneway-benches \
         --bench random"
    );
    if !output.status.success() {
        let err = String::from_utf8_lossy(&output.stderr);
        let tail: Vec<&str> = err.trim().lines().rev().take(5).collect();
        return Err(format!("{}: {}\n  {replay}", output.status, tail.join(" / ")));
    }
    let cells = read_cells(&String::from_utf8_lossy(&output.stdout))?;
    let mode = if eager { "async-small-thresh" } else { "no async-small-thresh" };
    let what = format!("{}, {mode}, {selector}", describe(&platform));
    Ok(Judged { platform: what, replay, exact: is_exact(&platform), cells })
}
