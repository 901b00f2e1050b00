//! The places of an endpoint's connections, and the numbers of their queue pairs.

use super::Endpoint;
use crate::error::NetError;
use crate::secret::random;

/// The bits of a connection's number that hold its index: an endpoint has at most 2^14.
const INDEX_BITS: u32 = 14;
const MOST_CONNECTIONS: usize = 1 << INDEX_BITS;

impl Endpoint {
    /// A free place for a connection, and the number of its queue pair.
    pub(super) fn reserve(&mut self) -> Result<u32, NetError> {
        let index = match self.free.pop() {
            Some(index) => index as usize,
            None if self.ends.len() < MOST_CONNECTIONS => {
                self.ends.push(None);
                let [a, b] = random::<2>()?;
                self.generations.push(u32::from(u16::from_be_bytes([a, b])));
                self.ends.len() - 1
            }
            None => return Err(NetError::TooManyConnections),
        };
        self.generations[index] += 1;
        let generation = self.generations[index] & ((1 << (24 - INDEX_BITS)) - 1);
        Ok(generation << INDEX_BITS | index as u32)
    }

    pub(super) fn release(&mut self, number: u32) {
        if let Some(end) = self.ends[place(number)].take() {
            self.past.add(end.connection.counters());
            self.waiting -= usize::from(end.waits);
            self.due.remove(&(end.looked_at, place(number) as u32));
            for (wire, peer) in self.wires.iter_mut().zip(&end.peers) {
                wire.leave(peer);
            }
        }
        self.free.push(place(number) as u32);
    }
}

/// Where a connection is, by its number.
pub(super) fn place(number: u32) -> usize {
    number as usize & (MOST_CONNECTIONS - 1)
}
