//! Non-blocking transfers: one array of requests as the library lays it out, beside it what each
//! request is for. Both grow to the most that was ever outstanding, and nothing is allocated after.

use std::time::Duration;

use laneway_core::{CommError, Progress, Queue, Rank, Slot, Tag};

use crate::calls::Mpi;
use crate::comm::MpiComm;
use crate::flavour::Handle;
use crate::large;
use crate::let_go::let_go;
use crate::limited::Deadline;
use crate::status::{Status, Statuses};

/// The length up to which sends are tested once after their start: most libraries have taken them
/// over by then, and a slot that is done needs no MPI_Waitsome. Longer ones would pay for nothing.
const EAGER: usize = 4096;

/// What a request is for.
#[derive(Clone, Copy)]
struct Transfer {
    slot: Slot,
    /// Room of a receive; `None` for a send.
    room: Option<u64>,
}

/// Requests at the flavour's stride, in words so that they are aligned.
struct Requests {
    words: Vec<u64>,
    bytes: usize,
}

impl Requests {
    /// Room for one request more than `count`.
    #[inline]
    fn at(&mut self, count: usize) -> *mut u8 {
        let needed = ((count + 1) * self.bytes).div_ceil(8);
        if self.words.len() < needed {
            self.words.resize(needed.next_power_of_two().max(8), 0);
        }
        // SAFETY: the array was just seen to reach to the end of request `count`.
        unsafe { self.start().add(count * self.bytes) }
    }

    #[inline]
    fn start(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }

    /// Copies request `from` over request `to`.
    #[inline]
    fn copy(&mut self, from: usize, to: usize) {
        let bytes = self.bytes;
        // SAFETY: both numbers are of requests that `at` made room for.
        unsafe {
            let start = self.start();
            std::ptr::copy(start.add(from * bytes), start.add(to * bytes), bytes);
        }
    }
}

pub struct MpiQueue<'a> {
    comm: &'a MpiComm,
    mpi: &'a Mpi,
    handle: Handle,
    requests: Requests,
    transfers: Vec<Transfer>,
    /// A simulator lets virtual time pass in every look at a request, also in MPI_Waitsome.
    looking_costs: bool,
    /// How long a wait may last.
    limit: Option<Duration>,
    /// What Waitsome and Testsome write to.
    indices: Vec<i32>,
    statuses: Statuses,
}

impl<'a> MpiQueue<'a> {
    pub fn new(comm: &'a MpiComm) -> MpiQueue<'a> {
        let mpi = comm.mpi();
        MpiQueue {
            comm,
            mpi,
            handle: comm.handle(),
            requests: Requests { words: Vec::new(), bytes: mpi.flavour.request_bytes },
            transfers: Vec::new(),
            looking_costs: mpi.flavour.simulator.is_some(),
            limit: comm.wait_limit(),
            indices: Vec::new(),
            statuses: Statuses::new(mpi.flavour.status),
        }
    }

    /// Whether a send that was just started is over, which is known at once if the library sends
    /// short messages eagerly.
    #[inline]
    fn is_complete(&self, request: *mut u8) -> Result<bool, CommError> {
        let (mut status, mut complete) = (Status::filled(0), 0i32);
        // SAFETY: the request is live, and the results go to words of our own.
        let code = unsafe {
            (self.mpi.tables.functions.test)(request, &mut complete, status.as_mut_ptr())
        };
        self.mpi.check("MPI_Test", code)?;
        Ok(complete != 0)
    }

    /// Waits for one request alone.
    #[inline]
    fn wait_for(&mut self, number: usize, done: &mut Vec<Slot>) -> Result<(), CommError> {
        let (request, transfer) = (self.requests.at(number), self.transfers[number]);
        let mut status = Status::filled(0);
        // SAFETY: the request is live, and the result goes to a status of our own.
        let code = unsafe { (self.mpi.tables.functions.wait)(request, status.as_mut_ptr()) };
        if code != 0 {
            let room = transfer.room.unwrap_or(u64::MAX);
            return Err(self.mpi.receive_error("MPI_Wait", code, &status, room));
        }
        done.push(transfer.slot);
        Ok(())
    }

    /// Waits for every request by MPI_Wait, the shortest way. Receives come first: one that fails
    /// is not kept waiting by a send without a receiver.
    fn wait_for_each(&mut self, done: &mut Vec<Slot>) -> Result<(), CommError> {
        for sends in [false, true] {
            for number in 0..self.transfers.len() {
                if self.transfers[number].room.is_none() != sends {
                    continue;
                }
                if let Err(error) = self.wait_for(number, done) {
                    self.keep_after(sends, number);
                    return Err(error);
                }
            }
        }
        self.transfers.clear();
        Ok(())
    }

    /// Takes out what was waited for up to a request that failed, itself included.
    #[cold]
    fn keep_after(&mut self, sends: bool, failed: usize) {
        let mut kept = 0;
        for number in 0..self.transfers.len() {
            let transfer = self.transfers[number];
            if (transfer.room.is_none(), number) > (sends, failed) {
                self.requests.copy(number, kept);
                self.transfers[kept] = transfer;
                kept += 1;
            }
        }
        self.transfers.truncate(kept);
    }

    /// One of several requests and no more: other completions are left to the next call, without a
    /// look at the others.
    fn wait_any(&mut self, done: &mut Vec<Slot>) -> Result<(), CommError> {
        let (count, mut index, mut status) = (self.transfers.len(), -1i32, Status::filled(0));
        // SAFETY: `count` requests are live, and the results go to words of our own.
        let code = unsafe {
            let out = status.as_mut_ptr();
            (self.mpi.tables.functions.waitany)(
                count as i32,
                self.requests.start(),
                &mut index,
                out,
            )
        };
        let transfer = usize::try_from(index).ok().and_then(|index| self.transfers.get(index));
        let Some(transfer) = transfer.filter(|_| code == 0) else {
            let room = transfer.and_then(|transfer| transfer.room).unwrap_or(u64::MAX);
            return Err(self.mpi.receive_error("MPI_Waitany", code, &status, room));
        };
        done.push(transfer.slot);
        self.requests.copy(count - 1, index as usize);
        self.transfers.swap_remove(index as usize);
        Ok(())
    }

    /// Polls until something is done, for so long at most.
    fn wait_within(&mut self, limit: Duration, done: &mut Vec<Slot>) -> Result<(), CommError> {
        let (before, mut deadline) = (done.len(), Deadline::new(limit));
        while done.len() == before && !self.transfers.is_empty() {
            self.test(done)?;
            if done.len() == before {
                deadline.check(&|| format!("{} transfers", self.transfers.len()))?;
            }
        }
        Ok(())
    }

    /// Leaves what is outstanding to the library, whose memory it is from now on.
    pub(crate) fn leave(mut self) {
        if self.transfers.is_empty() {
            return;
        }
        self.comm.shared().abandoned.set(true);
        self.transfers.clear();
        // MPI may still write to the requests.
        std::mem::forget(std::mem::take(&mut self.requests.words));
    }

    fn test_one(&mut self, done: &mut Vec<Slot>) -> Result<(), CommError> {
        let (mut status, mut complete) = (Status::filled(0), 0i32);
        // SAFETY: request 0 is live, and the results go to words of our own.
        let code = unsafe {
            let out = status.as_mut_ptr();
            (self.mpi.tables.functions.test)(self.requests.start(), &mut complete, out)
        };
        if code != 0 {
            let room = self.transfers[0].room.unwrap_or(u64::MAX);
            self.transfers.clear();
            return Err(self.mpi.receive_error("MPI_Test", code, &status, room));
        }
        if complete != 0 {
            done.push(self.transfers[0].slot);
            self.transfers.clear();
        }
        Ok(())
    }

    /// Waitsome or Testsome over all that is outstanding.
    fn some(&mut self, wait: bool, done: &mut Vec<Slot>) -> Result<(), CommError> {
        let count = self.transfers.len();
        self.statuses.reserve(count);
        if self.indices.len() < count {
            self.indices.resize(count.next_power_of_two(), 0);
        }
        let f = &self.mpi.tables.functions;
        let (call, name) =
            if wait { (f.waitsome, "MPI_Waitsome") } else { (f.testsome, "MPI_Testsome") };
        let mut complete = 0i32;
        // SAFETY: `count` requests are live, and there is room for as many indices and statuses.
        let code = unsafe {
            call(
                count as i32,
                self.requests.start(),
                &mut complete,
                self.indices.as_mut_ptr(),
                self.statuses.as_mut_ptr(),
            )
        };
        if code != 0 {
            return Err(self.some_error(name, code, complete));
        }
        let complete = complete.max(0) as usize;
        if complete == count {
            done.extend(self.transfers.drain(..).map(|transfer| transfer.slot));
            return Ok(());
        }
        self.remove(complete, done);
        Ok(())
    }

    /// Takes out the first `complete` of the indices; the last request fills each gap.
    fn remove(&mut self, complete: usize, done: &mut Vec<Slot>) {
        // From the highest down, so that what fills a gap is never itself complete.
        self.indices[..complete].sort_unstable_by(|a, b| b.cmp(a));
        for &index in &self.indices[..complete] {
            let (index, last) = (index as usize, self.transfers.len() - 1);
            self.requests.copy(last, index);
            done.push(self.transfers.swap_remove(index).slot);
        }
    }

    /// The first transfer that failed, according to its status.
    #[cold]
    fn some_error(&self, name: &'static str, code: i32, complete: i32) -> CommError {
        if self.mpi.error_class(code) != self.mpi.flavour.error_in_status {
            return self.mpi.error(name, code);
        }
        for number in 0..complete.max(0) as usize {
            let (error, status) = (self.statuses.error(number), self.statuses.get(number));
            let transfer = self.transfers.get(self.indices[number] as usize);
            if error != 0 {
                let room = transfer.and_then(|transfer| transfer.room).unwrap_or(u64::MAX);
                return self.mpi.receive_error(name, error, &status, room);
            }
        }
        self.mpi.error(name, code)
    }
}

impl Queue for MpiQueue<'_> {
    #[inline]
    unsafe fn send(
        &mut self,
        slot: Slot,
        to: Rank,
        tag: Tag,
        data: *const u8,
        len: usize,
    ) -> Result<Progress, CommError> {
        let (to, tag) = (self.comm.peer(to)?, i32::from(tag));
        let request = self.requests.at(self.transfers.len());
        // SAFETY: the caller keeps the bytes until the slot is done; the request has its room.
        let code = unsafe {
            if len <= large::MOST {
                let (isend, byte) = (self.mpi.tables.small.isend, self.mpi.flavour.byte);
                isend(data, len as i32, byte, to, tag, self.handle, request)
            } else {
                self.mpi.isend_large(self.handle, data, len, to, tag, request)?
            }
        };
        self.mpi.check("MPI_Isend", code)?;
        if len <= EAGER && !self.looking_costs && self.is_complete(request)? {
            return Ok(Progress::Done);
        }
        self.transfers.push(Transfer { slot, room: None });
        Ok(Progress::Pending)
    }

    #[inline]
    unsafe fn recv(
        &mut self,
        slot: Slot,
        from: Rank,
        tag: Tag,
        into: *mut u8,
        len: usize,
    ) -> Result<Progress, CommError> {
        let (from, tag) = (self.comm.peer(from)?, i32::from(tag));
        let request = self.requests.at(self.transfers.len());
        // SAFETY: the caller keeps the room until the slot is done; the request has its own.
        let code = unsafe {
            if len <= large::MOST {
                let (irecv, byte) = (self.mpi.tables.small.irecv, self.mpi.flavour.byte);
                irecv(into, len as i32, byte, from, tag, self.handle, request)
            } else {
                self.mpi.irecv_large(self.handle, into, len, from, tag, request)?
            }
        };
        self.mpi.check("MPI_Irecv", code)?;
        self.transfers.push(Transfer { slot, room: Some(len as u64) });
        Ok(Progress::Pending)
    }

    #[inline]
    fn test(&mut self, done: &mut Vec<Slot>) -> Result<(), CommError> {
        match self.transfers.len() {
            0 => Ok(()),
            1 => self.test_one(done),
            _ => self.some(false, done),
        }
    }

    #[inline]
    fn wait(&mut self, done: &mut Vec<Slot>) -> Result<(), CommError> {
        if let Some(limit) = self.limit {
            return self.wait_within(limit, done);
        }
        match self.transfers.len() {
            0 => Ok(()),
            1 => self.wait_for_each(done),
            _ if self.looking_costs => self.wait_any(done),
            _ => self.some(true, done),
        }
    }

    #[inline]
    fn wait_all(&mut self, done: &mut Vec<Slot>) -> Result<(), CommError> {
        if self.looking_costs || self.limit.is_some() {
            self.wait(done)
        } else {
            self.wait_for_each(done)
        }
    }
}

impl Drop for MpiQueue<'_> {
    /// Gives up what is outstanding. Receives that no message has met are cancelled; all else goes
    /// on to its end, so that memory that is no longer ours is neither read nor written.
    fn drop(&mut self) {
        if self.transfers.is_empty() {
            return;
        }
        self.comm.shared().abandoned.set(true);
        for number in 0..self.transfers.len() {
            if self.transfers[number].room.is_some() {
                // SAFETY: the request is live or, after an error, null, which is an error code.
                unsafe { (self.mpi.tables.functions.cancel)(self.requests.at(number)) };
            }
        }
        for number in 0..self.transfers.len() {
            let is_send = self.transfers[number].room.is_none();
            let what = if is_send { "a send" } else { "a receive" };
            // SAFETY: as above.
            unsafe { let_go(self.comm.shared(), self.requests.at(number), what) };
        }
    }
}
