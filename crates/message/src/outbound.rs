//! Sending: frames that wait for room, and offers that wait for their receivers.

use std::collections::VecDeque;

use laneway_core::{CommError, Progress, Rank, Tag};

use crate::direct::{Direct, Stage};
use crate::engine::Engine;
use crate::frame::{Header, Kind, NO_SLOT, broken};
use crate::matching::{Body, Owner};
use crate::slab::Slab;

/// The most bytes of a long message in one frame. Other frames to the same peer leave between two
/// parts, so that none of them waits for a whole long message.
pub const PART: usize = 256 << 10;

/// A frame on its way out.
struct Outgoing {
    header: Header,
    data: *const u8,
    /// `None` before the header has gone.
    sent: Option<usize>,
    /// Bytes of the same message that follow in later frames.
    rest: usize,
    /// Completed with the last frame of its message.
    owner: Option<Owner>,
}

impl Outgoing {
    /// A frame that carries a whole message, or none.
    fn whole(header: Header, data: *const u8, owner: Option<Owner>) -> Outgoing {
        Outgoing { header, data, sent: None, rest: 0, owner }
    }

    /// The first part of a long message to a receive slot.
    fn part(slot: u32, data: *const u8, len: usize, owner: Option<Owner>) -> Outgoing {
        let count = len.min(PART);
        let header =
            Header { kind: Kind::Data, tag: 0, context: 0, len: count as u64, mine: 0, slot };
        Outgoing { header, data, sent: None, rest: len - count, owner }
    }

    /// Bytes that this frame carries after its header.
    fn payload(&self) -> usize {
        self.header.payload() as usize
    }

    /// The part after this one, where there is one.
    fn next(&self) -> Option<Outgoing> {
        // SAFETY: `rest` bytes of the same message follow those of this part.
        let data = (self.rest > 0).then(|| unsafe { self.data.add(self.payload()) })?;
        Some(Outgoing::part(self.header.slot, data, self.rest, self.owner))
    }
}

/// A long message that its receiver has not asked for yet.
#[derive(Clone, Copy)]
struct Offered {
    to: Rank,
    data: *const u8,
    len: usize,
    owner: Owner,
}

/// A long message that both ranks copy.
#[derive(Clone, Copy)]
struct Assisted {
    to: Rank,
    slot: u32,
    offer: u32,
}

pub(crate) struct Outbound {
    frames: Vec<VecDeque<Outgoing>>,
    /// Peers whose list of frames is not empty.
    waiting: Vec<Rank>,
    offers: Slab<Offered>,
    assisted: Vec<Assisted>,
}

impl Outbound {
    pub fn new(size: u32) -> Outbound {
        Outbound {
            frames: (0..size).map(|_| VecDeque::new()).collect(),
            waiting: Vec::new(),
            offers: Slab::new(),
            assisted: Vec::new(),
        }
    }

    #[inline]
    pub fn busy(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub fn busy_peers(&self) -> &[Rank] {
        &self.waiting
    }

    #[inline]
    pub fn assisting(&self) -> bool {
        !self.assisted.is_empty()
    }

    /// Informs the receivers of long messages that these will never be complete.
    pub fn abandon_all(&mut self, direct: &mut dyn Direct) {
        for assisted in self.assisted.drain(..) {
            direct.abandon(assisted.to, assisted.slot);
        }
    }

    /// Whether something for `peer` is not done.
    pub fn has_pending(&self, peer: Rank) -> bool {
        !self.frames[peer as usize].is_empty() || self.offers.iter().any(|offer| offer.to == peer)
    }
}

impl Engine {
    /// Starts a message.
    ///
    /// # Safety
    /// `data` must stay valid for `len` bytes and unchanged until the owner's slot is done.
    #[inline]
    pub unsafe fn send(
        &mut self,
        to: Rank,
        context: u32,
        tag: Tag,
        data: *const u8,
        len: usize,
        owner: Owner,
    ) -> Result<Progress, CommError> {
        self.check()?;
        // SAFETY: the caller's promise is handed on.
        let started = unsafe {
            if to == self.rank {
                self.send_to_self(context, tag, data, len)
            } else if len <= self.link.eager_limit() {
                let header = Header::eager(context, tag, len);
                self.frame(to, Outgoing::whole(header, data, Some(owner)))
            } else {
                self.offer(to, context, tag, data, len, owner)
            }
        };
        match started {
            Ok(progress) => Ok(progress),
            Err(error) => self.fail(error),
        }
    }

    /// Sends a frame, and those that carry the rest of its message, or keeps them until there is
    /// room.
    ///
    /// # Safety
    /// The frame's data must stay valid and unchanged until its owner's slot is done.
    #[inline]
    unsafe fn frame(&mut self, to: Rank, mut frame: Outgoing) -> Result<Progress, CommError> {
        let list = &mut self.outbound.frames[to as usize];
        if list.is_empty() {
            let len = frame.payload();
            // SAFETY: the caller vouches for the data.
            frame.sent = unsafe { self.link.begin(to, &frame.header, frame.data, len)? };
            if frame.sent == Some(len) {
                match frame.next() {
                    None => return Ok(Progress::Done),
                    Some(next) => frame = next,
                }
            }
            self.outbound.waiting.push(to);
        }
        list.push_back(frame);
        Ok(Progress::Pending)
    }

    unsafe fn offer(
        &mut self,
        to: Rank,
        context: u32,
        tag: Tag,
        data: *const u8,
        len: usize,
        owner: Owner,
    ) -> Result<Progress, CommError> {
        let offer = self.outbound.offers.insert(Offered { to, data, len, owner });
        // SAFETY: the caller vouches for the data; `fail` abandons what is not done.
        let slot = self.link.direct().and_then(|direct| unsafe { direct.offer(data, len) });
        if let Some(slot) = slot {
            self.outbound.assisted.push(Assisted { to, slot, offer });
        }
        let slot = slot.unwrap_or(NO_SLOT);
        let header = Header { kind: Kind::Offer, tag, context, len: len as u64, mine: offer, slot };
        // SAFETY: an offer has no payload.
        unsafe { self.frame(to, Outgoing::whole(header, std::ptr::null(), None))? };
        Ok(Progress::Pending)
    }

    /// A message to oneself is kept whole, or goes straight to its receive.
    unsafe fn send_to_self(
        &mut self,
        context: u32,
        tag: Tag,
        data: *const u8,
        len: usize,
    ) -> Result<Progress, CommError> {
        match self.matcher.arrive(self.rank, context, tag) {
            Some(recv) => {
                recv.accepts(self.rank, tag, len as u64)?;
                // SAFETY: the caller vouches for the data, and the receive buffer has the room. Of
                // two transfers of one process the caller need not promise that they are disjoint:
                // `copy` allows overlap.
                unsafe { std::ptr::copy(data, recv.into, len) };
                self.complete_recv(self.rank, tag, len as u64, recv.owner);
            }
            None => {
                let mut kept = self.inbound.spare_buffer();
                if len > 0 {
                    // SAFETY: the caller vouches for the data, which is not written during this
                    // call.
                    kept.extend_from_slice(unsafe { std::slice::from_raw_parts(data, len) });
                }
                self.matcher.push_unexpected(
                    self.rank,
                    context,
                    tag,
                    len as u64,
                    Body::Bytes(kept),
                );
            }
        }
        Ok(Progress::Done)
    }

    /// A receiver wants an offered message as a frame.
    pub(crate) fn accepted(&mut self, from: Rank, header: &Header) -> Result<(), CommError> {
        let offered = self.outbound.offers.remove(header.slot);
        let Some(offered) = offered.filter(|offered| offered.to == from) else {
            return Err(broken(from, format!("accept for unknown offer {}", header.slot)));
        };
        if let Some(at) = self.outbound.assisted.iter().position(|a| a.offer == header.slot) {
            let assisted = self.outbound.assisted.swap_remove(at);
            if let Some(direct) = self.link.direct() {
                direct.withdraw(assisted.slot);
            }
        }
        let Offered { data, len, owner, .. } = offered;
        // SAFETY: the offer's owner keeps the data until its slot is done.
        let progress =
            unsafe { self.frame(from, Outgoing::part(header.mine, data, len, Some(owner)))? };
        if progress == Progress::Done {
            self.complete(offered.owner);
        }
        Ok(())
    }

    /// Asks a sender to send what it offered to receive slot `slot`.
    pub(crate) fn accept_offer(
        &mut self,
        to: Rank,
        offer: u32,
        slot: u32,
    ) -> Result<(), CommError> {
        let header =
            Header { kind: Kind::Accept, tag: 0, context: 0, len: 0, mine: slot, slot: offer };
        // SAFETY: this frame has no payload.
        unsafe { self.frame(to, Outgoing::whole(header, std::ptr::null(), None))? };
        Ok(())
    }

    /// Goes on with frames that waited for room.
    pub(crate) fn transmit_all(&mut self) -> Result<bool, CommError> {
        let mut moved = false;
        let mut at = 0;
        while let Some(&to) = self.outbound.waiting.get(at) {
            moved |= self.transmit(to)?;
            if self.outbound.frames[to as usize].is_empty() {
                self.outbound.waiting.swap_remove(at);
            } else {
                at += 1;
            }
        }
        Ok(moved)
    }

    fn transmit(&mut self, to: Rank) -> Result<bool, CommError> {
        let mut moved = false;
        while let Some(frame) = self.outbound.frames[to as usize].front_mut() {
            let len = frame.payload();
            let before = frame.sent;
            // SAFETY: the frame's owner keeps its data until its slot is done.
            frame.sent = unsafe {
                match frame.sent {
                    None => self.link.begin(to, &frame.header, frame.data, len)?,
                    Some(sent) => {
                        Some(sent + self.link.more(to, frame.data.add(sent), len - sent)?)
                    }
                }
            };
            moved |= frame.sent != before;
            if frame.sent != Some(len) {
                return Ok(moved);
            }
            let (next, owner) = (frame.next(), frame.owner);
            let list = &mut self.outbound.frames[to as usize];
            list.pop_front();
            match (next, owner) {
                (Some(next), _) => list.push_back(next),
                (None, Some(owner)) => self.complete(owner),
                (None, None) => {}
            }
        }
        Ok(moved)
    }

    /// Copies a chunk of each long message whose receiver has named its buffer.
    pub(crate) fn assist_all(&mut self) -> Result<bool, CommError> {
        let mut moved = false;
        let mut at = 0;
        while let Some(&assisted) = self.outbound.assisted.get(at) {
            let Some(direct) = self.link.direct() else { return Ok(moved) };
            match direct.assist(assisted.to, assisted.slot)? {
                Stage::Idle => at += 1,
                Stage::Moved => {
                    moved = true;
                    at += 1;
                }
                Stage::Finished => {
                    moved = true;
                    self.outbound.assisted.remove(at);
                    if let Some(offered) = self.outbound.offers.remove(assisted.offer) {
                        self.complete(offered.owner);
                    }
                }
            }
        }
        Ok(moved)
    }
}
