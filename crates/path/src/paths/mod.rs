//! The paths of a connection: which one is in use, which one can take over, what is known of each.
//!
//! It decides nothing about messages and writes no packets: the connection asks what is due, tells
//! the sender, and sends. The primary path is never the alternate one.

mod alternate;
mod detection;
mod diversion;
mod epoch;
mod liveness;
mod loss;
mod replay;
mod round_trip;
mod route;
mod shared;
mod stream;
mod trial;

use alternate::{Alternate, Probed};
use detection::{Suspicion, patience, progress_patience};
use epoch::Epoch;
use trial::Trial;

pub(crate) use detection::{Doubt, Verdict};
pub(crate) use round_trip::RoundTrip;
pub(crate) use route::{Route, micros};
pub use shared::Evidence;
pub(crate) use stream::Stream;
pub use stream::StreamState;
pub(crate) use trial::Step;

use crate::state::{Cause, MigrationState};
use crate::{Nanos, PathId};

pub(crate) struct Paths {
    /// Of the connection.
    number: u32,
    routes: Vec<Route>,
    primary: PathId,
    alternate: Alternate,
    epoch: Epoch,
    /// Whether the primary path is dead, while this is being found out.
    suspicion: Option<Suspicion>,
    /// Whether data goes over the alternate path until that is known.
    diverted: bool,
    /// How often this end began to divert data, and how often the peer did.
    diversions: [u8; 2],
    /// Whether the alternate path loses less.
    trial: Trial,
    /// The peer learns of requests from messages only.
    held: bool,
}

/// What a request of the peer to load a path asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requested {
    /// The path that is being loaded here, or is armed.
    Same,
    /// Another one.
    Other,
    /// The primary path of this end.
    Primary,
}

impl Paths {
    pub fn new(number: u32, count: u8) -> Paths {
        Paths {
            number,
            routes: (0..count).map(|path| Route::new(PathId(path), 1)).collect(),
            primary: PathId(0),
            alternate: Alternate::none(),
            epoch: Epoch::first(),
            suspicion: None,
            diverted: false,
            diversions: [0; 2],
            trial: Trial::default(),
            held: false,
        }
    }

    pub fn knows(&self, path: PathId) -> bool {
        usize::from(path.0) < self.routes.len()
    }

    pub fn primary(&self) -> PathId {
        self.primary
    }

    pub fn alternate(&self) -> Option<PathId> {
        self.alternate.path()
    }

    pub fn migration(&self) -> MigrationState {
        self.alternate.state()
    }

    pub fn epoch(&self) -> u32 {
        self.epoch.number()
    }

    /// The epoch of this end's next migration.
    pub fn next_epoch(&self) -> u32 {
        self.epoch.next()
    }

    pub fn get(&self, path: PathId) -> Option<&Route> {
        self.routes.get(usize::from(path.0))
    }

    pub fn get_mut(&mut self, path: PathId) -> Option<&mut Route> {
        self.routes.get_mut(usize::from(path.0))
    }

    /// A path that is known.
    pub fn route(&mut self, path: PathId) -> &mut Route {
        &mut self.routes[usize::from(path.0)]
    }

    pub fn routes(&mut self) -> &mut [Route] {
        &mut self.routes
    }

    pub fn primary_route(&self) -> &Route {
        &self.routes[usize::from(self.primary.0)]
    }

    /// The alternate path if it can take over.
    fn armed_route(&self) -> Option<&Route> {
        self.alternate.armed().map(|path| &self.routes[usize::from(path.0)])
    }

    pub fn iter(&self) -> impl Iterator<Item = &Route> {
        self.routes.iter()
    }

    /// Begins with this path.
    pub fn set_primary(&mut self, path: PathId) {
        self.primary = path;
    }

    /// Data goes by streams, one for each path, none of which is open yet.
    pub fn use_streams(&mut self) {
        self.routes.iter_mut().for_each(|route| route.stream = Some(Stream::default()));
    }

    /// The stream of a path opens, or is lost; false if this was known.
    pub fn set_stream(&mut self, now: Nanos, path: PathId, open: bool) -> bool {
        let route = self.route(path);
        let stream = route.stream.as_mut();
        let changes = stream.is_some_and(|stream| stream.set_open(now, open));
        if changes {
            route.forget_loss();
        }
        if changes && open && self.alternate() == Some(path) {
            self.alternate.ask_anew(now);
        }
        changes
    }

    /// The peer has taken frames of its streams, whatever the kernel saw of that.
    pub fn on_stream_progress(&mut self, now: Nanos) {
        let streams = self.routes.iter_mut().filter_map(|route| route.stream.as_mut());
        streams.for_each(|stream| stream.on_progress(now));
    }

    /// The longest payload of a packet; the windows begin anew.
    pub fn set_packet_bytes(&mut self, bytes: usize) {
        self.routes.iter_mut().for_each(|route| route.flight.set_packet_bytes(bytes));
    }

    /// Stops everything that was begun.
    pub fn stop(&mut self) {
        self.alternate = Alternate::none();
        self.epoch.stop();
        (self.suspicion, self.held, self.diverted) = (None, false, false);
        self.trial.stop();
        self.routes.iter_mut().for_each(|route| route.flight.clear());
    }

    /// Forgets the peer. The serial numbers of the paths go on, so that what is still under way is
    /// not taken for new.
    pub fn reset(&mut self) {
        self.stop();
        (self.primary, self.epoch, self.diversions) = (PathId(0), Epoch::first(), [0; 2]);
    }

    /// Whether nothing is left to be agreed with the peer.
    pub fn is_settled(&self) -> bool {
        self.epoch.is_acked() && !self.alternate.is_loading()
    }

    pub fn hold(&mut self, held: bool) {
        self.held = held;
    }

    pub fn is_held(&self) -> bool {
        self.held
    }
}

/// The alternate path.
impl Paths {
    /// Specifies it; what was loaded is not loaded any more.
    pub fn specify(&mut self, path: PathId) {
        debug_assert_ne!(path, self.primary);
        self.alternate = Alternate::specified(path);
    }

    pub fn load(&mut self, now: Nanos) {
        self.alternate.load(now);
    }

    pub fn unload(&mut self) {
        self.alternate = Alternate::none();
    }

    /// The path that the peer is to be asked to load now.
    pub fn ask_to_arm(&mut self, now: Nanos) -> Option<PathId> {
        if self.held {
            return None;
        }
        let path = self.alternate.ask(now)?;
        let route = self.route(path);
        (route.link.carrier && route.has_stream()).then_some(path)
    }

    /// The peer wants a path as its alternate one.
    pub fn on_arm(&mut self, now: Nanos, path: PathId) -> Requested {
        let loads = self.migration() != MigrationState::Migrated;
        if self.alternate() == Some(path) && loads {
            self.alternate.hurry(now);
            return Requested::Same;
        }
        if path == self.primary { Requested::Primary } else { Requested::Other }
    }

    /// The peer loads this path, and a packet of full length came back over it; whether it is
    /// armed by this.
    pub fn on_arming(&mut self, now: Nanos, path: PathId) -> bool {
        let arms = self.alternate() == Some(path) && self.alternate.arm(now);
        if let Some(suspicion) = self.suspicion.as_mut().filter(|_| arms) {
            suspicion.hurry();
        }
        arms
    }

    /// The alternate path does not work; gives the path if it was armed.
    pub fn disarm(&mut self, now: Nanos) -> Option<PathId> {
        self.alternate().filter(|_| self.alternate.disarm(now))
    }

    /// The interface of a path gained or lost its carrier.
    pub fn set_carrier(&mut self, now: Nanos, path: PathId, up: bool) {
        self.route(path).link.carrier = up;
        if up && self.alternate() == Some(path) {
            self.alternate.ask_anew(now);
        }
    }
}

/// Migration.
impl Paths {
    /// The path to migrate to by request.
    pub fn armed(&self) -> Option<PathId> {
        self.alternate.armed()
    }

    /// The path that can take over from a dead one.
    pub fn failover(&self) -> Option<PathId> {
        let works =
            self.armed_route().is_some_and(|route| route.link.carrier && route.has_stream());
        self.alternate.armed().filter(|_| works)
    }

    /// Whether the peer's epoch and path are news. Both ends may have migrated at once, to
    /// different paths: the lower number wins at both ends.
    pub fn is_news(&self, epoch: u32, primary: PathId) -> bool {
        let ahead = self.epoch.ahead(epoch);
        ahead > 0 || ahead == 0 && primary < self.primary
    }

    /// The peer uses this path in this epoch, and this end has followed where it was news.
    pub fn on_peer_epoch(&mut self, epoch: u32, primary: PathId) {
        // A later epoch with the same path: the peer has moved twice, and back.
        if self.epoch.ahead(epoch) >= 0 && primary == self.primary {
            self.epoch.acknowledge(epoch);
        }
    }

    /// The connection goes on over another path; gives the path it leaves, or `None` if its state
    /// does not allow it.
    pub fn take_over(
        &mut self,
        now: Nanos,
        to: PathId,
        cause: Cause,
        epoch: u32,
    ) -> Option<PathId> {
        let goes_on = self.in_use() == to;
        if !self.alternate.migrate(now, cause) {
            return None;
        }
        let from = std::mem::replace(&mut self.primary, to);
        self.epoch.begin(now, epoch, cause == Cause::Peer);
        (self.suspicion, self.held, self.diverted) = (None, false, false);
        self.trial.stop();
        if matches!(cause, Cause::Loss | Cause::Peer) {
            self.trial.on_moved();
        }
        self.route(to).forget_loss();
        if !goes_on {
            self.route(to).flight.restart();
        }
        Some(from)
    }

    /// Whether the epoch is to be sent again now, to a peer that has not followed a migration.
    pub fn resend_epoch(&mut self, now: Nanos) -> bool {
        !self.held && self.epoch.resend(now)
    }

    /// The same, without sending it.
    pub fn has_due_epoch(&self, now: Nanos) -> bool {
        !self.held && self.epoch.resend_at().is_some_and(|at| at <= now)
    }
}

/// Detection of dead paths.
impl Paths {
    /// When the primary path is suspected, or probed again, if packets wait since then.
    pub fn suspect_at(&self, waiting_since: Nanos) -> Nanos {
        match &self.suspicion {
            Some(suspicion) => suspicion.next_at(),
            None => waiting_since + patience(self.primary_route()),
        }
    }

    /// Whether the stream of the primary path holds bytes and carries none.
    pub fn is_stream_stuck(&self, now: Nanos) -> bool {
        let route = self.primary_route();
        let trip = route.trips().longest();
        route.stream.as_ref().is_some_and(|stream| stream.is_stuck(now, trip))
    }

    /// Whether the stream of the primary path waits for what was lost, and the alternate one is to
    /// take over. Two paths that lose packets do not take turns: each time it waits for longer.
    pub fn leaves_waiting_stream(&mut self, now: Nanos) -> bool {
        let route = self.primary_route();
        let trip = route.trips().longest();
        let waits = route.stream.as_ref().is_some_and(|stream| stream.waits(now, trip));
        let leaves = waits && self.failover().is_some() && self.trial.may_begin(now);
        if leaves {
            self.trial.skip(now);
        }
        leaves
    }

    /// When it is suspected to pass short packets only, if nothing was acknowledged since then.
    pub fn doubt_at(&self, progress: Nanos) -> Option<Nanos> {
        let calm = self.suspicion.is_none();
        calm.then(|| progress + progress_patience(self.primary_route()))
    }

    pub fn is_suspected(&self) -> bool {
        self.suspicion.is_some()
    }

    /// Suspects the primary path from now on; both paths are to be probed.
    pub fn suspect(&mut self, now: Nanos, doubt: Doubt) {
        self.suspicion = Some(Suspicion::new(now, doubt, self.number));
        self.route(self.primary).link.queued_there = false;
    }

    /// The length that a probe of the primary path must have to say something of what is doubted.
    pub fn doubts_length(&self) -> bool {
        self.suspicion.as_ref().is_some_and(|suspicion| suspicion.doubt() == Doubt::Length)
    }

    /// Ends a suspicion without a verdict, unless data is diverted.
    pub fn trust(&mut self) {
        if !self.diverted {
            self.suspicion = None;
        }
    }

    /// What is known now of the primary path, which is suspected; a verdict ends the suspicion.
    pub fn judge(&mut self, now: Nanos) -> Verdict {
        let Some(mut suspicion) = self.suspicion.take() else { return Verdict::Wait };
        let able = self.armed_route().filter(|route| route.link.carrier);
        let verdict = suspicion.judge(now, self.primary_route(), able);
        if matches!(verdict, Verdict::Wait | Verdict::Ask | Verdict::Divert) {
            self.suspicion = Some(suspicion);
        }
        verdict
    }

    /// The alternate path if it can take over; it is probed now.
    pub fn probe_armed(&mut self, now: Nanos) -> Option<PathId> {
        self.alternate.on_probed(now);
        self.alternate.armed()
    }

    /// Whether the armed path has proved since then to carry packets of full length.
    pub fn armed_carries_since(&self, then: Nanos) -> bool {
        self.armed_route().is_some_and(|route| route.liveness().carries_since(then))
    }

    /// Whether the armed path is due to be probed.
    pub fn has_due_probe(&self, now: Nanos, busy: bool) -> bool {
        self.alternate.probe_at(busy).is_some_and(|at| at <= now)
    }

    /// The armed path is probed now; `Err` if it has missed too many probes. It must be known to
    /// work before it is needed.
    pub fn probe_alternate(&mut self, now: Nanos, busy: bool) -> Option<Result<Probe, Unhealthy>> {
        let (path, watch) = self.alternate.armed().zip(self.alternate.watch())?;
        let life = self.routes[usize::from(path.0)].liveness();
        let primary = self.primary_route().liveness().is_alive_since(watch.asked_at());
        let last = match (watch.is_answered(life), primary) {
            (true, _) => Probed::Answered,
            (false, _) if watch.is_early(now) => Probed::Unknown,
            (false, true) => Probed::Missed,
            // Perhaps the peer is busy. If both are dead, a third path may work: it is tried, and
            // nothing migrates before that one answers.
            (false, false) if self.routes.len() > 2 => Probed::Missed,
            (false, false) => Probed::Unknown,
        };
        let full = watch.needs_length(now, busy, life);
        let healthy = self.alternate.probe(now, full, last);
        Some(healthy.then_some(Probe { path, full }).ok_or(Unhealthy))
    }

    /// When something is due if nothing arrives before.
    pub fn next_timeout(&self, busy: bool) -> Option<Nanos> {
        let requests = [self.epoch.resend_at(), self.alternate.ask_at()];
        let requests = requests.into_iter().flatten().filter(|_| !self.held);
        requests.chain(self.alternate.probe_at(busy)).chain(self.trial.next_at()).min()
    }
}

/// A probe of the armed path: of full length, or as short as can be.
pub(crate) struct Probe {
    pub path: PathId,
    pub full: bool,
}

/// The armed path does not answer.
pub(crate) struct Unhealthy;
