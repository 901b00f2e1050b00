//! Receiving: what arrives finds its receive or is kept, and long messages are fetched.

use laneway_core::{CommError, Message, Progress, Rank, Tag};

use crate::engine::{BLOCKING_OWNER, Engine};
use crate::frame::{Header, Kind, NO_SLOT, broken};
use crate::matching::{Body, Owner, Pattern, RecvBuffer, Unexpected};
use crate::slab::Slab;

/// Pieces taken from one peer before the others have their turn.
const TURN: u32 = 16;

/// Buffers for early messages that are kept for the next ones, and the largest worth keeping.
const SPARE_BUFFERS: usize = 64;
const SPARE_BYTES: usize = 64 << 10;

/// Where the payload of the open frame goes.
#[derive(Clone, Copy)]
enum Target {
    Posted(RecvBuffer),
    /// To the message that came last from this peer.
    Unexpected,
}

/// The open frame of one peer.
#[derive(Clone, Copy)]
struct Incoming {
    tag: Tag,
    /// Length of the message.
    len: u64,
    /// Bytes of the message that are here.
    filled: u64,
    /// Bytes of the message that are here when this frame ends.
    end: u64,
    target: Target,
}

/// A long message that is to come as data frames.
struct Expected {
    from: Rank,
    tag: Tag,
    len: u64,
    /// Bytes that came in frames before.
    filled: u64,
    recv: RecvBuffer,
}

/// A long message that we copy from its sender's memory.
#[derive(Clone, Copy)]
pub(crate) struct Pull {
    pub from: Rank,
    pub slot: u32,
    pub tag: Tag,
    pub len: u64,
    pub owner: Owner,
}

pub(crate) struct Inbound {
    open: Vec<Option<Incoming>>,
    expected: Slab<Expected>,
    pub pulls: Vec<Pull>,
    ready: Vec<Rank>,
    spare: Vec<Vec<u8>>,
}

impl Inbound {
    pub fn new(size: u32) -> Inbound {
        Inbound {
            open: vec![None; size as usize],
            expected: Slab::new(),
            pulls: Vec::new(),
            ready: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Whether a message from `peer` is under way.
    pub fn expects(&self, peer: Rank) -> bool {
        self.open[peer as usize].is_some()
            || self.pulls.iter().any(|pull| pull.from == peer)
            || self.expected.iter().any(|expected| expected.from == peer)
    }

    /// An empty buffer, used before if possible.
    pub fn spare_buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    fn give_back(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < SPARE_BUFFERS && buffer.capacity() <= SPARE_BYTES {
            buffer.clear();
            self.spare.push(buffer);
        }
    }
}

impl RecvBuffer {
    /// Whether a message of `len` bytes may land here.
    #[inline]
    pub fn accepts(&self, from: Rank, tag: Tag, len: u64) -> Result<(), CommError> {
        let room = self.room as u64;
        if len > room {
            return Err(CommError::Truncated { from, tag, sent: len, room });
        }
        if self.exact && len < room {
            return Err(CommError::Argument {
                what: format!("rank {from} sent {len} bytes with tag {tag} where {room} were due"),
            });
        }
        Ok(())
    }
}

impl Engine {
    /// Posts a receive from one rank with one tag.
    ///
    /// # Safety
    /// The receive buffer must stay valid, and untouched, until its owner's slot is done.
    #[inline]
    pub unsafe fn recv(
        &mut self,
        from: Rank,
        context: u32,
        tag: Tag,
        recv: RecvBuffer,
    ) -> Result<Progress, CommError> {
        self.check()?;
        let pattern = Pattern { context, from: Some(from), tag: Some(tag) };
        match self.matcher.take(&pattern) {
            None => {
                self.matcher.post(from, context, tag, recv);
                Ok(Progress::Pending)
            }
            Some((unexpected, last)) => self.deliver_unexpected(unexpected, last, recv),
        }
    }

    /// Receives any message that fits, and waits for it; `among` are the ranks it can come from.
    pub fn recv_blocking(
        &mut self,
        pattern: Pattern,
        among: &[Rank],
        into: &mut [u8],
    ) -> Result<Message, CommError> {
        self.check()?;
        let recv = RecvBuffer {
            into: into.as_mut_ptr(),
            room: into.len(),
            exact: false,
            owner: BLOCKING_OWNER,
        };
        self.received = None;
        match self.matcher.take(&pattern) {
            None => self.matcher.post_blocking(pattern, recv),
            Some((unexpected, last)) => {
                let (from, tag, len) = (unexpected.from, unexpected.tag, unexpected.len);
                if self.deliver_unexpected(unexpected, last, recv)? == Progress::Done {
                    return Ok(Message { from, tag, len });
                }
            }
        }
        let message = self.wait_for(Some((&pattern, among)), |engine| engine.received.take())?;
        if let Some(done) = self.queues.get_mut(BLOCKING_OWNER.queue) {
            done.clear();
        }
        Ok(message)
    }

    /// Brings a message that came early to its receive.
    fn deliver_unexpected(
        &mut self,
        unexpected: Unexpected,
        last: bool,
        recv: RecvBuffer,
    ) -> Result<Progress, CommError> {
        let Unexpected { from, tag, len, body, .. } = unexpected;
        if let Err(error) = recv.accepts(from, tag, len) {
            return self.fail(error);
        }
        match body {
            Body::Offer { offer, slot } => match self.fetch(from, tag, len, offer, slot, recv) {
                Ok(()) => Ok(Progress::Pending),
                Err(error) => self.fail(error),
            },
            Body::Bytes(bytes) => {
                // SAFETY: the receive buffer has room for the whole message, of which this is a
                // part.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), recv.into, bytes.len()) };
                let whole = bytes.len() as u64 == len;
                self.inbound.give_back(bytes);
                if whole {
                    return Ok(Progress::Done);
                }
                debug_assert!(last, "only the last message of a peer can be incomplete");
                if let Some(open) = &mut self.inbound.open[from as usize] {
                    open.target = Target::Posted(recv);
                }
                Ok(Progress::Pending)
            }
        }
    }

    /// Gets the bytes of an offered message.
    fn fetch(
        &mut self,
        from: Rank,
        tag: Tag,
        len: u64,
        offer: u32,
        slot: u32,
        recv: RecvBuffer,
    ) -> Result<(), CommError> {
        if let Some(direct) = self.link.direct().filter(|_| slot != NO_SLOT) {
            // SAFETY: the receive buffer has the room, and its owner keeps it until the slot is
            // done; `fail` revokes what is not.
            unsafe { direct.accept(from, slot, recv.into) };
            self.inbound.pulls.push(Pull { from, slot, tag, len, owner: recv.owner });
            return Ok(());
        }
        let place = self.inbound.expected.insert(Expected { from, tag, len, filled: 0, recv });
        self.accept_offer(from, offer, place)
    }

    /// A message is whole.
    #[inline]
    pub(crate) fn complete_recv(&mut self, from: Rank, tag: Tag, len: u64, owner: Owner) {
        if owner == BLOCKING_OWNER {
            self.received = Some(Message { from, tag, len });
        }
        self.complete(owner);
    }

    /// Takes what has arrived from every peer.
    #[inline]
    pub(crate) fn receive_all(&mut self) -> Result<bool, CommError> {
        let mut ready = std::mem::take(&mut self.inbound.ready);
        self.link.poll(&mut ready)?;
        let mut moved = false;
        let mut kept = 0;
        for at in 0..ready.len() {
            let from = ready[at];
            let (took, more) = self.drain(from)?;
            moved |= took;
            if more {
                ready[kept] = from;
                kept += 1;
            }
        }
        ready.truncate(kept);
        self.inbound.ready = ready;
        Ok(moved)
    }

    /// Takes what has arrived from one peer; says whether anything had, and whether more has.
    #[inline]
    fn drain(&mut self, from: Rank) -> Result<(bool, bool), CommError> {
        let mut moved = false;
        for _ in 0..TURN {
            let open = match self.inbound.open[from as usize] {
                Some(open) => open,
                None => {
                    let Some(header) = self.link.open(from)? else { return Ok((moved, false)) };
                    moved = true;
                    let Some(open) = self.arrive(from, &header)? else { continue };
                    open
                }
            };
            let took = self.fill(from, open)?;
            if took == 0 && open.filled < open.end {
                return Ok((moved, false));
            }
            moved = true;
            // A request may be waiting for just this. Looking at the next cell would first fetch a
            // line that the writer is about to write.
            if self.inbound.open[from as usize].is_none() && self.done_something {
                break;
            }
        }
        Ok((moved, true))
    }

    /// A header has come: finds where its payload goes, if it has one.
    #[inline]
    fn arrive(&mut self, from: Rank, header: &Header) -> Result<Option<Incoming>, CommError> {
        let Header { kind, tag, context, len, .. } = *header;
        if kind != Kind::Eager {
            return self.arrive_long(from, header);
        }
        let target = match self.matcher.arrive(from, context, tag) {
            Some(recv) => {
                recv.accepts(from, tag, len)?;
                Target::Posted(recv)
            }
            None => {
                if len > self.link.eager_limit() as u64 {
                    return Err(broken(from, format!("{len} bytes that it did not offer first")));
                }
                let buffer = self.inbound.spare_buffer();
                self.matcher.push_unexpected(from, context, tag, len, Body::Bytes(buffer));
                Target::Unexpected
            }
        };
        Ok(Some(Incoming { tag, len, filled: 0, end: len, target }))
    }

    /// The frames of a message that is offered first.
    fn arrive_long(&mut self, from: Rank, header: &Header) -> Result<Option<Incoming>, CommError> {
        let Header { kind, tag, context, len, mine, slot } = *header;
        match kind {
            Kind::Accept => self.accepted(from, header)?,
            Kind::Data => {
                return self.arrive_part(from, slot, len).map(Some);
            }
            Kind::Offer | Kind::Eager => match self.matcher.arrive(from, context, tag) {
                Some(recv) => {
                    recv.accepts(from, tag, len)?;
                    self.fetch(from, tag, len, mine, slot, recv)?;
                }
                None => {
                    let body = Body::Offer { offer: mine, slot };
                    self.matcher.push_unexpected(from, context, tag, len, body);
                }
            },
        }
        Ok(None)
    }

    /// A part of a message that was asked for.
    fn arrive_part(&mut self, from: Rank, slot: u32, part: u64) -> Result<Incoming, CommError> {
        let expected = self.inbound.expected.get_mut(slot);
        let Some(expected) = expected.filter(|expected| expected.from == from) else {
            return Err(broken(from, format!("unknown receive slot {slot}")));
        };
        let Expected { tag, len, filled, recv, .. } = *expected;
        // A part without bytes would be one of a message that never ends.
        if part > len - filled || (part == 0 && len > 0) {
            return Err(broken(from, format!("{part} of the last {} bytes", len - filled)));
        }
        expected.filled += part;
        if expected.filled == len {
            self.inbound.expected.remove(slot);
        }
        let target = Target::Posted(recv);
        Ok(Incoming { tag, len, filled, end: filled + part, target })
    }

    /// Moves payload of the open frame to its place; closes the frame when it is whole.
    #[inline]
    fn fill(&mut self, from: Rank, mut open: Incoming) -> Result<usize, CommError> {
        let left = (open.end - open.filled) as usize;
        let took = match open.target {
            _ if left == 0 => 0,
            Target::Posted(recv) => {
                // SAFETY: the receive buffer has room for the whole message, and its owner keeps
                // it.
                unsafe { self.link.take(from, recv.into.add(open.filled as usize), left)? }
            }
            Target::Unexpected => self.fill_unexpected(from, left)?,
        };
        if took < left {
            open.filled += took as u64;
            self.inbound.open[from as usize] = Some(open);
            return Ok(took);
        }
        self.inbound.open[from as usize] = None;
        if let Target::Posted(recv) = open.target
            && open.end == open.len
        {
            self.complete_recv(from, open.tag, open.len, recv.owner);
        }
        Ok(took)
    }

    fn fill_unexpected(&mut self, from: Rank, left: usize) -> Result<usize, CommError> {
        let Some(Body::Bytes(bytes)) = self.matcher.last_unexpected(from) else {
            return Err(broken(from, "a message without a place".into()));
        };
        bytes.reserve(left);
        // SAFETY: so much room was just reserved, and what is taken is written.
        unsafe {
            let took = self.link.take(from, bytes.as_mut_ptr().add(bytes.len()), left)?;
            bytes.set_len(bytes.len() + took);
            Ok(took)
        }
    }
}
