//! What one process knows of an MPI communicator that it is a member of: all that a call of MPI
//! takes besides its data.

use std::rc::Rc;

use laneway_core::{CommError, Rank};

use crate::calls::Mpi;
use crate::flavour::Handle;
use crate::world::World;

pub(crate) struct Member {
    pub world: Rc<World>,
    pub handle: Handle,
    pub rank: Rank,
    pub size: u32,
}

impl Member {
    /// Of a live handle, whose errors return from now on.
    pub fn of(world: Rc<World>, handle: Handle) -> Result<Member, CommError> {
        let mpi = &world.mpi;
        let f = &mpi.tables.functions;
        let (mut rank, mut size) = (-1i32, -1i32);
        mpi.return_errors(handle)?;
        // SAFETY: the handle is a live communicator; the results go to words of our own.
        unsafe {
            mpi.check("MPI_Comm_rank", (f.comm_rank)(handle, &mut rank))?;
            mpi.check("MPI_Comm_size", (f.comm_size)(handle, &mut size))?;
        }
        // MPI counts ranks from 0 and a communicator has at least one.
        Ok(Member { handle, rank: rank as Rank, size: size as u32, world })
    }

    pub fn mpi(&self) -> &Mpi {
        &self.world.mpi
    }
}
