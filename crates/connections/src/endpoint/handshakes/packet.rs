//! How two ends that know the same secret become a connection, as bytes.
//!
//! Four packets of one layout, each with a tag of the job's key:
//!
//! ```text
//! Hello       who I am, whom I call, and a number that I drew
//! Challenge   a number that only I can have made, from yours and your address
//! Open        both numbers, my queue pair, my paths, and whom I call
//! Accepted    both numbers, my queue pair, my paths
//! ```
//!
//! The server keeps no state before Open, which proves that its sender knows the secret and is
//! at its address now. Whom the opener calls is a list of addresses, one for each path: only an end
//! that has them answers, and the opener believes only an end that has them. All four say what
//! packets are protected against. A challenge is never longer than the hello. From both numbers
//! come the keys of the connection, so that no packet of an earlier one is ever right again.

use std::net::SocketAddr;

use laneway_path::wire::MOST_PATHS;

use crate::driver::kind::PathKind;
use crate::driver::seal::Security;
use crate::driver::secret::{Drawn, Prover, TAG_BYTES};
use crate::system::address::{WIRE_BYTES, from_wire, to_wire};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    Hello = 0x41,
    Challenge,
    Open,
    Accepted,
}

const KINDS: [Kind; 4] = [Kind::Hello, Kind::Challenge, Kind::Open, Kind::Accepted];
const VERSION: u8 = 5;
const FIXED_BYTES: usize = 60;

/// What an end says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Its queue pair.
    pub number: u32,
    /// What the one who opens calls itself; the user's.
    pub label: u64,
    /// The number of its first packet, in 24 bits.
    pub start: u32,
    /// The longest payload of a packet that its paths carry.
    pub packet_bytes: u32,
    /// The path that the connection begins with: the opener's choice.
    pub primary: u8,
    /// What carries its data: the opener's choice, too.
    pub kind: PathKind,
    /// Where it is, on each path.
    pub addresses: Vec<SocketAddr>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    pub kind: Kind,
    pub security: Security,
    pub opener: Drawn,
    pub accepter: Drawn,
    pub offer: Offer,
    /// Whom the opener calls, on each path.
    pub called: Vec<SocketAddr>,
}

/// Whether a packet belongs to a handshake and not to a connection.
pub fn is_handshake(packet: &[u8]) -> bool {
    packet.first().is_some_and(|first| KINDS.iter().any(|kind| *kind as u8 == *first))
}

pub fn write(packet: &Packet, job: &Prover) -> Vec<u8> {
    let Packet { kind, security, opener, accepter, offer, called } = packet;
    let counts = [offer.addresses.len() as u8, called.len() as u8];
    let mut out = vec![*kind as u8, VERSION, counts[0], counts[1]];
    out.extend([offer.primary, security.code(), offer.kind.code(), 0]);
    out.extend(opener);
    out.extend(accepter);
    out.extend(offer.number.to_be_bytes());
    out.extend(offer.label.to_be_bytes());
    out.extend(offer.start.to_be_bytes());
    out.extend(offer.packet_bytes.to_be_bytes());
    let addresses = offer.addresses.iter().chain(called);
    addresses.for_each(|address| out.extend(to_wire(*address)));
    let tag = job.tag(&[&out]);
    out.extend(tag);
    out
}

/// None for anything that [`write`] cannot have written, or that has another secret.
pub fn read(packet: &[u8], job: &Prover) -> Option<Packet> {
    let [own, called] = [2, 3].map(|at| packet.get(at).map_or(usize::MAX, |&count| count.into()));
    if own > MOST_PATHS || called > MOST_PATHS {
        return None;
    }
    if packet.len() != FIXED_BYTES + (own + called) * WIRE_BYTES + TAG_BYTES {
        return None;
    }
    let body = job.open(packet)?;
    let (head, list) = body.split_at_checked(FIXED_BYTES)?;
    let [kind, VERSION, _, _, primary, security, carrier, 0] = head[..8] else { return None };
    let carrier = PathKind::ALL.into_iter().find(|known| known.code() == carrier)?;
    let kind = KINDS.into_iter().find(|known| *known as u8 == kind)?;
    let security = Security::ALL.into_iter().find(|known| known.code() == security)?;
    let word = |at: usize| Some(u32::from_be_bytes(*head.get(at..)?.first_chunk()?));
    let addresses = list.chunks_exact(WIRE_BYTES).filter_map(|wire| wire.first_chunk());
    let mut addresses: Vec<SocketAddr> = addresses.map(|wire| from_wire(*wire)).collect();
    let called = addresses.split_off(own);
    let offer = Offer {
        number: word(40)?,
        label: u64::from_be_bytes(*head.get(44..)?.first_chunk()?),
        start: word(52)?,
        packet_bytes: word(56)?,
        primary,
        kind: carrier,
        addresses,
    };
    let is_path = usize::from(primary) < MOST_PATHS;
    let fits = offer.number < 1 << 24 && offer.start < 1 << 24 && is_path;
    let (opener, accepter) = (*head.get(8..)?.first_chunk()?, *head.get(24..)?.first_chunk()?);
    fits.then_some(Packet { kind, security, opener, accepter, offer, called })
}

/// The number that answers a hello: made again from the same things when Open comes.
pub fn challenge(own: &Prover, opener: &Drawn, from: SocketAddr, slot: u64) -> Drawn {
    own.tag(&[opener, &to_wire(from), &slot.to_be_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::secret::Secret;
    use laneway_stats::SplitMix64;

    fn packet(kind: Kind, paths: usize) -> Packet {
        let address = |i: usize| SocketAddr::from(([10, 0, i as u8, 1], 4000 + i as u16));
        let calls = matches!(kind, Kind::Hello | Kind::Open);
        Packet {
            kind,
            security: Security::Encrypt,
            opener: [7; 16],
            accepter: [9; 16],
            offer: Offer {
                number: 0xab_cdef,
                label: u64::MAX - 5,
                start: 0xff_ffff,
                packet_bytes: 1424,
                primary: 7,
                kind: PathKind::Stream,
                addresses: (0..paths).map(address).collect(),
            },
            called: (10..10 + if calls { paths } else { 0 }).map(address).collect(),
        }
    }

    #[test]
    fn only_holders_of_the_secret_read_what_is_written() {
        let job = Secret::from_bytes(&[1; 32]).expect("long enough").prover();
        let other = Secret::from_bytes(&[2; 32]).expect("long enough").prover();
        for kind in KINDS {
            for paths in [0, 1, 8] {
                let bytes = write(&packet(kind, paths), &job);
                assert!(is_handshake(&bytes));
                assert_eq!(read(&bytes, &job), Some(packet(kind, paths)));
                assert_eq!(read(&bytes, &other), None);
                for len in 0..bytes.len() {
                    assert_eq!(read(&bytes[..len], &job), None);
                }
            }
        }
        let challenge = write(&packet(Kind::Challenge, 0), &job);
        assert!(challenge.len() < write(&packet(Kind::Hello, 1), &job).len());
    }

    #[test]
    fn random_bytes_are_refused_even_with_a_right_tag() {
        let job = Secret::none().prover();
        let mut random = SplitMix64::new(5);
        for _ in 0..20_000 {
            let mut bytes: Vec<u8> =
                (0..random.index(300)).map(|_| random.next_u64() as u8).collect();
            if random.index(2) == 0 {
                bytes = write(&packet(Kind::Open, 2), &job);
                bytes.truncate(bytes.len() - TAG_BYTES);
                let place = random.index(bytes.len());
                bytes[place] ^= 1 << random.index(8);
            }
            let tag = job.tag(&[&bytes]);
            bytes.extend(tag);
            // Never a panic; what is read is written again as it was.
            if let Some(packet) = read(&bytes, &job) {
                assert_eq!(read(&write(&packet, &job), &job), Some(packet));
            }
        }
    }

    #[test]
    fn a_challenge_is_of_one_address_and_time() {
        let own = Secret::none().prover();
        let (a, b): (SocketAddr, SocketAddr) =
            (([10, 0, 0, 1], 5).into(), ([10, 0, 0, 1], 6).into());
        let first = challenge(&own, &[1; 16], a, 3);
        assert_ne!(first, challenge(&own, &[1; 16], b, 3));
        assert_ne!(first, challenge(&own, &[2; 16], a, 3));
        assert_ne!(first, challenge(&own, &[1; 16], a, 4));
        assert_eq!(first, challenge(&own, &[1; 16], a, 3));
    }
}
