//! Half round-trips between two processes: our shared memory against the MPI libraries installed
//! here, each bound to cores, in alternating launches.

use laneway_benches::{Starter, alternate, print_figures, rank, ratio};
use laneway_core::Comm;

/// Bytes, round trips in a sample, samples, and the most that our ratio may be.
const POINTS: [(usize, usize, usize, f64); 3] =
    [(8, 100, 200, 0.7), (4 << 10, 50, 200, 0.9), (1 << 20, 4, 100, 0.7)];

/// The median over samples of a half round-trip, in microseconds.
fn half_round_trip_us(comm: &dyn Comm, size: usize, trips: usize, samples: usize) -> f64 {
    let (mut out, mut back) = (vec![1u8; size], vec![2u8; size]);
    let mut taken = Vec::with_capacity(samples);
    for _ in 0..samples + samples / 5 {
        let begun = comm.clock().now();
        for _ in 0..trips {
            let done = if comm.rank() == 0 {
                comm.send(1, 1, &out).and_then(|()| comm.recv(Some(1), Some(1), &mut back))
            } else {
                let got = comm.recv(Some(0), Some(1), &mut out);
                got.and_then(|message| comm.send(0, 1, &out).map(|()| message))
            };
            if let Err(error) = done {
                eprintln!("error: {error}");
                comm.abort(3);
            }
        }
        taken.push((comm.clock().now() - begun) / trips as f64 / 2.0 * 1e6);
    }
    // The first sixth warms up.
    let mut kept = taken.split_off(samples / 5);
    kept.sort_by(f64::total_cmp);
    kept[kept.len() / 2]
}

fn main() {
    if let Some(comm) = rank() {
        let figures: Vec<f64> = POINTS
            .iter()
            .map(|&(size, trips, samples, _)| half_round_trip_us(&*comm, size, trips, samples))
            .collect();
        if comm.rank() == 0 {
            print_figures(&figures);
        }
        return;
    }
    let mut starters = vec![Starter::local()];
    starters.extend(Starter::mpis(&[], &[]));
    let results = alternate(&starters);
    for (i, (size, _, _, most)) in POINTS.iter().enumerate() {
        for (starter, figures) in starters.iter().zip(&results) {
            if let Some(spread) = figures.get(i) {
                println!("{size:>8} B  {:<22} {spread} us", starter.name);
            }
        }
        let ours = results[0].get(i).map_or(f64::NAN, |spread| spread.median);
        let peers = results[1..].iter().filter_map(|figures| figures.get(i));
        let best = peers.map(|spread| spread.median).fold(f64::INFINITY, f64::min);
        if best.is_finite() {
            ratio(&format!("{size} B, ours / fastest MPI"), ours / best, *most);
        }
    }
    if starters.len() == 1 {
        println!("no MPI is installed: nothing to compare with (see ./test)");
    }
}
