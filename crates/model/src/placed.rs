//! Algorithms whose schedules depend on where ranks are: without sites a prediction of them is that
//! of another schedule than the one that runs.

use laneway_coll::{Algorithm, Params};
use laneway_core::{Location, Placement, Round, Schedule, Shape};

/// Ranks and bytes of the calls that tell.
const RANKS: u32 = 6;
const BYTES: u64 = 6 << 10;

/// Whether an algorithm is another schedule where ranks are at several sites.
///
/// ```
/// use laneway_coll::find;
/// use laneway_core::Collective;
/// use laneway_model::needs_placement;
///
/// let needs = |name: &str| {
///     let (algorithm, params) = find(Collective::Scatter, name).expect("an algorithm");
///     needs_placement(algorithm, &params)
/// };
/// assert!(needs("single-lane") && !needs("binomial"));
/// ```
pub fn needs_placement(algorithm: &Algorithm, params: &Params) -> bool {
    let shape = Shape::new(algorithm.family, RANKS, BYTES);
    let steps = |placement: &Placement| {
        algorithm.placed(&shape, params, placement).ok().map(|schedule| steps(&*schedule))
    };
    let one = steps(&Placement::one_site(RANKS));
    let sites: [fn(u32) -> u32; 2] = [|rank| rank / (RANKS / 2), |rank| rank % 2];
    sites.into_iter().any(|site| {
        let location = |rank| Location { site: site(rank), host: rank, ..Location::default() };
        steps(&Placement::new((0..RANKS).map(location).collect())) != one
    })
}

/// Everything that all ranks do.
fn steps(schedule: &dyn Schedule) -> Vec<String> {
    let mut all = Vec::new();
    for rank in 0..schedule.ranks() {
        for lane in 0..schedule.lanes(rank) {
            for k in 0..schedule.rounds(rank, lane) {
                let mut round = Round::default();
                schedule.round(rank, lane, k, &mut round);
                all.push(format!("{rank} {lane} {k} {:?}", round.steps));
            }
        }
    }
    all
}
