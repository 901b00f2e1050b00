//! What the tests under SimGrid share.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The bytes that SMPI counts beyond those of a message.
pub const ENVELOPE_BYTES: f64 = 16.0;

/// Leaves nothing but the time of the links.
pub const BARE_NETWORK: [&str; 10] = [
    "--cfg=network/model:CM02",
    "--cfg=network/crosstraffic:0",
    "--cfg=network/TCP-gamma:0",
    "--cfg=network/latency-factor:1",
    "--cfg=network/bandwidth-factor:1",
    "--cfg=smpi/os:0:0:0",
    "--cfg=smpi/or:0:0:0",
    "--cfg=smpi/ois:0:0:0",
    "--cfg=smpi/wtime:0",
    "--cfg=smpi/send-is-detached-thresh:65536",
];

/// The shared object, built now: cargo does not build it for a test of its own package.
pub fn object() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let mut path = std::env::current_exe().expect("a test has a program");
        // From the folder of test programs to that of the profile.
        path.pop();
        path.pop();
        let target = path.parent().expect("the folder of all profiles");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["build", "--quiet", "--package", "laneway-smpi", "--target-dir"]);
        command.arg(target);
        if path.ends_with("release") {
            command.arg("--release");
        }
        assert!(command.status().expect("cargo can be started").success());
        stripped(&path)
    })
}

/// SimGrid copies the object for each rank, and three quarters of it are for debuggers.
fn stripped(folder: &Path) -> PathBuf {
    let (whole, small) =
        (folder.join("liblaneway_smpi.so"), folder.join("liblaneway_smpi.bare.so"));
    // Of this process alone until it is whole: other tests do the same.
    let own = folder.join(format!("liblaneway_smpi.{}.so", std::process::id()));
    let mut strip = Command::new("strip");
    strip.arg("--strip-all").arg("-o").arg(&own).arg(&whole);
    let made = strip.status().is_ok_and(|status| status.success());
    match made && std::fs::rename(&own, &small).is_ok() {
        true => small,
        false => whole,
    }
}
