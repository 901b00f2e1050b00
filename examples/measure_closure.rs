//! Measures a closure of yours with its interval: here a ring of messages among four processes.
//! Under `mpirun` or `srun` the same program measures those ranks.

use laneway::{Backend, CommError, Launch, Result, Rule, is_rank, join, launch, measure};

pub fn main() -> Result<()> {
    if !is_rank() {
        return launch(Launch::this_program().ranks(4))?.ok();
    }
    let world = join(Backend::default())?;
    let (rank, ranks) = (world.rank(), world.size());
    let ring = || {
        world.send((rank + 1) % ranks, 7, &[1; 1000])?;
        world.recv(Some((rank + ranks - 1) % ranks), Some(7), &mut [0; 1000])?;
        Ok::<(), CommError>(())
    };
    // Rank 0 gets the point.
    if let Some(point) = measure(&world, ring, &Rule::default())? {
        println!("a ring of {ranks} ranks takes {point}");
    }
    Ok(())
}
