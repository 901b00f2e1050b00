//! The bytes of messages under way. Those of a short message are copied when it is sent. Those of a
//! long one stay with the sender, whose send lasts until the last byte has arrived, and go to the
//! receiver's buffer then: one copy, and no memory for what is under way.

use std::slice;

use super::spare::Spare;

/// The length from which messages stay with their senders.
const LONG_BYTES: usize = 64 << 10;

/// A long copy leaves a piece of memory alone that has these bytes already: a buffer that was never
/// written, and receives zeros, needs no memory.
const PIECE_BYTES: usize = 4096;

/// The bytes of a message.
#[derive(Debug, Default)]
pub(super) enum Payload {
    #[default]
    Nothing,
    /// A copy.
    Kept(Vec<u8>),
    /// With the sender, until its send is over.
    Lent(*const u8, usize),
    /// Their number, where they belong already, or where there was no room for them.
    Placed(usize),
}

/// What a receive gets: bytes, or how many of them are in its buffer.
#[derive(Debug)]
pub(super) enum Data {
    Bytes(Vec<u8>),
    Placed(usize),
}

/// A receiver's buffer: where, and how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    into: *mut u8,
    len: usize,
}

impl Room {
    /// It must stay valid and untouched until its receive is reported or given up.
    pub fn new(into: *mut u8, len: usize) -> Room {
        Room { into, len }
    }
}

impl Data {
    pub fn len(&self) -> usize {
        match self {
            Data::Bytes(bytes) => bytes.len(),
            Data::Placed(len) => *len,
        }
    }
}

impl Payload {
    /// Of a message that is sent now. `is_held`: its send lasts until the last byte has arrived.
    ///
    /// # Safety
    /// Where `is_held`, the bytes must stay valid and unchanged until the payload is placed or
    /// kept.
    pub unsafe fn new(data: &[u8], is_held: bool, spare: &mut Spare) -> Payload {
        match is_held && data.len() >= LONG_BYTES {
            true => Payload::Lent(data.as_ptr(), data.len()),
            false => Payload::Kept(spare.copy(data)),
        }
    }

    /// Copies bytes that are with the sender to the receiver.
    ///
    /// # Safety
    /// What is lent must be valid, and so must the room.
    pub unsafe fn place(&mut self, room: Option<Room>) {
        let Payload::Lent(from, len) = *self else { return };
        *self = Payload::Placed(len);
        // A message that is too long for its receive is an error of the receiver.
        let Some(room) = room.filter(|room| len <= room.len) else { return };
        if from.addr().abs_diff(room.into.addr()) < len {
            // A rank that sends to itself may do so in place.
            // SAFETY: by this function's contract.
            unsafe { std::ptr::copy(from, room.into, len) };
            return;
        }
        // SAFETY: by this function's contract; the two are apart.
        let (from, into) = unsafe {
            (slice::from_raw_parts(from, len), slice::from_raw_parts_mut(room.into, len))
        };
        copy_changed(from, into);
    }

    /// Copies bytes that are with the sender, which gives up its send.
    ///
    /// # Safety
    /// What is lent must be valid.
    pub unsafe fn keep(&mut self, spare: &mut Spare) {
        if let Payload::Lent(from, len) = *self {
            // SAFETY: by this function's contract.
            *self = Payload::Kept(spare.copy(unsafe { slice::from_raw_parts(from, len) }));
        }
    }

    /// What the receive gets.
    pub fn into_data(self) -> Data {
        match self {
            Payload::Kept(bytes) => Data::Bytes(bytes),
            Payload::Placed(len) | Payload::Lent(_, len) => Data::Placed(len),
            Payload::Nothing => Data::Bytes(Vec::new()),
        }
    }
}

fn copy_changed(from: &[u8], into: &mut [u8]) {
    for (from, into) in from.chunks(PIECE_BYTES).zip(into.chunks_mut(PIECE_BYTES)) {
        if from != into {
            into.copy_from_slice(from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_go_straight_to_their_receivers() {
        let (long, mut spare) = (vec![7; LONG_BYTES], Spare::default());
        let mut into = vec![0; LONG_BYTES + 1];
        // SAFETY: all buffers live to the end of the test, and nothing else refers to them.
        unsafe {
            assert!(matches!(Payload::new(&long, false, &mut spare), Payload::Kept(_)));
            assert!(matches!(Payload::new(&long[1..], true, &mut spare), Payload::Kept(_)));
            let mut payload = Payload::new(&long, true, &mut spare);
            payload.place(Some(Room::new(into.as_mut_ptr(), into.len())));
            assert!(matches!(payload.into_data(), Data::Placed(LONG_BYTES)));
            assert_eq!((&into[..LONG_BYTES], into[LONG_BYTES]), (&long[..], 0));
            // Too little room: nothing is written.
            let mut payload = Payload::new(&long, true, &mut spare);
            payload.place(Some(Room::new(into.as_mut_ptr(), 9)));
            assert_eq!(payload.into_data().len(), LONG_BYTES);
            let mut payload = Payload::new(&long, true, &mut spare);
            payload.keep(&mut spare);
            assert!(matches!(payload.into_data(), Data::Bytes(bytes) if bytes == long));
        }
    }
}
