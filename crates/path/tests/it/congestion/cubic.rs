//! A model of a TCP flow with CUBIC, as an opponent: its window follows RFC 9438, its packets leave
//! when acknowledgements arrive, and it learns of a loss when the packet behind would have been
//! acknowledged. What is lost is not sent again; the rate at which packets arrive is what counts.

use laneway_path::Nanos;

/// A packet of 1,500 bytes on the wire.
const BYTES: usize = 1514;
const PAYLOAD_BYTES: u64 = 1448;
const FIRST_WINDOW: f64 = 10.0;
const C: f64 = 0.4;
const BETA: f64 = 0.7;

pub struct Cubic {
    window: f64,
    threshold: f64,
    under_way: u64,
    sent: u64,
    /// Losses of packets up to here have reduced the window.
    recovers_to: u64,
    answered: u64,
    epoch: Option<Nanos>,
    most: f64,
    /// Seconds from the epoch to the old window.
    k: f64,
    friendly: f64,
    pub received_bytes: u64,
}

impl Cubic {
    pub fn new() -> Cubic {
        Cubic {
            window: FIRST_WINDOW,
            threshold: f64::INFINITY,
            under_way: 0,
            sent: 0,
            recovers_to: 0,
            answered: 0,
            epoch: None,
            most: 0.0,
            k: 0.0,
            friendly: 0.0,
            received_bytes: 0,
        }
    }

    pub fn may_send(&self) -> bool {
        (self.under_way as f64) < self.window
    }

    /// A packet leaves; its bytes.
    pub fn on_sent(&mut self) -> usize {
        self.under_way += 1;
        self.sent += 1;
        BYTES
    }

    /// Packets are answered in the order in which they left.
    pub fn on_ack(&mut self, now: Nanos, lost: bool) {
        self.under_way -= 1;
        self.answered += 1;
        if lost {
            return self.on_loss();
        }
        self.received_bytes += PAYLOAD_BYTES;
        if self.answered <= self.recovers_to {
            return;
        }
        if self.window < self.threshold {
            self.window += 1.0;
            return;
        }
        let began = *self.epoch.get_or_insert(now);
        let t = (now - began) as f64 / 1e9;
        let cubic = C * (t - self.k).powi(3) + self.most;
        self.friendly += 3.0 * (1.0 - BETA) / (1.0 + BETA) / self.window;
        let target = cubic.clamp(self.window, 1.5 * self.window);
        self.window += (target - self.window) / self.window;
        self.window = self.window.max(self.friendly);
    }

    fn on_loss(&mut self) {
        if self.answered <= self.recovers_to {
            return;
        }
        self.recovers_to = self.sent;
        // Fast convergence.
        let shrinks = self.window < self.most;
        self.most = if shrinks { self.window * (1.0 + BETA) / 2.0 } else { self.window };
        self.k = ((self.most - self.window * BETA) / C).max(0.0).cbrt();
        self.window = (self.window * BETA).max(2.0);
        (self.threshold, self.friendly, self.epoch) = (self.window, self.window, None);
    }
}
