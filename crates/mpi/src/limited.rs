//! Waits with a limit: MPI has none, so that they poll, and give up with an error.

use std::time::{Duration, Instant};

use laneway_core::{CommError, Message, Queue, Rank, Tag};

use crate::comm::MpiComm;
use crate::queue::MpiQueue;

/// Looks between two readings of the clock.
const LOOKS: u32 = 256;

/// The end of a wait.
pub(crate) struct Deadline {
    limit: Duration,
    begun: Instant,
    looks: u32,
}

impl Deadline {
    pub fn new(limit: Duration) -> Deadline {
        Deadline { limit, begun: Instant::now(), looks: 0 }
    }

    /// After a look that found nothing: an error when the time is over.
    pub fn check(&mut self, waiting_for: &dyn Fn() -> String) -> Result<(), CommError> {
        self.looks += 1;
        if !self.looks.is_multiple_of(LOOKS) {
            return Ok(());
        }
        std::thread::yield_now();
        if self.begun.elapsed() < self.limit {
            return Ok(());
        }
        let (seconds, waiting_for) = (self.limit.as_secs(), waiting_for());
        Err(CommError::TimedOut { seconds, waiting_for })
    }
}

impl MpiComm {
    /// Sends a copy, which stays behind if the receiver does not take it in time: MPI may read it
    /// later.
    pub(crate) fn send_within(
        &self,
        limit: Duration,
        to: Rank,
        tag: Tag,
        data: &[u8],
    ) -> Result<(), CommError> {
        let (mut queue, copy, mut done) = (MpiQueue::new(self), data.to_vec(), Vec::new());
        // SAFETY: the copy is freed when the send is over; after an error it is leaked.
        let started = unsafe { queue.send(0, to, tag, copy.as_ptr(), copy.len()) };
        let mut deadline = Deadline::new(limit);
        let mut wait = || match started.clone()? {
            laneway_core::Progress::Done => Ok(()),
            laneway_core::Progress::Pending => loop {
                queue.test(&mut done)?;
                if !done.is_empty() {
                    return Ok(());
                }
                deadline.check(&|| format!("rank {to} to receive a message"))?;
            },
        };
        let result = wait();
        if result.is_err() {
            std::mem::forget(copy);
            queue.leave();
        }
        result
    }

    /// Waits until a message has begun to arrive.
    pub(crate) fn probe_within(
        &self,
        limit: Duration,
        from: Option<Rank>,
        tag: Option<Tag>,
    ) -> Result<Message, CommError> {
        let mut deadline = Deadline::new(limit);
        loop {
            if let Some(message) = self.look(from, tag)? {
                return Ok(message);
            }
            deadline.check(&|| match from {
                Some(from) => format!("a message of rank {from}"),
                None => "a message of any rank".into(),
            })?;
        }
    }
}
