//! Our schedules against the MPI library's own collective, forced to the same algorithm, over the
//! same MPI and in the same launch. `LANEWAY_POINTS="allgather ring 1024"` does the points of that
//! name.

use laneway_benches::{Spread, Starter, alternate, print_figures, rank, ratio};
use laneway_coll::find;
use laneway_core::{Buffers, Collective, Comm, CommError, Exec, NativeCall, Shape};

const MOST: f64 = 1.05;

/// Operation, our algorithm, bytes.
const POINTS: [(Collective, &str, u64); 6] = [
    (Collective::Bcast, "binomial", 1 << 10),
    (Collective::Bcast, "binomial", 64 << 10),
    (Collective::Scatter, "binomial", 1 << 10),
    (Collective::Scatter, "binomial", 64 << 10),
    (Collective::Allgather, "ring", 1 << 10),
    (Collective::Allgather, "ring", 64 << 10),
];

/// Open MPI's numbers for binomial bcast and scatter, ring allgather.
const OPEN_MPI: [&str; 18] = [
    "--mca",
    "coll_tuned_use_dynamic_rules",
    "1",
    "--mca",
    "coll_tuned_bcast_algorithm",
    "6",
    "--mca",
    "coll_tuned_bcast_algorithm_segmentsize",
    "0",
    "--mca",
    "coll_tuned_scatter_algorithm",
    "2",
    "--mca",
    "coll_tuned_allgather_algorithm",
    "4",
    "--mca",
    "coll",
    "basic,tuned,libnbc",
];

const MPICH: [(&str, &str); 7] = [
    ("MPIR_CVAR_BCAST_INTRA_ALGORITHM", "binomial"),
    ("MPIR_CVAR_SCATTER_INTRA_ALGORITHM", "binomial"),
    ("MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM", "ring"),
    ("MPIR_CVAR_BCAST_POSIX_INTRA_ALGORITHM", "mpir"),
    ("MPIR_CVAR_DEVICE_COLLECTIVES", "none"),
    ("MPIR_CVAR_ENABLE_SMP_COLLECTIVES", "0"),
    ("MPIR_CVAR_COLLECTIVE_FALLBACK", "error"),
];

/// Microseconds a call, ours and the library's, in alternating batches: the medians.
fn both_us(comm: &dyn Comm, point: (Collective, &str, u64)) -> Result<(f64, f64), CommError> {
    let (collective, name, size) = point;
    let argument = |what: String| CommError::Argument { what };
    let (algorithm, params) = find(collective, name).map_err(|refusal| argument(refusal.0))?;
    // The root changes from call to call, so that no call can hide behind the one before.
    let roots = if collective.has_root() { comm.size() } else { 1 };
    let shapes: Vec<Shape> =
        (0..roots).map(|root| Shape::new(collective, comm.size(), size).with_root(root)).collect();
    let schedules: Result<Vec<_>, _> =
        shapes.iter().map(|shape| algorithm.schedule(shape, &params)).collect();
    let schedules = schedules.map_err(|refusal| argument(refusal.0))?;
    let length = |of: &dyn Fn(&Shape) -> u64| shapes.iter().map(of).max().unwrap_or(0) as usize;
    let input = vec![7u8; length(&|shape| shape.in_len(comm.rank()))];
    let room = length(&|shape| shape.out_len(comm.rank()));
    let mut outputs: Vec<Vec<u8>> = shapes.iter().map(|_| vec![0u8; room]).collect();
    let mut native_outputs = outputs.clone();
    let mut scratch: Vec<Vec<u8>> =
        schedules.iter().map(|s| vec![0; s.tmp_len(comm.rank()) as usize]).collect();
    let mut execs = Vec::new();
    for ((schedule, output), tmp) in schedules.iter().zip(&mut outputs).zip(&mut scratch) {
        let buffers = Buffers::new(&input, output, tmp);
        execs.push(Exec::new(comm, &**schedule, buffers, None, 0)?);
    }
    let (batches, calls) = (60, if size > 4096 { 40 } else { 200 });
    let (mut ours, mut native) = (Vec::new(), Vec::new());
    for _ in 0..batches {
        let begun = comm.clock().now();
        for call in 0..calls {
            execs[call % shapes.len()].run()?;
        }
        ours.push((comm.clock().now() - begun) / calls as f64 * 1e6);
        let begun = comm.clock().now();
        for call in 0..calls {
            let shape = &shapes[call % shapes.len()];
            let given = &input[..shape.in_len(comm.rank()) as usize];
            // A buffer for each root, as ours have: the same traffic between the caches.
            let output = &mut native_outputs[call % shapes.len()];
            let output = &mut output[..shape.out_len(comm.rank()) as usize];
            comm.native(NativeCall { shape, input: given, output, reduction: None })?;
        }
        native.push((comm.clock().now() - begun) / calls as f64 * 1e6);
    }
    // The first batches warm up.
    Ok((Spread::of(&ours[10..]).median, Spread::of(&native[10..]).median))
}

fn name((collective, algorithm, size): (Collective, &str, u64)) -> String {
    format!("{} {algorithm} {size} B", collective.name())
}

/// The points that are asked for.
fn points() -> Vec<(Collective, &'static str, u64)> {
    let asked = std::env::var("LANEWAY_POINTS").unwrap_or_default();
    POINTS.into_iter().filter(|point| name(*point).contains(&asked)).collect()
}

fn main() {
    if let Some(comm) = rank() {
        let mut figures = Vec::new();
        for point in points() {
            match both_us(&*comm, point) {
                Ok((ours, native)) => figures.extend([ours, native, ours / native]),
                Err(error) => {
                    eprintln!("error: {error}");
                    comm.abort(3);
                }
            }
        }
        if comm.rank() == 0 {
            print_figures(&figures);
        }
        return;
    }
    let starters = Starter::mpis(&OPEN_MPI, &MPICH);
    if starters.is_empty() {
        return println!("no MPI is installed: nothing to compare with (see ./test)");
    }
    for (starter, figures) in starters.iter().zip(alternate(&starters)) {
        for (i, point) in points().into_iter().enumerate() {
            let Some([ours, native, quotient]) = figures.get(3 * i..3 * i + 3) else { continue };
            let what = name(point);
            println!("{:<20} {what:<28} ours {ours} us, library {native} us", starter.name);
            ratio(&format!("{} {what}, ours / library", starter.name), quotient.median, MOST);
        }
    }
}
