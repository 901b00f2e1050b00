//! An MPI communicator as laneway's [`Comm`].

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use laneway_core::{
    Clock, Comm, CommError, Form, Meanwhile, Message, NativeCall, Queue, Rank, Shape, Tag,
};

use crate::flavour::Handle;
use crate::large;
use crate::library::Found;
use crate::native::{self, Prepared};
use crate::queue::MpiQueue;
use crate::status::Status;
use crate::threads::ThreadLevel;
use crate::world::{Mpi, World};

/// The predefined attributes of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    TagUb,
    WtimeIsGlobal,
    Host,
    Io,
    UniverseSize,
    AppNum,
    LastUsedCode,
}

/// A communicator of an MPI library. When the last one is dropped, MPI ends.
///
/// MPI knows no time limit for a wait, so none is added here: the launcher ends the run when a rank
/// dies, and [`Comm::abort`] ends it when one gives up.
pub struct MpiComm {
    world: Rc<World>,
    handle: Handle,
    rank: Rank,
    size: u32,
    /// Whether the handle was made here and is to be given back.
    made: bool,
    /// What the last native collective took, for the next one that is like it.
    prepared: Cell<Option<Box<Prepared>>>,
    /// What somebody else knows of this communicator.
    kept: RefCell<Option<Rc<dyn Any>>>,
}

impl MpiComm {
    pub(crate) fn world(world: Rc<World>) -> Result<MpiComm, CommError> {
        let handle = world.mpi.flavour.comm_world;
        MpiComm::of(world, handle, false)
    }

    /// Of a handle that was made for it.
    pub(crate) fn made(world: Rc<World>, handle: Handle) -> Result<MpiComm, CommError> {
        MpiComm::of(world, handle, true)
    }

    fn of(world: Rc<World>, handle: Handle, made: bool) -> Result<MpiComm, CommError> {
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
        let (rank, size, prepared) = (rank as Rank, size as u32, Cell::new(None));
        Ok(MpiComm { handle, rank, size, made, prepared, kept: RefCell::new(None), world })
    }

    pub(crate) fn shared(&self) -> &World {
        &self.world
    }

    pub(crate) fn mpi(&self) -> &Mpi {
        &self.world.mpi
    }

    pub(crate) fn handle(&self) -> Handle {
        self.handle
    }

    pub(crate) fn prepared(&self) -> &Cell<Option<Box<Prepared>>> {
        &self.prepared
    }

    /// Keeps something with this communicator, or nothing, in the place of what was kept before. It
    /// goes when the communicator goes, that of a program with the program's own.
    pub fn keep(&self, value: Option<Rc<dyn Any>>) {
        self.kept.replace(value);
    }

    /// What was kept with this communicator.
    pub fn kept(&self) -> Option<Rc<dyn Any>> {
        self.kept.borrow().clone()
    }

    /// The library in use.
    pub fn found(&self) -> &Found {
        &self.world.found
    }

    pub fn thread_level(&self) -> ThreadLevel {
        self.world.threads
    }

    /// A predefined attribute; `None` where the library does not set it.
    pub fn attribute(&self, attribute: Attribute) -> Result<Option<i64>, CommError> {
        self.mpi().attribute(self.handle, attribute.key(&self.mpi().flavour))
    }

    /// Ends MPI now and tells what it said. Refused while another communicator is in use; MPI then
    /// ends with the last of them.
    pub fn finalize(self) -> Result<(), CommError> {
        if Rc::strong_count(&self.world) > 1 {
            let what = "MPI cannot end while another communicator is in use".into();
            return Err(CommError::Argument { what });
        }
        self.world.end()
    }

    /// The rank as MPI takes it, if there is such a rank.
    pub(crate) fn peer(&self, rank: Rank) -> Result<i32, CommError> {
        if rank < self.size {
            return Ok(rank as i32);
        }
        Err(CommError::Argument { what: format!("rank {rank} is not one of {}", self.size) })
    }

    fn wildcards(&self, from: Option<Rank>, tag: Option<Tag>) -> Result<(i32, i32), CommError> {
        let flavour = &self.mpi().flavour;
        let from = from.map_or(Ok(flavour.any_source), |rank| self.peer(rank))?;
        Ok((from, tag.map_or(flavour.any_tag, i32::from)))
    }

    fn message(&self, status: &Status) -> Result<Message, CommError> {
        let (mpi, layout) = (self.mpi(), self.mpi().flavour.status);
        Ok(Message {
            from: status.source(layout) as Rank,
            tag: status.tag(layout) as Tag,
            len: mpi.length(status)?,
        })
    }

    /// Makes a communicator of a handle that MPI just gave.
    fn adopt(&self, handle: Handle) -> Result<Box<dyn Comm>, CommError> {
        Ok(Box::new(MpiComm::made(self.world.clone(), handle)?))
    }
}

impl Mpi {
    /// Bytes of the message that a status tells of.
    #[inline]
    pub(crate) fn length(&self, status: &Status) -> Result<u64, CommError> {
        // SAFETY: the library filled the status.
        let (code, length) = unsafe { self.tables.length.read(status.as_ptr(), self.flavour.byte) };
        self.check("MPI_Get_count", code)?;
        Ok(length.max(0) as u64)
    }

    /// The error of a receive: a truncation with its figures, where the status has them.
    #[cold]
    pub(crate) fn receive_error(
        &self,
        call: &'static str,
        code: i32,
        status: &Status,
        room: u64,
    ) -> CommError {
        let truncated = self.error_class(code) == self.flavour.error_truncate;
        match self.length(status) {
            Ok(sent) if truncated && sent > room => CommError::Truncated {
                from: status.source(self.flavour.status) as Rank,
                tag: status.tag(self.flavour.status) as Tag,
                sent,
                room,
            },
            _ => self.error(call, code),
        }
    }
}

impl Comm for MpiComm {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn clock(&self) -> &dyn Clock {
        &self.world.clock
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let World { found, launcher, threads_asked, threads, clock, .. } = &*self.world;
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
        let mut all = vec![0u8; NAME * self.size as usize];
        let (n, byte) = (NAME as i32, mpi.flavour.byte);
        // SAFETY: the name's buffer is longer than any name, and `all` has room for one of each
        // rank.
        unsafe {
            let code = (mpi.tables.functions.processor_name)(mine.as_mut_ptr(), &mut length);
            mpi.check("MPI_Get_processor_name", code)?;
            let (from, to) = (mine.as_ptr(), all.as_mut_ptr());
            let code = (mpi.tables.small.allgather)(from, n, byte, to, n, byte, self.handle);
            mpi.check("MPI_Allgather", code)?;
        }
        let name = |bytes: &[u8]| {
            let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(NAME);
            String::from_utf8_lossy(&bytes[..end]).into_owned()
        };
        Ok(all.chunks_exact(NAME).map(name).collect())
    }

    fn send(&self, to: Rank, tag: Tag, data: &[u8]) -> Result<(), CommError> {
        let (mpi, to, tag) = (self.mpi(), self.peer(to)?, i32::from(tag));
        // SAFETY: the slice holds so many bytes, and the call returns when it has read them.
        let code = unsafe {
            if data.len() <= large::MOST {
                let n = data.len() as i32;
                (mpi.tables.small.send)(data.as_ptr(), n, mpi.flavour.byte, to, tag, self.handle)
            } else {
                mpi.send_large(self.handle, data.as_ptr(), data.len(), to, tag)?
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
        let (mpi, (from, tag)) = (self.mpi(), self.wildcards(from, tag)?);
        let (mut status, start) = (Status::filled(0), into.as_mut_ptr());
        // SAFETY: the slice has room for so many bytes, and the call returns when it is filled.
        let code = unsafe {
            if into.len() <= large::MOST {
                let (n, byte) = (into.len() as i32, mpi.flavour.byte);
                let status = status.as_mut_ptr();
                (mpi.tables.small.recv)(start, n, byte, from, tag, self.handle, status)
            } else {
                mpi.recv_large(self.handle, start, into.len(), from, tag, status.as_mut_ptr())?
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
        let (mpi, (from, tag)) = (self.mpi(), self.wildcards(from, tag)?);
        let (mut status, mut seen) = (Status::filled(0), 1i32);
        let (f, out) = (&mpi.tables.functions, status.as_mut_ptr());
        // SAFETY: the results go to a status and a word of our own.
        unsafe {
            if wait {
                mpi.check("MPI_Probe", (f.probe)(from, tag, self.handle, out))?;
            } else {
                let code = (f.iprobe)(from, tag, self.handle, &mut seen, out);
                mpi.check("MPI_Iprobe", code)?;
            }
        }
        if seen == 0 { Ok(None) } else { self.message(&status).map(Some) }
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
        let code = unsafe { (mpi.tables.functions.comm_split)(self.handle, colour, key, &mut new) };
        mpi.check("MPI_Comm_split", code)?;
        if new == mpi.flavour.comm_null { Ok(None) } else { self.adopt(new).map(Some) }
    }

    fn dup(&self) -> Result<Box<dyn Comm + '_>, CommError> {
        let (mpi, mut new) = (self.mpi(), 0);
        // SAFETY: the handle is live; the new one goes to a word of our own.
        let code = unsafe { (mpi.tables.functions.comm_dup)(self.handle, &mut new) };
        mpi.check("MPI_Comm_dup", code)?;
        self.adopt(new)
    }

    fn abort(&self, code: i32) -> ! {
        self.world.abort(code)
    }

    fn native(&self, call: NativeCall<'_>) -> Result<(), CommError> {
        native::call(self, call, None)
    }

    fn native_meanwhile(
        &self,
        call: NativeCall<'_>,
        meanwhile: &mut Meanwhile<'_>,
    ) -> Result<(), CommError> {
        native::call(self, call, Some(meanwhile))
    }

    fn native_objection(&self, shape: &Shape, form: Form) -> Option<String> {
        native::objection(self, shape, form)
    }
}

impl Drop for MpiComm {
    fn drop(&mut self) {
        // After an abandoned transfer, or while panicking, the other ranks may never join in.
        let joined = !self.world.abandoned.get() && !self.world.has_ended();
        if self.made && joined && !std::thread::panicking() {
            // SAFETY: the handle was made for this communicator and is used no more.
            unsafe { (self.mpi().tables.functions.comm_free)(&mut self.handle) };
        }
    }
}
