//! What a backend offers: ordered messages between ranks, a clock, and the library's own
//! collectives where it has some. Small, so that a new backend is a day's work and a wrapper an
//! hour's.

use std::fmt;

use crate::clock::Clock;
use crate::reduce::{DataType, ReduceOp};
use crate::run::{Progress, Slot};
use crate::schedule::Rank;
use crate::shape::Shape;

/// A message tag. Programs use 0 to [`USER_TAGS`] - 1; schedules take the tags above it.
pub type Tag = u16;

/// Half of the 15 bits that every MPI grants.
pub const USER_TAGS: Tag = 1 << 14;

/// The envelope of a message: what arrived, or what a probe saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The rank that sent it.
    pub from: Rank,
    /// Its tag.
    pub tag: Tag,
    /// Its length in bytes.
    pub len: u64,
}

/// A communicator of one backend. Messages of one pair and tag arrive in the order sent.
///
/// A send may wait for its receive (rendezvous) or not (eager): a correct program needs neither.
/// After an error the communicator is not used again. A backend that can ends a wait in which
/// nothing happens for long; an MPI library cannot, so the command watches it from outside.
pub trait Comm {
    /// This rank.
    fn rank(&self) -> Rank;
    /// The number of ranks.
    fn size(&self) -> u32;
    /// The clock of this rank.
    fn clock(&self) -> &dyn Clock;

    /// What this backend is, for the environment block: pairs such as ("mpi", "Open MPI 4.1.4").
    fn describe(&self) -> Vec<(&'static str, String)>;

    /// The host of each rank; collective.
    fn hosts(&self) -> Result<Vec<String>, CommError>;

    /// Sends a message, and returns when `data` may be used again.
    fn send(&self, to: Rank, tag: Tag, data: &[u8]) -> Result<(), CommError>;

    /// Receives into the front of `into`; `None` takes any sender, or any tag. A message longer
    /// than `into` is [`CommError::Truncated`].
    fn recv(
        &self,
        from: Option<Rank>,
        tag: Option<Tag>,
        into: &mut [u8],
    ) -> Result<Message, CommError>;

    /// Probes for the next message that [`Comm::recv`] would take: waits for one, or looks once.
    fn probe(
        &self,
        from: Option<Rank>,
        tag: Option<Tag>,
        wait: bool,
    ) -> Result<Option<Message>, CommError>;

    /// Creates an empty set of non-blocking transfers.
    fn queue(&self) -> Box<dyn Queue + '_>;

    /// Ranks of one colour become a communicator, ordered by key, then rank; no colour gives none.
    fn split(&self, colour: Option<u32>, key: u32)
    -> Result<Option<Box<dyn Comm + '_>>, CommError>;

    /// Duplicates the communicator: the same ranks with message streams of their own.
    fn dup(&self) -> Result<Box<dyn Comm + '_>, CommError> {
        let comm = self.split(Some(0), self.rank())?;
        comm.ok_or(CommError::Unsupported { what: "dup".into(), why: "split gave nothing".into() })
    }

    /// Ends every rank of the run at once with `code`, also those that wait for a message: this
    /// process exits. No other call of a library ends a process, but for memory that could not be
    /// given back ([`Queue`]).
    fn abort(&self, code: i32) -> !;

    /// Calls the library's own collective; only backends that stand on a library have one.
    fn native(&self, call: NativeCall<'_>) -> Result<(), CommError> {
        Err(no_native(&call))
    }

    /// The same in its non-blocking form: starts it, does `meanwhile`, and returns when both are
    /// done. The buffers are lent for this one call, so the caller has no promise to keep.
    fn native_meanwhile(
        &self,
        call: NativeCall<'_>,
        _meanwhile: &mut Meanwhile<'_>,
    ) -> Result<(), CommError> {
        Err(no_native(&call))
    }

    /// Why the library cannot serve the shape in this form; `None` if it can.
    fn native_objection(&self, _shape: &Shape, _form: Form) -> Option<String> {
        Some(NO_NATIVE.into())
    }

    /// Whether [`Comm::native`] can serve the shape at all.
    fn has_native(&self, shape: &Shape) -> bool {
        self.native_objection(shape, Form::Blocking).is_none()
    }
}

const NO_NATIVE: &str = "this backend has no collectives of its own";

fn no_native(call: &NativeCall<'_>) -> CommError {
    let what = format!("native {}", call.shape.collective.name());
    CommError::Unsupported { what, why: NO_NATIVE.into() }
}

/// Whether a collective returns when it is done, or is started and waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The call returns when it is done.
    #[default]
    Blocking,
    /// The call is begun, and completed later.
    NonBlocking,
}

impl Form {
    /// Both forms.
    pub const ALL: [Form; 2] = [Form::Blocking, Form::NonBlocking];

    /// The name of the form.
    pub fn name(self) -> &'static str {
        match self {
            Form::Blocking => "blocking",
            Form::NonBlocking => "nonblocking",
        }
    }
}

/// Work that is done while a collective is under way. What it is given lets the collective go on,
/// as MPI_Test does, and answers whether it is done.
pub type Meanwhile<'a> =
    dyn FnMut(&mut dyn FnMut() -> Result<bool, CommError>) -> Result<(), CommError> + 'a;

/// A set of non-blocking transfers, each named by the slot its starter gave. A queue that is
/// dropped with transfers outstanding gives them up: the communicator cannot be used after that.
/// Where other ranks may go on using the memory of a transfer, and do not let go of it in time, the
/// run is aborted with a sentence to stderr.
pub trait Queue {
    /// # Safety
    /// `data` must stay valid for `len` bytes and unchanged until the slot is reported done.
    unsafe fn send(
        &mut self,
        slot: Slot,
        to: Rank,
        tag: Tag,
        data: *const u8,
        len: usize,
    ) -> Result<Progress, CommError>;

    /// Receives exactly `len` bytes; both ends know the length.
    ///
    /// # Safety
    /// `into` must stay valid for `len` bytes and untouched until the slot is reported done.
    unsafe fn recv(
        &mut self,
        slot: Slot,
        from: Rank,
        tag: Tag,
        into: *mut u8,
        len: usize,
    ) -> Result<Progress, CommError>;

    /// Appends the slots that are done by now.
    fn test(&mut self, done: &mut Vec<Slot>) -> Result<(), CommError>;

    /// Waits until at least one slot is done, if any is outstanding, and appends all that are.
    fn wait(&mut self, done: &mut Vec<Slot>) -> Result<(), CommError>;

    /// Like [`Queue::wait`], where nothing more is started before every slot is done: all may be
    /// waited for in one call.
    fn wait_all(&mut self, done: &mut Vec<Slot>) -> Result<(), CommError> {
        self.wait(done)
    }
}

/// One call of a library's own collective, with the buffers of [`Shape`]'s definition.
pub struct NativeCall<'a> {
    /// The collective and its shape.
    pub shape: &'a Shape,
    /// What this rank contributes.
    pub input: &'a [u8],
    /// For an in-place call this is the one buffer, and `input` is empty.
    pub output: &'a mut [u8],
    /// What joins the contributions, where something does.
    pub reduction: Option<(ReduceOp, DataType)>,
}

/// Why a communicator could not go on; the message of an error says what its fields are.
#[allow(missing_docs)]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommError {
    /// A peer ended early: `how` is its signal or exit code if known.
    PeerDied { rank: Rank, how: String },
    /// The time limit of a wait has passed.
    TimedOut { seconds: u64, waiting_for: String },
    /// A deadlock, as a simulator detects it.
    Stuck { why: String },
    /// A message was longer than its receive buffer.
    Truncated { from: Rank, tag: Tag, sent: u64, room: u64 },
    /// The library behind the backend returned an error, with its own text.
    Library { call: &'static str, class: i32, text: String },
    /// The backend does not support the request.
    Unsupported { what: String, why: String },
    /// An invalid rank, tag or length.
    Argument { what: String },
    /// A call of the operating system failed.
    System { what: String, error: String },
}

impl CommError {
    /// An error for a rank that a communicator of this size does not have.
    pub fn no_rank(rank: Rank, size: u32) -> CommError {
        CommError::Argument { what: format!("no rank {rank} in a communicator of {size}") }
    }
}

impl fmt::Display for CommError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommError::PeerDied { rank, how } => write!(f, "rank {rank} died: {how}"),
            CommError::TimedOut { seconds, waiting_for } => {
                write!(f, "nothing arrived within {seconds} s while waiting for {waiting_for}")
            }
            CommError::Stuck { why } => write!(f, "{why}"),
            CommError::Truncated { from, tag, sent, room } => {
                write!(f, "rank {from} sent {sent} bytes with tag {tag} into a buffer of {room}")
            }
            CommError::Library { call, class, text } => {
                write!(f, "{call} failed (class {class}): {text}")
            }
            CommError::Unsupported { what, why } => write!(f, "{what} is not available: {why}"),
            CommError::Argument { what } => write!(f, "{what}"),
            CommError::System { what, error } => write!(f, "{what}: {error}"),
        }
    }
}

impl std::error::Error for CommError {}
