//! A process that is a rank joins the others.

use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;
use std::time::Duration;

use laneway_core::talk::{broadcast_text, objection};
use laneway_core::{
    Clock, Comm, CommError, Form, Meanwhile, Message, NativeCall, Queue, Rank, Shape, Tag,
};

use crate::error::{Error, Result};

/// What connects a process with the other ranks.
///
/// The default takes what started the process: [`launch`](crate::launch), or else the launcher of
/// an MPI, whose library is found at run time.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Backend {
    is_mpi: bool,
    library: Option<PathBuf>,
    wait_limit: Option<Duration>,
}

impl Backend {
    /// The MPI of the launcher, and nothing else.
    pub fn mpi() -> Backend {
        Backend { is_mpi: true, ..Backend::default() }
    }

    /// The MPI library of this file, or of the installation in this folder.
    pub fn mpi_library(path: impl Into<PathBuf>) -> Backend {
        Backend { library: Some(path.into()), ..Backend::mpi() }
    }

    /// Makes an MPI's point-to-point waits fail with [`CommError::TimedOut`] after this time.
    /// Without a limit they last as long as the library lets them: a wait with a limit polls, and
    /// takes a little longer. Ranks of [`launch`](crate::launch) always have a limit:
    /// [`Launch::wait_limit`](crate::Launch::wait_limit).
    pub fn wait_limit(self, limit: Duration) -> Backend {
        Backend { wait_limit: Some(limit), ..self }
    }
}

/// Whether this process is a rank: [`launch`](crate::launch) or the launcher of an MPI started it,
/// so that [`join`] connects it with the others.
pub fn is_rank() -> bool {
    is_launched() || laneway_mpi::launched().is_some()
}

pub(crate) fn is_launched() -> bool {
    laneway_local::is_rank() || laneway_net::is_rank()
}

/// Connects this process with the other ranks of the run. Once in a process, before it has printed
/// anything or started a thread; all ranks call it.
///
/// Each rank is a process with values of its own; [`gather`](crate::gather) and messages bring them
/// to others. A rank that returns early or panics ends the run: the others get
/// [`CommError::PeerDied`], or are ended by the launcher.
pub fn join(backend: Backend) -> Result<World> {
    let comm = connect(&backend)?;
    let own = env!("CARGO_PKG_VERSION");
    let first = broadcast_text(&*comm, own)?;
    let differs = || format!("rank {} has {own}, rank 0 {first}", comm.rank());
    match objection(&*comm, (first != own).then(differs))? {
        Some(what) => Err(Error::Versions(what)),
        None => Ok(World { comm }),
    }
}

fn connect(backend: &Backend) -> Result<Box<dyn Comm>> {
    if !backend.is_mpi {
        if let Some(comm) = laneway_local::attach()? {
            return Ok(Box::new(comm));
        }
        if let Some(comm) = laneway_net::attach()? {
            return Ok(Box::new(comm));
        }
        laneway_mpi::refuse_unjoined_task()?;
        if laneway_mpi::launched().is_none() {
            return Err(Error::NotARank);
        }
    }
    let comm = laneway_mpi::init(backend.library.as_deref())?;
    comm.set_wait_limit(backend.wait_limit);
    Ok(Box::new(comm))
}

/// All ranks of a run, as one of them sees them: a communicator, with every method of [`Comm`].
///
/// When it is dropped, this rank leaves the run; an MPI is finalized.
pub struct World {
    comm: Box<dyn Comm>,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "World {{ rank: {}, size: {} }}", self.comm.rank(), self.comm.size())
    }
}

impl Deref for World {
    type Target = dyn Comm;

    fn deref(&self) -> &(dyn Comm + 'static) {
        &*self.comm
    }
}

impl Comm for World {
    fn rank(&self) -> Rank {
        self.comm.rank()
    }

    fn size(&self) -> u32 {
        self.comm.size()
    }

    fn clock(&self) -> &dyn Clock {
        self.comm.clock()
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        self.comm.describe()
    }

    fn hosts(&self) -> std::result::Result<Vec<String>, CommError> {
        self.comm.hosts()
    }

    fn send(&self, to: Rank, tag: Tag, data: &[u8]) -> std::result::Result<(), CommError> {
        self.comm.send(to, tag, data)
    }

    fn recv(
        &self,
        from: Option<Rank>,
        tag: Option<Tag>,
        into: &mut [u8],
    ) -> std::result::Result<Message, CommError> {
        self.comm.recv(from, tag, into)
    }

    fn probe(
        &self,
        from: Option<Rank>,
        tag: Option<Tag>,
        wait: bool,
    ) -> std::result::Result<Option<Message>, CommError> {
        self.comm.probe(from, tag, wait)
    }

    fn queue(&self) -> Box<dyn Queue + '_> {
        self.comm.queue()
    }

    fn split(
        &self,
        colour: Option<u32>,
        key: u32,
    ) -> std::result::Result<Option<Box<dyn Comm + '_>>, CommError> {
        self.comm.split(colour, key)
    }

    fn dup(&self) -> std::result::Result<Box<dyn Comm + '_>, CommError> {
        self.comm.dup()
    }

    fn abort(&self, code: i32) -> ! {
        self.comm.abort(code)
    }

    fn native(&self, call: NativeCall<'_>) -> std::result::Result<(), CommError> {
        self.comm.native(call)
    }

    fn native_meanwhile(
        &self,
        call: NativeCall<'_>,
        meanwhile: &mut Meanwhile<'_>,
    ) -> std::result::Result<(), CommError> {
        self.comm.native_meanwhile(call, meanwhile)
    }

    fn native_objection(&self, shape: &Shape, form: Form) -> Option<String> {
        self.comm.native_objection(shape, form)
    }

    fn has_native(&self, shape: &Shape) -> bool {
        self.comm.has_native(shape)
    }
}
