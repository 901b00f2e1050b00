//! One direction of a path with a queue that flows share: delay, overtaking, marks and drops.

use laneway_path::Nanos;
use laneway_stats::SplitMix64;

/// Packets of which a part takes longer than the others.
#[derive(Clone, Copy)]
pub struct Late {
    /// The part of them.
    pub part: f64,
    /// How much longer, at most; each takes between half of it and all.
    pub by: Nanos,
}

pub struct Link {
    /// Of a packet that does not wait.
    pub delay: Nanos,
    /// Nanoseconds a byte.
    per_byte: f64,
    /// The longest time that a packet can wait in the queue; those that would wait longer are lost.
    pub longest_queue: Nanos,
    /// Packets that wait longer are marked.
    pub marks_above: Option<Nanos>,
    pub late: Option<Late>,
    free_at: f64,
    /// The longest wait of a packet since this was last cleared.
    pub longest_wait: Nanos,
    pub carried_bytes: u64,
    pub dropped: u64,
}

/// What became of a packet.
pub enum Carried {
    /// It arrives then.
    Arrives { at: Nanos, marked: bool },
    /// The queue was full; a packet behind it would have arrived then.
    Dropped { at: Nanos },
}

impl Link {
    pub fn new(gbits: f64, delay: Nanos, longest_queue: Nanos) -> Link {
        Link {
            delay,
            per_byte: 8.0 / gbits,
            longest_queue,
            marks_above: None,
            late: None,
            free_at: 0.0,
            longest_wait: 0,
            carried_bytes: 0,
            dropped: 0,
        }
    }

    pub fn gbits(&self) -> f64 {
        8.0 / self.per_byte
    }

    pub fn carry(&mut self, now: Nanos, bytes: usize, random: &mut SplitMix64) -> Carried {
        let begins = self.free_at.max(now as f64);
        let wait = begins as Nanos - now.min(begins as Nanos);
        if wait > self.longest_queue {
            self.dropped += 1;
            return Carried::Dropped { at: begins as Nanos + self.delay };
        }
        self.longest_wait = self.longest_wait.max(wait);
        self.free_at = begins + self.per_byte * bytes as f64;
        self.carried_bytes += bytes as u64;
        let late = self.late.filter(|late| random.uniform() < late.part);
        let late =
            late.map_or(0, |late| (late.by as f64 * (0.5 + 0.5 * random.uniform())) as Nanos);
        let marked = self.marks_above.is_some_and(|above| wait > above);
        Carried::Arrives { at: self.free_at as Nanos + self.delay + late, marked }
    }
}
