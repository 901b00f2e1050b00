//! A communicator of MPI as the rest of laneway sees it.

use laneway_core::{
    Clock, Comm, CommError, Form, Meanwhile, Message, NativeCall, Queue, Rank, Shape, Tag,
};

use crate::comm::MpiComm;
use crate::large;
use crate::native;
use crate::queue::MpiQueue;
use crate::status::Status;
use crate::world::World;

impl MpiComm {
    /// One look for a message that could be received.
    pub(crate) fn look(
        &self,
        from: Option<Rank>,
        tag: Option<Tag>,
    ) -> Result<Option<Message>, CommError> {
        let (mpi, (from, tag)) = (self.mpi(), self.wildcards(from, tag)?);
        let (mut status, mut seen) = (Status::filled(0), 0i32);
        let (iprobe, out) = (mpi.tables.functions.iprobe, status.as_mut_ptr());
        // SAFETY: the results go to a status and a word of our own.
        let code = unsafe { iprobe(from, tag, self.handle(), &mut seen, out) };
        mpi.check("MPI_Iprobe", code)?;
        if seen == 0 { Ok(None) } else { self.message(&status).map(Some) }
    }

    fn probe_for_ever(&self, from: Option<Rank>, tag: Option<Tag>) -> Result<Message, CommError> {
        let (mpi, (from, tag)) = (self.mpi(), self.wildcards(from, tag)?);
        let mut status = Status::filled(0);
        let (probe, out) = (mpi.tables.functions.probe, status.as_mut_ptr());
        // SAFETY: the result goes to a status of our own.
        mpi.check("MPI_Probe", unsafe { probe(from, tag, self.handle(), out) })?;
        self.message(&status)
    }
}

impl Comm for MpiComm {
    fn rank(&self) -> Rank {
        self.member.rank
    }

    fn size(&self) -> u32 {
        self.member.size
    }

    fn clock(&self) -> &dyn Clock {
        &self.shared().clock
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let World { found, launcher, threads_asked, threads, clock, .. } = self.shared();
        let mut pairs = vec![
            ("mpi", found.version.clone()),
            ("mpi_file", found.file.display().to_string()),
            ("mpi_flavour", found.family.name().into()),
            ("mpi_chosen", found.why.clone()),
            ("mpi_standard", format!("{}.{}", found.standard.0, found.standard.1)),
            ("thread_level", threads.name().into()),
            ("launcher", launcher.kind.name().into()),
            ("clock", clock.name().into()),
            ("clock_is_global", clock.is_global().to_string()),
        ];
        pairs.extend(threads_asked.map(|level| ("thread_level_asked", level.name().into())));
        pairs
    }

    fn hosts(&self) -> Result<Vec<String>, CommError> {
        /// The longest declared MPI_MAX_PROCESSOR_NAME is 256.
        const NAME: usize = 256;
        let (mpi, mut mine, mut length) = (self.mpi(), [0u8; 2 * NAME], 0i32);
        let mut all = vec![0u8; NAME * self.size() as usize];
        let (n, byte) = (NAME as i32, mpi.flavour.byte);
        // SAFETY: the name's buffer is longer than any name, and `all` has room for one of each
        // rank.
        unsafe {
            let code = (mpi.tables.functions.processor_name)(mine.as_mut_ptr(), &mut length);
            mpi.check("MPI_Get_processor_name", code)?;
            let (from, to) = (mine.as_ptr(), all.as_mut_ptr());
            let code = (mpi.tables.small.allgather)(from, n, byte, to, n, byte, self.handle());
            mpi.check("MPI_Allgather", code)?;
        }
        let name = |bytes: &[u8]| {
            let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(NAME);
            String::from_utf8_lossy(&bytes[..end]).into_owned()
        };
        Ok(all.chunks_exact(NAME).map(name).collect())
    }

    fn send(&self, to: Rank, tag: Tag, data: &[u8]) -> Result<(), CommError> {
        if let Some(limit) = self.wait_limit() {
            return self.send_within(limit, to, tag, data);
        }
        let (mpi, to, tag) = (self.mpi(), self.peer(to)?, i32::from(tag));
        // SAFETY: the slice holds this many bytes, and the call returns when it has read them.
        let code = unsafe {
            if data.len() <= large::MOST {
                let n = data.len() as i32;
                (mpi.tables.small.send)(data.as_ptr(), n, mpi.flavour.byte, to, tag, self.handle())
            } else {
                mpi.send_large(self.handle(), data.as_ptr(), data.len(), to, tag)?
            }
        };
        mpi.check("MPI_Send", code)
    }

    fn recv(
        &self,
        from: Option<Rank>,
        tag: Option<Tag>,
        into: &mut [u8],
    ) -> Result<Message, CommError> {
        // The message that was seen is the one that is received.
        let (from, tag) = match self.wait_limit() {
            Some(limit) => {
                let seen = self.probe_within(limit, from, tag)?;
                (Some(seen.from), Some(seen.tag))
            }
            None => (from, tag),
        };
        let (mpi, (from, tag)) = (self.mpi(), self.wildcards(from, tag)?);
        let (mut status, start) = (Status::filled(0), into.as_mut_ptr());
        // SAFETY: the slice has this much room, and the call returns when it is filled.
        let code = unsafe {
            if into.len() <= large::MOST {
                let (n, byte) = (into.len() as i32, mpi.flavour.byte);
                let status = status.as_mut_ptr();
                (mpi.tables.small.recv)(start, n, byte, from, tag, self.handle(), status)
            } else {
                mpi.recv_large(self.handle(), start, into.len(), from, tag, status.as_mut_ptr())?
            }
        };
        if code != 0 {
            return Err(mpi.receive_error("MPI_Recv", code, &status, into.len() as u64));
        }
        self.message(&status)
    }

    fn probe(
        &self,
        from: Option<Rank>,
        tag: Option<Tag>,
        wait: bool,
    ) -> Result<Option<Message>, CommError> {
        match self.wait_limit() {
            _ if !wait => self.look(from, tag),
            Some(limit) => self.probe_within(limit, from, tag).map(Some),
            None => self.probe_for_ever(from, tag).map(Some),
        }
    }

    fn queue(&self) -> Box<dyn Queue + '_> {
        Box::new(MpiQueue::new(self))
    }

    fn split(
        &self,
        colour: Option<u32>,
        key: u32,
    ) -> Result<Option<Box<dyn Comm + '_>>, CommError> {
        let fits = |what: &str, value: u32| {
            let text = format!("{what} {value} is larger than MPI takes");
            i32::try_from(value).map_err(|_| CommError::Argument { what: text })
        };
        let mpi = self.mpi();
        let colour = colour.map_or(Ok(mpi.flavour.undefined), |colour| fits("colour", colour))?;
        let (key, mut new) = (fits("key", key)?, 0);
        // SAFETY: the handle is live; the new one goes to a word of our own.
        let code =
            unsafe { (mpi.tables.functions.comm_split)(self.handle(), colour, key, &mut new) };
        mpi.check("MPI_Comm_split", code)?;
        if new == mpi.flavour.comm_null { Ok(None) } else { self.adopt(new).map(Some) }
    }

    fn dup(&self) -> Result<Box<dyn Comm + '_>, CommError> {
        let (mpi, mut new) = (self.mpi(), 0);
        // SAFETY: the handle is live; the new one goes to a word of our own.
        let code = unsafe { (mpi.tables.functions.comm_dup)(self.handle(), &mut new) };
        mpi.check("MPI_Comm_dup", code)?;
        self.adopt(new)
    }

    fn abort(&self, code: i32) -> ! {
        self.shared().abort(code)
    }

    fn native(&self, call: NativeCall<'_>) -> Result<(), CommError> {
        native::call(&self.member, &self.prepared, call, None)
    }

    fn native_meanwhile(
        &self,
        call: NativeCall<'_>,
        meanwhile: &mut Meanwhile<'_>,
    ) -> Result<(), CommError> {
        native::call(&self.member, &self.prepared, call, Some(meanwhile))
    }

    fn native_objection(&self, shape: &Shape, form: Form) -> Option<String> {
        native::objection(&self.member, shape, form)
    }
}
