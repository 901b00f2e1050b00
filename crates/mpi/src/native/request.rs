//! The request of a collective that was started: tested, and waited for whatever happens.

use laneway_core::{CommError, Meanwhile};

use crate::let_go::let_go;
use crate::member::Member;
use crate::status::Status;

pub struct Request<'a> {
    comm: &'a Member,
    /// Wide enough for the handle of any flavour.
    handle: u64,
    /// Whether the library may still touch the buffers.
    under_way: bool,
}

impl<'a> Request<'a> {
    pub fn new(comm: &'a Member) -> Request<'a> {
        Request { comm, handle: 0, under_way: false }
    }

    /// Where the library writes the request.
    pub fn room(&mut self) -> *mut u8 {
        (&raw mut self.handle).cast()
    }

    /// Takes note of what the call answered that was given the room.
    pub fn started(&mut self, call: &'static str, code: i32) -> Result<(), CommError> {
        self.comm.mpi().check(call, code)?;
        self.under_way = true;
        Ok(())
    }

    fn test(&mut self) -> Result<bool, CommError> {
        if !self.under_way {
            return Ok(true);
        }
        let (mpi, room) = (self.comm.mpi(), self.room());
        let (mut status, mut complete) = (Status::filled(0), 0i32);
        // SAFETY: the request is live, and the results go to words of our own.
        let code = unsafe { (mpi.tables.functions.test)(room, &mut complete, status.as_mut_ptr()) };
        mpi.check("MPI_Test", code)?;
        self.under_way = complete == 0;
        Ok(complete != 0)
    }

    /// Lets `meanwhile` do its work and waits for the rest.
    pub fn finish(mut self, meanwhile: &mut Meanwhile<'_>) -> Result<(), CommError> {
        meanwhile(&mut || self.test())?;
        if !self.under_way {
            return Ok(());
        }
        let (mpi, room, mut status) = (self.comm.mpi(), self.room(), Status::filled(0));
        // SAFETY: the request is live, and the result goes to a status of our own.
        let code = unsafe { (mpi.tables.functions.wait)(room, status.as_mut_ptr()) };
        mpi.check("MPI_Wait", code)?;
        self.under_way = false;
        Ok(())
    }
}

impl Drop for Request<'_> {
    /// MPI cannot cancel a collective: after an error or a panic it goes on to its end.
    fn drop(&mut self) {
        if self.under_way {
            let (comm, room) = (self.comm, self.room());
            // SAFETY: the request is live.
            unsafe { let_go(&comm.world, room, "a collective") };
        }
    }
}
