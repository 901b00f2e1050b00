//! An MPI communicator as laneway's [`Comm`].

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use laneway_core::{Comm, CommError, Message, Rank, Tag};

use crate::calls::Mpi;
use crate::flavour::{Flavour, Handle};
use crate::found::Found;
use crate::member::Member;
use crate::native::Prepared;
use crate::status::Status;
use crate::threads::ThreadLevel;
use crate::world::World;

/// The predefined attributes of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Attribute {
    /// The largest tag.
    TagUb,
    /// Whether all ranks read one clock.
    WtimeIsGlobal,
    /// The rank of the host process, where there is one.
    Host,
    /// A rank that can do language-standard input and output.
    Io,
    /// How many processes the launcher has room for.
    UniverseSize,
    /// The number of this program among those that were started together.
    AppNum,
    /// The last error class in use.
    LastUsedCode,
}

/// A communicator of an MPI library. When the last one is dropped, MPI ends.
///
/// MPI knows no time limit for a wait, so none is added unless [`MpiComm::set_wait_limit`] is
/// called: the launcher ends the run when a rank dies, and [`Comm::abort`] ends it when one gives
/// up.
pub struct MpiComm {
    pub(crate) member: Member,
    /// Whether the handle was made here and is to be given back.
    made: bool,
    /// What the last native collective took, for the next one that is like it.
    pub(crate) prepared: Cell<Option<Box<Prepared>>>,
    /// A value that another module keeps with this communicator.
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
        let member = Member::of(world, handle)?;
        Ok(MpiComm { member, made, prepared: Cell::new(None), kept: RefCell::new(None) })
    }

    pub(crate) fn shared(&self) -> &World {
        &self.member.world
    }

    pub(crate) fn mpi(&self) -> &Mpi {
        &self.member.world.mpi
    }

    pub(crate) fn handle(&self) -> Handle {
        self.member.handle
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
        &self.shared().found
    }

    /// What the library gives.
    pub fn thread_level(&self) -> ThreadLevel {
        self.shared().threads
    }

    /// Makes waits of all communicators fail with [`CommError::TimedOut`] after this time: those of
    /// messages and of schedules. Such waits poll, which takes a little longer than MPI's own; a
    /// send is copied, so that one that was given up may still be read. The library's own
    /// collectives wait as before, and so do simulated ranks. A schedule that was given up while
    /// MPI holds its buffers ends the run, as [`Queue`](laneway_core::Queue) says.
    pub fn set_wait_limit(&self, limit: Option<Duration>) {
        let simulated = self.mpi().flavour.simulator.is_some();
        self.shared().wait_limit.set(limit.filter(|_| !simulated));
    }

    pub(crate) fn wait_limit(&self) -> Option<Duration> {
        self.shared().wait_limit.get()
    }

    /// A predefined attribute; `None` where the library does not set it.
    pub fn attribute(&self, attribute: Attribute) -> Result<Option<i64>, CommError> {
        self.mpi().attribute(self.handle(), attribute.key(&self.mpi().flavour))
    }

    /// Ends MPI now and returns what it said. Refused while another communicator is in use; MPI
    /// then ends with the last of them.
    pub fn finalize(self) -> Result<(), CommError> {
        if Rc::strong_count(&self.member.world) > 1 {
            let what = "MPI cannot end while another communicator is in use".into();
            return Err(CommError::Argument { what });
        }
        self.shared().end()
    }

    /// The rank as MPI takes it, if there is such a rank.
    pub(crate) fn peer(&self, rank: Rank) -> Result<i32, CommError> {
        if rank < self.member.size {
            return Ok(rank as i32);
        }
        Err(CommError::no_rank(rank, self.member.size))
    }

    pub(crate) fn wildcards(
        &self,
        from: Option<Rank>,
        tag: Option<Tag>,
    ) -> Result<(i32, i32), CommError> {
        let flavour = &self.mpi().flavour;
        let from = from.map_or(Ok(flavour.any_source), |rank| self.peer(rank))?;
        Ok((from, tag.map_or(flavour.any_tag, i32::from)))
    }

    pub(crate) fn message(&self, status: &Status) -> Result<Message, CommError> {
        let (mpi, layout) = (self.mpi(), self.mpi().flavour.status);
        Ok(Message {
            from: status.source(layout) as Rank,
            tag: status.tag(layout) as Tag,
            len: mpi.length(status)?,
        })
    }

    /// Makes a communicator of a handle that MPI just gave.
    pub(crate) fn adopt(&self, handle: Handle) -> Result<Box<dyn Comm>, CommError> {
        Ok(Box::new(MpiComm::made(self.member.world.clone(), handle)?))
    }
}

impl Mpi {
    /// Bytes of the message of a status.
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
            Ok(sent) if truncated && self.flavour.truncated_length && sent > room => {
                CommError::Truncated {
                    from: status.source(self.flavour.status) as Rank,
                    tag: status.tag(self.flavour.status) as Tag,
                    sent,
                    room,
                }
            }
            _ => self.error(call, code),
        }
    }
}

impl Drop for MpiComm {
    fn drop(&mut self) {
        // After an abandoned transfer, or while panicking, the other ranks may never join in.
        let joined = !self.shared().abandoned.get() && !self.shared().has_ended();
        if self.made && joined && !std::thread::panicking() {
            // SAFETY: the handle was made for this communicator and is used no more.
            unsafe { (self.member.world.mpi.tables.functions.comm_free)(&mut self.member.handle) };
        }
    }
}

impl Attribute {
    pub(crate) fn key(self, flavour: &Flavour) -> i32 {
        let keys = &flavour.keys;
        match self {
            Attribute::TagUb => keys.tag_ub,
            Attribute::WtimeIsGlobal => keys.wtime_is_global,
            Attribute::Host => keys.host,
            Attribute::Io => keys.io,
            Attribute::UniverseSize => keys.universe_size,
            Attribute::AppNum => keys.app_num,
            Attribute::LastUsedCode => keys.last_used_code,
        }
    }
}
