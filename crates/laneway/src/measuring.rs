//! Measures an operation on all ranks of a communicator.

use laneway_coll::{Algorithm, Answerer, algorithms, find};
use laneway_core::talk::objection;
use laneway_core::{Comm, CommError, Shape};
use laneway_measure::operation::{Collective, Operation};
use laneway_measure::timing::{Global, Maximum, Root, Series, StartTime, Tasks, serves};
use laneway_measure::{GlobalClock, Method, Point, Procedure, Rule, Stage, Timing};

use crate::error::{Error, Result};

/// Repetitions between two comparisons of the clocks, of the method that needs them.
const RESYNC: u32 = 100;

/// How an operation is measured.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct MeasureOptions {
    /// When there are enough samples.
    pub rule: Rule,
    /// What is timed: first entry to last exit after an agreed instant, unless something else is
    /// set.
    pub method: Method,
    /// How the clocks of the ranks are compared.
    pub clock: Procedure,
}

impl MeasureOptions {
    /// With this stopping rule.
    pub fn with_rule(self, rule: Rule) -> MeasureOptions {
        MeasureOptions { rule, ..self }
    }

    /// With this timing method.
    pub fn with_method(self, method: Method) -> MeasureOptions {
        MeasureOptions { method, ..self }
    }

    /// With this comparison of clocks.
    pub fn with_clock(self, clock: Procedure) -> MeasureOptions {
        MeasureOptions { clock, ..self }
    }

    fn timing(&self, root: u32) -> Box<dyn Timing> {
        match self.method {
            Method::Root => Box::new(Root::new(root, Default::default())),
            Method::Maximum => Box::new(Maximum),
            Method::Global => Box::new(Global { resync: RESYNC }),
            Method::Loop => Box::new(Series::default()),
            Method::Tasks => Box::new(Tasks::new(root)),
            _ => Box::new(StartTime::default()),
        }
    }
}

/// Collective: times an operation until the rule has enough samples. Rank 0 gets the point, the
/// others `None`.
///
/// The operation is any closure that all ranks call together. All else is done here: messages of
/// the measurement get a communicator of their own, clocks are compared, ranks begin together, and
/// the samples get an interval.
///
/// ```
/// use laneway::{CommError, Platform, Rule, measure, simulate};
///
/// let platform = Platform::read("cluster:2,latency=50us")?;
/// let points = simulate(&platform, 2, |comm| {
///     let ping = || match comm.rank() {
///         0 => comm.send(1, 7, &[]),
///         _ => comm.recv(Some(0), Some(7), &mut []).map(|_| ()),
///     };
///     measure(comm, ping, &Rule::default())
/// })?;
/// for point in points {
///     if let Some(point) = point? {
///         assert_eq!(point.to_string(), "50.00 us (50.00 to 50.00 us)");
///     }
/// }
/// # Ok::<(), laneway::Error>(())
/// ```
pub fn measure(
    comm: &dyn Comm,
    operation: impl FnMut() -> std::result::Result<(), CommError>,
    rule: &Rule,
) -> Result<Option<Point>> {
    measure_with(comm, operation, &MeasureOptions::default().with_rule(*rule))
}

/// Collective: the same with other options.
pub fn measure_with(
    comm: &dyn Comm,
    mut operation: impl FnMut() -> std::result::Result<(), CommError>,
    options: &MeasureOptions,
) -> Result<Option<Point>> {
    if options.method == Method::Tasks {
        let why = "the method `tasks` times collectives, not closures";
        return Err(Error::Rule(why.into()));
    }
    point(comm, &mut operation, 0, options)
}

/// Collective: times a collective call by an algorithm of the registry (`binomial`,
/// `knomial:radix=3`), or by the library behind the communicator (`native`), and checks its result
/// first.
///
/// ```
/// use laneway::{Collective, MeasureOptions, Platform, Shape, measure_call, simulate};
///
/// let platform = Platform::read("cluster:4,latency=50us")?;
/// let points = simulate(&platform, 4, |comm| {
///     let shape = Shape::new(Collective::Bcast, comm.size(), 8);
///     measure_call(comm, &shape, "binomial", &MeasureOptions::default())
/// })?;
/// let first = points.into_iter().next().expect("rank 0")?.expect("its point");
/// assert!((first.estimate - 100e-6).abs() < 1e-6, "{first}");
/// # Ok::<(), laneway::Error>(())
/// ```
pub fn measure_call(
    comm: &dyn Comm,
    shape: &Shape,
    algorithm: &str,
    options: &MeasureOptions,
) -> Result<Option<Point>> {
    let answerer = match algorithm {
        "native" => Answerer::Native,
        spelled => {
            let (algorithm, params) = find(shape.collective, spelled)?;
            Answerer::Ours(algorithm, params)
        }
    };
    if options.method == Method::Tasks
        && let Some(why) = refused_by_tasks(shape, algorithm)
    {
        return Err(Error::Rule(why));
    }
    let mut call = Collective::new(comm, shape, answerer)?;
    // What is wrong is known to one rank, and must end the measurement on all.
    let wrong = call.validate()?;
    if let Some(wrong) = objection(comm, wrong)? {
        return Err(Error::Algorithm(format!("{algorithm} gives a wrong result: {wrong}")));
    }
    point(comm, &mut call.ready()?, shape.root, options)
}

/// Collective: times a call by every algorithm that serves it, each with its usual parameters, and
/// by the library behind the communicator if it has one. Rank 0 gets the names that
/// [`measure_call`] takes with their points, the fastest first; the others `None`.
///
/// ```
/// use laneway::{Collective, MeasureOptions, Platform, Shape, measure_all, simulate};
///
/// let platform = Platform::read("cluster:4,latency=50us")?;
/// let all = simulate(&platform, 4, |comm| {
///     let shape = Shape::new(Collective::Barrier, comm.size(), 0);
///     measure_all(comm, &shape, &MeasureOptions::default())
/// })?;
/// let all = all.into_iter().next().expect("rank 0")?.expect("its points");
/// assert!(all.len() > 2 && all[0].1.estimate <= all[1].1.estimate);
/// # Ok::<(), laneway::Error>(())
/// ```
pub fn measure_all(
    comm: &dyn Comm,
    shape: &Shape,
    options: &MeasureOptions,
) -> Result<Option<Vec<(String, Point)>>> {
    let serves = |one: &&Algorithm| one.schedule(shape, &one.defaults()).is_ok();
    let native = comm.has_native(shape).then_some("native");
    let ours = algorithms(shape.collective).filter(serves).map(|one| one.name);
    let mut all = Vec::new();
    for name in native.into_iter().chain(ours) {
        let point = measure_call(comm, shape, name, options)?;
        all.extend(point.map(|point| (name.to_string(), point)));
    }
    all.sort_by(|one, other| one.1.estimate.total_cmp(&other.1.estimate));
    Ok((comm.rank() == 0).then_some(all))
}

fn refused_by_tasks(shape: &Shape, algorithm: &str) -> Option<String> {
    let served = serves(shape.collective, algorithm);
    let why =
        || format!("the method `tasks` does not time {} by {algorithm}", shape.collective.name());
    (!served).then(why)
}

fn point(
    comm: &dyn Comm,
    operation: &mut dyn Operation,
    root: u32,
    options: &MeasureOptions,
) -> Result<Option<Point>> {
    if let Some(why) = options.rule.objection() {
        return Err(Error::Rule(why));
    }
    let own = comm.dup()?;
    let mut stage = Stage::new(&*own, GlobalClock::new(&*own, options.clock));
    let mut timing = options.timing(root);
    Ok(laneway_measure::measure(&mut stage, &mut *timing, operation, &options.rule)?)
}
