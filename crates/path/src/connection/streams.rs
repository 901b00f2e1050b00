//! Connections whose data goes by a stream of the kernel on each path.
//!
//! Everything but data and the packets that load a path goes by datagrams beside the streams, so
//! that a full stream delays no probe and no acknowledgement. A driver opens the streams and
//! reports them; a path is armed when its stream has carried a frame there and back.

use super::Connection;
use crate::paths::StreamState;
use crate::state::Cause;
use crate::{Nanos, PathId};

/// The longest part of a message in a frame.
pub const MOST_FRAME_BYTES: usize = 1 << 20;

impl Connection {
    /// Data goes by streams, in frames that carry at most this number of bytes of a message; for a
    /// connection that has just been created.
    ///
    /// # Panics
    /// With no bytes, or more than [`MOST_FRAME_BYTES`].
    #[must_use]
    pub fn over_streams(mut self, frame_bytes: usize) -> Connection {
        assert!((1..=MOST_FRAME_BYTES).contains(&frame_bytes), "1 to {MOST_FRAME_BYTES} bytes");
        self.has_streams = true;
        self.paths.use_streams();
        self.sender.use_streams(frame_bytes);
        self.receiver.use_streams();
        self
    }

    /// Whether data goes by streams.
    pub fn has_streams(&self) -> bool {
        self.has_streams
    }

    /// The stream of a path has opened, and the peer has proved that it is its end; or it is lost,
    /// with all that it had not delivered.
    pub fn on_stream(&mut self, now: Nanos, path: PathId, open: bool) {
        if !self.paths.knows(path) || !self.paths.set_stream(now, path, open) || open {
            return;
        }
        self.sender.lose_stream(path);
        if !self.state().receives() {
            return;
        }
        if path == self.primary() {
            self.leave_path(now, Cause::Failure);
        } else if self.alternate() == Some(path) {
            self.disarm(now);
        }
    }

    /// A path whose stream the kernel is to be asked about now: the one that data leaves by.
    pub fn asks_of_stream(&self, now: Nanos) -> Option<PathId> {
        let path = self.paths.in_use();
        let stream = self.paths.get(path)?.stream.as_ref()?;
        let asks = stream.is_open() && !self.sender.is_idle() && stream.ask_at() <= now;
        asks.then_some(path)
    }

    /// What the kernel says of a path's stream.
    pub fn on_stream_state(&mut self, now: Nanos, path: PathId, state: &StreamState) {
        if let Some(route) = self.paths.get_mut(path) {
            if let Some(at) = route.on_stream_state(now, state) {
                self.sender.on_stream_progress(at);
            }
            self.paths.consider_trial(now);
        }
    }

    /// A stream that the driver is to open again, as it carries nothing although its path works.
    pub fn take_stale_stream(&mut self) -> Option<PathId> {
        self.stale_stream.take()
    }

    /// The primary path works, and nothing is acknowledged: if its stream carries nothing, the
    /// connection leaves it, or opens it again.
    pub(super) fn doubt_stream(&mut self, now: Nanos) {
        if self.sender.waits_for_receive() {
            return;
        }
        if !self.paths.is_stream_stuck(now) {
            if self.paths.leaves_waiting_stream(now) {
                self.leave_path(now, Cause::Loss);
            }
            return;
        }
        let path = self.primary();
        if !self.leave_path(now, Cause::Length) {
            self.stale_stream = Some(path);
        }
    }
}
