//! Packets as bytes.
//!
//! Every packet has one header of 36 bytes. Its number on its path, `serial`, is never used twice,
//! so that a packet that comes again is seen, and so that a driver can seal it. Numbers travel
//! whole, in 64 bits, so that no packet is taken for a later one, however long it was held back.

use crate::PathId;

/// The length of a packet's header.
pub const HEADER_BYTES: usize = 36;

/// The largest number of ranges in an acknowledgement.
pub const MOST_RANGES: usize = 32;
/// The largest number of paths of a connection.
pub const MOST_PATHS: usize = 8;
/// The number of values that a count of diversions has.
pub const DIVERSIONS: u8 = 32;

/// The header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The path it was sent on, as both ends number them.
    pub path: PathId,
    /// Whether it is a frame of the path's stream; streams have serial numbers of their own.
    pub framed: bool,
    /// The receiver's queue pair.
    pub to: u32,
    /// The serial number of the packet on this path.
    pub serial: u64,
    /// The migration epoch.
    pub epoch: u32,
    /// The path that the sender uses in this epoch.
    pub primary: PathId,
    /// How often the sender has diverted its data from that path, modulo [`DIVERSIONS`].
    pub diversions: u8,
    /// The next packet number that the sender expects.
    pub expects: u64,
}

/// An echo of the latest packet that arrived over a path, and its age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// The path of the packet.
    pub path: PathId,
    /// Its serial number.
    pub serial: u64,
    /// Its age in microseconds.
    pub delay_us: u32,
    /// The number of packets that have arrived over the path.
    pub arrived: u64,
    /// Packets among these.
    pub counts: Counts,
}

/// Packets that arrived over a path, modulo 2^16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// With a mark of congestion.
    pub marked: u16,
    /// With data that had arrived before.
    pub again: u16,
}

/// A range of packets that arrived early: `count` packets from `from` after the next expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// How many packets are missing before them.
    pub after: u32,
    /// The number of packets.
    pub count: u32,
}

/// The body of a packet, field by field.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// A part of a message.
    Data { number: u64, first: bool, last: bool, ack_wanted: bool, bytes: &'a [u8] },
    /// What has arrived: the latest packet over each path, and those that came early.
    Ack { echoes: Vec<Echo>, early: Vec<Range> },
    /// No receive is posted for the message that begins with the next expected packet.
    NotReady { timer: u8 },
    /// Does this path carry packets of this length? Answered over this path and over the sender's
    /// primary one.
    Probe { bytes: usize },
    /// A probe had arrived so long before this left; `queued` where packets wait at this end to
    /// leave by its path.
    Answer { probe: Echo, queued: bool },
    /// The sender wants this path as its alternate one; as long as the longest packet.
    Arm { bytes: usize },
    /// The receiver has it as its alternate as well, and heard a request.
    Arming { bytes: usize },
}

impl Body<'_> {
    /// Whether it loads a path: where data goes by streams, so does this.
    pub fn loads(&self) -> bool {
        matches!(self, Body::Arm { .. } | Body::Arming { .. })
    }
}

const DATA: u8 = 1;
const ACK: u8 = 2;
const NOT_READY: u8 = 3;
const PROBE: u8 = 4;
const ANSWER: u8 = 5;
const ARM: u8 = 6;
const ARMING: u8 = 7;

const FIRST: u8 = 1;
const LAST: u8 = 2;
const ACK_WANTED: u8 = 4;

/// Beside the path of an answer.
const QUEUED: u8 = 0x80;
/// Beside the path of a packet.
const FRAMED: u8 = 0x80;

/// Diversions are counted in the upper bits of the byte of the primary path.
const PATH_BITS: u32 = 3;
const _: () = assert!(1 << PATH_BITS == MOST_PATHS && DIVERSIONS as usize * MOST_PATHS == 256);

/// Writes a packet behind what is in `out`.
pub fn write(header: &Header, body: &Body<'_>, out: &mut Vec<u8>) {
    let (kind, flags, number) = match body {
        Body::Data { number, first, last, ack_wanted, .. } => {
            let bit = |on: bool, bit: u8| if on { bit } else { 0 };
            let flags = bit(*first, FIRST) | bit(*last, LAST) | bit(*ack_wanted, ACK_WANTED);
            (DATA, flags, *number)
        }
        Body::Ack { echoes, early } => (ACK, echoes.len() as u8, early.len() as u64),
        Body::NotReady { timer } => (NOT_READY, *timer, 0),
        Body::Probe { .. } => (PROBE, 0, 0),
        Body::Answer { probe, queued } => {
            (ANSWER, probe.path.0 | if *queued { QUEUED } else { 0 }, probe.serial)
        }
        Body::Arm { .. } => (ARM, 0, 0),
        Body::Arming { .. } => (ARMING, 0, 0),
    };
    let primary = header.primary.0 | header.diversions << PATH_BITS;
    let path = header.path.0 | if header.framed { FRAMED } else { 0 };
    out.extend([kind, flags, path, primary]);
    out.extend(header.to.to_be_bytes());
    out.extend(header.serial.to_be_bytes());
    out.extend(header.epoch.to_be_bytes());
    out.extend(header.expects.to_be_bytes());
    out.extend(number.to_be_bytes());
    match body {
        Body::Data { bytes, .. } => out.extend_from_slice(bytes),
        Body::Ack { echoes, early } => {
            for echo in echoes {
                out.push(echo.path.0);
                out.extend(echo.serial.to_be_bytes());
                write_report(echo, out);
            }
            for range in early {
                out.extend(range.after.to_be_bytes());
                out.extend(range.count.to_be_bytes());
            }
        }
        Body::Probe { bytes } | Body::Arm { bytes } | Body::Arming { bytes } => {
            out.resize(out.len() + bytes, 0);
        }
        Body::Answer { probe, .. } => write_report(probe, out),
        Body::NotReady { .. } => {}
    }
}

/// What an echo says beside its path and serial number.
fn write_report(echo: &Echo, out: &mut Vec<u8>) {
    out.extend(echo.delay_us.to_be_bytes());
    out.extend(echo.arrived.to_be_bytes());
    out.extend(echo.counts.marked.to_be_bytes());
    out.extend(echo.counts.again.to_be_bytes());
}

/// Whether a packet is the first of a message, which needs a receive.
pub fn begins_message(packet: &[u8]) -> bool {
    matches!(packet, [DATA, flags, ..] if flags & FIRST != 0)
}

/// Parses a packet; `None` for anything that [`write()`] cannot have written.
pub fn read(packet: &[u8]) -> Option<(Header, Body<'_>)> {
    let mut bytes = Reader(packet);
    let [kind, flags, path, primary] = bytes.take()?;
    let header = Header {
        path: path_id(path & !FRAMED)?,
        framed: path & FRAMED != 0,
        to: u32::from_be_bytes(bytes.take()?),
        serial: u64::from_be_bytes(bytes.take()?),
        epoch: u32::from_be_bytes(bytes.take()?),
        primary: PathId(primary % MOST_PATHS as u8),
        diversions: primary >> PATH_BITS,
        expects: u64::from_be_bytes(bytes.take()?),
    };
    let number = u64::from_be_bytes(bytes.take()?);
    let body = match kind {
        DATA if flags <= FIRST | LAST | ACK_WANTED => Body::Data {
            number,
            first: flags & FIRST != 0,
            last: flags & LAST != 0,
            ack_wanted: flags & ACK_WANTED != 0,
            bytes: bytes.rest(),
        },
        ACK => bytes.ack(usize::from(flags), number)?,
        NOT_READY if flags < 32 && number == 0 => Body::NotReady { timer: flags },
        PROBE if flags == 0 && number == 0 => Body::Probe { bytes: bytes.rest().len() },
        ANSWER => {
            let probe = bytes.report(path_id(flags & !QUEUED)?, number)?;
            Body::Answer { probe, queued: flags & QUEUED != 0 }
        }
        ARM if flags == 0 && number == 0 => Body::Arm { bytes: bytes.rest().len() },
        ARMING if flags == 0 && number == 0 => Body::Arming { bytes: bytes.rest().len() },
        _ => return None,
    };
    bytes.0.is_empty().then_some((header, body))
}

fn path_id(number: u8) -> Option<PathId> {
    (usize::from(number) < MOST_PATHS).then_some(PathId(number))
}

/// What is left of a packet.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// What follows an echo's path and serial number.
    fn report(&mut self, path: PathId, serial: u64) -> Option<Echo> {
        let delay_us = u32::from_be_bytes(self.take()?);
        let arrived = u64::from_be_bytes(self.take()?);
        let marked = u16::from_be_bytes(self.take()?);
        let counts = Counts { marked, again: u16::from_be_bytes(self.take()?) };
        Some(Echo { path, serial, delay_us, arrived, counts })
    }

    fn ack(&mut self, echoes: usize, ranges: u64) -> Option<Body<'a>> {
        if echoes > MOST_PATHS || ranges > MOST_RANGES as u64 {
            return None;
        }
        let mut echo = || {
            let path = path_id(self.take::<1>()?[0])?;
            let serial = u64::from_be_bytes(self.take()?);
            self.report(path, serial)
        };
        let echoes = (0..echoes).map(|_| echo()).collect::<Option<Vec<Echo>>>()?;
        let mut range = || {
            let after = u32::from_be_bytes(self.take()?);
            Some(Range { after, count: u32::from_be_bytes(self.take()?) })
        };
        let early = (0..ranges).map(|_| range()).collect::<Option<Vec<Range>>>()?;
        Some(Body::Ack { echoes, early })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header {
        path: PathId(1),
        framed: false,
        to: 77,
        serial: 1 << 40,
        epoch: 3,
        primary: PathId(5),
        diversions: DIVERSIONS - 1,
        expects: u64::MAX - 1,
    };

    fn bodies() -> Vec<Body<'static>> {
        let counts = Counts { marked: 3, again: 0xfff0 };
        let echo =
            Echo { path: PathId(7), serial: u64::MAX, delay_us: 12, arrived: 1 << 33, counts };
        vec![
            Body::Data {
                number: 1 << 24 | 5,
                first: true,
                last: false,
                ack_wanted: true,
                bytes: b"abc",
            },
            Body::Data { number: 0, first: true, last: true, ack_wanted: false, bytes: b"" },
            Body::Ack { echoes: vec![], early: vec![] },
            Body::Ack { echoes: vec![echo, echo], early: vec![Range { after: 2, count: 3 }] },
            Body::NotReady { timer: 31 },
            Body::Probe { bytes: 0 },
            Body::Probe { bytes: 1400 },
            Body::Answer { probe: echo, queued: true },
            Body::Answer { probe: Echo { path: PathId(0), ..echo }, queued: false },
            Body::Arm { bytes: 1000 },
            Body::Arming { bytes: 0 },
        ]
    }

    #[test]
    fn what_is_written_is_read() {
        for (body, framed) in
            bodies().into_iter().flat_map(|body| [(body.clone(), false), (body, true)])
        {
            let header = Header { framed, ..HEADER };
            let mut packet = Vec::new();
            write(&header, &body, &mut packet);
            assert_eq!(read(&packet), Some((header, body)));
        }
    }

    /// Cut anywhere, a packet is refused, or reads as a shorter one of a kind without fixed length.
    #[test]
    fn cut_packets_are_refused() {
        for body in bodies() {
            let mut packet = Vec::new();
            write(&HEADER, &body, &mut packet);
            for len in 0..packet.len() {
                let kept = read(&packet[..len]);
                let open_ended = matches!(
                    body,
                    Body::Data { .. } | Body::Probe { .. } | Body::Arm { .. } | Body::Arming { .. }
                );
                assert_eq!(kept.is_some(), open_ended && len >= HEADER_BYTES, "{body:?} {len}");
            }
        }
    }
}
