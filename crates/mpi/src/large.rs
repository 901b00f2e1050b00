//! Messages over 2 GiB: by the 64-bit functions of MPI-4 where the library has them, otherwise as
//! one element of a datatype that is as long as the message. Either way it is one message, so that
//! a probe, a wildcard or an unknown length works as for a short one.

use laneway_core::CommError;

use crate::calls::Mpi;
use crate::flavour::Handle;

/// The longest count that fits into an `int`.
pub const MOST: usize = i32::MAX as usize;

const CHUNK: usize = 1 << 30;

/// A datatype of a given length, freed when dropped; transfers that use it may go on.
pub struct LongType<'a> {
    mpi: &'a Mpi,
    handle: Handle,
}

impl<'a> LongType<'a> {
    pub fn new(mpi: &'a Mpi, len: usize) -> Result<LongType<'a>, CommError> {
        let f = &mpi.tables.functions;
        let too_long = || CommError::Argument { what: format!("a message of {len} bytes") };
        let chunks = i32::try_from(len / CHUNK).map_err(|_| too_long())?;
        let mut chunk = LongType { mpi, handle: 0 };
        // SAFETY: the handle is a word of our own, which the library fills.
        let code =
            unsafe { (f.type_contiguous)(CHUNK as i32, mpi.flavour.byte, &mut chunk.handle) };
        mpi.check("MPI_Type_contiguous", code)?;
        let counts = [chunks, (len % CHUNK) as i32];
        let offsets = [0, (len - len % CHUNK) as isize];
        // An array of handles has the stride of the flavour's handles, which is that of requests.
        let (a, b) = (chunk.handle, mpi.flavour.byte);
        let types = if mpi.flavour.request_bytes == 4 { [a | b << 32, 0] } else { [a, b] };
        let mut whole = LongType { mpi, handle: 0 };
        // SAFETY: three arrays of two elements, which the library copies.
        let code = unsafe {
            (f.type_create_struct)(
                2,
                counts.as_ptr(),
                offsets.as_ptr(),
                types.as_ptr(),
                &mut whole.handle,
            )
        };
        mpi.check("MPI_Type_create_struct", code)?;
        // SAFETY: the handle was just made.
        mpi.check("MPI_Type_commit", unsafe { (f.type_commit)(&mut whole.handle) })?;
        Ok(whole)
    }

    pub fn handle(&self) -> Handle {
        self.handle
    }
}

impl Drop for LongType<'_> {
    fn drop(&mut self) {
        if self.handle != 0 {
            // SAFETY: the handle was made by this type and is used no more; MPI keeps the datatype
            // itself until the transfers that use it are over.
            unsafe { (self.mpi.tables.functions.type_free)(&mut self.handle) };
        }
    }
}

/// MPI's four ways to move a message, for a length beyond `int`. Each returns MPI's code.
///
/// The callers' promises are those of the MPI functions: the buffer holds `len` bytes, and for the
/// non-blocking two it stays until the request is complete.
impl Mpi {
    #[cold]
    pub unsafe fn send_large(
        &self,
        comm: Handle,
        data: *const u8,
        len: usize,
        to: i32,
        tag: i32,
    ) -> Result<i32, CommError> {
        // SAFETY: as promised by the caller.
        unsafe {
            if let Some(large) = &self.tables.large {
                return Ok((large.send)(data, len as i64, self.flavour.byte, to, tag, comm));
            }
            let long = LongType::new(self, len)?;
            Ok((self.tables.small.send)(data, 1, long.handle(), to, tag, comm))
        }
    }

    #[cold]
    pub unsafe fn recv_large(
        &self,
        comm: Handle,
        into: *mut u8,
        len: usize,
        from: i32,
        tag: i32,
        status: *mut i32,
    ) -> Result<i32, CommError> {
        // SAFETY: as promised by the caller.
        unsafe {
            if let Some(large) = &self.tables.large {
                let byte = self.flavour.byte;
                return Ok((large.recv)(into, len as i64, byte, from, tag, comm, status));
            }
            let long = LongType::new(self, len)?;
            Ok((self.tables.small.recv)(into, 1, long.handle(), from, tag, comm, status))
        }
    }

    #[cold]
    pub unsafe fn isend_large(
        &self,
        comm: Handle,
        data: *const u8,
        len: usize,
        to: i32,
        tag: i32,
        request: *mut u8,
    ) -> Result<i32, CommError> {
        // SAFETY: as promised by the caller.
        unsafe {
            if let Some(large) = &self.tables.large {
                let byte = self.flavour.byte;
                return Ok((large.isend)(data, len as i64, byte, to, tag, comm, request));
            }
            let long = LongType::new(self, len)?;
            Ok((self.tables.small.isend)(data, 1, long.handle(), to, tag, comm, request))
        }
    }

    #[cold]
    pub unsafe fn irecv_large(
        &self,
        comm: Handle,
        into: *mut u8,
        len: usize,
        from: i32,
        tag: i32,
        request: *mut u8,
    ) -> Result<i32, CommError> {
        // SAFETY: as promised by the caller.
        unsafe {
            if let Some(large) = &self.tables.large {
                let byte = self.flavour.byte;
                return Ok((large.irecv)(into, len as i64, byte, from, tag, comm, request));
            }
            let long = LongType::new(self, len)?;
            Ok((self.tables.small.irecv)(into, 1, long.handle(), from, tag, comm, request))
        }
    }
}
