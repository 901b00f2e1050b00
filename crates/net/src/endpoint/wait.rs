//! Resting until something can be done.

use std::cmp::Reverse;
use std::time::Duration;

use laneway_path::Nanos;

use super::Endpoint;
use crate::clock::now;

impl Endpoint {
    /// When something is due, if nothing arrives before.
    fn next_due(&self) -> Option<Nanos> {
        let due = self.due.peek().map(|Reverse((at, _))| *at);
        let handshake = self.opening.iter().map(|opening| opening.again_at).min();
        let devices = self.carriers.next_at().filter(|_| self.waiting > 0);
        [due, handshake, devices].into_iter().flatten().min()
    }

    /// What a call that waits for this endpoint has to look at.
    pub(crate) fn descriptors(&self) -> Vec<libc::pollfd> {
        let of = |wire: &crate::wire::Wire| {
            let room = if wire.has_room() { 0 } else { libc::POLLOUT };
            libc::pollfd { fd: wire.socket.fd(), events: libc::POLLIN | room, revents: 0 }
        };
        self.wires.iter().map(of).chain(self.carriers.descriptor()).collect()
    }

    fn descriptor_count(&self) -> usize {
        self.wires.len() + usize::from(self.carriers.descriptor().is_some())
    }

    /// How long nothing is to be done, if nothing arrives.
    pub(crate) fn rests_for(&self, limit: Duration) -> Duration {
        if !self.dirty.is_empty() {
            return Duration::ZERO;
        }
        let due = self.next_due().map(|at| Duration::from_nanos(at.saturating_sub(now())));
        due.map_or(limit, |due| due.min(limit))
    }

    /// Rests until something can be done, for so long at most, and does it; false where nothing
    /// was.
    pub fn wait(&mut self, limit: Duration) -> bool {
        wait_for_any(&mut [self], limit)
    }

    /// Does what can be done now that these descriptors were looked at.
    pub(crate) fn serve(&mut self, descriptors: &[libc::pollfd], now: Nanos) -> bool {
        let mut arrived = false;
        for (number, descriptor) in descriptors.iter().enumerate() {
            match descriptor.revents & !libc::POLLOUT != 0 {
                true if number < self.wires.len() => arrived |= self.receive_over(number, now),
                true => self.on_device_event(),
                false => {}
            }
        }
        self.go_on(now) || arrived
    }
}

/// Rests until one of these endpoints has something to do, for so long at most, and does it; false
/// where nothing was.
pub fn wait_for_any(endpoints: &mut [&mut Endpoint], limit: Duration) -> bool {
    let told = endpoints.iter().any(|endpoint| !endpoint.notices.is_empty());
    let limit = if told { Duration::ZERO } else { limit };
    let rests = endpoints.iter().map(|endpoint| endpoint.rests_for(limit)).min();
    let mut descriptors: Vec<libc::pollfd> =
        endpoints.iter().flat_map(|endpoint| endpoint.descriptors()).collect();
    poll(&mut descriptors, rests.unwrap_or(limit));
    let (now, mut rest, mut any) = (now(), &descriptors[..], false);
    for endpoint in endpoints {
        let (own, others) = rest.split_at(endpoint.descriptor_count());
        any |= endpoint.serve(own, now);
        rest = others;
    }
    any
}

/// Waits for one of these, for so long at most.
pub(crate) fn poll(descriptors: &mut [libc::pollfd], limit: Duration) {
    let time = libc::timespec {
        tv_sec: limit.as_secs().min(i64::MAX as u64) as libc::time_t,
        tv_nsec: limit.subsec_nanos().into(),
    };
    let count = descriptors.len() as libc::nfds_t;
    // SAFETY: there are as many descriptors as are said, and the time is ours. An interrupted call
    // is as good as one that found something: whoever called looks.
    unsafe { libc::ppoll(descriptors.as_mut_ptr(), count, &raw const time, std::ptr::null()) };
}
