//! Prints the bounds of a scatter and a gather on a platform, and how long they take to find.
//!
//! `cargo run -p laneway-sites --example bound -- two-sites:32x32 4194304`

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use laneway_sim::platform::Platform;
use laneway_sites::bound::{gather, scatter};

const REPETITIONS: u32 = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let spec = words.next().unwrap_or_else(|| "two-sites:32x32".to_string());
    let block: u64 = words.next().map_or(Ok(4 << 20), |word| word.parse())?;
    let layout = Platform::read(&spec)?.layout()?;
    let hosts: Vec<u32> = (0..layout.hosts.len() as u32).collect();
    let blocks = vec![block; hosts.len()];
    for (name, bound) in [("scatter", scatter as fn(_, _, _, _) -> _), ("gather", gather)] {
        let found = bound(&layout, &hosts, 0, &blocks)?;
        let begin = Instant::now();
        for _ in 0..REPETITIONS {
            black_box(bound(black_box(&layout), &hosts, 0, &blocks)?);
        }
        let each = begin.elapsed() / REPETITIONS;
        println!("{name}: {:.6} s, {} (found in {each:?})", found.time, found.limit);
    }
    Ok(())
}
