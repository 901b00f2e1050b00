//! Compares two runs: which points became slower, and how sure that is.
//!
//! `cargo run -p laneway-examples --example compare_runs -- old.json new.json`; without files, two
//! short runs of the OSU benchmarks.

use std::error::Error;

use laneway_core::Value;
use laneway_report::compare::{Rule, Verdict, compare};
use laneway_report::{Run, read};

const OLD: &str = "# OSU MPI Broadcast Latency Test\n# Size  Avg Latency(us)\n8 2.10\n1024 3.40\n";
const NEW: &str = "# OSU MPI Broadcast Latency Test\n# Size  Avg Latency(us)\n8 2.12\n1024 4.30\n";

fn load(argument: usize, otherwise: &str) -> Result<Run, Box<dyn Error>> {
    let file = std::env::args().nth(argument).filter(|name| name.contains('.'));
    let text = file.as_ref().map_or(Ok(otherwise.to_string()), std::fs::read_to_string)?;
    Ok(read(file.as_deref().unwrap_or("a run of OSU"), &text)?)
}

pub fn main() -> Result<(), Box<dyn Error>> {
    let (old, new) = (load(1, OLD)?, load(2, NEW)?);
    let found = compare(&old, &new, &Rule { threshold: 0.05, ..Rule::default() })?;
    for point in &found.points {
        let Some(ratio) = point.ratio else { continue };
        let Some(Value::Whole(size)) = point.identity.get("size_bytes") else { continue };
        println!("{size} bytes: {}, {ratio:.2} of before", point.verdict.name());
    }
    println!("{} of {} points are slower", found.count(Verdict::Slower), found.points.len());
    Ok(())
}
