//! What is known of each path from outside its connections: what its device reports, and whether it
//! was taken out of use by hand.
//!
//! The system may report a change late, so devices are polled while packets wait. It informs no
//! connection: the endpoint does that for every change.

use std::os::fd::{AsFd, AsRawFd, RawFd};

use laneway_path::{Nanos, PathId};

use super::LocalPath;
use crate::error::NetError;
use crate::inventory::carrier::{Carrier, Change};
use crate::inventory::queue::{Queue, Queues};

/// The polling interval of devices while packets wait.
const APART: Nanos = 1_000_000;
/// Packets that a queue has dropped count if it was looked at this recently.
const LATELY: Nanos = 50_000_000;

pub(super) struct Health {
    paths: Vec<OfPath>,
    /// `None` if no path has a device.
    watch: Option<Carrier>,
    asked_at: Nanos,
    /// `None` if queue lengths are not available: then only a socket's own packets are known.
    queues: Option<Queues>,
}

struct OfPath {
    device: Option<String>,
    carrier: bool,
    /// Whether connections are kept off it by hand.
    drained: bool,
    /// The queue of its device when it was last asked for.
    seen: Seen,
}

#[derive(Clone, Copy, Default)]
struct Seen {
    at: Nanos,
    queue: Queue,
    /// Whether packets were dropped shortly before.
    overflows: bool,
}

impl Health {
    /// Watches the devices of these paths.
    pub fn new(paths: &[LocalPath]) -> Result<Health, NetError> {
        let names: Vec<&str> = paths.iter().filter_map(|path| path.device.as_deref()).collect();
        let watch = match names.is_empty() {
            true => None,
            false => Some(Carrier::new(&names).map_err(|error| NetError::System {
                what: "watching the devices".to_string(),
                why: error.to_string(),
            })?),
        };
        let queues = watch.as_ref().and_then(|_| Queues::open().ok());
        let is_up = |device: &str| watch.as_ref().is_none_or(|watch| watch.is_up(device));
        let of_path = |path: &LocalPath| OfPath {
            device: path.device.clone(),
            carrier: path.device.as_deref().is_none_or(is_up),
            drained: false,
            seen: Seen::default(),
        };
        let paths = paths.iter().map(of_path).collect();
        Ok(Health { paths, watch, asked_at: 0, queues })
    }

    /// Readable when a device has something to report.
    pub fn descriptor(&self) -> Option<RawFd> {
        Some(self.watch.as_ref()?.as_fd().as_raw_fd())
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

    /// Asks every device now: the carrier of each path whose device has changed. What cannot be
    /// asked is as it was; the paths themselves are probed as well.
    pub fn query(&mut self) -> Vec<(PathId, bool)> {
        let changes = self.watch.as_mut().and_then(|watch| watch.query().ok());
        self.of_paths(&changes.unwrap_or_default())
    }

    /// The same after an event of the system.
    pub fn on_event(&mut self) -> Vec<(PathId, bool)> {
        let changes = self.watch.as_mut().and_then(|watch| watch.poll().ok());
        self.of_paths(&changes.unwrap_or_default())
    }

    fn of_paths(&self, changes: &[Change]) -> Vec<(PathId, bool)> {
        let mut of_paths = Vec::new();
        for Change { name, is_up, .. } in changes {
            let all = self.paths.iter().enumerate();
            let through = all.filter(|(_, path)| path.device.as_deref() == Some(name.as_str()));
            of_paths.extend(through.map(|(path, _)| (PathId(path as u8), *is_up)));
        }
        of_paths
    }

    /// Whether a path's device can carry packets.
    pub fn has_carrier(&self, path: PathId) -> bool {
        self.paths[usize::from(path.0)].carrier
    }

    /// Records gain or loss of a carrier; false if this was known, or the path is not.
    pub fn set_carrier(&mut self, path: PathId, up: bool) -> bool {
        let path = self.paths.get_mut(usize::from(path.0));
        path.is_some_and(|path| std::mem::replace(&mut path.carrier, up) != up)
    }

    /// Whether connections are kept off a path by hand.
    pub fn is_drained(&self, path: PathId) -> bool {
        self.paths[usize::from(path.0)].drained
    }

    /// Keeps connections off a path, or not any more; false if the path is not known.
    pub fn set_drained(&mut self, path: PathId, drained: bool) -> bool {
        let path = self.paths.get_mut(usize::from(path.0));
        path.map(|path| path.drained = drained).is_some()
    }

    /// Whether a path's device drops packets because its queue is full.
    pub fn overflows(&mut self, now: Nanos, path: PathId) -> bool {
        let OfPath { device, seen, .. } = &mut self.paths[usize::from(path.0)];
        let Some((queues, device)) = self.queues.as_mut().zip(device.as_deref()) else {
            return false;
        };
        if now - seen.at.min(now) >= APART {
            let queue = queues.of(device).unwrap_or(seen.queue);
            let dropped = queue.waits > 0 && queue.dropped != seen.queue.dropped;
            let overflows = dropped && now - seen.at < LATELY;
            *seen = Seen { at: now, queue, overflows };
        }
        seen.overflows
    }
}
