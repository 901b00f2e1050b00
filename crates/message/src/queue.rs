//! Non-blocking transfers of one communicator.

use laneway_core::{CommError, Progress, Queue, Rank, Slot, Tag};

use crate::comm::MessageComm;
use crate::matching::{Owner, RecvBuffer};

pub(crate) struct MessageQueue<'a> {
    comm: &'a MessageComm,
    queue: u32,
    outstanding: usize,
}

impl MessageQueue<'_> {
    pub fn new(comm: &MessageComm) -> MessageQueue<'_> {
        let queue = comm.engine.borrow_mut().queues.insert(Vec::new());
        MessageQueue { comm, queue, outstanding: 0 }
    }

    #[inline]
    fn count(&mut self, progress: Progress) -> Progress {
        self.outstanding += usize::from(progress == Progress::Pending);
        progress
    }
}

impl Queue for MessageQueue<'_> {
    #[inline]
    unsafe fn send(
        &mut self,
        slot: Slot,
        to: Rank,
        tag: Tag,
        data: *const u8,
        len: usize,
    ) -> Result<Progress, CommError> {
        let to = self.comm.member(to)?;
        let owner = Owner { queue: self.queue, slot };
        let mut engine = self.comm.engine.borrow_mut();
        // SAFETY: the caller's promise is the one that the engine asks for.
        let progress = unsafe { engine.send(to, self.comm.context(), tag, data, len, owner)? };
        drop(engine);
        Ok(self.count(progress))
    }

    #[inline]
    unsafe fn recv(
        &mut self,
        slot: Slot,
        from: Rank,
        tag: Tag,
        into: *mut u8,
        len: usize,
    ) -> Result<Progress, CommError> {
        let from = self.comm.member(from)?;
        let owner = Owner { queue: self.queue, slot };
        let recv = RecvBuffer { into, room: len, exact: true, owner };
        let mut engine = self.comm.engine.borrow_mut();
        // SAFETY: the caller's promise is the one that the engine asks for.
        let progress = unsafe { engine.recv(from, self.comm.context(), tag, recv)? };
        drop(engine);
        Ok(self.count(progress))
    }

    fn test(&mut self, done: &mut Vec<Slot>) -> Result<(), CommError> {
        let mut engine = self.comm.engine.borrow_mut();
        engine.progress()?;
        let before = self.outstanding;
        if let Some(finished) = engine.queues.get_mut(self.queue) {
            self.outstanding -= finished.len();
            done.append(finished);
        }
        if before > 0 && self.outstanding == before {
            engine.check_peers(None)?;
        }
        Ok(())
    }

    #[inline]
    fn wait(&mut self, done: &mut Vec<Slot>) -> Result<(), CommError> {
        if self.outstanding == 0 {
            return Ok(());
        }
        let (queue, outstanding) = (self.queue, &mut self.outstanding);
        self.comm.engine.borrow_mut().wait_for(None, |engine| {
            let finished = engine.queues.get_mut(queue)?;
            if finished.is_empty() {
                return None;
            }
            *outstanding -= finished.len();
            done.append(finished);
            Some(())
        })
    }
}

impl Drop for MessageQueue<'_> {
    fn drop(&mut self) {
        // Borrowed only while a call of this thread is under way, and none is during a drop.
        let Ok(mut engine) = self.comm.engine.try_borrow_mut() else { return };
        let finished = engine.queues.remove(self.queue).map_or(0, |done| done.len());
        if self.outstanding > finished {
            engine.give_up();
        }
    }
}
