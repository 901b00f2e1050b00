//! Isolated calls of a collective on a simulated cluster, in a program of their own.

use laneway_coll::{Refusal, default_algorithm};
use laneway_core::{Comm, CommError, Shape};
use laneway_measure::operation::Answerer;
use laneway_measure::{Collective, Starts, TrueTimes, true_times};
use laneway_sim::Program;
use laneway_sim::platform::Platform;

/// How often starts are moved further apart until no call meets the one before.
const TRIES: u32 = 10;

/// The times of isolated calls with the usual algorithm, in seconds.
pub fn isolated_times(
    platform: &Platform,
    shape: &Shape,
    mut starts: Starts,
) -> Result<Vec<f64>, String> {
    for _ in 0..TRIES {
        let found = run(platform, shape, &starts)?;
        if found.late == 0 {
            return Ok(found.times);
        }
        starts.apart *= 2.0;
    }
    Err("calls meet each other, however far apart they start".to_string())
}

fn run(platform: &Platform, shape: &Shape, starts: &Starts) -> Result<TrueTimes, String> {
    let (algorithm, params) = default_algorithm(shape).ok_or("no algorithm")?;
    let ended = Program::new(platform, shape.ranks).run(|comm: &dyn Comm| {
        let own = comm.dup()?;
        let made = Collective::new(comm, shape, Answerer::Ours(algorithm, params));
        let refused = |refusal: Refusal| CommError::Argument { what: refusal.0 };
        let mut collective = made.map_err(refused)?;
        true_times(&*own, &mut collective.ready()?, starts)
    });
    let results = ended.map_err(|error| error.to_string())?.results;
    let first = results.into_iter().next().ok_or("no rank")?;
    let found = first.map_err(|error: CommError| error.to_string())?;
    found.ok_or_else(|| "nothing is simulated".to_string())
}
