//! The places of an endpoint's connections, and the numbers of their queue pairs.

use super::end::End;
use crate::driver::secret::random;
use crate::error::NetError;

/// The bits of a connection's number that hold its index: an endpoint has at most 2^14.
const INDEX_BITS: u32 = 14;
const MOST_CONNECTIONS: usize = 1 << INDEX_BITS;

/// A number belongs to one connection until all generations of its place were used.
#[derive(Default)]
pub(super) struct Places {
    ends: Vec<Option<End>>,
    /// How often each place was used, and those that are free.
    generations: Vec<u32>,
    free: Vec<u32>,
}

impl Places {
    /// A free place for a connection, and the number of its queue pair.
    pub fn reserve(&mut self) -> Result<u32, NetError> {
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
        let mut number = 0;
        // Programs in C take 0 for no connection.
        while number == 0 {
            self.generations[index] += 1;
            let generation = self.generations[index] & ((1 << (24 - INDEX_BITS)) - 1);
            number = generation << INDEX_BITS | index as u32;
        }
        Ok(number)
    }

    /// Frees the place of a number: the connection that was there.
    pub fn release(&mut self, number: u32) -> Option<End> {
        self.free.push(index(number));
        self.ends[index(number) as usize].take()
    }

    pub fn put(&mut self, number: u32, end: End) {
        self.ends[index(number) as usize] = Some(end);
    }

    /// The connection of this number.
    pub fn get(&self, number: u32) -> Option<&End> {
        self.at(index(number)).filter(|end| end.connection.number() == number)
    }

    pub fn get_mut(&mut self, number: u32) -> Option<&mut End> {
        self.at_mut(index(number)).filter(|end| end.connection.number() == number)
    }

    /// The connection at this place.
    pub fn at(&self, index: u32) -> Option<&End> {
        self.ends.get(index as usize)?.as_ref()
    }

    pub fn at_mut(&mut self, index: u32) -> Option<&mut End> {
        self.ends.get_mut(index as usize)?.as_mut()
    }

    pub fn iter(&self) -> impl Iterator<Item = &End> {
        self.ends.iter().flatten()
    }
}

/// Where a connection is, by its number.
pub(super) fn index(number: u32) -> u32 {
    number & (MOST_CONNECTIONS as u32 - 1)
}
