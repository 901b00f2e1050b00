//! The tour's third stop, as each of its ranks sees it: every algorithm once, and a ping-pong.

use laneway_coll::bytes::{Tally, one_of_each};
use laneway_core::{Collective, Comm, Tag};

use crate::failure::{Exit, Failure};
use crate::output;
use crate::session::RankError;

const TAG: Tag = 2;

/// Runs on every rank; rank 0 prints a line.
pub fn stop(comm: &dyn Comm) -> Result<Exit, RankError> {
    let Tally { passed, failed, .. } = one_of_each(comm, 1 << 10)?;
    let small = half_round_trip_us(comm, 8, 400)?;
    let large = half_round_trip_us(comm, 1 << 20, 40)?;
    let backend = comm.describe().into_iter().find(|(name, _)| *name == "backend");
    let backend = backend.map_or(String::new(), |(_, name)| name);
    if comm.rank() == 0 {
        let gbit = f64::from(1u32 << 23) / large / 1e3;
        let line = format!(
            "   {backend:<11} {passed} calls right, {failed} wrong; 8 B in {small:.2} us, \
             1 MiB at {gbit:.0} Gbit/s\n"
        );
        output::print(&line)?;
    }
    if failed > 0 {
        let what = format!("{failed} of {} calls gave a wrong answer", passed + failed);
        let try_this = "laneway check --ranks 4, which shows where";
        return Err(Failure::new(Exit::Gate, what, "see the line above", try_this).into());
    }
    Ok(Exit::Done)
}

/// The median over `times` round trips between ranks 0 and 1, halved; the others wait.
fn half_round_trip_us(comm: &dyn Comm, size: usize, times: usize) -> Result<f64, RankError> {
    let mut buffer = vec![0u8; size];
    let mut taken: Vec<f64> = Vec::with_capacity(times);
    for _ in 0..times + times / 10 {
        let begun = comm.clock().now();
        match comm.rank() {
            0 => {
                comm.send(1, TAG, &buffer)?;
                comm.recv(Some(1), Some(TAG), &mut buffer)?;
            }
            1 => {
                comm.recv(Some(0), Some(TAG), &mut buffer)?;
                comm.send(0, TAG, &buffer)?;
            }
            _ => break,
        }
        taken.push((comm.clock().now() - begun) / 2.0 * 1e6);
    }
    // The first tenth warms up.
    let mut kept = taken.split_off(taken.len().min(times / 10));
    kept.sort_by(f64::total_cmp);
    barrier(comm)?;
    Ok(kept.get(kept.len() / 2).copied().unwrap_or(0.0))
}

/// Prevents the next measurement from starting while a rank still waits.
fn barrier(comm: &dyn Comm) -> Result<(), RankError> {
    let shape = laneway_core::Shape::new(Collective::Barrier, comm.size(), 0);
    let found = laneway_coll::find(Collective::Barrier, "dissemination");
    let refused = |refusal: laneway_coll::Refusal| {
        Failure::environment("no barrier", refusal.0, "report this")
    };
    let (algorithm, params) = found.map_err(refused)?;
    let schedule = algorithm.schedule(&shape, &params).map_err(refused)?;
    let mut tmp = vec![0; schedule.tmp_len(comm.rank()) as usize];
    let buffers = laneway_core::Buffers::new(&[], &mut [], &mut tmp);
    laneway_core::Exec::new(comm, &*schedule, buffers, None, 0)?.run()?;
    Ok(())
}
