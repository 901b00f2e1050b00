//! What one rank has under way with another: messages that have left, and the one being read.

use laneway_connections::ConnectionId;
use laneway_message::{HEADER, PART};
use laneway_path::Bundle;

/// The longest message: a part of a long payload is one, and no few bytes are left for another.
pub(crate) const MESSAGE: usize = HEADER + PART;

/// Buffers that each connection may have, and so messages that may be under way on it.
pub(crate) const RECEIVES: usize = 16;

/// A message that has arrived, and the connection that gets its buffer back.
pub(crate) struct Arrived {
    pub connection: usize,
    pub bytes: Vec<u8>,
}

pub(crate) struct Peer {
    /// The side of the link that leads to it.
    pub side: usize,
    /// Its connections; none that does not stand.
    pub connections: Vec<Option<ConnectionId>>,
    /// Messages under way on each.
    under_way: Vec<usize>,
    bundle: Bundle<Arrived>,
    /// The message that is being read, and how far.
    current: Option<Arrived>,
    read: usize,
}

impl Peer {
    pub fn new(side: usize, connections: usize) -> Peer {
        Peer {
            side,
            connections: vec![None; connections],
            under_way: vec![0; connections],
            bundle: Bundle::new(connections),
            current: None,
            read: 0,
        }
    }

    pub fn is_connected(&self) -> bool {
        self.connections.iter().all(Option::is_some)
    }

    /// The connection that the next message goes over, if there is room on it.
    pub fn room(&self) -> Option<ConnectionId> {
        let next = self.bundle.peek_connection();
        self.connections[next].filter(|_| self.under_way[next] < RECEIVES)
    }

    /// The next message has left.
    pub fn on_left(&mut self) {
        let connection = self.bundle.next_connection();
        self.under_way[connection] += 1;
    }

    /// A message has arrived at the peer.
    pub fn on_sent(&mut self, connection: usize) {
        self.under_way[connection] = self.under_way[connection].saturating_sub(1);
    }

    pub fn on_received(&mut self, connection: usize, bytes: Vec<u8>) {
        self.bundle.on_received(connection, Arrived { connection, bytes });
    }

    /// What is left of the message that is being read, or of the next one.
    pub fn unread(&mut self) -> &[u8] {
        if self.current.is_none() {
            (self.current, self.read) = (self.bundle.poll(), 0);
        }
        self.current.as_ref().map_or(&[], |current| &current.bytes[self.read..])
    }

    /// Counts bytes that were read; the message, where that was its last one.
    pub fn on_read(&mut self, count: usize) -> Option<Arrived> {
        self.read += count;
        let whole = self.current.as_ref().is_some_and(|now| self.read >= now.bytes.len());
        if whole { self.current.take() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_ends_when_the_next_connection_is_full() {
        let mut peer = Peer::new(0, 2);
        assert!(!peer.is_connected() && peer.room().is_none());
        peer.connections = vec![Some(ConnectionId(1)), Some(ConnectionId(2))];
        for k in 0..2 * RECEIVES {
            assert_eq!(peer.room(), Some(ConnectionId(1 + k as u32 % 2)));
            peer.on_left();
        }
        assert_eq!(peer.room(), None);
        peer.on_sent(1);
        assert_eq!(peer.room(), None, "messages go in turn");
        peer.on_sent(0);
        assert_eq!(peer.room(), Some(ConnectionId(1)));
    }

    #[test]
    fn messages_are_read_in_order_and_in_pieces() {
        let mut peer = Peer::new(0, 2);
        peer.on_received(1, vec![3, 4]);
        assert_eq!(peer.unread(), [0u8; 0], "the first is not there");
        peer.on_received(0, vec![1, 2]);
        assert_eq!(peer.unread(), [1, 2]);
        assert!(peer.on_read(1).is_none());
        assert_eq!(peer.unread(), [2]);
        assert_eq!(peer.on_read(1).map(|arrived| arrived.connection), Some(0));
        assert_eq!(peer.unread(), [3, 4]);
        assert_eq!(peer.on_read(2).map(|arrived| arrived.connection), Some(1));
        assert_eq!(peer.unread(), [0u8; 0]);
    }
}
