//! A communicator of one rank, which moves its messages to itself through raw pointers as a real
//! one does, and counts what it was lent.

use std::cell::RefCell;
use std::collections::VecDeque;

use laneway_core::{Clock, Comm, CommError, Message, Progress, Queue, Rank, Slot, Tag};

/// Longer messages stay with their sender until a receive comes.
const EAGER: usize = 32;

struct Lent {
    slot: Slot,
    tag: Tag,
    at: *mut u8,
    len: usize,
}

#[derive(Default)]
struct State {
    receives: VecDeque<Lent>,
    sends: VecDeque<Lent>,
    /// Messages that were sent early, whole.
    kept: VecDeque<(Tag, Vec<u8>)>,
    done: Vec<Slot>,
}

#[derive(Default)]
pub struct Alone(RefCell<State>);

impl Alone {
    /// Transfers that may still touch their buffers.
    pub fn lent(&self) -> usize {
        let state = self.0.borrow();
        state.receives.len() + state.sends.len()
    }
}

struct AloneQueue<'a>(&'a Alone);

impl Queue for AloneQueue<'_> {
    unsafe fn send(
        &mut self,
        slot: Slot,
        _to: Rank,
        tag: Tag,
        data: *const u8,
        len: usize,
    ) -> Result<Progress, CommError> {
        let state = &mut *self.0.0.borrow_mut();
        if let Some(at) = state.receives.iter().position(|receive| receive.tag == tag) {
            let receive = state.receives.remove(at).expect("it was just found");
            // SAFETY: both ends were lent with this length, which both ends know.
            unsafe { std::ptr::copy_nonoverlapping(data, receive.at, len) };
            state.done.push(receive.slot);
        } else if len <= EAGER {
            // SAFETY: the data is lent to us.
            let bytes = unsafe { std::slice::from_raw_parts(data, len) }.to_vec();
            state.kept.push_back((tag, bytes));
        } else {
            state.sends.push_back(Lent { slot, tag, at: data.cast_mut(), len });
            return Ok(Progress::Pending);
        }
        Ok(Progress::Done)
    }

    unsafe fn recv(
        &mut self,
        slot: Slot,
        _from: Rank,
        tag: Tag,
        into: *mut u8,
        len: usize,
    ) -> Result<Progress, CommError> {
        let state = &mut *self.0.0.borrow_mut();
        if let Some(at) = state.kept.iter().position(|kept| kept.0 == tag) {
            let (_, bytes) = state.kept.remove(at).expect("it was just found");
            // SAFETY: the place is lent to us, with the length that both ends know.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), into, len) };
            return Ok(Progress::Done);
        }
        if let Some(at) = state.sends.iter().position(|send| send.tag == tag) {
            let send = state.sends.remove(at).expect("it was just found");
            // SAFETY: both ends were lent with this length.
            unsafe { std::ptr::copy_nonoverlapping(send.at, into, send.len) };
            state.done.push(send.slot);
            return Ok(Progress::Done);
        }
        state.receives.push_back(Lent { slot, tag, at: into, len });
        Ok(Progress::Pending)
    }

    fn test(&mut self, done: &mut Vec<Slot>) -> Result<(), CommError> {
        done.append(&mut self.0.0.borrow_mut().done);
        Ok(())
    }

    fn wait(&mut self, done: &mut Vec<Slot>) -> Result<(), CommError> {
        self.test(done)?;
        if done.is_empty() && self.0.lent() > 0 {
            return Err(CommError::Stuck { why: "no other rank is here to send".into() });
        }
        Ok(())
    }
}

impl Drop for AloneQueue<'_> {
    fn drop(&mut self) {
        *self.0.0.borrow_mut() = State::default();
    }
}

impl Comm for Alone {
    fn rank(&self) -> Rank {
        0
    }

    fn size(&self) -> u32 {
        1
    }

    fn clock(&self) -> &dyn Clock {
        unreachable!("no test asks for the time")
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn hosts(&self) -> Result<Vec<String>, CommError> {
        Ok(vec!["here".into()])
    }

    fn send(&self, _to: Rank, _tag: Tag, _data: &[u8]) -> Result<(), CommError> {
        unreachable!("an executor uses a queue")
    }

    fn recv(
        &self,
        _from: Option<Rank>,
        _tag: Option<Tag>,
        _into: &mut [u8],
    ) -> Result<Message, CommError> {
        unreachable!("an executor uses a queue")
    }

    fn probe(
        &self,
        _from: Option<Rank>,
        _tag: Option<Tag>,
        _wait: bool,
    ) -> Result<Option<Message>, CommError> {
        unreachable!("an executor uses a queue")
    }

    fn queue(&self) -> Box<dyn Queue + '_> {
        Box::new(AloneQueue(self))
    }

    fn split(
        &self,
        _colour: Option<u32>,
        _key: u32,
    ) -> Result<Option<Box<dyn Comm + '_>>, CommError> {
        Ok(None)
    }

    fn abort(&self, code: i32) -> ! {
        panic!("aborted with {code}")
    }
}
