//! What faults do to a world.

use laneway_path::{Modify, Nanos, PathId, QpState};

use super::super::end::End;
use super::super::fault::Fault;
use super::super::link::MS;
use super::{Due, World};

impl World {
    pub(super) fn begin_fault(&mut self) -> Result<(), String> {
        let fault = Fault::draw(&mut self.random, self.links.len());
        self.tried[fault.kind()] += 1;
        self.apply(&fault, true)?;
        let over = self.now + fault.lasts(&mut self.random);
        self.faults.push(fault);
        self.push(over, Due::Over(self.faults.len() - 1));
        Ok(())
    }

    pub(super) fn end_fault(&mut self, number: usize) -> Result<(), String> {
        let fault = self.faults[number];
        self.apply(&fault, false)
    }

    pub(super) fn apply(&mut self, fault: &Fault, begins: bool) -> Result<(), String> {
        let count = |count: &mut u32| *count = if begins { *count + 1 } else { *count - 1 };
        match *fault {
            Fault::Drop { path } => {
                self.links[path].iter_mut().for_each(|link| count(&mut link.down));
            }
            Fault::OneWay { path, end } => count(&mut self.links[path][end].down),
            Fault::Blackout => {
                self.links.iter_mut().flatten().for_each(|link| count(&mut link.down));
            }
            Fault::Trouble { path, end, trouble } => {
                let now = if begins { trouble } else { Default::default() };
                self.links[path][end].trouble = now;
            }
            Fault::Mtu { path, bytes } => {
                let mtu = if begins { bytes } else { usize::MAX };
                self.links[path].iter_mut().for_each(|link| link.mtu = mtu);
            }
            Fault::Loss { path, part } => {
                let lost = if begins { part } else { 0.0 };
                self.links[path].iter_mut().for_each(|link| link.lost = lost);
            }
            Fault::Reorder { path, most } => {
                let reorders = if begins { most } else { 0 };
                self.links[path].iter_mut().for_each(|link| link.reorders = reorders);
            }
            Fault::Slower { path, trip } => {
                let slower = if begins { trip / 2 } else { 0 };
                self.links[path].iter_mut().for_each(|link| link.slower = slower);
            }
            Fault::Carrier { path, ends } => {
                for end in (0..2).filter(|end| ends[*end]) {
                    count(&mut self.without_carrier[path][end]);
                    let up = self.without_carrier[path][end] == 0;
                    let (now, path) = (self.now, PathId(path as u8));
                    self.ends[end].change(now, &mut self.random, |connection| {
                        connection.on_carrier(now, path, up);
                    })?;
                }
            }
            Fault::Pause { end } => count(&mut self.ends[end].paused),
            Fault::NotReady { end } => count(&mut self.ends[end].holds_receives),
            Fault::Drain { end } => {
                count(&mut self.ends[end].drains);
                let to = if self.ends[end].drains > 0 { QpState::Sqd } else { QpState::Rts };
                if self.ends[end].connection.state() != to {
                    let moved = self.ends[end].connection.modify(self.now, Modify::to(to));
                    assert_eq!(moved, Ok(()));
                }
            }
            Fault::DrainPath { path, end } => {
                count(&mut self.drained[path][end]);
                let (now, drained) = (self.now, self.drained[path][end] > 0);
                self.ends[end].drain_path(now, PathId(path as u8), drained);
            }
            Fault::Request { ends } if begins => {
                for end in (0..2).filter(|end| ends[*end]) {
                    // Refused unless it is armed; the connection goes on either way.
                    let (now, waits) = (self.now, self.random.index(2) == 0);
                    self.ends[end].change(now, &mut self.random, |connection| {
                        _ = connection.migrate(now);
                        if waits {
                            connection.hold();
                        }
                    })?;
                }
            }
            Fault::Reload { end } if begins => {
                let later = self.now + (20.0 * MS as f64 * self.random.uniform()) as Nanos;
                if self.random.index(2) == 0 {
                    self.ends[end].specify_again(later);
                } else {
                    // Refused where no alternate path is specified yet.
                    _ = self.ends[end].load(self.now);
                    self.ends[end].connection.hold();
                }
            }
            Fault::Request { .. } | Fault::Reload { .. } => {
                self.ends.iter_mut().for_each(|end| end.connection.resume());
            }
            Fault::HeldBack { path, end } if begins => self.held.begin(end, PathId(path as u8)),
            Fault::HeldBack { path, end } => self.release(path, end)?,
            Fault::Forged { end } if begins => self.forge(end),
            Fault::Forged { .. } => {}
        }
        Ok(())
    }

    /// Hands in a packet that was cut, lengthened, or sent to another connection, and random bytes.
    fn forge(&mut self, end: usize) {
        let mut packets = vec![self.sample.clone(), self.sample.clone()];
        let cut = self.random.index(self.sample.len().clamp(1, 32));
        packets[0].truncate(cut);
        if let Some(byte) = packets[1].get_mut(4) {
            *byte ^= 0x40;
        }
        packets.push((0..self.random.index(100)).map(|_| self.random.next_u64() as u8).collect());
        let before = *self.ends[end].connection.counters();
        let states = |end: &End| (end.connection.state(), end.connection.migration());
        let state = states(&self.ends[end]);
        for packet in packets {
            let path = PathId(self.random.index(self.links.len()) as u8);
            self.ends[end].connection.on_packet(self.now, path, &packet);
        }
        let after = *self.ends[end].connection.counters();
        assert_eq!(after.received, before.received, "a forged packet was taken");
        assert_eq!(states(&self.ends[end]), state);
    }
}
