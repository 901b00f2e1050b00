//! Measures a closure of yours with its interval: here a ring of messages, on any backend.
//!
//! `LANEWAY_BACKEND=local cargo run -p laneway-examples --example measure_closure`

use laneway_backend::BackendError;
use laneway_core::CommError;
use laneway_measure::timing::StartTime;
use laneway_measure::{GlobalClock, Procedure, Rule, Stage, measure};

pub fn main() -> Result<(), BackendError> {
    let name = std::env::var("LANEWAY_BACKEND").unwrap_or("sim:cluster:4".into());
    laneway_backend::open(&name)?.run::<BackendError>(&|comm| {
        let (rank, ranks) = (comm.rank(), comm.size());
        let mut ring = || {
            comm.send((rank + 1) % ranks, 7, &[1; 1000])?;
            comm.recv(Some((rank + ranks - 1) % ranks), Some(7), &mut [0; 1000])?;
            Ok::<(), CommError>(())
        };
        // A communicator of its own, so that no message meets one of the closure.
        let own = comm.dup()?;
        let mut stage = Stage::new(&*own, GlobalClock::new(&*own, Procedure::default()));
        let mut timing = StartTime::default();
        let point = measure(&mut stage, &mut timing, &mut ring, &Rule::default())?;
        // Rank 0 knows it.
        if let Some((estimate, interval)) = point.and_then(|p| Some((p.estimate, p.interval?))) {
            let [low, time, high] = [interval.low, estimate, interval.high].map(|s| s * 1e6);
            println!("a ring of {ranks} ranks takes {time:.2} us, 95 %: {low:.2} to {high:.2} us");
        }
        Ok(0)
    })?;
    Ok(())
}
