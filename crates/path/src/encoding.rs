//! Times and counts as InfiniBand encodes them.

use crate::Nanos;

/// The acknowledgement timeout in five bits: 4.096 us times a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckTimeout(u8);

impl AckTimeout {
    /// No timeout.
    pub const NEVER: AckTimeout = AckTimeout(0);

    /// A timeout by its code; `None` if the code has more than five bits.
    pub fn new(code: u8) -> Option<AckTimeout> {
        (code < 32).then_some(AckTimeout(code))
    }

    /// The five-bit code.
    pub fn code(self) -> u8 {
        self.0
    }

    /// The shortest timeout that lasts at least this long together with those of all `retries`; the
    /// longest one where none does.
    pub fn lasting(time: Nanos, retries: Retries) -> AckTimeout {
        let tries = u64::from(retries.count()) + 1;
        let lasts = |code: &u8| (4096u64 << code) * tries >= time;
        AckTimeout((1..31).find(lasts).unwrap_or(31))
    }

    /// The timeout; `None` if unlimited.
    pub fn nanos(self) -> Option<Nanos> {
        (self.0 > 0).then(|| 4096 << self.0)
    }
}

/// The retransmission limit in three bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries(u8);

impl Retries {
    /// The largest count.
    pub const MOST: Retries = Retries(7);

    /// A limit by its count; `None` if the count has more than three bits.
    pub fn new(count: u8) -> Option<Retries> {
        (count < 8).then_some(Retries(count))
    }

    /// The count.
    pub fn count(self) -> u8 {
        self.0
    }

    /// For a receiver that is not ready, seven means for ever.
    pub fn has_no_end(self) -> bool {
        self.0 == 7
    }
}

/// Where data comes by streams, a peer that waits for a receive learns so this often.
pub(crate) const NOT_READY_APART: Nanos = 10_000_000;

/// In hundredths of a millisecond, by code.
const NOT_READY: [u32; 32] = [
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
    2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
];

/// The time that a sender waits for a receiver that was not ready, in five bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotReadyTimer(u8);

impl NotReadyTimer {
    /// 0.64 ms.
    pub const USUAL: NotReadyTimer = NotReadyTimer(12);

    /// A timer by its code; `None` if the code has more than five bits.
    pub fn new(code: u8) -> Option<NotReadyTimer> {
        (code < 32).then_some(NotReadyTimer(code))
    }

    /// The five-bit code.
    pub fn code(self) -> u8 {
        self.0
    }

    /// The duration.
    pub fn nanos(self) -> Nanos {
        u64::from(NOT_READY[usize::from(self.0)]) * 10_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_last_as_long_as_they_must() {
        let minutes = AckTimeout::lasting(120_000_000_000, Retries::MOST);
        assert_eq!((minutes.code(), minutes.nanos()), (22, Some(4096 << 22)));
        assert_eq!(AckTimeout::lasting(0, Retries::MOST).code(), 1);
        assert_eq!(AckTimeout::lasting(4096 << 20, Retries(0)).code(), 20);
        assert_eq!(AckTimeout::lasting((4096 << 20) + 1, Retries(0)).code(), 21);
        assert_eq!(AckTimeout::lasting(Nanos::MAX, Retries::MOST).code(), 31);
    }

    #[test]
    fn codes_mean_what_infiniband_says() {
        assert_eq!(AckTimeout::new(0).and_then(AckTimeout::nanos), None);
        // The codes that people set: 14 is 67 ms, 20 is 4.3 s.
        assert_eq!(AckTimeout::new(14).and_then(AckTimeout::nanos), Some(67_108_864));
        assert_eq!(AckTimeout::new(20).and_then(AckTimeout::nanos), Some(4_294_967_296));
        assert_eq!(AckTimeout::new(32), None);
        assert_eq!(NotReadyTimer::new(0).map(NotReadyTimer::nanos), Some(655_360_000));
        assert_eq!(NotReadyTimer::new(1).map(NotReadyTimer::nanos), Some(10_000));
        assert_eq!(NotReadyTimer::new(31).map(NotReadyTimer::nanos), Some(491_520_000));
        assert_eq!(NotReadyTimer::new(32), None);
        assert!(Retries::new(7).is_some_and(Retries::has_no_end));
        assert_eq!(Retries::new(8), None);
    }
}
