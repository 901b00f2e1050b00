//! Clocks that are off and drift on real ranks. Processes of one machine share a clock; over it
//! each is given another one, so that what they find out can be held against what is so.
//!
//! One test alone: each rank is this program again, and runs it too.

use laneway_core::{Comm, CommError};
use laneway_local::{Launch, Transport, attach};
use laneway_measure::clock::Skewed;
use laneway_measure::talk::broadcast;
use laneway_measure::{GlobalClock, Procedure};

const RANKS: u32 = 3;
const OFFSET: f64 = 0.5;
const DRIFT: f64 = 10e-6;
/// Seconds between two comparisons.
const PAUSE: f64 = 0.2;

#[test]
fn ranks_agree_on_the_time_as_well_as_they_say() {
    match attach().expect("a rank or none") {
        Some(comm) => agree(&comm).expect("messages between the ranks"),
        None => {
            let launch = Launch { ranks: RANKS, transport: Transport::default(), limit: None };
            assert_eq!(launch.run().expect("the ranks start"), 0, "a rank failed");
        }
    }
}

fn agree(comm: &dyn Comm) -> Result<(), CommError> {
    let shared = comm.clock();
    let mut since = [shared.now()];
    broadcast(comm, &mut since)?;
    let skewed = |rank: u32| {
        let side = if rank.is_multiple_of(2) { 1.0 } else { -1.0 };
        Skewed { clock: shared, offset: side * OFFSET, drift: side * DRIFT, since: since[0] }
    };
    let (first, own) = (skewed(0), skewed(comm.rank()));
    let mut clock = GlobalClock::over(comm, &own, Procedure::Tree);
    let wrong = |clock: &GlobalClock, at: f64| {
        (clock.global_of(own.shown_at(at)) - first.shown_at(at)).abs()
    };
    let apart = if comm.rank().is_multiple_of(2) { 0.0 } else { 2.0 * OFFSET };
    assert!(!clock.is_global() && (wrong(&clock, shared.now()) - apart).abs() < 0.01);

    let (before, bound) = compare(comm, &mut clock)?;
    assert!(wrong(&clock, before) <= bound, "{} s of {bound} s", wrong(&clock, before));
    shared.sleep_until(before + PAUSE);
    let (after, next_bound) = compare(comm, &mut clock)?;
    // Between two comparisons the drift is known.
    for part in 0..=10 {
        let at = before + (after - before) * f64::from(part) / 10.0;
        let (wrong, bound) = (wrong(&clock, at), bound.max(next_bound));
        assert!(wrong <= bound, "rank {}: {wrong} s of {bound} s", comm.rank());
        assert!(bound < 0.1, "rank {}: a bound of {bound} s says nothing", comm.rank());
    }
    Ok(())
}

/// Collective: compares the clocks; when that was over, and what it leaves uncertain on this rank,
/// whatever ways take. Until all have heard of it, two clocks drift apart.
fn compare(comm: &dyn Comm, clock: &mut GlobalClock) -> Result<(f64, f64), CommError> {
    let shared = comm.clock();
    let begun = shared.now();
    clock.synchronise()?;
    let mut bounds = vec![0.0; comm.size() as usize];
    if let Some(ways) = clock.ways()? {
        let apart = |rank: usize| ways.most(rank, 0).max(ways.most(0, rank));
        bounds = (0..bounds.len()).map(apart).collect();
    }
    broadcast(comm, &mut bounds)?;
    let over = shared.now();
    Ok((over, bounds[comm.rank() as usize] + 2.0 * DRIFT * (over - begun)))
}
