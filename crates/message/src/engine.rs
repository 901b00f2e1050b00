//! The one protocol over all transports: what a rank has under way, and how it goes on and waits.
//!
//! Sending is in `outbound`, receiving in `inbound`; here is what joins them. After an error the
//! engine moves nothing more, so that no byte lands in memory that its owner has taken back.

use std::rc::Rc;
use std::time::{Duration, Instant};

use laneway_core::{CommError, Message, Rank, Slot};

use crate::direct::Stage;
use crate::inbound::Inbound;
use crate::link::Link;
use crate::matching::{Matcher, Owner, Pattern};
use crate::outbound::Outbound;
use crate::slab::Slab;
use crate::world::World;

/// The set of transfers that blocking calls use.
const BLOCKING: u32 = 0;

pub(crate) const BLOCKING_OWNER: Owner = Owner { queue: BLOCKING, slot: 0 };

/// Polls without a pause before the spin-loop hint.
const EAGER_LOOKS: u32 = 200;

/// The message that a blocking call waits for, and the ranks that it can come from.
pub(crate) type Wanted<'a> = (&'a Pattern, &'a [Rank]);

pub(crate) struct Engine {
    pub(crate) link: Box<dyn Link>,
    pub(crate) world: Rc<dyn World>,
    pub(crate) rank: Rank,
    pub(crate) matcher: Matcher,
    pub(crate) inbound: Inbound,
    pub(crate) outbound: Outbound,
    /// Slots that are done and not yet reported, for each set of transfers.
    pub(crate) queues: Slab<Vec<Slot>>,
    /// What the blocking receive got.
    pub(crate) received: Option<Message>,
    /// Whether a transfer was completed since the last look at the link.
    pub(crate) done_something: bool,
    failed: Option<CommError>,
    /// Communicators that this rank has numbered.
    numbered: u32,
    limit: Duration,
    spins: u32,
}

impl Engine {
    pub fn new(link: Box<dyn Link>, world: Rc<dyn World>, rank: Rank, limit: Duration) -> Engine {
        let size = world.size();
        let mut queues = Slab::new();
        let blocking = queues.insert(Vec::new());
        debug_assert_eq!(blocking, BLOCKING);
        Engine {
            spins: link.spins(),
            link,
            world,
            rank,
            matcher: Matcher::new(size),
            inbound: Inbound::new(size),
            outbound: Outbound::new(size),
            queues,
            received: None,
            done_something: false,
            failed: None,
            numbered: 0,
            limit,
        }
    }

    /// Refuses to go on after an error.
    pub fn check(&self) -> Result<(), CommError> {
        match &self.failed {
            None => Ok(()),
            Some(error) => Err(error.clone()),
        }
    }

    /// Keeps an error, and takes back every buffer that a peer may still read or write.
    pub fn fail<T>(&mut self, error: CommError) -> Result<T, CommError> {
        if self.failed.is_none() {
            self.failed = Some(error.clone());
            if let Some(direct) = self.link.direct() {
                self.outbound.abandon_all(direct);
                for pull in &self.inbound.pulls {
                    direct.revoke(pull.from, pull.slot, self.limit);
                }
            }
            self.inbound.pulls.clear();
        }
        Err(error)
    }

    /// Two fresh numbers for the message streams of a communicator: the one returned and the next.
    /// No other rank gives them, and 0 and 1 belong to the communicator of all ranks.
    pub fn new_context(&mut self) -> Result<u32, CommError> {
        let place = self.world.size().checked_mul(self.numbered);
        let number = place.and_then(|place| place.checked_add(self.rank + 1)?.checked_mul(2));
        let number = number.ok_or_else(|| CommError::Unsupported {
            what: "another communicator".into(),
            why: format!("rank {} has split {} times", self.rank, self.numbered),
        })?;
        self.numbered += 1;
        Ok(number)
    }

    #[inline]
    pub fn complete(&mut self, owner: Owner) {
        self.done_something = true;
        if let Some(done) = self.queues.get_mut(owner.queue) {
            done.push(owner.slot);
        }
    }

    /// Moves what can be moved; true when anything did.
    #[inline]
    pub fn progress(&mut self) -> Result<bool, CommError> {
        self.check()?;
        match self.advance() {
            Ok(moved) => Ok(moved),
            Err(error) => self.fail(error),
        }
    }

    #[inline]
    fn advance(&mut self) -> Result<bool, CommError> {
        self.done_something = false;
        let mut moved = self.receive_all()?;
        if self.outbound.busy() {
            moved |= self.transmit_all()?;
        }
        if !self.inbound.pulls.is_empty() {
            moved |= self.pull_all()?;
        }
        if self.outbound.assisting() {
            moved |= self.assist_all()?;
        }
        Ok(moved)
    }

    /// Copies a chunk of each long message that comes straight from its sender's memory.
    fn pull_all(&mut self) -> Result<bool, CommError> {
        let mut moved = false;
        let mut at = 0;
        while at < self.inbound.pulls.len() {
            let pull = self.inbound.pulls[at];
            let Some(direct) = self.link.direct() else { return Ok(moved) };
            match direct.pull(pull.from, pull.slot)? {
                Stage::Idle => at += 1,
                Stage::Moved => {
                    moved = true;
                    at += 1;
                }
                Stage::Finished => {
                    moved = true;
                    self.inbound.pulls.remove(at);
                    self.complete_recv(pull.from, pull.tag, pull.len, pull.owner);
                }
            }
        }
        Ok(moved)
    }

    /// Waits until `check` finds what it looks for.
    #[inline]
    pub fn wait_for<T>(
        &mut self,
        wanted: Option<Wanted<'_>>,
        mut check: impl FnMut(&mut Engine) -> Option<T>,
    ) -> Result<T, CommError> {
        let mut looks = 0;
        let mut since = None;
        loop {
            let moved = self.progress()?;
            if let Some(found) = check(self) {
                return Ok(found);
            }
            if moved {
                (looks, since) = (0, None);
                continue;
            }
            looks += 1;
            if looks < self.spins {
                if looks > EAGER_LOOKS {
                    std::hint::spin_loop();
                }
                continue;
            }
            self.rest(wanted, since.get_or_insert_with(Instant::now))?;
        }
    }

    /// Sleeps until something may have happened; fails when nothing can happen any more.
    #[cold]
    fn rest(&mut self, wanted: Option<Wanted<'_>>, since: &mut Instant) -> Result<(), CommError> {
        self.link.arm();
        let rested = self.rest_armed(wanted, since);
        self.link.disarm();
        match rested {
            Ok(()) => Ok(()),
            Err(error) => self.fail(error),
        }
    }

    fn rest_armed(
        &mut self,
        wanted: Option<Wanted<'_>>,
        since: &mut Instant,
    ) -> Result<(), CommError> {
        if self.progress()? || self.check_peers(wanted)? {
            *since = Instant::now();
            return Ok(());
        }
        let spent = since.elapsed();
        if spent >= self.limit {
            let seconds = self.limit.as_secs();
            return Err(CommError::TimedOut { seconds, waiting_for: self.waiting_for(wanted) });
        }
        self.link.sleep(self.limit - spent, self.outbound.busy_peers())
    }

    /// Fails when a rank has ended that something here still waits for, and nothing is left to
    /// take; true when something was.
    pub fn check_peers(&mut self, wanted: Option<Wanted<'_>>) -> Result<bool, CommError> {
        if !self.world.any_ended() {
            return Ok(false);
        }
        let Err(error) = self.check_exited_peers(wanted) else { return Ok(false) };
        // It may have sent its last words after we looked for them, and ended before now.
        if self.progress()? { Ok(true) } else { self.fail(error) }
    }

    /// An error when a rank has ended that something here still waits for.
    fn check_exited_peers(&mut self, wanted: Option<Wanted<'_>>) -> Result<(), CommError> {
        for rank in 0..self.world.size() {
            if self.needs(rank).is_some()
                && let Some(how) = self.ended(rank)
            {
                return Err(CommError::PeerDied { rank, how });
            }
        }
        let Some((pattern, among)) = wanted else { return Ok(()) };
        let me = self.rank;
        let mut senders = among
            .iter()
            .filter(|&&rank| rank != me && pattern.from.is_none_or(|from| from == rank))
            .map(|&rank| self.ended(rank).map(|how| (rank, how)));
        // A matching message can still come, unless all its possible senders have ended.
        let Some(Some((rank, how))) = senders.next() else { return Ok(()) };
        let all = senders.all(|ended| ended.is_some());
        if all { Err(CommError::PeerDied { rank, how }) } else { Ok(()) }
    }

    /// How a rank has ended of which no more frames come.
    fn ended(&mut self, rank: Rank) -> Option<String> {
        self.world.ended(rank).filter(|_| !self.link.may_bring(rank))
    }

    /// What is under way with a peer, in words.
    fn needs(&self, peer: Rank) -> Option<String> {
        if let Some(tag) = self.matcher.awaited(peer) {
            return Some(match tag {
                Some(tag) => format!("a message from rank {peer} with tag {tag}"),
                None => format!("a message from rank {peer}"),
            });
        }
        if self.inbound.expects(peer) {
            return Some(format!("the rest of a message from rank {peer}"));
        }
        self.outbound
            .has_pending(peer)
            .then(|| format!("rank {peer} to receive what was sent to it"))
    }

    fn waiting_for(&self, wanted: Option<Wanted<'_>>) -> String {
        let mut needs: Vec<String> =
            (0..self.world.size()).filter_map(|peer| self.needs(peer)).collect();
        if needs.is_empty() {
            return match wanted.and_then(|(pattern, _)| pattern.from) {
                Some(from) => format!("a message from rank {from}"),
                None => "a message from any rank".into(),
            };
        }
        let more = needs.len().saturating_sub(4);
        needs.truncate(4);
        let text = needs.join(", ");
        if more == 0 { text } else { format!("{text}, and {more} ranks more") }
    }

    /// Gives up everything that is under way: its owner takes the buffers back.
    pub fn give_up(&mut self) {
        let what = "transfers were given up before they were done".into();
        let _ = self.fail::<()>(CommError::Argument { what });
    }
}
