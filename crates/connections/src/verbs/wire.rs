//! A path's queue pair for datagrams, in place of a UDP socket.

use std::mem;

use super::device::DeviceEvent;
use super::ffi::{IBV_QPT_UD, IBV_WC_SUCCESS};
use super::local::Local;
use super::memory::Region;
use super::queue_pair::{AddressHandle, DEPTH, QueuePair, Target};
use crate::driver::secret::random;
use crate::error::NetError;

/// Every datagram that arrives has room for a global header before it.
const HEADER: usize = 40;

/// A packet that has arrived: who sent it, and where it lies.
pub(super) struct Arrival {
    pub from: u32,
    slot: usize,
    bytes: usize,
}

pub(super) struct Wire {
    queue_pair: QueuePair,
    pub local: Local,
    pub key: u32,
    most: usize,
    /// As many places of equal length as the queue pair has requests.
    receives: Option<Region>,
    sends: Option<Region>,
    free: Vec<usize>,
    /// Ways of connections that are closed; datagrams may still be about to leave by them.
    retired: Vec<AddressHandle>,
}

/// Bytes of the longest packet, by InfiniBand's code.
pub(super) fn packet_bytes(mtu: u8) -> usize {
    128 << mtu
}

impl Wire {
    pub fn new(local: Local) -> Result<Wire, NetError> {
        let most = packet_bytes(local.mtu);
        let queue_pair = QueuePair::new(&local.device, IBV_QPT_UD)?;
        let [a, b, c, d, e, f, g] = random()?;
        // Keys whose highest bit is set belong to the system.
        let key = u32::from_be_bytes([a, b, c, d]) & 0x7fff_ffff;
        queue_pair.serve_datagrams(local.path.port, key, u32::from_be_bytes([0, e, f, g]))?;
        let room = |bytes: usize| {
            let bytes = bytes * DEPTH as usize;
            Region::new(&local.device, vec![0; bytes], bytes).map_err(|(error, _)| error)
        };
        let (receives, sends) = (Some(room(HEADER + most)?), Some(room(most)?));
        let free = (0..DEPTH as usize).collect();
        let wire =
            Wire { queue_pair, local, key, most, receives, sends, free, retired: Vec::new() };
        (0..DEPTH as usize).try_for_each(|slot| wire.offer(slot))?;
        Ok(wire)
    }

    pub fn number(&self) -> u32 {
        self.queue_pair.number()
    }

    /// Lets a datagram be written to a place.
    fn offer(&self, slot: usize) -> Result<(), NetError> {
        let length = HEADER + self.most;
        let part = self.receives.as_ref().and_then(|room| room.element(slot * length, length));
        // SAFETY: the region stays until the queue pair is destroyed (see `Drop`), and the place
        // has no reader before the request is completed.
        unsafe { self.queue_pair.post_receive((slot as u64) << 1, part) }
    }

    /// The next packet that has arrived; its place must be given back.
    pub fn receive(&mut self) -> Option<Arrival> {
        while let Some(wc) = self.queue_pair.queue.poll() {
            let slot = (wc.wr_id >> 1) as usize;
            if wc.wr_id & 1 != 0 {
                self.free.push(slot);
                continue;
            }
            let bytes = (wc.byte_len as usize).min(HEADER + self.most);
            if wc.status == IBV_WC_SUCCESS && bytes >= HEADER {
                return Some(Arrival { from: wc.src_qp, slot, bytes: bytes - HEADER });
            }
            if wc.status == IBV_WC_SUCCESS {
                self.give_back(slot);
            }
        }
        if self.free.len() == DEPTH as usize {
            self.retired.clear();
        }
        None
    }

    pub fn packet(&self, arrival: &Arrival) -> &[u8] {
        let start = arrival.slot * (HEADER + self.most) + HEADER;
        // SAFETY: all of it was written at the beginning, and the device has done with this place
        // until it is given back, for which the arrival is needed.
        self.receives.as_ref().map_or(&[], |room| unsafe { room.get(start, arrival.bytes) })
    }

    pub fn done(&mut self, arrival: Arrival) {
        self.give_back(arrival.slot);
    }

    fn give_back(&mut self, slot: usize) {
        // A queue pair that refuses is broken: nothing arrives by this path any more, and the
        // connections find that out as they do with any path.
        _ = self.offer(slot);
    }

    pub fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    /// Sends a packet, or drops it: there may be no room.
    pub fn send(&mut self, target: &Target, packet: &[u8]) {
        let Some(room) = self.sends.as_mut().filter(|_| packet.len() <= self.most) else { return };
        let Some(slot) = self.free.pop() else { return };
        let start = slot * self.most;
        // SAFETY: the place is free: the device does not use it.
        unsafe { room.set(start, packet) };
        let part = room.element(start, packet.len());
        // SAFETY: the region stays until the queue pair is destroyed (see `Drop`), the place is
        // not free before the request is completed, and ways are kept in `retired` as long.
        let posted =
            unsafe { self.queue_pair.post_send((slot as u64) << 1 | 1, part, Some(target)) };
        if posted.is_err() {
            self.free.push(slot);
        }
    }

    pub fn retire(&mut self, way: AddressHandle) {
        self.retired.push(way);
    }

    pub fn arm(&self) {
        self.queue_pair.queue.arm();
    }

    pub fn device_event(&self) -> Option<DeviceEvent> {
        self.local.device.event()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if !self.queue_pair.destroy() {
            // The device may still reach this memory: it stays.
            mem::forget(self.receives.take());
            mem::forget(self.sends.take());
        }
    }
}
