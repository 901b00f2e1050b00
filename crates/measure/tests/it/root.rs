//! Root timing asks all ranks for confirmation at the root of the operation, whichever that is.

use laneway_coll::find;
use laneway_core::{Collective as Kind, Comm, CommError, Shape};
use laneway_measure::operation::Answerer;
use laneway_measure::timing::{Confirmation, Root};
use laneway_measure::{Collective, GlobalClock, Procedure, Rule, Stage, measure, truth};
use laneway_sim::{Program, platform::Platform};

/// The figure and the truth, on rank 0.
fn timed(
    comm: &dyn Comm,
    root: u32,
    confirmation: Confirmation,
) -> Result<Option<(f64, f64)>, CommError> {
    let shape = Shape::new(Kind::Bcast, comm.size(), 100_000).with_root(root);
    let (algorithm, params) = find(Kind::Bcast, "binomial").expect("an algorithm");
    let made = Collective::new(comm, &shape, Answerer::Ours(algorithm, params));
    let mut bcast = made.expect("a shape that is served");
    let own = comm.dup()?;
    let mut stage = Stage::new(&*own, GlobalClock::new(&*own, Procedure::default()));
    let mut ready = bcast.ready()?;
    let mut timing = Root::new(root, confirmation);
    let point = measure(&mut stage, &mut timing, &mut ready, &Rule::default())?;
    let truth = truth(&*own, &mut ready)?;
    Ok(point.map(|point| point.estimate).zip(truth))
}

#[test]
fn every_confirmation_ends_at_the_root() {
    let platform = Platform::read("cluster:8").expect("a platform");
    for root in [0, 1, 5] {
        for confirmation in Confirmation::ALL {
            let ended = Program::new(&platform, 8).run(|comm| timed(comm, root, confirmation));
            let results = ended.expect("it ends").results;
            let found = results.into_iter().next().expect("rank 0").expect("no error");
            let (figure, truth) = found.expect("rank 0 knows");
            let name = confirmation.name();
            assert!((figure / truth - 1.0).abs() < 0.05, "{name}, root {root}: {figure}, {truth}");
        }
    }
}
