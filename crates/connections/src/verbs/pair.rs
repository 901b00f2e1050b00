//! One reliable queue pair that migrates by itself: its states as last seen, and its requests.
//!
//! An event of the device is only a reason to ask: the pair is queried, and what differs from what
//! was seen before is reported once. There is no event for ARMED: while a path is being loaded, the
//! pair is asked now and then.

use std::collections::{BTreeMap, VecDeque};
use std::mem;

use laneway_path::{Cause, Event, MigrationState, Nanos, PathId, QpState, Refusal, Why};

use super::address::Address;
use super::ffi::*;
use super::local::Local;
use super::memory::Region;
use super::queue_pair::{DEPTH, Peer, QueuePair};
use crate::driver::Status;
use crate::driver::setup::Setup;
use crate::error::NetError;

/// A pair whose path is being loaded is asked so soon, then more rarely: the device is called.
const ASK_APART: Nanos = 1_000_000;
const ASK_MOST_APART: Nanos = 100_000_000;

/// Messages of one direction.
#[derive(Default)]
struct Requests {
    /// What the device has, by the number of the request, with the user's own.
    posted: BTreeMap<u64, (u64, Region)>,
    /// What it has no room for yet.
    waiting: VecDeque<(u64, Vec<u8>)>,
}

impl Requests {
    /// A refused request that is the only one waiting is not kept: its user gets the error.
    fn take_back(&mut self, posted: Result<(), NetError>) -> Result<(), NetError> {
        match posted.is_err() && self.waiting.len() == 1 && self.posted.is_empty() {
            true => {
                self.waiting.clear();
                posted
            }
            false => Ok(()),
        }
    }
}

pub(super) struct Pair {
    queue_pair: QueuePair,
    pub own: Address,
    peer: Option<Address>,
    /// As last seen. Its alternate path is the one that the device has.
    seen: Status,
    /// An alternate path that the device does not have yet.
    specified: Option<PathId>,
    next_query: Option<Nanos>,
    asks_apart: Nanos,
    sends: Requests,
    receives: Requests,
    next_request: u64,
    why: Option<Why>,
    failure_is_reported: bool,
}

impl Pair {
    /// In INIT; `own` gets the pair's number.
    pub fn new(queue_pair: QueuePair, own: Address, primary: PathId) -> Pair {
        let seen = Status {
            state: QpState::Init,
            migration: MigrationState::Migrated,
            primary,
            alternate: None,
        };
        Pair {
            queue_pair,
            own,
            peer: None,
            seen,
            specified: None,
            next_query: None,
            asks_apart: ASK_APART,
            sends: Requests::default(),
            receives: Requests::default(),
            next_request: 0,
            why: None,
            failure_is_reported: false,
        }
    }

    pub fn is(&self, pair: *const ibv_qp) -> bool {
        self.queue_pair.is(pair)
    }

    pub fn next_query(&self) -> Option<Nanos> {
        self.next_query
    }

    pub fn seen(&self) -> Status {
        self.seen
    }

    /// Whether a path is to be loaded next.
    pub fn wants(&self, path: PathId) -> bool {
        self.specified == Some(path)
    }

    /// From INIT to RTS.
    pub fn connect(
        &mut self,
        setup: &Setup,
        locals: &[Local],
        peer: &Address,
    ) -> Result<(), NetError> {
        if self.seen.state != QpState::Init {
            return Err(Refusal::State { state: self.seen.state, wanted: "INIT" }.into());
        }
        self.own.check_peer(peer)?;
        let agreed = Peer {
            number: peer.number,
            receive_start: peer.start,
            send_start: self.own.start,
            mtu: self.own.mtu.min(peer.mtu),
        };
        let primary = usize::from(self.seen.primary.0);
        let way = locals[primary].way_to(&peer.paths[primary]);
        self.queue_pair.ready_to_receive(setup, &agreed, way)?;
        self.seen.state = QpState::Rtr;
        self.queue_pair.ready_to_send(setup, &agreed)?;
        self.seen.state = QpState::Rts;
        self.peer = Some(peer.clone());
        Ok(())
    }

    /// What the device says, in the light of what was seen before.
    fn look(&self) -> Result<Status, NetError> {
        if self.peer.is_none() {
            return Ok(self.seen);
        }
        let attr = self.queue_pair.query(IBV_QP_STATE | IBV_QP_PATH_MIG_STATE)?;
        let migration = match attr.path_mig_state {
            IBV_MIG_ARMED => MigrationState::Armed,
            IBV_MIG_REARM => MigrationState::Rearm,
            _ => MigrationState::Migrated,
        };
        let state = match attr.qp_state {
            IBV_QPS_RTR => QpState::Rtr,
            IBV_QPS_RTS => QpState::Rts,
            IBV_QPS_SQD => QpState::Sqd,
            IBV_QPS_RESET => QpState::Reset,
            IBV_QPS_INIT => QpState::Init,
            _ => QpState::Error,
        };
        let moved = self.seen.migration != MigrationState::Migrated
            && migration == MigrationState::Migrated;
        let (primary, alternate) = match self.seen.alternate {
            Some(to) if moved => (to, None),
            alternate => (self.seen.primary, alternate),
        };
        Ok(Status { state, migration, primary, alternate })
    }

    /// As a user sees it: a path that is specified anew is not loaded.
    pub fn status(&self) -> Result<Status, NetError> {
        let seen = self.look()?;
        Ok(match self.specified.filter(|path| *path != seen.primary) {
            Some(path) => {
                Status { migration: MigrationState::Migrated, alternate: Some(path), ..seen }
            }
            None => seen,
        })
    }

    /// Queries the device, and reports changes. The device does not say why a path was left.
    pub fn observe(&mut self, now: Nanos, cause: Cause, events: &mut VecDeque<Event>) {
        // What cannot be asked is as it was.
        let Ok(found) = self.look() else { return };
        let before = mem::replace(&mut self.seen, found);
        match (before.migration, found.migration, before.alternate) {
            (MigrationState::Rearm | MigrationState::Armed, MigrationState::Migrated, Some(to)) => {
                self.specified = self.specified.filter(|path| *path != to);
                self.next_query = None;
                events.push_back(Event::Migrated { from: before.primary, to, cause });
            }
            (MigrationState::Rearm, MigrationState::Armed, Some(path)) => {
                self.next_query = None;
                events.push_back(Event::Armed { path });
            }
            (MigrationState::Armed, MigrationState::Rearm, Some(path)) => {
                self.ask_soon(now);
                events.push_back(Event::Unhealthy { path });
            }
            (_, MigrationState::Rearm, _) => {
                self.next_query = Some(now + self.asks_apart);
                self.asks_apart = (2 * self.asks_apart).min(ASK_MOST_APART);
            }
            _ => {}
        }
    }

    fn ask_soon(&mut self, now: Nanos) {
        (self.next_query, self.asks_apart) = (Some(now + ASK_APART), 2 * ASK_APART);
    }

    /// Refuses what needs a state that the pair is not in.
    fn check(&self, allowed: &[QpState], wanted: &'static str) -> Result<(), NetError> {
        match allowed.contains(&self.seen.state) {
            true => Ok(()),
            false => Err(Refusal::State { state: self.seen.state, wanted }.into()),
        }
    }

    /// The device gets it when it is loaded: what it has until then goes on to protect the pair.
    pub fn specify(&mut self, path: PathId) -> Result<(), NetError> {
        self.check(&[QpState::Rtr, QpState::Rts, QpState::Sqd], "RTR, RTS or SQD")?;
        if usize::from(path.0) >= self.own.paths.len() {
            return Err(Refusal::UnknownPath { path }.into());
        }
        if path == self.seen.primary {
            return Err(Refusal::AlternateIsPrimary { path }.into());
        }
        self.specified = Some(path);
        Ok(())
    }

    /// Whether it is loaded is asked later: an event that comes at once could lead to the next.
    pub fn load(&mut self, now: Nanos, setup: &Setup, locals: &[Local]) -> Result<(), NetError> {
        self.check(&[QpState::Rtr, QpState::Rts, QpState::Sqd], "RTR, RTS or SQD")?;
        let path = self.specified.or(self.seen.alternate).ok_or(Refusal::NoAlternate)?;
        if path == self.seen.primary {
            return Err(Refusal::AlternateIsPrimary { path }.into());
        }
        let at = usize::from(path.0);
        let Some(peer) = &self.peer else { return Err(Refusal::NoAlternate.into()) };
        self.queue_pair.load(setup, locals[at].way_to(&peer.paths[at]))?;
        let attr = self.queue_pair.query(IBV_QP_PATH_MIG_STATE)?;
        if attr.path_mig_state == IBV_MIG_MIGRATED {
            let why = format!("{} does not load alternate paths", self.queue_pair.device.name);
            return Err(NetError::Device { why });
        }
        self.specified = None;
        self.seen = Status { alternate: Some(path), migration: MigrationState::Rearm, ..self.seen };
        self.ask_soon(now);
        Ok(())
    }

    /// Moves to the alternate path.
    pub fn migrate(
        &mut self,
        now: Nanos,
        cause: Cause,
        events: &mut VecDeque<Event>,
    ) -> Result<(), NetError> {
        self.observe(now, Cause::Failure, events);
        self.check(&[QpState::Rts, QpState::Sqd], "RTS or SQD")?;
        let migration = self.status()?.migration;
        if migration != MigrationState::Armed {
            return Err(Refusal::NotArmed { migration }.into());
        }
        self.queue_pair.migrate()?;
        self.observe(now, cause, events);
        Ok(())
    }

    pub fn send(&mut self, id: u64, message: Vec<u8>) -> Result<(), NetError> {
        self.check(&[QpState::Rts, QpState::Sqd], "RTS or SQD")?;
        self.sends.waiting.push_back((id, message));
        let posted = self.post();
        self.sends.take_back(posted)
    }

    pub fn post_receive(&mut self, id: u64, buffer: Vec<u8>) -> Result<(), NetError> {
        let ready = [QpState::Init, QpState::Rtr, QpState::Rts, QpState::Sqd];
        self.check(&ready, "INIT, RTR, RTS or SQD")?;
        self.receives.waiting.push_back((id, buffer));
        let posted = self.post();
        self.receives.take_back(posted)
    }

    /// Hands the device what it has room for; what it refuses waits.
    fn post(&mut self) -> Result<(), NetError> {
        let device = &self.queue_pair.device;
        for is_send in [true, false] {
            let requests = if is_send { &mut self.sends } else { &mut self.receives };
            while requests.posted.len() < DEPTH as usize {
                let Some((id, buffer)) = requests.waiting.pop_front() else { break };
                let bytes = if is_send { buffer.len() } else { buffer.capacity() };
                let region = match Region::new(device, buffer, bytes) {
                    Ok(region) => region,
                    Err((error, buffer)) => {
                        requests.waiting.push_front((id, buffer));
                        return Err(error);
                    }
                };
                let number = self.next_request << 1 | u64::from(is_send);
                let part = region.element(0, bytes);
                // SAFETY: the region stays in `posted` until the request is completed, or, where
                // that does not happen, until the pair is destroyed: see `Drop`.
                let posted = unsafe {
                    match is_send {
                        true => self.queue_pair.post_send(number, part, None),
                        false => self.queue_pair.post_receive(number, part),
                    }
                };
                if let Err(error) = posted {
                    requests.waiting.push_front((id, region.into_buffer()));
                    return Err(error);
                }
                self.next_request += 1;
                requests.posted.insert(number, (id, region));
            }
        }
        Ok(())
    }

    /// Takes what is done; false where nothing is.
    pub fn complete(&mut self, events: &mut VecDeque<Event>) -> bool {
        let before = events.len();
        while let Some(wc) = self.queue_pair.queue.poll() {
            let is_send = wc.wr_id & 1 != 0;
            let requests = if is_send { &mut self.sends } else { &mut self.receives };
            let Some((id, region)) = requests.posted.remove(&wc.wr_id) else { continue };
            let event = match (wc.status, is_send) {
                (IBV_WC_SUCCESS, true) => Event::Sent { id, message: region.into_buffer() },
                (IBV_WC_SUCCESS, false) => {
                    Event::Received { id, message: region.into_written(wc.byte_len as usize) }
                }
                (_, true) => Event::SendFlushed { id },
                (_, false) => Event::ReceiveFlushed { id },
            };
            self.note_status(wc.status);
            events.push_back(event);
        }
        if self.seen.state == QpState::Error {
            self.tell_failure(events);
        } else if !self.sends.waiting.is_empty() || !self.receives.waiting.is_empty() {
            let refused = self.post().is_err();
            // It is tried again when something that is posted is done, if there is any.
            if refused && self.sends.posted.is_empty() && self.receives.posted.is_empty() {
                self.fail();
            }
        }
        events.len() > before
    }

    fn note_status(&mut self, status: u32) {
        let why = match status {
            IBV_WC_SUCCESS => return,
            IBV_WC_WR_FLUSH_ERR => None,
            IBV_WC_RETRY_EXC_ERR => Some(Why::Retries),
            IBV_WC_RNR_RETRY_EXC_ERR => Some(Why::NotReadyRetries),
            _ => Some(Why::Message),
        };
        self.why = self.why.or(why);
        self.seen.state = QpState::Error;
    }

    /// The first request that failed says why; where none did, all have been given back before.
    fn tell_failure(&mut self, events: &mut VecDeque<Event>) {
        self.next_query = None;
        events.extend(self.sends.waiting.drain(..).map(|(id, _)| Event::SendFlushed { id }));
        events.extend(self.receives.waiting.drain(..).map(|(id, _)| Event::ReceiveFlushed { id }));
        let is_empty = self.sends.posted.is_empty() && self.receives.posted.is_empty();
        if !self.failure_is_reported && (self.why.is_some() || is_empty) {
            self.failure_is_reported = true;
            events.push_back(Event::Failed { why: self.why.unwrap_or(Why::Message) });
        }
    }

    /// The device is of no use any more.
    pub fn fail(&mut self) {
        self.seen.state = QpState::Error;
        self.why = self.why.or(Some(Why::Message));
    }

    pub fn arm(&self) {
        self.queue_pair.queue.arm();
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        if !self.queue_pair.destroy() {
            // The device may still reach the memory of its requests: it stays.
            mem::forget(mem::take(&mut self.sends.posted));
            mem::forget(mem::take(&mut self.receives.posted));
        }
    }
}
