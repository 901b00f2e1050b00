//! Queue pairs between the two hosts, used in turn, and a far end that sends back what it gets.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use laneway_connections::{ConnectionId, Endpoint, NetError, Setup, What, now};
use laneway_path::{Bundle, Event, MigrationState, OnArmed, OnMigrated, PathId, Policy};

use super::hosts::Hosts;
use crate::error::PaperError;

/// How long anything may take.
const LIMIT: Duration = Duration::from_secs(10);
/// The longest rest of an end that has nothing to do.
const LOOKS: Duration = Duration::from_millis(20);
/// Receives of the far end that wait on each pair.
const RECEIVES: u64 = 4;
/// The longest message.
pub const MOST_BYTES: usize = 1024;

/// What the far end tells.
#[derive(Default)]
struct Far {
    stop: AtomicBool,
    /// Pairs that have followed to another path, and when the last one did.
    followed: AtomicUsize,
    followed_at: AtomicU64,
}

/// The near end, which asks for everything.
pub struct Pairs {
    endpoint: Endpoint,
    ids: Vec<ConnectionId>,
    places: BTreeMap<ConnectionId, usize>,
    bundle: Bundle<Vec<u8>>,
    /// The state of each pair as events reported it, and how many are in each state.
    states: Vec<MigrationState>,
    counts: [usize; 3],
    far: Arc<Far>,
    thread: Option<JoinHandle<Result<(), NetError>>>,
}

/// As in the paper the other path is specified from INIT to RTR, and again on each migration
/// (figure 4); it is loaded by request, here or of the peer.
fn setup() -> Setup {
    let (on_armed, on_migrated) = (OnArmed::Nothing, OnMigrated::Specify);
    let policy = Policy { leads: false, on_armed, on_migrated, fail_back: None };
    Setup { policy, arms: false, specifies: true, ..Setup::usual() }
}

fn stuck(what: &str) -> PaperError {
    PaperError::Stuck { what: what.into(), seconds: LIMIT.as_secs() }
}

impl Pairs {
    pub fn open(hosts: &Hosts, count: usize) -> Result<Pairs, PaperError> {
        let endpoint = hosts.endpoint(0, setup())?;
        let peer = hosts.endpoint(1, setup())?;
        let (to, far) = (peer.addresses(), Arc::new(Far::default()));
        let shared = Arc::clone(&far);
        let thread = thread::spawn(move || echo(peer, count, &shared));
        let mut pairs = Pairs {
            endpoint,
            ids: Vec::new(),
            places: BTreeMap::new(),
            bundle: Bundle::new(count),
            states: vec![MigrationState::Migrated; count],
            counts: [count, 0, 0],
            far,
            thread: Some(thread),
        };
        for place in 0..count {
            let id = pairs.endpoint.connect(&to, place as u64, LIMIT)?;
            pairs.ids.push(id);
            pairs.places.insert(id, place);
        }
        Ok(pairs)
    }

    /// Whether all pairs are in a state, as far as events reported.
    pub fn are(&self, state: MigrationState) -> bool {
        self.count(state) == self.ids.len()
    }

    pub fn count(&self, state: MigrationState) -> usize {
        self.counts[state as usize]
    }

    /// The path that the first pair uses.
    pub fn primary(&self) -> Result<PathId, PaperError> {
        Ok(self.endpoint.get(self.ids[0])?.primary())
    }

    /// Informs the near end of a carrier, as a device would.
    pub fn on_carrier(&mut self, path: PathId, up: bool) {
        self.endpoint.on_carrier(path, up);
    }

    fn set(&mut self, place: usize, state: MigrationState) {
        let before = std::mem::replace(&mut self.states[place], state);
        self.counts[before as usize] -= 1;
        self.counts[state as usize] += 1;
    }

    /// Has the path that was specified loaded on all pairs.
    pub fn request_loading(&mut self) -> Result<(), PaperError> {
        (0..self.ids.len()).for_each(|place| self.set(place, MigrationState::Rearm));
        Ok(self.endpoint.load(&self.ids)?)
    }

    pub fn request_migration(&mut self) -> Result<(), PaperError> {
        Ok(self.endpoint.migrate(&self.ids)?)
    }

    /// Moves what can be moved, and waits a little where nothing can.
    pub fn go_on(&mut self) {
        self.endpoint.wait(LOOKS);
    }

    /// Takes every event, and keeps what it tells.
    pub fn take_events(&mut self) -> Result<(), PaperError> {
        while let Some(notice) = self.endpoint.poll() {
            let Some(place) = self.places.get(&notice.connection).copied() else { continue };
            match notice.what {
                What::Event(Event::Received { message, .. }) => {
                    self.bundle.on_received(place, message);
                }
                What::Event(Event::Armed { .. }) => self.set(place, MigrationState::Armed),
                What::Event(Event::Migrated { .. }) => self.set(place, MigrationState::Migrated),
                What::Event(Event::Unhealthy { .. }) => self.set(place, MigrationState::Rearm),
                What::Closed | What::Event(Event::Failed { .. }) => {
                    return Err(stuck("a queue pair broke"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Goes on until all pairs are in a state.
    pub fn until(&mut self, state: MigrationState) -> Result<(), PaperError> {
        let begun = Instant::now();
        self.take_events()?;
        while !self.are(state) {
            if begun.elapsed() > LIMIT {
                return Err(stuck(&format!("queue pairs did not become {state}")));
            }
            self.go_on();
            self.take_events()?;
        }
        Ok(())
    }

    /// Loads the other path on all pairs: microseconds until the last event was taken.
    pub fn load(&mut self) -> Result<f64, PaperError> {
        let begun = Instant::now();
        self.request_loading()?;
        self.until(MigrationState::Armed)?;
        Ok(micros(begun.elapsed()))
    }

    /// Migrates all pairs: microseconds until the last event was taken here, and until the last
    /// pair of the far end had followed.
    pub fn migrate(&mut self) -> Result<[f64; 2], PaperError> {
        let before = self.far.followed.load(Ordering::Acquire);
        let (begun, started) = (Instant::now(), now());
        self.request_migration()?;
        self.until(MigrationState::Migrated)?;
        let here = micros(begun.elapsed());
        while self.far.followed.load(Ordering::Acquire) < before + self.ids.len() {
            if begun.elapsed() > LIMIT {
                return Err(stuck("the far end did not follow"));
            }
            self.endpoint.wait(Duration::from_micros(200));
            self.take_events()?;
        }
        let followed = self.far.followed_at.load(Ordering::Acquire).saturating_sub(started);
        Ok([here, here.max(followed as f64 * 1e-3)])
    }

    /// A message there and back over the next pair: microseconds.
    pub fn trip(&mut self, bytes: usize) -> Result<f64, PaperError> {
        let begun = Instant::now();
        let id = self.ids[self.bundle.next_connection()];
        self.endpoint.post_receive(id, 0, Vec::with_capacity(bytes))?;
        self.endpoint.send(id, 0, vec![7; bytes])?;
        loop {
            self.take_events()?;
            if let Some(message) = self.bundle.poll() {
                debug_assert_eq!(message, vec![7; bytes]);
                return Ok(micros(begun.elapsed()));
            }
            if begun.elapsed() > LIMIT {
                return Err(stuck("a message was not answered"));
            }
            self.go_on();
        }
    }

    /// Leaves out of a list the pairs that are armed, by asking each.
    pub fn query(&self, pending: &mut Vec<ConnectionId>) {
        let is_armed = |id: &ConnectionId| {
            let found = self.endpoint.get(*id);
            found.is_ok_and(|connection| connection.migration() == MigrationState::Armed)
        };
        pending.retain(|id| !is_armed(id));
    }

    pub fn ids(&self) -> &[ConnectionId] {
        &self.ids
    }
}

impl Drop for Pairs {
    fn drop(&mut self) {
        self.far.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // What went wrong there was seen here, as nothing came.
            _ = thread.join();
        }
    }
}

pub fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// The far end.
fn echo(mut endpoint: Endpoint, count: usize, far: &Far) -> Result<(), NetError> {
    let mut places = BTreeMap::new();
    let mut ids = vec![ConnectionId(0); count];
    let mut bundle = Bundle::new(count);
    while !far.stop.load(Ordering::Acquire) {
        endpoint.wait(LOOKS);
        while let Some(notice) = endpoint.poll() {
            let id = notice.connection;
            match notice.what {
                What::Accepted { label } => {
                    places.insert(id, label as usize);
                    ids[label as usize] = id;
                    for receive in 0..RECEIVES {
                        let room = Vec::with_capacity(MOST_BYTES);
                        endpoint.post_receive(id, receive, room)?;
                    }
                }
                What::Event(Event::Received { message, .. }) => {
                    bundle.on_received(places[&id], message);
                }
                // What went back makes room for what comes next.
                What::Event(Event::Sent { id: receive, message }) => {
                    endpoint.post_receive(id, receive, message)?;
                }
                What::Event(Event::Migrated { .. }) => {
                    far.followed_at.store(now(), Ordering::Release);
                    far.followed.fetch_add(1, Ordering::AcqRel);
                }
                _ => {}
            }
        }
        while let Some(message) = bundle.poll() {
            endpoint.send(ids[bundle.next_connection()], 0, message)?;
        }
    }
    Ok(())
}
