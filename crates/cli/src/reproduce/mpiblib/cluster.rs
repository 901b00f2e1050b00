//! The cluster of the MPIBlib paper as it is simulated here, and sweeps over sizes on it.

use laneway_coll::find;
use laneway_core::{Collective as Kind, Comm, CommError, Failure, Shape};
use laneway_measure::operation::Answerer;
use laneway_measure::talk::announce;
use laneway_measure::timing::{Confirmation, Global, Maximum, Root, Series};
use laneway_measure::{Batch, Collective, GlobalClock, Pace, Procedure, Stage, Timing, truth};
use laneway_sim::platform::Platform;
use laneway_sim::{Network, Program};

/// With clocks that agree the global method would have nothing to do.
pub const PLATFORM: &str = "mpiblib16,clock-offset=+-500ms,clock-drift=+-10ppm";
/// paper: mpiblib 5: the operations of its table and its figures, both linear in LAM.
pub const OPERATIONS: [Kind; 2] = [Kind::Scatter, Kind::Gather];

/// A timing method, made anew on every rank.
pub type Method = fn() -> Box<dyn Timing>;

/// The methods that the paper compares, in the order of table 1.
pub const COMPARED: [Method; 3] = [
    // The paper's cost comes from comparing the clocks for every repetition.
    || Box::new(Global { resync: 1 }),
    || Box::new(Maximum),
    // Of the paper's three confirmations the one that overlaps least with the operation.
    || Box::new(Root::new(0, Confirmation::Barrier)),
];

/// paper: mpiblib 5: 0 to 100 KB with a stride of 1 KB.
pub fn sizes() -> Vec<u64> {
    (0..=100).map(|kib| kib << 10).collect()
}

/// What one benchmark found.
pub struct Sweep {
    /// For each size.
    pub batches: Vec<Batch>,
    /// Virtual seconds of the whole benchmark.
    pub seconds: f64,
}

pub struct Cluster {
    platform: Platform,
}

impl Cluster {
    pub fn new() -> Result<Cluster, Failure> {
        let platform = Platform::read(PLATFORM).map_err(|error| error.into_failure())?;
        Ok(Cluster { platform })
    }

    /// Runs a program on every host: what it found on rank 0, and how long it all took.
    pub fn run<R: Send>(
        &self,
        program: impl Fn(&dyn Comm) -> Result<R, CommError> + Sync,
    ) -> Result<(R, f64), Failure> {
        let failed = |cause: String| {
            Failure::environment("the benchmark does not end", cause, "report this")
        };
        let ended = Program::new(&self.platform, self.platform.hosts()).run(program);
        let ended = ended.map_err(|error| failed(error.to_string()))?;
        let found = ended.results.into_iter().next();
        let found = found.ok_or_else(|| failed("rank 0 found nothing".into()))?;
        Ok((found.map_err(|error| failed(error.to_string()))?, ended.finish))
    }

    /// IMB's way, in figure 1: one series of so many calls for each size.
    pub fn series(&self, operation: Kind, sizes: &[u64], length: u32) -> Result<Sweep, Failure> {
        self.sweep(operation, || Box::new(Series { length }), sizes, 1)
    }

    /// One batch of so many repetitions for each size. There is no warm-up call, as a single gather
    /// that escalates would count several times: the method prepares itself with nothing.
    pub fn sweep(
        &self,
        operation: Kind,
        method: impl Fn() -> Box<dyn Timing> + Sync,
        sizes: &[u64],
        reps: u32,
    ) -> Result<Sweep, Failure> {
        let (batches, seconds) = self.run(|comm| {
            let own = comm.dup()?;
            let clock = GlobalClock::new(&*own, Procedure::Offset);
            let mut stage = Stage::new(&*own, clock);
            let mut timing = method();
            timing.prepare(&mut stage, &mut || Ok(()))?;
            let mut batches = Vec::new();
            for &size in sizes {
                let mut collective = linear(comm, operation, size)?;
                // Rank 0 has just collected and would come last to the barrier, which a single
                // repetition shows: all come as between two batches of a point.
                announce(stage.comm, &mut [f64::from(reps)])?;
                batches.push(timing.batch(
                    &mut stage,
                    &mut collective.ready()?,
                    Pace::dense(reps),
                )?);
            }
            Ok(batches)
        })?;
        Ok(Sweep { batches, seconds })
    }

    /// The true time of one call for each size; each answer is checked first.
    pub fn truths(&self, operation: Kind, sizes: &[u64]) -> Result<Vec<f64>, Failure> {
        let (found, _) = self.run(|comm| {
            let mut times = Vec::new();
            for &size in sizes {
                let mut collective = linear(comm, operation, size)?;
                if let Some(what) = collective.validate()? {
                    return Err(CommError::Argument { what });
                }
                times.extend(truth(comm, &mut collective.ready()?)?);
            }
            Ok(times)
        })?;
        Ok(found)
    }
}

/// The linear algorithm, as in LAM.
fn linear(comm: &dyn Comm, operation: Kind, size: u64) -> Result<Collective<'_>, CommError> {
    let refused = |what: String| CommError::Argument { what };
    let (algorithm, params) = find(operation, "linear").map_err(|refusal| refused(refusal.0))?;
    let shape = Shape::new(operation, comm.size(), size);
    Collective::new(comm, &shape, Answerer::Ours(algorithm, params))?.map_err(refused)
}
