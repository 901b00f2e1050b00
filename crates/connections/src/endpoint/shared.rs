//! Buffers that connections share: one is lent for each message that comes, and an idle connection
//! holds none.

use super::connections::End;
use super::{ConnectionId, Endpoint};
use crate::error::NetError;

/// Buffers that are kept for the next messages.
const MOST_FREE: usize = 32;

/// Buffers that no message is in.
#[derive(Default)]
pub(super) struct Pool(Vec<Vec<u8>>);

/// What a connection may borrow.
#[derive(Clone, Copy)]
pub(super) struct Share {
    /// Bytes of a buffer.
    bytes: usize,
    /// Buffers that it may have at a time, and how many it has.
    most: usize,
    lent: usize,
}

impl Pool {
    fn take(&mut self, bytes: usize) -> Vec<u8> {
        let mut buffer = self.0.pop().unwrap_or_default();
        buffer.clear();
        buffer.reserve_exact(bytes);
        buffer
    }

    fn put(&mut self, buffer: Vec<u8>) {
        if self.0.len() < MOST_FREE {
            self.0.push(buffer);
        }
    }

    /// Posts a receive for the next message of a connection; false where it may have no more.
    fn lend(&mut self, end: &mut End) -> bool {
        let Some(share) = end.share.as_mut().filter(|share| share.lent < share.most) else {
            return false;
        };
        let posted = end.connection.post_receive(0, self.take(share.bytes));
        share.lent += usize::from(posted.is_ok());
        posted.is_ok()
    }

    /// A packet is about to be taken; whether it begins a message is known.
    pub fn before(&mut self, end: &mut End, begins: bool) {
        if begins && !end.connection.has_receive() {
            self.lend(end);
        }
    }

    /// A packet was taken, which may have ended messages behind which others wait.
    pub fn after(&mut self, end: &mut End) {
        while end.connection.waits_for_receive() && self.lend(end) {}
    }
}

impl Endpoint {
    /// Lends this connection a buffer of `bytes` for each message that comes, `most` at a time,
    /// beside the receives that are posted. [`Event::Received`] brings the message under the number
    /// 0, and [`Endpoint::give_back`] takes its buffer. While `most` are lent, the peer waits.
    ///
    /// [`Event::Received`]: laneway_path::Event::Received
    pub fn share_receives(
        &mut self,
        connection: ConnectionId,
        most: usize,
        bytes: usize,
    ) -> Result<(), NetError> {
        let end = self.connections.find(connection)?;
        let lent = end.share.map_or(0, |share| share.lent);
        end.share = Some(Share { bytes, most, lent });
        self.lend_to(connection)
    }

    /// Takes the buffer of a message that was read.
    pub fn give_back(&mut self, connection: ConnectionId, buffer: Vec<u8>) -> Result<(), NetError> {
        self.pool.put(buffer);
        if let Some(share) = &mut self.connections.find(connection)?.share {
            share.lent = share.lent.saturating_sub(1);
        }
        self.lend_to(connection)
    }

    /// A message may wait for a buffer.
    fn lend_to(&mut self, connection: ConnectionId) -> Result<(), NetError> {
        let end = self.connections.find(connection)?;
        if end.connection.waits_for_receive() {
            self.pool.after(end);
            self.connections.mark(connection.0);
            self.resume_streams(connection);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_used_again_and_few_are_kept() {
        let mut pool = Pool::default();
        let first = pool.take(1000);
        assert!(first.is_empty() && first.capacity() >= 1000);
        let at = first.as_ptr();
        pool.put(first);
        let again = pool.take(1000);
        assert_eq!(again.as_ptr(), at);
        (0..2 * MOST_FREE).for_each(|_| pool.put(vec![1; 10]));
        assert_eq!(pool.0.len(), MOST_FREE);
        let longer = pool.take(5000);
        assert!(longer.is_empty() && longer.capacity() >= 5000);
    }
}
