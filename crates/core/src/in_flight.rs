//! Where transfers under way read and write, so that a schedule that breaks its rules gets an error
//! and never a reference to memory that changes.

use crate::run::Slot;

/// The places of some transfers, by their slots.
#[derive(Default)]
pub(crate) struct Places {
    /// First byte and the one after the last; equal where the slot holds nothing.
    by_slot: Vec<(usize, usize)>,
    held: usize,
}

impl Places {
    /// Records the start of a transfer with this slot.
    #[inline]
    pub fn hold(&mut self, slot: Slot, start: *const u8, len: u64) {
        if len == 0 {
            return;
        }
        let slot = slot as usize;
        if self.by_slot.len() <= slot {
            self.by_slot.resize(slot + 1, (0, 0));
        }
        self.by_slot[slot] = (start as usize, start as usize + len as usize);
        self.held += 1;
    }

    /// Records the end of the transfer with this slot, if it is one of these.
    #[inline]
    pub fn release(&mut self, slot: Slot) {
        if self.held == 0 {
            return;
        }
        if let Some(place) = self.by_slot.get_mut(slot as usize).filter(|(from, to)| from < to) {
            *place = (0, 0);
            self.held -= 1;
        }
    }

    /// Whether an outstanding transfer overlaps these bytes.
    #[inline]
    pub fn touch(&self, start: *const u8, len: u64) -> bool {
        let (start, end) = (start as usize, start as usize + len as usize);
        self.held > 0 && start < end && self.by_slot.iter().any(|&(a, b)| a < end && start < b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_held_from_its_first_byte_to_its_last_until_released() {
        let bytes = [0u8; 32];
        let at = |offset: usize| bytes[offset..].as_ptr();
        let mut places = Places::default();
        assert!(!places.touch(at(0), 32));
        places.hold(3, at(8), 8);
        places.hold(1, at(20), 0);
        assert!(places.touch(at(15), 1) && places.touch(at(0), 9) && places.touch(at(0), 32));
        assert!(!places.touch(at(0), 8) && !places.touch(at(16), 8) && !places.touch(at(10), 0));
        places.release(1);
        places.release(7);
        assert!(places.touch(at(8), 1));
        places.release(3);
        places.release(3);
        assert!(!places.touch(at(0), 32));
    }
}
