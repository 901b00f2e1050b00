//! The MPIBlib paper's example (section 4): measures several scatters once, then takes the fastest
//! of them for each message. Here on the paper's cluster, simulated; over another backend the same
//! functions take that backend's communicator.
//!
//! ```text
//! cargo run -p laneway-measure --example opt_scatter
//! ```

use laneway_coll::{Algorithm, Params, find};
use laneway_core::{Buffers, Collective as Kind, Comm, CommError, Exec, Rank, Shape};
use laneway_measure::operation::Answerer;
use laneway_measure::talk::broadcast;
use laneway_measure::timing::{Confirmation, Root};
use laneway_measure::{Collective, GlobalClock, Procedure, Rule, Stage, measure};
use laneway_sim::Program;
use laneway_sim::platform::Platform;

const IMPLEMENTATIONS: [&str; 3] = ["linear", "binomial", "windowed:window=2"];
const SIZES: [u64; 4] = [1, 1 << 10, 16 << 10, 128 << 10];

/// The algorithms with their names.
type Implementations = Vec<(&'static str, &'static Algorithm, Params)>;

fn refused(what: String) -> CommError {
    CommError::Argument { what }
}

fn implementations() -> Result<Implementations, CommError> {
    let one = |name: &'static str| {
        let (algorithm, params) = find(Kind::Scatter, name).map_err(|no| refused(no.0))?;
        Ok((name, algorithm, params))
    };
    IMPLEMENTATIONS.into_iter().map(one).collect()
}

/// A scatter that knows which way is the fastest.
struct OptScatter {
    implementations: Implementations,
    /// Seconds, by implementation and size.
    times: Vec<[f64; SIZES.len()]>,
}

impl OptScatter {
    /// Collective, in the beginning of the program.
    fn new(comm: &dyn Comm) -> Result<OptScatter, CommError> {
        let implementations = implementations()?;
        let mut times = Vec::new();
        for &(_, algorithm, params) in &implementations {
            let mut row = [0.0; SIZES.len()];
            for (time, size) in row.iter_mut().zip(SIZES) {
                *time = seconds(comm, size, Answerer::Ours(algorithm, params))?;
            }
            times.push(row);
        }
        Ok(OptScatter { implementations, times })
    }

    /// The fastest for blocks of `size` bytes. All ranks know the same figures, and choose alike.
    fn fastest(&self, size: u64) -> usize {
        let at = SIZES.iter().rposition(|&measured| measured <= size).unwrap_or(0);
        let faster = |&i: &usize, &j: &usize| self.times[i][at].total_cmp(&self.times[j][at]);
        (0..self.times.len()).min_by(faster).unwrap_or(0)
    }

    /// Collective: the root's blocks, one to each rank.
    fn scatter(
        &self,
        comm: &dyn Comm,
        input: &[u8],
        output: &mut [u8],
        root: Rank,
    ) -> Result<(), CommError> {
        let size = output.len() as u64;
        let (_, algorithm, params) = &self.implementations[self.fastest(size)];
        let shape = Shape::new(Kind::Scatter, comm.size(), size).with_root(root);
        let schedule = algorithm.schedule(&shape, params).map_err(|no| refused(no.0))?;
        let mut tmp = vec![0; schedule.tmp_len(comm.rank()) as usize];
        let buffers = Buffers::new(input, output, &mut tmp);
        Exec::new(comm, &*schedule, buffers, None, 0)?.run()
    }
}

/// Collective: what a scatter takes by the paper's root timing and rule, on every rank. Root timing
/// may find no time at all for very short messages: such a figure must not win.
fn seconds(comm: &dyn Comm, size: u64, answerer: Answerer) -> Result<f64, CommError> {
    let own = comm.dup()?;
    let clock = GlobalClock::new(&*own, Procedure::default());
    let mut stage = Stage::new(&*own, clock);
    let mut timing = Root::new(0, Confirmation::default());
    let shape = Shape::new(Kind::Scatter, comm.size(), size);
    let mut made = Collective::new(comm, &shape, answerer).map_err(|refusal| refused(refusal.0))?;
    let point = measure(&mut stage, &mut timing, &mut made.ready()?, &Rule::paper(5, 50, 0.1))?;
    let mut time = [point.map_or(f64::NAN, |point| point.estimate)];
    broadcast(&*own, &mut time)?;
    Ok(if time[0] > 0.0 { time[0] } else { f64::INFINITY })
}

/// The program of every rank: measures, scatters, and tells whether all of it was right.
fn program(comm: &dyn Comm) -> Result<bool, CommError> {
    let opt = OptScatter::new(comm)?;
    if comm.rank() == 0 {
        for (at, size) in SIZES.into_iter().enumerate() {
            print!("{size:>8} bytes:");
            for ((name, ..), times) in opt.implementations.iter().zip(&opt.times) {
                print!("  {name} {:.1} us", 1e6 * times[at]);
            }
            println!("  -> {}", opt.implementations[opt.fastest(size)].0);
        }
    }
    let (ranks, root) = (comm.size(), comm.size() - 1);
    let mut right = true;
    for size in [0, 1, 500, 5_000, 50_000, 200_000] {
        let byte = |at: usize| (at % 251) as u8;
        let all: Vec<u8> = (0..size * ranks as usize).map(byte).collect();
        let input = if comm.rank() == root { &all[..] } else { &[] };
        let mut output = vec![0xA5; size];
        opt.scatter(comm, input, &mut output, root)?;
        right &= output == all[comm.rank() as usize * size..][..size];
    }
    Ok(right)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let platform = Platform::read("mpiblib16")?;
    let ended = Program::new(&platform, platform.hosts()).run(program)?;
    let ranks = ended.results.len();
    let right: Vec<bool> = ended.results.into_iter().collect::<Result<_, _>>()?;
    if right.contains(&false) {
        return Err("a rank got what belongs to another".into());
    }
    println!("Opt_Scatter on {ranks} ranks: right");
    Ok(())
}
