//! The streams of a world: bytes in order, as a kernel carries them, over paths that break.

use std::collections::VecDeque;

use laneway_path::{Nanos, PathId, StreamState};

use super::super::link::{Link, MS, US};
use super::{Due, World};

/// Frames that a kernel holds of one direction, at most, beyond which there is no room.
const MOST: usize = 16;
/// A segment, and the longest packet that a path must pass for it.
const SEGMENT: usize = 1400;
/// The kernel's first retransmission of what was not acknowledged, which doubles.
const RETRANSMITS: Nanos = 20 * MS;
const MOST_RETRANSMITS: Nanos = 2_000 * MS;
/// A stream is tried again so long after a failure; it doubles.
const OPEN_APART: Nanos = 2 * MS;
const MOST_OPEN_APART: Nanos = 250 * MS;

/// One direction of a stream.
#[derive(Default)]
struct Half {
    frames: VecDeque<(Nanos, Vec<u8>)>,
    waits: Nanos,
    state: StreamState,
}

#[derive(Default)]
struct Stream {
    /// Higher for each stream of the path.
    generation: u64,
    /// Whether each end has it.
    open: [bool; 2],
    /// By the end that sends.
    halves: [Half; 2],
    apart: Nanos,
}

#[derive(Default)]
pub(super) struct Streams(Vec<Stream>);

impl World {
    pub(super) fn begin_streams(&mut self) {
        let paths = self.links.len();
        self.streams = Some(Streams((0..paths).map(|_| Stream::default()).collect()));
        (0..paths).for_each(|path| self.push(self.now, Due::Open { path, generation: 0 }));
    }

    fn stream(&mut self, path: usize) -> &mut Stream {
        &mut self.streams.as_mut().expect("a world of streams").0[path]
    }

    /// Whether segments go from this end over a path now.
    fn passes(&self, end: usize, path: usize) -> bool {
        let link: &Link = &self.links[path][end];
        let carrier = self.without_carrier[path].iter().all(|count| *count == 0);
        carrier && link.down == 0 && link.mtu >= SEGMENT
    }

    /// The end that leads opens the stream of a path, if the path works.
    pub(super) fn open_stream(&mut self, path: usize, generation: u64) -> Result<(), String> {
        if self.stream(path).generation != generation {
            return Ok(());
        }
        let now = self.now;
        let lost = self.links[path].each_ref().map(|link| link.lost.max(link.trouble.lost));
        let works = (0..2).all(|end| self.passes(end, path) && self.ends[end].paused == 0)
            && lost.into_iter().all(|lost| self.random.uniform() >= lost);
        if !works {
            let stream = self.stream(path);
            stream.apart = (2 * stream.apart).clamp(OPEN_APART, MOST_OPEN_APART);
            let at = now + stream.apart;
            self.push(at, Due::Open { path, generation });
            return Ok(());
        }
        // An end that has not noticed the loss of the one before does so now.
        for end in 0..2 {
            self.lose_at(end, path)?;
        }
        let stream = self.stream(path);
        *stream = Stream { generation, open: [true; 2], ..Stream::default() };
        for end in 0..2 {
            let random = &mut self.random;
            self.ends[end].change(now, random, |c| c.on_stream(now, PathId(path as u8), true))?;
        }
        Ok(())
    }

    fn lose_at(&mut self, end: usize, path: usize) -> Result<(), String> {
        let now = self.now;
        if std::mem::take(&mut self.stream(path).open[end]) {
            let random = &mut self.random;
            self.ends[end].change(now, random, |c| c.on_stream(now, PathId(path as u8), false))?;
        }
        Ok(())
    }

    /// An end gives its stream up; the other one learns so if a packet gets there.
    fn reset_stream(&mut self, end: usize, path: usize) -> Result<(), String> {
        if !self.stream(path).open[end] {
            return Ok(());
        }
        self.lose_at(end, path)?;
        let next = self.stream(path).generation + 1;
        let stream = self.stream(path);
        (stream.generation, stream.halves) = (next, Default::default());
        let (now, passes) = (self.now, self.passes(end, path));
        if passes {
            self.push(now + 50 * US, Due::Lost { end: 1 - end, path, generation: next });
        }
        self.push(now + OPEN_APART, Due::Open { path, generation: next });
        Ok(())
    }

    pub(super) fn lose_stream(
        &mut self,
        end: usize,
        path: usize,
        generation: u64,
    ) -> Result<(), String> {
        if self.stream(path).generation == generation { self.lose_at(end, path) } else { Ok(()) }
    }

    /// What a driver does about migrations of an end, and streams that carry nothing.
    pub(super) fn follow_migrations(&mut self, end: usize) -> Result<(), String> {
        let left = std::mem::take(&mut self.ends[end].left);
        if self.streams.is_none() {
            return Ok(());
        }
        let stale = self.ends[end].connection.take_stale_stream();
        for PathId(path) in left.into_iter().chain(stale) {
            self.reset_stream(end, usize::from(path))?;
        }
        Ok(())
    }

    /// What a driver tells a connection of its streams.
    pub(super) fn report_streams(&mut self, end: usize) {
        if self.streams.is_none() {
            return;
        }
        for path in 0..self.links.len() {
            let full = self.stream(path).halves[end].frames.len() >= MOST;
            self.ends[end].connection.on_room(PathId(path as u8), !full);
        }
        let now = self.now;
        if let Some(path) = self.ends[end].connection.asks_of_stream(now) {
            let half = &mut self.stream(usize::from(path.0)).halves[end];
            half.state.holds_bytes = !half.frames.is_empty();
            let state = half.state;
            self.ends[end].connection.on_stream_state(now, path, &state);
        }
    }

    pub(super) fn carry_frame(&mut self, end: usize, path: PathId, frame: &[u8]) {
        let (now, number) = (self.now, usize::from(path.0));
        if !self.stream(number).open[end] {
            return;
        }
        let segments = frame.len().div_ceil(SEGMENT) as u64;
        let link = &mut self.links[number][end];
        let (takes, lost) = link.stream(now, frame.len());
        let again = (0..segments).filter(|_| self.random.uniform() < lost).count() as u64;
        // A segment that is lost is sent again after a round trip, or after a timeout.
        let trips = if again > 0 && self.random.uniform() < lost { RETRANSMITS } else { MS / 5 };
        let at = now + takes + again * trips;
        let stream = self.stream(number);
        let generation = stream.generation;
        let half = &mut stream.halves[end];
        half.state.segments += segments + again;
        half.state.retransmitted += again;
        half.frames.push_back((at, frame.to_vec()));
        if half.frames.len() == 1 {
            self.push(at, Due::Frame { end: 1 - end, path: number, generation });
        }
    }

    /// The first frame of a direction arrives, if its path passes segments now and its receiver
    /// takes frames.
    pub(super) fn deliver_frame(
        &mut self,
        end: usize,
        path: usize,
        generation: u64,
    ) -> Result<(), String> {
        let (now, from) = (self.now, 1 - end);
        if self.stream(path).generation != generation || !self.stream(path).open[end] {
            return Ok(());
        }
        let again = Due::Frame { end, path, generation };
        if self.ends[end].paused > 0 || self.ends[end].connection.waits_for_receive() {
            self.push(now + MS / 2, again);
            return Ok(());
        }
        let passes = self.passes(from, path) && self.passes(end, path);
        let half = &mut self.stream(path).halves[from];
        if !passes {
            half.waits = (2 * half.waits).clamp(RETRANSMITS, MOST_RETRANSMITS);
            let at = now + half.waits;
            self.push(at, again);
            return Ok(());
        }
        half.waits = 0;
        let Some((_, frame)) = half.frames.pop_front() else { return Ok(()) };
        half.state.acknowledged += frame.len() as u64;
        if let Some((at, _)) = half.frames.front() {
            let at = (*at).max(now);
            self.push(at, again);
        }
        let random = &mut self.random;
        self.ends[end].change(now, random, |c| c.on_frame(now, PathId(path as u8), &frame))
    }
}
