//! What the devices of the paths say of themselves.

use std::os::fd::{AsFd, AsRawFd, RawFd};

use laneway_path::{Nanos, PathId};

use super::{Endpoint, LocalPath};
use crate::carrier::{Carrier, Change};
use crate::end::End;
use crate::error::NetError;
use crate::queue::{Queue, Queues};
use crate::wire::Wire;

/// The polling interval of devices while packets wait: the system may report much later.
const APART: Nanos = 1_000_000;
/// What a queue has thrown away says something if it was looked at so long ago at most.
const LATELY: Nanos = 50_000_000;

pub(super) struct Carriers {
    /// `None` if no path has a device.
    watch: Option<Carrier>,
    asked_at: Nanos,
    /// `None` if queue lengths are not available: then only a socket's own packets are known.
    queues: Option<Queues>,
    /// The queue of each path's device when it was last asked for.
    seen: Vec<Seen>,
}

#[derive(Clone, Copy, Default)]
struct Seen {
    at: Nanos,
    queue: Queue,
    /// Whether packets were thrown away shortly before.
    overflows: bool,
}

impl Carriers {
    pub fn new(paths: &[LocalPath]) -> Result<Carriers, NetError> {
        let names: Vec<&str> = paths.iter().filter_map(|path| path.device.as_deref()).collect();
        let watch = match names.is_empty() {
            true => None,
            false => Some(Carrier::new(&names).map_err(|error| NetError::System {
                what: "watching the devices".to_string(),
                why: error.to_string(),
            })?),
        };
        let queues = watch.as_ref().and_then(|_| Queues::open().ok());
        let seen = vec![Seen::default(); paths.len()];
        Ok(Carriers { watch, asked_at: 0, queues, seen })
    }

    /// Whether the devices are to be asked now.
    pub fn is_due(&mut self, now: Nanos) -> bool {
        let due = self.next_at().is_some_and(|at| at <= now);
        if due {
            self.asked_at = now;
        }
        due
    }

    /// When they are asked next, while something waits.
    pub fn next_at(&self) -> Option<Nanos> {
        self.watch.as_ref().map(|_| self.asked_at + APART)
    }

    /// Informs a connection on which of its paths packets wait to leave, or are dropped instead.
    pub fn report_queues(
        &mut self,
        now: Nanos,
        paths: &[LocalPath],
        wires: &[Wire],
        end: &mut End,
    ) {
        for (path, peer) in end.peers.iter().enumerate() {
            let device = paths[path].device.as_deref();
            let queued = wires[path].holds(peer)
                || device.is_some_and(|name| self.overflows(now, path, name));
            end.connection.on_queue(PathId(path as u8), queued);
        }
    }

    /// Whether a path's device throws packets away because its queue is full.
    fn overflows(&mut self, now: Nanos, path: usize, device: &str) -> bool {
        let Some(queues) = &mut self.queues else { return false };
        let before = self.seen[path];
        if now - before.at.min(now) >= APART {
            let queue = queues.of(device).unwrap_or(before.queue);
            let dropped = queue.waits > 0 && queue.dropped != before.queue.dropped;
            let overflows = dropped && now - before.at < LATELY;
            self.seen[path] = Seen { at: now, queue, overflows };
        }
        self.seen[path].overflows
    }

    pub fn descriptor(&self) -> Option<RawFd> {
        Some(self.watch.as_ref()?.as_fd().as_raw_fd())
    }
}

impl Endpoint {
    /// Asks every device now.
    pub(super) fn ask_devices(&mut self) {
        // What cannot be asked is as it was: the paths themselves are asked as well.
        let Some(watch) = &mut self.carriers.watch else { return };
        let changes = watch.query().unwrap_or_default();
        self.on_changes(&changes);
    }

    /// What the devices said when the watch began.
    pub(super) fn begin_with_devices(&mut self) {
        let Some(watch) = &self.carriers.watch else { return };
        for (path, wire) in self.paths.iter().zip(&mut self.wires) {
            wire.carrier = path.device.as_deref().is_none_or(|device| watch.is_up(device));
        }
    }

    /// Handles an event of the system.
    pub(super) fn on_device_event(&mut self) {
        let Some(watch) = &mut self.carriers.watch else { return };
        let changes = watch.poll().unwrap_or_default();
        self.on_changes(&changes);
    }

    fn on_changes(&mut self, changes: &[Change]) {
        for change in changes {
            self.tell_carrier(&change.name, change.is_up);
        }
    }

    fn tell_carrier(&mut self, device: &str, up: bool) {
        for path in 0..self.paths.len() {
            if self.paths[path].device.as_deref() == Some(device) {
                self.on_carrier(PathId(path as u8), up);
            }
        }
    }
}
