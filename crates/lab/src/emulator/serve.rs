//! The loop that carries packets between TUN devices: one thread, woken by packets and by time.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

use super::Engine;
use super::control::{Answer, Strays, answer};
use super::poll::Poll;
use crate::system::RealTime;

/// Packets that are read from one device before others have their turn.
const READS: usize = 32;
/// Packets that leave before devices are read again.
const WRITES: usize = 64;
/// Commands that are answered before packets have their turn.
const COMMANDS: usize = 8;
/// No IPv4 packet is longer.
const LONGEST: usize = 65_535;
const IPV4_HEADER: usize = 20;

/// Traffic of more packets a millisecond is dense: they are handled together, because waking for
/// each would take half of the time.
const DENSE: u64 = 20;
const WINDOW_NS: u64 = 1_000_000;
/// Dense packets are handled together for so long, and not over a hundredth of any way's delay.
const LONGEST_PAUSE_NS: u64 = 50_000;
/// To sleep for less takes longer than that.
const SHORTEST_PAUSE_NS: u64 = 10_000;

/// Emulates until a `stop` command comes. `tuns` are the devices of the sites, in order; `site_of`
/// tells at which site an address is. Commands come as datagrams to `control`, answers go to the
/// sender if it has an address.
pub fn serve(
    engine: Engine,
    tuns: Vec<OwnedFd>,
    site_of: impl Fn(Ipv4Addr) -> Option<usize>,
    control: UnixDatagram,
) -> io::Result<()> {
    if tuns.len() != engine.wan().sites {
        let why = format!("{} sites, but {} devices", engine.wan().sites, tuns.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    control.set_nonblocking(true)?;
    // Linux keeps a twentieth of each second for ordinary threads: an emulator that would take a
    // whole core stands still for up to 50 ms, which `most_late_ns` shows.
    let _real_time = RealTime::request();
    let poll = Poll::new()?;
    for (site, tun) in tuns.iter().enumerate() {
        poll.add(tun.as_raw_fd(), site as u64)?;
    }
    poll.add(control.as_raw_fd(), tuns.len() as u64)?;
    let mut emulator = Emulator {
        engine,
        strays: Strays::default(),
        is_ready: vec![true; tuns.len() + 1],
        poll,
        tuns,
        control,
        start: Instant::now(),
        buffer: vec![0; LONGEST],
        packet: Vec::new(),
        traffic: Traffic::default(),
    };
    loop {
        emulator.write_due();
        for site in 0..emulator.tuns.len() {
            if emulator.is_ready[site] {
                emulator.read(site, &site_of)?;
            }
        }
        if emulator.answer_commands() {
            return Ok(());
        }
        let timeout_ns = match emulator.pause() {
            true => Some(0),
            false => emulator.find_timeout(),
        };
        emulator.poll.wait(timeout_ns, &mut emulator.is_ready)?;
    }
}

/// What the loop works with.
struct Emulator {
    engine: Engine,
    strays: Strays,
    tuns: Vec<OwnedFd>,
    control: UnixDatagram,
    poll: Poll,
    /// Which devices, and last the control socket, may have something to read.
    is_ready: Vec<bool>,
    start: Instant,
    buffer: Vec<u8>,
    packet: Vec<u8>,
    traffic: Traffic,
}

/// How many packets pass.
#[derive(Default)]
struct Traffic {
    window_start: u64,
    packets: u64,
    is_dense: bool,
}

impl Traffic {
    /// Judges the last window once it is over.
    fn judge(&mut self, now: u64) {
        let passed_ns = now - self.window_start;
        if passed_ns >= WINDOW_NS {
            self.is_dense = self.packets >= DENSE * (passed_ns / WINDOW_NS);
            self.packets = 0;
            self.window_start = now;
        }
    }
}

impl Emulator {
    fn now(&self) -> u64 {
        // Fits for five centuries.
        self.start.elapsed().as_nanos() as u64
    }

    /// Takes what a site sends, for a while.
    fn read(
        &mut self,
        site: usize,
        site_of: &impl Fn(Ipv4Addr) -> Option<usize>,
    ) -> io::Result<()> {
        for _ in 0..READS {
            // SAFETY: the buffer is ours alone and has the length that is passed.
            let read = unsafe {
                let buffer = self.buffer.as_mut_ptr().cast();
                libc::read(self.tuns[site].as_raw_fd(), buffer, self.buffer.len())
            };
            if read < 0 {
                let error = io::Error::last_os_error();
                match error.raw_os_error() {
                    Some(libc::EINTR) => continue,
                    Some(libc::EAGAIN) => {
                        self.is_ready[site] = false;
                        return Ok(());
                    }
                    // The device was removed, and would be reported ready for ever.
                    Some(libc::EBADFD | libc::EIO) => {
                        self.is_ready[site] = false;
                        return self.poll.remove(self.tuns[site].as_raw_fd());
                    }
                    _ => return Err(error),
                }
            }
            // Not negative, and at most the length of the buffer.
            let packet = &self.buffer[..read as usize];
            let Some(destination) = find_destination(packet) else {
                self.strays.ignored += 1;
                continue;
            };
            let Some(to) = site_of(destination) else {
                self.strays.unknown += 1;
                continue;
            };
            self.traffic.packets += 1;
            let now = self.now();
            self.engine.push(now, site, to, &self.buffer[..read as usize]);
        }
        Ok(())
    }

    /// Hands over what is due, for a while.
    fn write_due(&mut self) {
        for _ in 0..WRITES {
            let now = self.now();
            let Some(to) = self.engine.pop(now, &mut self.packet) else { return };
            self.traffic.packets += 1;
            // SAFETY: the packet is ours and has the length that is passed.
            let written = unsafe {
                let packet = self.packet.as_ptr().cast();
                libc::write(self.tuns[to].as_raw_fd(), packet, self.packet.len())
            };
            if written != self.packet.len() as isize {
                self.strays.unwritten += 1;
            }
        }
    }

    /// Whether one of the commands was to stop.
    fn answer_commands(&mut self) -> bool {
        let Some(is_ready) = self.is_ready.last_mut().filter(|is_ready| **is_ready) else {
            return false;
        };
        *is_ready = false;
        for _ in 0..COMMANDS {
            let Ok((length, sender)) = self.control.recv_from(&mut self.buffer) else {
                return false;
            };
            let now = self.now();
            let command = &self.buffer[..length];
            let answer = answer(&mut self.engine, &self.strays, now, command);
            let is_stop = answer == Answer::Stop;
            let text = match answer {
                Answer::GoOn(text) => text,
                Answer::Stop => "ok".into(),
            };
            if !sender.is_unnamed() {
                // A sender that does not wait for its answer, or is gone, does not stop us.
                let sent = self.control.send_to_addr(text.as_bytes(), &sender);
                if sent.is_err_and(|error| error.raw_os_error() == Some(libc::EMSGSIZE)) {
                    let why = b"error: too long an answer, try show FROM TO";
                    let _ = self.control.send_to_addr(why, &sender);
                }
            }
            if is_stop {
                return true;
            }
        }
        false
    }

    /// Lets dense packets gather; whether there was time for that.
    fn pause(&mut self) -> bool {
        let now = self.now();
        self.traffic.judge(now);
        let pause_ns = LONGEST_PAUSE_NS.min(self.engine.least_delay_ns() / 100);
        let is_behind =
            self.is_ready.contains(&true) || self.engine.next_at().is_some_and(|at| at <= now);
        if !self.traffic.is_dense || is_behind || pause_ns < SHORTEST_PAUSE_NS {
            return false;
        }
        std::thread::sleep(Duration::from_nanos(pause_ns));
        true
    }

    /// How long nothing is to be done, unless a packet or a command comes.
    fn find_timeout(&self) -> Option<u64> {
        if self.is_ready.contains(&true) {
            return Some(0);
        }
        self.engine.next_at().map(|at| at.saturating_sub(self.now()))
    }
}

/// The destination of an IPv4 packet.
fn find_destination(packet: &[u8]) -> Option<Ipv4Addr> {
    let header = packet.get(..IPV4_HEADER).filter(|header| header[0] >> 4 == 4)?;
    Some(Ipv4Addr::new(header[16], header[17], header[18], header[19]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ipv4_has_a_destination() {
        let mut packet = vec![0; 40];
        packet[16..20].copy_from_slice(&[10, 1, 2, 3]);
        for (first, found) in [(0x45, true), (0x60, false), (0, false)] {
            packet[0] = first;
            let destination = found.then_some(Ipv4Addr::new(10, 1, 2, 3));
            assert_eq!(find_destination(&packet), destination, "{first:x}");
        }
        packet[0] = 0x45;
        assert_eq!(find_destination(&packet[..19]), None);
    }

    #[test]
    fn traffic_is_dense_by_packets_a_millisecond() {
        let mut traffic = Traffic { packets: DENSE, ..Traffic::default() };
        traffic.judge(WINDOW_NS - 1);
        assert!(!traffic.is_dense, "the window is not over");
        traffic.judge(WINDOW_NS);
        assert!(traffic.is_dense && traffic.packets == 0);
        traffic.packets = 2 * DENSE;
        traffic.judge(10 * WINDOW_NS);
        assert!(!traffic.is_dense, "a long time ago");
    }

    #[test]
    fn every_site_needs_a_device() {
        use super::super::{Wan, Way};
        let wan = Wan { sites: 1, ways: vec![Some(Way::default())], pipes: vec![], seed: 1 };
        let engine = Engine::new(wan).unwrap();
        let control = UnixDatagram::unbound().unwrap();
        let error = serve(engine, vec![], |_| None, control).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
