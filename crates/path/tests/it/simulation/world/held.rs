//! Packets that a path holds back while a lap of packet numbers goes by on the other one.
//!
//! 2^24 packets take too long to send. A packet of a lap ago is made instead: what it carries is
//! old, its numbers are those of the next packets, less a lap.

use laneway_path::number::START_LIMIT;
use laneway_path::wire::{Body, read, write};
use laneway_path::{Nanos, PathId};
use laneway_stats::SplitMix64;

use super::World;

const LAP: u64 = START_LIMIT as u64;
/// Packets of one path and direction that are kept, at most.
const MOST: usize = 64;

#[derive(Default)]
pub(super) struct Held {
    /// The number of faults that delay the packets of an end on a path.
    holds: Vec<(usize, PathId)>,
    packets: Vec<(usize, PathId, Vec<u8>)>,
    /// By end: the number after the last packet of data that it sent, and the one that it expects.
    next: [u64; 2],
    expects: [u64; 2],
}

impl Held {
    pub fn begin(&mut self, end: usize, path: PathId) {
        self.holds.push((end, path));
    }

    /// Takes note of the numbers that an end has reached.
    pub fn on_sent(&mut self, end: usize, packet: &[u8]) {
        let Some((header, body)) = read(packet) else { return };
        self.expects[end] = header.expects;
        if let Body::Data { number, .. } = body {
            self.next[end] = self.next[end].max(number + 1);
        }
    }

    /// Whether a packet that leaves is held back.
    pub fn hold(&mut self, end: usize, path: PathId, packet: &[u8]) -> bool {
        let holds = self.holds.contains(&(end, path));
        if holds && self.packets.len() < MOST {
            self.packets.push((end, path, packet.to_vec()));
        }
        holds
    }

    /// One fault is over; what was held back, if no other fault holds it.
    fn end(&mut self, end: usize, path: PathId) -> Vec<Vec<u8>> {
        let place = self.holds.iter().position(|hold| *hold == (end, path));
        self.holds.swap_remove(place.expect("a fault that began"));
        if self.holds.contains(&(end, path)) {
            return Vec::new();
        }
        let ready = |held: &mut (usize, PathId, Vec<u8>)| (held.0, held.1) == (end, path);
        self.packets.extract_if(.., ready).map(|(_, _, packet)| packet).collect()
    }

    /// The packet as if a lap had gone by since it left; whether any number of it allows that.
    fn age(&self, end: usize, packet: &[u8], random: &mut SplitMix64) -> (Vec<u8>, bool) {
        let (mut header, mut body) = read(packet).expect("a packet that was sent");
        let mut aged = false;
        let mut set = |number: &mut u64, now: u64| {
            if let Some(then) = now.checked_sub(LAP) {
                (*number, aged) = (then, true);
            }
        };
        set(&mut header.expects, self.next[1 - end]);
        if let Body::Data { number, .. } = &mut body {
            set(number, self.expects[1 - end] + random.index(8) as u64);
        }
        let mut packet = Vec::new();
        write(&header, &body, &mut packet);
        (packet, aged)
    }
}

impl World {
    /// What was held back arrives; none of it is taken for new.
    pub(super) fn release(&mut self, path: usize, end: usize) -> Result<(), String> {
        let (now, path): (Nanos, PathId) = (self.now, PathId(path as u8));
        for packet in self.held.end(end, path) {
            let (packet, aged) = self.held.age(end, &packet, &mut self.random);
            let there = &mut self.ends[1 - end];
            let before = there.connection.counters().replayed;
            there.change(now, &mut self.random, |c| c.on_packet(now, path, &packet))?;
            let refused = there.connection.counters().replayed - before;
            if aged && refused == 0 {
                return Err("a packet of a lap ago was taken".to_string());
            }
        }
        Ok(())
    }
}
