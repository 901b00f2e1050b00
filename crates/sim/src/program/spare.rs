//! The memory of long messages, which is used again: the system would take it back and clear it for
//! every one of them.

/// The length from which messages keep their memory, and the most pieces of it.
const LONG_BYTES: usize = 64 << 10;
const MOST: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Spare(Vec<Vec<u8>>);

impl Spare {
    pub fn copy(&mut self, data: &[u8]) -> Vec<u8> {
        let is_long = data.len() >= LONG_BYTES;
        let mut copy = if is_long { self.0.pop().unwrap_or_default() } else { Vec::new() };
        copy.clear();
        copy.extend_from_slice(data);
        copy
    }

    /// The bytes of a message were read.
    pub fn give_back(&mut self, data: Vec<u8>) {
        if data.capacity() >= LONG_BYTES && self.0.len() < MOST {
            self.0.push(data);
        }
    }
}
