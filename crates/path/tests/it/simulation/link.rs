//! One direction of a path: what it does to packets.

use laneway_path::Nanos;
use laneway_stats::SplitMix64;

pub const US: Nanos = 1_000;
pub const MS: Nanos = 1_000_000;

/// What is wrong with a direction now, as parts of one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Trouble {
    pub lost: f64,
    pub doubled: f64,
    /// Packets take up to so much longer, and overtake each other.
    pub jitter: Nanos,
    /// Packets come again, up to so much later.
    pub late: Nanos,
}

pub struct Link {
    latency: Nanos,
    /// Nanoseconds a byte.
    per_byte: f64,
    free_at: f64,
    /// How many faults want it down.
    pub down: u32,
    /// Longer packets are dropped.
    pub mtu: usize,
    /// The part of the packets that gets lost.
    pub lost: f64,
    /// Packets take up to so much longer, and overtake each other.
    pub reorders: Nanos,
    /// Packets take so much longer.
    pub slower: Nanos,
    pub trouble: Trouble,
    /// Bytes that were sent, and the packets among these that are longer than a short message.
    pub bytes: u64,
    pub long: u64,
}

/// Packets up to this length are short: probes, answers, acknowledgements.
const SHORT: usize = 100;

impl Link {
    pub fn new(random: &mut SplitMix64) -> Link {
        let latency = 5 * US + (random.uniform() * random.uniform() * 2e6) as Nanos;
        // From 100 Mbit/s to 40 Gbit/s.
        let per_byte = 8.0 / (0.1 * 400f64.powf(random.uniform()));
        Link { latency, per_byte, ..Link::plain() }
    }

    /// 50 us away, 1 Gbit/s.
    pub fn plain() -> Link {
        Link {
            latency: 50 * US,
            per_byte: 8.0,
            free_at: 0.0,
            down: 0,
            mtu: usize::MAX,
            lost: 0.0,
            reorders: 0,
            slower: 0,
            trouble: Trouble::default(),
            bytes: 0,
            long: 0,
        }
    }

    /// Others fill the queue: what is sent now waits so long.
    pub fn fill(&mut self, now: Nanos, wait: Nanos) {
        self.free_at = self.free_at.max((now + wait) as f64);
    }

    /// How long a part of a stream takes that is sent now, and the part of its segments that gets
    /// lost.
    pub fn stream(&mut self, now: Nanos, bytes: usize) -> (Nanos, f64) {
        self.free_at = self.free_at.max(now as f64) + self.per_byte * bytes as f64;
        let arrives = self.free_at as Nanos + self.latency + self.slower;
        (arrives - now, self.trouble.lost.max(self.lost))
    }

    /// When a packet arrives that is sent now: never, once, or several times.
    pub fn carry(&mut self, now: Nanos, bytes: usize, random: &mut SplitMix64) -> Vec<Nanos> {
        self.free_at = self.free_at.max(now as f64) + self.per_byte * bytes as f64;
        self.bytes += bytes as u64;
        self.long += u64::from(bytes > SHORT);
        let lost = self.down > 0 || bytes > self.mtu;
        if lost || random.uniform() < self.trouble.lost.max(self.lost) {
            return Vec::new();
        }
        let jitter = self.trouble.jitter.max(self.reorders);
        let jitter = (random.uniform() * jitter as f64) as Nanos;
        let first = self.free_at as Nanos + self.latency + self.slower + jitter;
        let mut arrivals = vec![first];
        if random.uniform() < self.trouble.doubled {
            arrivals.push(first + (random.uniform() * 1e5) as Nanos);
        }
        if self.trouble.late > 0 && random.uniform() < 0.2 {
            arrivals.push(first + (random.uniform() * self.trouble.late as f64) as Nanos);
        }
        arrivals
    }
}
