//! Several connections of one pair of processes: messages go over them in turn, and come out in the
//! order in which they were sent (paper: 4.2).
//!
//! Each connection keeps its own order and both ends count alike, so that nothing has to be said in
//! the messages: the k-th of all is the next one of connection k modulo their number.

use std::collections::VecDeque;

/// The state of one end of a bundle.
#[derive(Clone, Debug)]
pub struct Bundle<T> {
    sent: usize,
    received: usize,
    /// What has come over each connection, and whose turn is not yet.
    waiting: Vec<VecDeque<T>>,
}

impl<T> Bundle<T> {
    /// A bundle of `connections` connections.
    ///
    /// # Panics
    /// Without a connection.
    pub fn new(connections: usize) -> Bundle<T> {
        assert!(connections > 0, "a bundle has at least one connection");
        let waiting = (0..connections).map(|_| VecDeque::new()).collect();
        Bundle { sent: 0, received: 0, waiting }
    }

    /// The connection that the next message will go over.
    pub fn peek_connection(&self) -> usize {
        self.sent
    }

    /// The connection that the next message goes over.
    pub fn next_connection(&mut self) -> usize {
        let connection = self.sent;
        self.sent = (self.sent + 1) % self.waiting.len();
        connection
    }

    /// Records a message that has come over a connection.
    pub fn on_received(&mut self, connection: usize, message: T) {
        self.waiting[connection].push_back(message);
    }

    /// Takes the next message in order, if it has arrived.
    pub fn poll(&mut self) -> Option<T> {
        let message = self.waiting[self.received].pop_front()?;
        self.received = (self.received + 1) % self.waiting.len();
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_stats::SplitMix64;

    #[test]
    fn messages_come_out_in_order_whichever_connection_is_fast() {
        let mut random = SplitMix64::new(1);
        for connections in [1, 2, 3, 64, 512] {
            let (mut here, mut there) = (Bundle::<u32>::new(connections), Bundle::new(connections));
            let mut under_way: Vec<VecDeque<u32>> = vec![VecDeque::new(); connections];
            let (mut sent, mut received) = (0, 0);
            while received < 5000 {
                if sent < 5000 {
                    let next = here.peek_connection();
                    assert_eq!(here.next_connection(), next);
                    under_way[next].push_back(sent);
                    sent += 1;
                }
                let connection = random.index(connections);
                if let Some(message) = under_way[connection].pop_front() {
                    there.on_received(connection, message);
                }
                while let Some(message) = there.poll() {
                    assert_eq!(message, received);
                    received += 1;
                }
            }
        }
    }
}
