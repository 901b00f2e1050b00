//! The fifth stop: a measurement whose truth is known, with clocks that are off and drift.

use laneway_coll::default_algorithm;
use laneway_core::{Collective as Kind, Comm, CommError, Shape};
use laneway_measure::operation::Answerer;
use laneway_measure::timing::{Maximum, Stage, StartTime, Timing};
use laneway_measure::{Collective, GlobalClock, Point, Procedure, Rule, measure, truth};
use laneway_sim::Program;

use super::say;
use crate::failure::Failure;
use crate::platform;

/// Hosts at two sites whose clocks are up to half a second off.
const PLATFORM: &str = "two-sites:8x8,latency=500us,clock-offset=+-500ms,clock-drift=+-10ppm";
const SIZE: u64 = 1 << 10;

/// A method's point and the truth, on rank 0.
fn measured(
    comm: &dyn Comm,
    kind: Kind,
    timing: &mut dyn Timing,
) -> Result<Option<(Point, f64)>, CommError> {
    let own = comm.dup()?;
    let shape = Shape::new(kind, comm.size(), SIZE);
    let Some((algorithm, params)) = default_algorithm(&shape) else { return Ok(None) };
    let Ok(mut made) = Collective::new(comm, &shape, Answerer::Ours(algorithm, params)) else {
        return Ok(None);
    };
    made.validate()?;
    let mut ready = made.ready()?;
    let clock = GlobalClock::new(&*own, Procedure::Tree);
    let mut stage = Stage::new(&*own, clock);
    stage.clock.synchronise()?;
    let point = measure(&mut stage, timing, &mut ready, &Rule::default())?;
    Ok(point.zip(truth(&*own, &mut ready)?))
}

/// Measures on the simulated cluster, by the default method and as most benchmarks do.
pub fn stop() -> Result<(), Failure> {
    say("5. Figures that can be trusted: clocks half a second off and drifting, yet\n")?;
    let platform = platform::read("", PLATFORM)?;
    for kind in [Kind::Bcast, Kind::Gather] {
        let run = |barrier: bool| {
            let ended = Program::new(&platform, platform.hosts()).run(|comm| {
                let mut start_time = StartTime::default();
                let timing: &mut dyn Timing = if barrier { &mut Maximum } else { &mut start_time };
                measured(comm, kind, timing)
            });
            let failed = |cause: String| {
                Failure::environment("the tour cannot measure", cause, "report this")
            };
            let results = ended.map_err(|error| failed(error.to_string()))?.results;
            let first = results.into_iter().next().unwrap_or(Ok(None));
            first.map_err(|error| failed(error.to_string()))
        };
        let (Some((ours, truth)), Some((usual, _))) = (run(false)?, run(true)?) else { continue };
        let apart = |point: &Point| (point.estimate / truth - 1.0).abs() * 100.0;
        say(&format!(
            "   {} of 1K: {:.1} us in truth; {:.1} us measured, {:.3} % off, after {} samples; \
             {:.1} % off after a barrier",
            kind.name(),
            truth * 1e6,
            ours.estimate * 1e6,
            apart(&ours),
            ours.samples.len(),
            apart(&usual)
        ))?;
    }
    say("")
}
