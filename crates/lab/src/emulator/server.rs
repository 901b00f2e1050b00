//! A queue with a rate: serves one packet at a time, first come, first served.

use std::collections::VecDeque;

use super::counters::PipeCounters;

/// A pipe, or one paced connection. Its rate is asked for whenever the next packet begins, so
/// that a change reaches what waits.
#[derive(Debug, Default)]
pub(super) struct Server {
    serving: Option<u32>,
    /// Packets that wait, and their lengths.
    queue: VecDeque<(u32, usize)>,
    waiting_bytes: u64,
    ended_at: u64,
    /// What is left of the last service below a nanosecond, so that rates are kept exactly.
    rest_ns: f64,
    pub counters: PipeCounters,
}

/// What becomes of a packet that arrives.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// Its service begins and ends at this time.
    Served(u64),
    Waits,
    Dropped,
}

impl Server {
    pub fn is_idle(&self) -> bool {
        self.serving.is_none()
    }

    pub fn serving(&self) -> Option<u32> {
        self.serving
    }

    pub fn arrive(
        &mut self,
        now: u64,
        packet: u32,
        length: usize,
        rate: f64,
        queue_bytes: u64,
    ) -> Arrival {
        if self.is_idle() {
            if now > self.ended_at {
                self.rest_ns = 0.0;
            }
            return Arrival::Served(self.begin(now, packet, length, rate));
        }
        if self.waiting_bytes.saturating_add(length as u64) > queue_bytes {
            self.counters.dropped.add(length);
            return Arrival::Dropped;
        }
        self.queue.push_back((packet, length));
        self.waiting_bytes += length as u64;
        self.counters.most_waiting_bytes = self.counters.most_waiting_bytes.max(self.waiting_bytes);
        Arrival::Waits
    }

    /// Ends the service under way: the packet that was served, and when the next one's ends.
    pub fn end(&mut self, now: u64, rate: f64) -> (Option<u32>, Option<u64>) {
        let done = self.serving.take();
        self.ended_at = now;
        let next = self.queue.pop_front().map(|(packet, length)| {
            self.waiting_bytes -= length as u64;
            self.begin(now, packet, length, rate)
        });
        (done, next)
    }

    fn begin(&mut self, now: u64, packet: u32, length: usize, rate: f64) -> u64 {
        let cost_ns = length as f64 / rate * 1e9 + self.rest_ns;
        let whole_ns = cost_ns.floor();
        self.rest_ns = cost_ns - whole_ns;
        self.serving = Some(packet);
        // The conversion saturates.
        now.saturating_add(whole_ns as u64)
    }
}
