//! What happens when: a heap of one time for each flow, in which a time can be moved.

use crate::carrier::MessageId;

const ABSENT: u32 = u32::MAX;
/// Children of a node: wide heaps touch fewer lines of memory than binary ones.
const ARITY: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Entry {
    time: f64,
    /// Equal times keep the order of the flows' starts.
    order: u64,
    flow: MessageId,
}

impl Entry {
    fn before(&self, other: &Entry) -> bool {
        // Without branches: in a heap they cannot be predicted.
        (self.time < other.time) | ((self.time == other.time) & (self.order < other.order))
    }
}

/// Flows by the time of their next event.
#[derive(Debug, Default)]
pub(super) struct Queue {
    heap: Vec<Entry>,
    /// Where each one is in the heap.
    places: Vec<u32>,
}

impl Queue {
    /// The earliest flow, whose time may be infinite.
    pub fn first(&self) -> Option<(f64, MessageId)> {
        self.heap.first().map(|entry| (entry.time, entry.flow))
    }

    /// Puts a flow in, or moves it.
    pub fn set(&mut self, flow: MessageId, time: f64, order: u64) {
        if self.places.len() <= flow as usize {
            self.places.resize(flow as usize + 1, ABSENT);
        }
        let entry = Entry { time, order, flow };
        match self.places[flow as usize] {
            ABSENT => {
                self.heap.push(entry);
                self.rise(self.heap.len() - 1, entry);
            }
            place => self.place(place as usize, entry),
        }
    }

    /// Takes the earliest flow out.
    pub fn pop(&mut self) -> Option<MessageId> {
        let first = self.heap.first()?.flow;
        self.remove(first);
        Some(first)
    }

    /// Takes a flow out, if it is there.
    pub fn remove(&mut self, flow: MessageId) {
        let Some(&place) = self.places.get(flow as usize).filter(|&&place| place != ABSENT) else {
            return;
        };
        self.places[flow as usize] = ABSENT;
        let Some(last) = self.heap.pop() else { return };
        if last.flow != flow {
            self.place(place as usize, last);
        }
    }

    /// Puts an entry where another was, and then where it belongs.
    fn place(&mut self, place: usize, entry: Entry) {
        if entry.before(&self.heap[place]) {
            self.rise(place, entry);
        } else {
            self.sink(place, entry);
        }
    }

    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.places[entry.flow as usize] = place as u32;
    }

    fn rise(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / ARITY;
            let above = self.heap[parent];
            if !entry.before(&above) {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sink(&mut self, mut place: usize, entry: Entry) {
        loop {
            let child = place * ARITY + 1;
            let end = (child + ARITY).min(self.heap.len());
            let Some(mut least) = (child < end).then_some(child) else { break };
            for other in child + 1..end {
                if self.heap[other].before(&self.heap[least]) {
                    least = other;
                }
            }
            let below = self.heap[least];
            if !below.before(&entry) {
                break;
            }
            self.put(place, below);
            place = least;
        }
        self.put(place, entry);
    }
}

#[cfg(test)]
mod tests {
    use laneway_stats::SplitMix64;

    use super::*;

    #[test]
    fn moved_times_come_out_in_order_and_ties_by_start() {
        let mut queue = Queue::default();
        let mut random = SplitMix64::new(1);
        let mut times = vec![0.0; 300];
        for number in 0..800 {
            // Each once, then any of them.
            let flow = if number < 300 { number } else { random.index(300) };
            times[flow] = random.index(50) as f64;
            queue.set(flow as MessageId, times[flow], flow as u64);
        }
        let mut wanted: Vec<(f64, MessageId)> = (0..300).map(|s| (times[s as usize], s)).collect();
        wanted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for entry in wanted {
            assert_eq!(queue.first(), Some(entry));
            assert_eq!(queue.pop(), Some(entry.1));
        }
        assert_eq!(queue.pop(), None);
    }
}
