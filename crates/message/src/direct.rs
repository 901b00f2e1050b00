//! Long messages that a transport copies from one rank's memory to another's, past its frames.

use std::time::Duration;

use laneway_core::{CommError, Rank};

/// How far a direct copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nothing to do here now.
    Idle,
    /// A part was copied.
    Moved,
    /// All of it is there.
    Finished,
}

/// Direct copies. The sender offers a message and gets a slot, whose number the receiver finds in
/// the offer's frame; then each side copies parts when asked to, until it hears that all is there.
/// Nothing here blocks but [`Direct::revoke`].
pub trait Direct {
    /// Offers `len` bytes and names their slot; `None` when all slots are in use.
    ///
    /// # Safety
    /// `data` must stay valid for `len` bytes, and unchanged, until the copy is finished, withdrawn
    /// or abandoned.
    unsafe fn offer(&mut self, data: *const u8, len: usize) -> Option<u32>;

    /// The receiver names its buffer; from now on the sender may copy into it.
    ///
    /// # Safety
    /// `into` must stay valid for the message's length, and untouched, until the copy is finished
    /// or revoked.
    unsafe fn accept(&mut self, from: Rank, slot: u32, into: *mut u8);

    /// Copies a part as the receiver.
    fn pull(&mut self, from: Rank, slot: u32) -> Result<Stage, CommError>;

    /// Copies a part as the sender, if the receiver has named its buffer.
    fn assist(&mut self, to: Rank, slot: u32) -> Result<Stage, CommError>;

    /// The receiver wants the bytes another way, and left the slot alone.
    fn withdraw(&mut self, slot: u32);

    /// Takes the sender's buffer back: the receiver will not trust what it copied.
    fn abandon(&mut self, to: Rank, slot: u32);

    /// Takes the receiver's buffer back: afterwards the sender writes to it no more. Waits for the
    /// part that the sender may be copying at this moment, and ends this process where that takes
    /// longer than `limit`.
    fn revoke(&mut self, from: Rank, slot: u32, limit: Duration);
}
