//! What keeping and exporting costs a measurement: processor time of 476 points with `--keep
//! --export` against the plain run, in turns.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use laneway_stats::median;

/// Virtual machines slow down for seconds: the median of a few ratios may be off by a fifth.
const RUNS: usize = 15;
/// The largest multiple of the plain run's time.
const MOST: f64 = 1.2;
/// 17 algorithms at 28 sizes.
const POINTS: &str = "measure coll bcast,allreduce --algorithm all --backend sim:cluster:16 \
                      --sizes 1K:28K:+1K --format json";

/// Seconds of the processor that ended children have had.
fn children_s() -> f64 {
    // SAFETY: a usage of zeros may be overwritten, and lives until the call returns.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

fn processor_s(more: &[&str]) -> Result<f64, String> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/release/laneway");
    let begun = children_s();
    let mut command = Command::new(&program);
    command.args(POINTS.split_whitespace()).args(more).stdout(Stdio::null());
    let status = command.status().map_err(|error| format!("{}: {error}", program.display()))?;
    if !status.success() {
        return Err(format!("the measurement ended with {status}"));
    }
    Ok(children_s() - begun)
}

fn ratios(file: &str) -> Result<Vec<f64>, String> {
    let mut ratios = Vec::new();
    for _ in 0..RUNS {
        let plain = processor_s(&[])?;
        let kept = processor_s(&["--keep", "--export", file])?;
        println!("plain {plain:.2} s, kept and exported {kept:.2} s: {:.3}", kept / plain);
        ratios.push(kept / plain);
    }
    Ok(ratios)
}

fn main() -> ExitCode {
    let file = std::env::temp_dir().join(format!("laneway-export-{}.json", std::process::id()));
    let found = ratios(&file.to_string_lossy());
    let _ = std::fs::remove_file(&file);
    match found.map(|mut ratios| {
        ratios.sort_by(f64::total_cmp);
        median(&ratios)
    }) {
        Ok(Some(ratio)) => {
            let word = if ratio <= MOST { "within" } else { "ABOVE" };
            println!("--keep --export takes {ratio:.3} times the plain run: {word} {MOST}");
            if ratio <= MOST { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Ok(None) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}; cargo build --release first");
            ExitCode::FAILURE
        }
    }
}
