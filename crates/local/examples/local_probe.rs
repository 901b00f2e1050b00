//! Half round-trips between two ranks of this machine, and the rate of long messages.
//!
//! `local_probe TRANSPORT BATCHES SIZE...` prints one line for each size: the median over the
//! batches of the half round-trip in microseconds, and the rate in one direction.

use std::error::Error;
use std::process::ExitCode;

use laneway_core::{Comm, CommError};
use laneway_local::{Launch, Transport, attach};

fn main() -> ExitCode {
    match run() {
        Ok(code) => ExitCode::from(code as u8),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<i32, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "local_probe TRANSPORT BATCHES SIZE..., as local_probe shm 101 8 4096 1048576";
    let (transport, batches, sizes) = parse(&arguments).ok_or(usage)?;
    let Some(comm) = attach()? else {
        return Ok(Launch { ranks: 2, transport, limit: None }.run()?);
    };
    for size in sizes {
        let half = half_round_trip(&comm, size, batches)?;
        if comm.rank() == 0 {
            let rate = size as f64 / half / 1e9;
            println!("{size:>10} bytes  {:>10.3} us  {rate:>7.2} GB/s", half * 1e6);
        }
    }
    Ok(0)
}

fn parse(arguments: &[String]) -> Option<(Transport, usize, Vec<usize>)> {
    let (transport, rest) = arguments.split_first()?;
    let (batches, sizes) = rest.split_first()?;
    let sizes: Option<Vec<usize>> = sizes.iter().map(|size| size.parse().ok()).collect();
    let batches = batches.parse().ok().filter(|&batches| batches > 0)?;
    Some((transport.parse().ok()?, batches, sizes.filter(|sizes| !sizes.is_empty())?))
}

fn half_round_trip(comm: &dyn Comm, size: usize, batches: usize) -> Result<f64, CommError> {
    let (mut out, mut back) = (vec![1u8; size], vec![0u8; size]);
    // Batches shorter than a turn of the scheduler: on a busy machine most are left in peace.
    let trips = (400_000 / size.max(1)).clamp(2, 200);
    let mut halves = Vec::new();
    for batch in 0..batches + 1 {
        let start = comm.clock().now();
        for _ in 0..trips {
            if comm.rank() == 0 {
                comm.send(1, 1, &out)?;
                comm.recv(Some(1), Some(1), &mut back)?;
            } else {
                comm.recv(Some(0), Some(1), &mut back)?;
                comm.send(0, 1, &out)?;
            }
        }
        // The first batch brings the pages in.
        if batch > 0 {
            halves.push((comm.clock().now() - start) / trips as f64 / 2.0);
        }
        out[batch % size.max(1)..].iter_mut().take(1).for_each(|byte| *byte = byte.wrapping_add(1));
    }
    halves.sort_by(f64::total_cmp);
    Ok(halves[halves.len() / 2])
}
