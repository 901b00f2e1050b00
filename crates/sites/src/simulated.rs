//! Rows for simulated calls: each algorithm that was asked for, with each size.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use laneway_coll::{Algorithm, Params};
use laneway_core::{Collective, Rank, Row, Shape};
use laneway_sim::platform::Platform;
use laneway_sim::{Observer, Outcome, SimError, Simulation};

/// Calls of ranks on a platform's first hosts, one on each.
///
/// ```
/// use laneway_coll::algorithms;
/// use laneway_core::Collective::Bcast;
/// use laneway_sim::platform::Platform;
/// use laneway_sites::{Run, Simulated};
///
/// let platform = Platform::read("cluster:16").expect("a platform");
/// let calls = Simulated { platform: &platform, ranks: 16, root: 0 };
/// let all = algorithms(Bcast).map(|algorithm| (Bcast, algorithm, algorithm.defaults()));
/// let runs = Run::each(&all.collect::<Vec<_>>(), &[1 << 10, 1 << 20]);
/// let times = calls.rows(&runs, &()).expect("times");
/// assert_eq!(times.rows.len() + times.refused.len(), runs.len());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Simulated<'a> {
    /// Where they run.
    pub platform: &'a Platform,
    /// How many ranks call.
    pub ranks: u32,
    /// The root of operations that have one.
    pub root: Rank,
}

/// An algorithm for one call.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// What is called.
    pub collective: Collective,
    /// Who does it.
    pub algorithm: &'static Algorithm,
    /// Its parameters.
    pub params: Params,
    /// Bytes of a rank's block, or of the vector.
    pub size: u64,
}

impl Run {
    /// Each algorithm with each size, by operation and size; a barrier has no size.
    pub fn each(
        algorithms: &[(Collective, &'static Algorithm, Params)],
        sizes: &[u64],
    ) -> Vec<Run> {
        let mut all = Vec::new();
        for &(collective, algorithm, params) in algorithms {
            let sizes = if collective == Collective::Barrier { &[0] } else { sizes };
            let run = |&size: &u64| Run { collective, algorithm, params, size };
            all.extend(sizes.iter().map(run));
        }
        let place = |op: Collective| algorithms.iter().position(|one| one.0 == op);
        all.sort_by_key(|run| (place(run.collective), run.size));
        all
    }
}

/// What runs came to.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Times {
    /// A row for each run that was simulated.
    pub rows: Vec<Row>,
    /// The algorithms that do not serve their call, and why.
    pub refused: Vec<(&'static Algorithm, String)>,
}

/// Why a run has no outcome.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NotSimulated {
    /// The algorithm does not serve the call.
    Refused(String),
    /// The simulation cannot go on.
    Failed {
        /// The algorithm's name.
        algorithm: &'static str,
        /// Why.
        error: SimError,
    },
}

impl fmt::Display for NotSimulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotSimulated::Refused(why) => f.write_str(why),
            NotSimulated::Failed { algorithm, error } => {
                write!(f, "{algorithm} cannot be simulated: {error}")
            }
        }
    }
}

impl Error for NotSimulated {}

impl Simulated<'_> {
    /// The root that an operation has here, if it has one.
    pub fn root_of(&self, collective: Collective) -> Option<Rank> {
        collective.has_root().then_some(self.root)
    }

    /// A call of all ranks, which knows where they are.
    pub fn shape(&self, collective: Collective, size: u64) -> Shape {
        let hosts: Vec<u32> = (0..self.ranks).collect();
        let placement = Arc::new(self.platform.placement(&hosts));
        let root = self.root_of(collective).unwrap_or(0);
        Shape::new(collective, self.ranks, size).with_root(root).with_placement(placement)
    }

    /// One run, with an observer if given.
    pub fn run(
        &self,
        run: &Run,
        watcher: Option<&mut (dyn Observer + Send)>,
        progress: &dyn laneway_core::Observer,
    ) -> Result<Outcome, NotSimulated> {
        let schedule = run.algorithm.schedule(&self.shape(run.collective, run.size), &run.params);
        let schedule = schedule.map_err(|refusal| NotSimulated::Refused(refusal.0))?;
        let mut simulation = Simulation::new(self.platform).progress(progress);
        if let Some(watcher) = watcher {
            simulation = simulation.observed(watcher);
        }
        let algorithm = run.algorithm.name;
        simulation.run(&*schedule).map_err(|error| NotSimulated::Failed { algorithm, error })
    }

    /// A row for each run. Of several runs, `progress` counts those that are over; of a single one
    /// its rounds.
    pub fn rows(
        &self,
        runs: &[Run],
        progress: &dyn laneway_core::Observer,
    ) -> Result<Times, NotSimulated> {
        let inside = if runs.len() == 1 { progress } else { &() };
        let mut times = Times::default();
        for (number, run) in runs.iter().enumerate() {
            let what = format!("{} {}", run.collective.name(), run.algorithm.name);
            progress.progress(number as u64, runs.len() as u64, &what);
            match self.run(run, None, inside) {
                Ok(outcome) => times.rows.push(self.row(run, &outcome)),
                Err(NotSimulated::Refused(why)) => times.refused.push((run.algorithm, why)),
                Err(error) => return Err(error),
            }
        }
        Ok(times)
    }

    fn row(&self, run: &Run, outcome: &Outcome) -> Row {
        Row::new()
            .with("op", run.collective.name())
            .with("algorithm", run.algorithm.label(&run.params))
            .with("ranks", self.ranks)
            .with("root", self.root_of(run.collective))
            .with("size_bytes", run.size)
            .with("time_us", outcome.finish * 1e6)
            .with("messages", outcome.messages)
            .with("bytes", outcome.bytes)
    }
}
