//! The communicator over any link: ranks of a group, with message streams of their own.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use laneway_core::{Clock, Comm, CommError, Message, Queue, Rank, Tag};

use crate::engine::{BLOCKING_OWNER, Engine};
use crate::link::Link;
use crate::matching::Pattern;
use crate::queue::MessageQueue;
use crate::world::World;

/// The ranks of a communicator among all ranks of the run.
struct Group {
    /// The run's rank of each rank here.
    members: Vec<Rank>,
    rank: Rank,
}

/// A communicator of ranks that a [`Link`] connects.
pub struct MessageComm {
    pub(crate) engine: Rc<RefCell<Engine>>,
    group: Group,
    /// The message streams of the program; the number after it serves this communicator itself.
    context: u32,
    world: Rc<dyn World>,
}

impl MessageComm {
    /// All ranks of the run, for one of them. No wait goes without news for longer than `limit`.
    pub fn world(
        link: Box<dyn Link>,
        world: Rc<dyn World>,
        rank: Rank,
        limit: Duration,
    ) -> MessageComm {
        let engine = Engine::new(link, world.clone(), rank, limit);
        MessageComm {
            engine: Rc::new(RefCell::new(engine)),
            group: Group { members: (0..world.size()).collect(), rank },
            context: 0,
            world,
        }
    }

    pub(crate) fn context(&self) -> u32 {
        self.context
    }

    /// The run's rank of a rank of this communicator.
    #[inline]
    pub(crate) fn member(&self, rank: Rank) -> Result<Rank, CommError> {
        match self.group.members.get(rank as usize) {
            Some(&member) => Ok(member),
            None => Err(CommError::no_rank(rank, self.size())),
        }
    }

    fn pattern(&self, from: Option<Rank>, tag: Option<Tag>) -> Result<Pattern, CommError> {
        let from = from.map(|from| self.member(from)).transpose()?;
        Ok(Pattern { context: self.context, from, tag })
    }

    /// The message with its sender counted in this communicator.
    fn localise(&self, message: Message, asked: Option<Rank>) -> Message {
        let members = &self.group.members;
        let is_sender = |rank: &Rank| members[*rank as usize] == message.from;
        // Of a communicator's streams only its members know, so one of them has sent it.
        let from = asked
            .or_else(|| Some(message.from).filter(|&r| r < self.size() && is_sender(&r)))
            .or_else(|| (0..self.size()).find(is_sender));
        Message { from: from.unwrap_or(message.from), ..message }
    }

    fn send_in(&self, context: u32, to: Rank, tag: Tag, data: &[u8]) -> Result<(), CommError> {
        let to = self.member(to)?;
        let mut engine = self.engine.borrow_mut();
        // SAFETY: the data is borrowed until this call returns; when it returns early, with an
        // error, the engine touches nothing any more.
        let started =
            unsafe { engine.send(to, context, tag, data.as_ptr(), data.len(), BLOCKING_OWNER)? };
        if started == laneway_core::Progress::Done {
            return Ok(());
        }
        engine.wait_for(None, |engine| {
            let done = engine.queues.get_mut(BLOCKING_OWNER.queue)?;
            done.pop()
        })?;
        Ok(())
    }

    fn recv_in(&self, pattern: Pattern, into: &mut [u8]) -> Result<Message, CommError> {
        self.engine.borrow_mut().recv_blocking(pattern, &self.group.members, into)
    }

    /// Sends this rank's wish to rank 0 and receives its new group with the number of its streams.
    fn regroup(&self, wish: Wish) -> Result<Vec<u32>, CommError> {
        let (mine, own) = (self.rank(), self.context + 1);
        if mine != 0 {
            self.send_in(own, 0, 0, &wish.encode())?;
            let mut answer = vec![0u8; 4 * (self.group.members.len() + 1)];
            let root = Pattern { context: own, from: Some(self.member(0)?), tag: Some(0) };
            let message = self.recv_in(root, &mut answer)?;
            answer.truncate(message.len as usize);
            return Ok(words(&answer));
        }
        let mut wishes = vec![wish];
        for rank in 1..self.size() {
            let mut bytes = [0u8; 12];
            let pattern = Pattern { context: own, from: Some(self.member(rank)?), tag: Some(0) };
            self.recv_in(pattern, &mut bytes)?;
            wishes.push(Wish::decode(&bytes));
        }
        // One number serves all colours: their ranks never meet.
        let context = self.engine.borrow_mut().new_context()?;
        let groups: Vec<Vec<u32>> = (0..wishes.len())
            .map(|rank| {
                let ranks = companions(&wishes, rank);
                let members = ranks.iter().map(|&rank| self.group.members[rank]);
                std::iter::once(context).chain(members).collect()
            })
            .collect();
        for (rank, group) in groups.iter().enumerate().skip(1) {
            let bytes: Vec<u8> = group.iter().flat_map(|word| word.to_le_bytes()).collect();
            self.send_in(own, rank as Rank, 0, &bytes)?;
        }
        Ok(groups.into_iter().next().unwrap_or_default())
    }
}

/// What a rank gives to `split`.
#[derive(Clone, Copy, Debug)]
struct Wish {
    colour: Option<u32>,
    key: u32,
}

impl Wish {
    fn encode(&self) -> Vec<u8> {
        let (has, colour) = (u32::from(self.colour.is_some()), self.colour.unwrap_or(0));
        [has, colour, self.key].iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn decode(bytes: &[u8; 12]) -> Wish {
        let words = words(bytes);
        Wish { colour: (words[0] != 0).then_some(words[1]), key: words[2] }
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |part: &[u8]| u32::from_le_bytes([part[0], part[1], part[2], part[3]]);
    bytes.chunks_exact(4).map(word).collect()
}

/// The ranks of `rank`'s colour in their new order; none for a rank without a colour.
fn companions(wishes: &[Wish], rank: usize) -> Vec<usize> {
    let Some(colour) = wishes[rank].colour else { return Vec::new() };
    let mut ranks: Vec<usize> =
        (0..wishes.len()).filter(|&other| wishes[other].colour == Some(colour)).collect();
    ranks.sort_by_key(|&other| (wishes[other].key, other));
    ranks
}

impl Comm for MessageComm {
    fn rank(&self) -> Rank {
        self.group.rank
    }

    fn size(&self) -> u32 {
        self.group.members.len() as u32
    }

    fn clock(&self) -> &dyn Clock {
        self.world.clock()
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        self.world.describe()
    }

    fn hosts(&self) -> Result<Vec<String>, CommError> {
        Ok(self.group.members.iter().map(|&member| self.world.host(member)).collect())
    }

    fn send(&self, to: Rank, tag: Tag, data: &[u8]) -> Result<(), CommError> {
        self.send_in(self.context, to, tag, data)
    }

    fn recv(
        &self,
        from: Option<Rank>,
        tag: Option<Tag>,
        into: &mut [u8],
    ) -> Result<Message, CommError> {
        let message = self.recv_in(self.pattern(from, tag)?, into)?;
        Ok(self.localise(message, from))
    }

    fn probe(
        &self,
        from: Option<Rank>,
        tag: Option<Tag>,
        wait: bool,
    ) -> Result<Option<Message>, CommError> {
        let pattern = self.pattern(from, tag)?;
        let mut engine = self.engine.borrow_mut();
        let wanted = Some((&pattern, &self.group.members[..]));
        let found = if wait {
            Some(engine.wait_for(wanted, |engine| engine.matcher.peek(&pattern))?)
        } else {
            engine.progress()?;
            let mut found = engine.matcher.peek(&pattern);
            // A rank that polls for a message of a rank that has ended must get the error; a poll
            // for a message of any rank may come from the last rank alive.
            if found.is_none() && from.is_some() && engine.check_peers(wanted)? {
                found = engine.matcher.peek(&pattern);
            }
            found
        };
        Ok(found.map(|message| self.localise(message, from)))
    }

    fn queue(&self) -> Box<dyn Queue + '_> {
        Box::new(MessageQueue::new(self))
    }

    fn split(
        &self,
        colour: Option<u32>,
        key: u32,
    ) -> Result<Option<Box<dyn Comm + '_>>, CommError> {
        let answer = self.regroup(Wish { colour, key })?;
        let me = self.member(self.rank())?;
        let Some((&context, members)) = answer.split_first() else { return Ok(None) };
        let Some(rank) = members.iter().position(|&member| member == me) else { return Ok(None) };
        Ok(Some(Box::new(MessageComm {
            engine: self.engine.clone(),
            group: Group { members: members.to_vec(), rank: rank as Rank },
            context,
            world: self.world.clone(),
        })))
    }

    fn abort(&self, code: i32) -> ! {
        let failed = self.engine.try_borrow().map_or(Ok(()), |engine| engine.check());
        let missed = match failed {
            Err(CommError::PeerDied { rank, .. }) => Some(rank),
            _ => None,
        };
        self.world.abort(code, missed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_gather_their_ranks_by_key_then_rank() {
        let wish = |colour, key| Wish { colour, key };
        let wishes =
            [wish(Some(1), 9), wish(None, 0), wish(Some(1), 3), wish(Some(2), 0), wish(Some(1), 3)];
        assert_eq!(companions(&wishes, 0), [2, 4, 0]);
        assert_eq!(companions(&wishes, 1), [0usize; 0]);
        assert_eq!(companions(&wishes, 3), [3]);
    }

    #[test]
    fn a_wish_survives_its_encoding() {
        for colour in [None, Some(0), Some(u32::MAX)] {
            let bytes: [u8; 12] = Wish { colour, key: 77 }.encode().try_into().unwrap();
            let back = Wish::decode(&bytes);
            assert_eq!((back.colour, back.key), (colour, 77));
        }
    }
}
