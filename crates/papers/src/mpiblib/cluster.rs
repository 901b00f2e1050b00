//! The cluster of the MPIBlib paper as it is simulated here, and what a library runs on it.

use laneway_coll::{Refusal, find};
use laneway_core::{Collective as Kind, Comm, CommError, Shape};
use laneway_measure::operation::Answerer;
use laneway_measure::talk::broadcast;
use laneway_measure::timing::Series;
use laneway_measure::{Batch, Collective, GlobalClock, Pace, Procedure, Stage, Timing};
use laneway_sim::Program;
use laneway_sim::platform::Platform;

use crate::error::PaperError;

/// With clocks that agree the global method would have nothing to do.
pub const PLATFORM: &str = "mpiblib16,clock-offset=+-500ms,clock-drift=+-10ppm";
/// paper: mpiblib 5: the operations of its table and its figures, both linear in LAM.
pub const OPERATIONS: [Kind; 2] = [Kind::Scatter, Kind::Gather];

/// The simulated cluster, on which programs run in virtual time.
pub struct Cluster {
    platform: Platform,
}

impl Cluster {
    /// That of the paper.
    pub fn new() -> Result<Cluster, PaperError> {
        Cluster::read(PLATFORM)
    }

    /// Another one by its name.
    pub fn read(name: &str) -> Result<Cluster, PaperError> {
        let platform = Platform::read(name).map_err(PaperError::testbed)?;
        Ok(Cluster { platform })
    }

    /// Another one as a file would describe it.
    pub fn parse(name: &str, text: &str) -> Result<Cluster, PaperError> {
        let platform = Platform::parse(name, text).map_err(PaperError::testbed)?;
        Ok(Cluster { platform })
    }

    /// The names of its hosts.
    pub fn hosts(&self) -> &[String] {
        self.platform.host_names()
    }

    /// Runs a program on every host: what it found on rank 0, and how long it all took.
    pub fn run<R: Send>(
        &self,
        program: impl Fn(&dyn Comm) -> Result<R, CommError> + Sync,
    ) -> Result<(R, f64), PaperError> {
        let ended = Program::new(&self.platform, self.platform.hosts()).run(program);
        let ended = ended.map_err(PaperError::testbed)?;
        let found = ended.results.into_iter().next();
        let found = found.ok_or_else(|| PaperError::testbed("rank 0 found nothing"))?;
        Ok((found.map_err(PaperError::testbed)?, ended.finish))
    }

    /// IMB's way, in figure 1: one series of calls for each size. There is no warm-up call,
    /// as a single gather that escalates would count several times.
    pub fn series(
        &self,
        operation: Kind,
        sizes: &[u64],
        length: u32,
    ) -> Result<Vec<Batch>, PaperError> {
        let (batches, _) = self.run(|comm| {
            let own = comm.dup()?;
            let mut stage = Stage::new(&*own, GlobalClock::new(&*own, Procedure::Tree));
            let mut series = Series { length };
            let mut batches = Vec::new();
            for &size in sizes {
                let mut collective = linear(comm, operation, size)?;
                // Rank 0 has just collected and would come last to the barrier: all come as between
                // two batches of a point.
                broadcast(stage.comm, &mut [1.0])?;
                let one = Pace::dense(1);
                batches.push(series.batch(&mut stage, &mut collective.ready()?, one)?);
            }
            Ok(batches)
        })?;
        Ok(batches)
    }
}

/// The linear algorithm, as in LAM.
fn linear(comm: &dyn Comm, operation: Kind, size: u64) -> Result<Collective<'_>, CommError> {
    let refused = |refusal: Refusal| CommError::Argument { what: refusal.0 };
    let (algorithm, params) = find(operation, "linear").map_err(refused)?;
    let shape = Shape::new(operation, comm.size(), size);
    Collective::new(comm, &shape, Answerer::Ours(algorithm, params)).map_err(refused)
}
