//! Compares two runs: which points became slower, and how sure that is.
//!
//! Here two short runs of the OSU benchmarks; `read_run` takes the text of any file that laneway,
//! OSU or IMB wrote.

use std::error::Error;

use laneway::{CompareRule, Value, Verdict, compare, read_run};

const OLD: &str = "# OSU MPI Broadcast Latency Test\n# Size  Avg Latency(us)\n8 2.10\n1024 3.40\n";
const NEW: &str = "# OSU MPI Broadcast Latency Test\n# Size  Avg Latency(us)\n8 2.12\n1024 4.30\n";

pub fn main() -> Result<(), Box<dyn Error>> {
    let (old, new) = (read_run("old", OLD)?, read_run("new", NEW)?);
    let found = compare(&old, &new, &CompareRule { threshold: 0.05, ..Default::default() })?;
    for point in &found.points {
        let Some(ratio) = point.ratio else { continue };
        let Some(Value::Whole(size)) = point.identity.get("size_bytes") else { continue };
        println!("{size} bytes: {}, {ratio:.2} of before", point.verdict.name());
    }
    println!("{} of {} points are slower", found.count(Verdict::Slower), found.points.len());
    Ok(())
}
