//! The head of every message on every transport, and the four kinds that the protocol needs.

use laneway_core::{CommError, Rank, Tag};

/// What a frame carries. Short messages are one frame; long ones are offered first, so that a
/// receiver never has to keep a long message without a posted receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Kind {
    /// A whole message.
    Eager = 1,
    /// A long message waits at its sender: `mine` is the offer, `slot` a place for direct copies.
    Offer = 2,
    /// The receiver wants the offered bytes as [`Kind::Data`] frames: `mine` is its receive
    /// slot, `slot` the offer.
    Accept = 3,
    /// The next part of the offered bytes; `slot` is the receive slot.
    Data = 4,
}

/// No place for direct copies.
pub(crate) const NO_SLOT: u32 = u32::MAX;

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Header {
    /// What it carries.
    pub kind: Kind,
    /// The tag of the message.
    pub tag: Tag,
    /// The message streams that it belongs to: those of one communicator.
    pub context: u32,
    /// Length of the message, or of the data frame.
    pub len: u64,
    /// The sender's own number for what it answers or offers; see [`Kind`].
    pub mine: u32,
    /// The receiver's number, or a place for direct copies; see [`Kind`].
    pub slot: u32,
}

/// Bytes of a header on a stream, where every number has its lowest byte first.
pub const HEADER: usize = 24;

impl Header {
    /// The head of a whole message.
    #[inline]
    pub fn eager(context: u32, tag: Tag, len: usize) -> Header {
        Header { kind: Kind::Eager, tag, context, len: len as u64, mine: 0, slot: 0 }
    }

    /// Bytes that follow this header on its way.
    #[inline]
    pub fn payload(&self) -> u64 {
        match self.kind {
            Kind::Eager | Kind::Data => self.len,
            Kind::Offer | Kind::Accept => 0,
        }
    }

    /// The bytes on a stream.
    #[inline]
    pub fn encode(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[0..2].copy_from_slice(&(self.kind as u16).to_le_bytes());
        bytes[2..4].copy_from_slice(&self.tag.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.context.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.len.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.mine.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.slot.to_le_bytes());
        bytes
    }

    /// The header that `from` sent; an error where it cannot be one.
    #[inline]
    pub fn decode(from: Rank, bytes: &[u8; HEADER]) -> Result<Header, CommError> {
        let [a, b, c, d, rest @ ..] = *bytes;
        let [e, f, g, h, rest @ ..] = rest;
        let [l0, l1, l2, l3, l4, l5, l6, l7, m0, m1, m2, m3, s0, s1, s2, s3] = rest;
        let kind = match u16::from_le_bytes([a, b]) {
            1 => Kind::Eager,
            2 => Kind::Offer,
            3 => Kind::Accept,
            4 => Kind::Data,
            other => return Err(broken(from, format!("a frame of unknown kind {other}"))),
        };
        Ok(Header {
            kind,
            tag: Tag::from_le_bytes([c, d]),
            context: u32::from_le_bytes([e, f, g, h]),
            len: u64::from_le_bytes([l0, l1, l2, l3, l4, l5, l6, l7]),
            mine: u32::from_le_bytes([m0, m1, m2, m3]),
            slot: u32::from_le_bytes([s0, s1, s2, s3]),
        })
    }
}

/// A peer that does not keep to the protocol: another version of this program, or a stray writer.
pub fn broken(from: Rank, error: String) -> CommError {
    CommError::System { what: format!("the stream from rank {from} is broken"), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_its_encoding() {
        for kind in [Kind::Eager, Kind::Offer, Kind::Accept, Kind::Data] {
            let header =
                Header { kind, tag: 0x7fff, context: 3, len: 1 << 40, mine: 9, slot: NO_SLOT };
            assert_eq!(Header::decode(0, &header.encode()), Ok(header));
        }
        assert!(Header::decode(4, &[0xff; HEADER]).is_err());
    }
}
