//! The migration epoch: how often the two ends have moved, and whether the peer knows.

use crate::Nanos;

/// The first interval at which the epoch is sent again to a peer that has not followed a migration;
/// it doubles each time.
const FIRST_INTERVAL: Nanos = 5_000_000;
const LONGEST_INTERVAL: Nanos = 500_000_000;

/// One more for each migration of either end. It is sent again until the peer is known to be in it.
pub(crate) struct Epoch {
    number: u32,
    acked: bool,
    resend_at: Nanos,
    interval: Nanos,
}

impl Epoch {
    /// The first epoch, which the peer knows.
    pub fn first() -> Epoch {
        Epoch { number: 0, acked: true, resend_at: 0, interval: 0 }
    }

    pub fn number(&self) -> u32 {
        self.number
    }

    /// The epoch of this end's next migration.
    pub fn next(&self) -> u32 {
        self.number.wrapping_add(1)
    }

    /// How far the peer's epoch is ahead of this one.
    pub fn ahead(&self, peer: u32) -> i32 {
        peer.wrapping_sub(self.number) as i32
    }

    /// Whether the peer is known to be in this epoch.
    pub fn is_acked(&self) -> bool {
        self.acked
    }

    /// A migration begins this epoch.
    pub fn begin(&mut self, now: Nanos, number: u32, acked: bool) {
        *self = Epoch { number, acked, resend_at: now, interval: FIRST_INTERVAL };
    }

    /// The peer is in this epoch.
    pub fn acknowledge(&mut self, number: u32) {
        (self.number, self.acked) = (number, true);
    }

    /// Stops resending.
    pub fn stop(&mut self) {
        self.acked = true;
    }

    /// When the epoch is sent again; `None` if the peer has it.
    pub fn resend_at(&self) -> Option<Nanos> {
        (!self.acked).then_some(self.resend_at)
    }

    /// Whether it is to be sent again now; the next time is later.
    pub fn resend(&mut self, now: Nanos) -> bool {
        let due = self.resend_at().is_some_and(|at| at <= now);
        if due {
            self.resend_at = now + self.interval;
            self.interval = (2 * self.interval).min(LONGEST_INTERVAL);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_sent_again_until_the_peer_is_in_it() {
        let mut epoch = Epoch::first();
        assert_eq!((epoch.number(), epoch.resend_at()), (0, None));
        epoch.begin(10, epoch.next(), false);
        assert!(epoch.resend(10) && !epoch.resend(10));
        assert_eq!(epoch.resend_at(), Some(10 + FIRST_INTERVAL));
        assert!(epoch.resend(10 + FIRST_INTERVAL));
        assert_eq!(epoch.resend_at(), Some(10 + 3 * FIRST_INTERVAL));
        epoch.acknowledge(1);
        assert!(epoch.is_acked() && !epoch.resend(u64::MAX));
    }

    #[test]
    fn epochs_are_compared_across_their_wrap() {
        let mut epoch = Epoch::first();
        epoch.acknowledge(u32::MAX);
        assert_eq!((epoch.next(), epoch.ahead(0), epoch.ahead(u32::MAX - 1)), (0, 1, -1));
    }
}
