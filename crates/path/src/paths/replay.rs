//! Which packets of a path have arrived: a packet that comes again, or far too late, is refused.

/// The number of latest serial numbers that are distinguished.
const WINDOW: u64 = 8192;
const WORDS: usize = (WINDOW / 64) as usize;

#[derive(Default)]
pub(crate) struct Replay {
    /// One more than the latest serial number.
    next: u64,
    /// The number of packets.
    count: u64,
    /// One bit for each serial number of the window, at its remainder. Connections that carry
    /// little need little: it grows with the serial numbers until it has the whole window.
    seen: Vec<u64>,
}

impl Replay {
    /// Records a packet; false if it is a duplicate, or too old to decide.
    pub fn take(&mut self, serial: u64) -> bool {
        if serial >= self.next {
            self.make_room(serial);
            // What lies between has not arrived yet.
            for passed in self.next.max(serial.saturating_sub(WINDOW))..=serial {
                *self.word(passed) &= !bit(passed);
            }
            self.next = serial.saturating_add(1);
        } else if self.next - serial > WINDOW || *self.word(serial) & bit(serial) != 0 {
            return false;
        }
        *self.word(serial) |= bit(serial);
        self.count += 1;
        true
    }

    fn make_room(&mut self, serial: u64) {
        let words = (serial / 64 + 1).min(WORDS as u64).next_power_of_two() as usize;
        if self.seen.len() < words {
            self.seen.resize(words, 0);
        }
    }

    fn word(&mut self, serial: u64) -> &mut u64 {
        let place = (serial / 64) as usize % self.seen.len();
        &mut self.seen[place]
    }

    /// The number of packets that have arrived.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The latest, if any has arrived.
    pub fn latest(&self) -> Option<u64> {
        self.next.checked_sub(1)
    }
}

fn bit(serial: u64) -> u64 {
    1 << (serial % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_serial_number_is_taken_once() {
        let mut replay = Replay::default();
        assert_eq!(replay.latest(), None);
        let far = 2 * WINDOW;
        for serial in [0, 2, 1, far, far - 1, far + 1 - WINDOW, far + 900] {
            assert!(replay.take(serial), "{serial}");
            assert!(!replay.take(serial), "{serial} again");
        }
        assert!(!replay.take(3), "too old to decide");
        assert!(!replay.take(far - 1) && replay.take(far + 1));
        assert_eq!((replay.latest(), replay.count()), (Some(far + 900), 8));
        assert!(replay.take(u64::MAX - 1) && !replay.take(far + 901));
    }
}
