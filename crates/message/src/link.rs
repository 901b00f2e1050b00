//! What a transport offers to the engine: frames with each peer, in order, and a way to rest.

use std::time::Duration;

use laneway_core::{CommError, Rank};

use crate::direct::Direct;
use crate::frame::Header;

/// A transport. Nothing here blocks but [`Link::sleep`]; a frame's payload may take several calls.
///
/// An error from any of these ends all communication of this rank. A peer that merely ended, or to
/// which the connection broke, is not an error here: the link accepts and delivers no more of its
/// frames, and [`crate::World::ended`] says how it ended. Then only requests that wait for it fail.
pub trait Link {
    /// Messages up to this length are sent whole; longer ones are offered first. The same at all
    /// ranks.
    fn eager_limit(&self) -> usize;

    /// How often to look before going to sleep.
    fn spins(&self) -> u32;

    /// Begins a frame and takes as much of its payload as goes now; `None` when not even the
    /// header goes. Frames to one peer follow each other: the payload of one is whole before the
    /// next begins. What is taken is copied, here as in [`Link::more`]: the caller may free it.
    ///
    /// # Safety
    /// `data` must be valid for `len` bytes.
    unsafe fn begin(
        &mut self,
        to: Rank,
        header: &Header,
        data: *const u8,
        len: usize,
    ) -> Result<Option<usize>, CommError>;

    /// Takes more of the payload of the frame begun last.
    ///
    /// # Safety
    /// `data` must be valid for `len` bytes.
    unsafe fn more(&mut self, to: Rank, data: *const u8, len: usize) -> Result<usize, CommError>;

    /// Appends the peers that may have something for us; one may be named twice.
    fn poll(&mut self, ready: &mut Vec<Rank>) -> Result<(), CommError>;

    /// The header of the peer's next frame, if it is here; the frame before it was taken whole.
    fn open(&mut self, from: Rank) -> Result<Option<Header>, CommError>;

    /// Payload of the open frame that is here, at most `len` bytes, which is at most what is left.
    ///
    /// # Safety
    /// `into` must be valid for writes of `len` bytes.
    unsafe fn take(&mut self, from: Rank, into: *mut u8, len: usize) -> Result<usize, CommError>;

    /// Whether frames of a rank that has ended may still be on their way; asked only then. A link
    /// that says so for more than a moment keeps the ranks that wait for it from failing.
    fn may_bring(&mut self, _from: Rank) -> bool {
        false
    }

    /// From now on a peer's news ends the next [`Link::sleep`]; the caller looks once more first.
    fn arm(&mut self) {}

    /// The opposite of [`Link::arm`].
    fn disarm(&mut self) {}

    /// Rests until something may have happened, for `limit` at most; `writers` wait for room. The
    /// end of a rank is such news; a link that does not learn of it rests for a short while only.
    fn sleep(&mut self, limit: Duration, writers: &[Rank]) -> Result<(), CommError>;

    /// Copies from one rank's memory to another's, where the transport has them.
    fn direct(&mut self) -> Option<&mut dyn Direct> {
        None
    }
}
