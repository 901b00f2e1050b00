//! Protection of the packets of a connection: a key for each direction, from numbers that both ends
//! drew for this connection.
//!
//! Packets are sealed with AEGIS-128L, an authenticated cipher that is as fast as the memory of
//! usual hosts where the processor has instructions for AES. The nonce is the beginning of the
//! packet's header: its kind, its path and its serial number there, which is never used twice in
//! one direction of one connection, also not where data is sent again. After 2^32 packets of a path
//! another key takes the place of the first.

use aegis::aegis128l::{Aegis128L, Aegis128LMac};
use laneway_path::wire::HEADER_BYTES;

use super::secret::{Drawn, Prover, TAG_BYTES, is_same};
use crate::error::NetError;

/// What packets of connections are protected against. Both ends must want the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Security {
    /// Others can neither read messages, nor change packets or make any.
    Encrypt,
    /// Others can read messages, but neither change packets nor make any.
    #[default]
    Authenticate,
    /// Packets carry a token of the connection, as a TCP connection has its sequence numbers: who
    /// sees one packet can make others. Damage on the way is seen by the checksum of UDP alone.
    Trust,
}

impl Security {
    /// All kinds, the strongest first.
    pub const ALL: [Security; 3] = [Security::Encrypt, Security::Authenticate, Security::Trust];

    /// The variable of the environment that chooses one.
    pub const VARIABLE: &str = "LANEWAY_SECURITY";

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Security::Encrypt => "encrypt",
            Security::Authenticate => "authenticate",
            Security::Trust => "trust",
        }
    }

    /// By its name.
    pub fn by_name(name: &str) -> Option<Security> {
        Security::ALL.into_iter().find(|security| security.name() == name)
    }

    /// What the environment says, or the usual one.
    pub fn from_env() -> Result<Security, NetError> {
        match std::env::var_os(Security::VARIABLE) {
            None => Ok(Security::default()),
            Some(name) => {
                let known = name.to_str().and_then(Security::by_name);
                known.ok_or(NetError::Security { name: name.to_string_lossy().into_owned() })
            }
        }
    }

    /// As handshakes carry it.
    pub(crate) fn code(self) -> u8 {
        match self {
            Security::Trust => 0,
            Security::Authenticate => 1,
            Security::Encrypt => 2,
        }
    }
}

const FROM_OPENER: &str = "laneway 2026 packets from the opener of a connection";
const TO_OPENER: &str = "laneway 2026 packets to the opener of a connection";
const GENERATION: &str = "laneway 2026 later key of one direction of a connection";

type Nonce = [u8; 16];

/// Seals the packets of one direction, or opens them.
pub struct Sealer {
    security: Security,
    root: Prover,
    /// Of the packets that were seen last.
    generation: u32,
    key: [u8; 16],
}

impl Sealer {
    fn new(security: Security, root: Prover) -> Sealer {
        let key = key_of(&root, 0);
        Sealer { security, root, generation: 0, key }
    }

    /// Whether what is sealed must lie in one piece: it is changed.
    pub fn hides(&self) -> bool {
        self.security == Security::Encrypt
    }

    /// The tag of a packet whose last `part` lies elsewhere. The rest of it is encrypted in place,
    /// if others must not read it; then there must be no such part.
    #[inline]
    pub fn seal(&mut self, packet: &mut [u8], part: &[u8]) -> [u8; TAG_BYTES] {
        let (nonce, key) = self.keyed(packet);
        match self.security {
            Security::Trust => key,
            Security::Authenticate => {
                let mut mac = Aegis128LMac::<TAG_BYTES>::new_with_nonce(&key, &nonce);
                mac.update(packet);
                if !part.is_empty() {
                    mac.update(part);
                }
                mac.finalize()
            }
            Security::Encrypt => {
                debug_assert!(part.is_empty(), "what is encrypted lies in one piece");
                let (header, body) = packet.split_at_mut(packet.len().min(HEADER_BYTES));
                Aegis128L::new(&key, &nonce).encrypt_in_place(body, header)
            }
        }
    }

    /// What stands before its tag, if the tag is right: readable from then on.
    #[inline]
    pub fn open<'a>(&mut self, packet: &'a mut [u8]) -> Option<&'a [u8]> {
        let (packet, tag) = packet.split_last_chunk_mut::<TAG_BYTES>()?;
        let (nonce, key) = self.keyed(packet);
        match self.security {
            Security::Trust => is_same(&key, tag).then_some(packet),
            Security::Authenticate => {
                let mut mac = Aegis128LMac::<TAG_BYTES>::new_with_nonce(&key, &nonce);
                mac.update(packet);
                is_same(&mac.finalize(), tag).then_some(packet)
            }
            Security::Encrypt => {
                let (header, body) = packet.split_at_mut(packet.len().min(HEADER_BYTES));
                let opened = Aegis128L::new(&key, &nonce).decrypt_in_place(body, tag, header);
                opened.is_ok().then_some(packet)
            }
        }
    }

    /// The nonce of a packet, and the key of its generation.
    #[inline]
    fn keyed(&mut self, packet: &[u8]) -> (Nonce, [u8; 16]) {
        let mut nonce = [0; 16];
        let known = packet.len().min(nonce.len());
        nonce[..known].copy_from_slice(&packet[..known]);
        // The upper half of the serial number.
        let generation = u32::from_be_bytes([nonce[8], nonce[9], nonce[10], nonce[11]]);
        if generation != self.generation && self.security != Security::Trust {
            (self.generation, self.key) = (generation, key_of(&self.root, generation));
        }
        (nonce, self.key)
    }
}

fn key_of(root: &Prover, generation: u32) -> [u8; 16] {
    let whole = root.key_for(GENERATION, &[&generation.to_be_bytes()]);
    let mut key = [0; 16];
    key.copy_from_slice(&whole[..16]);
    key
}

impl std::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sealer")
    }
}

/// What the ends of a connection seal with: the opener's first.
pub fn sealers(security: Security, job: &Prover, opener: &Drawn, accepter: &Drawn) -> [Sealer; 2] {
    [FROM_OPENER, TO_OPENER].map(|purpose| {
        let root = job.key_for(purpose, &[&[security.code()], opener, accepter]);
        Sealer::new(security, Prover::from_key(root))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::secret::Secret;

    fn pair(security: Security) -> [Sealer; 2] {
        let job = Secret::from_bytes(&[7; 32]).expect("long enough").prover();
        [0, 0].map(|_| {
            let [first, _] = sealers(security, &job, &[1; 16], &[2; 16]);
            first
        })
    }

    fn packet(serial: u64, bytes: usize) -> Vec<u8> {
        let mut packet: Vec<u8> = (0..HEADER_BYTES + bytes).map(|at| at as u8).collect();
        packet[8..16].copy_from_slice(&serial.to_be_bytes());
        packet
    }

    fn sealed(sealer: &mut Sealer, mut packet: Vec<u8>) -> Vec<u8> {
        let tag = sealer.seal(&mut packet, &[]);
        packet.extend(tag);
        packet
    }

    #[test]
    fn what_is_sealed_is_opened_in_any_order() {
        for security in Security::ALL {
            let [mut seals, mut opens] = pair(security);
            let serials = [0, 1, u64::from(u32::MAX), 1 << 32, 5, 1 << 40];
            let all = serials.map(|serial| sealed(&mut seals, packet(serial, 300)));
            for (at, serial) in serials.into_iter().enumerate().rev() {
                let mut arrived = all[at].clone();
                assert_eq!(opens.open(&mut arrived), Some(&packet(serial, 300)[..]));
                let hidden = all[at][HEADER_BYTES..HEADER_BYTES + 300]
                    != packet(serial, 300)[HEADER_BYTES..];
                assert_eq!(hidden, security == Security::Encrypt);
            }
        }
    }

    #[test]
    fn a_changed_bit_is_seen() {
        for security in [Security::Encrypt, Security::Authenticate] {
            let [mut seals, mut opens] = pair(security);
            let whole = sealed(&mut seals, packet(3, 40));
            for bit in 0..whole.len() * 8 {
                let mut wrong = whole.clone();
                wrong[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(opens.open(&mut wrong), None, "bit {bit}");
            }
            for len in 0..whole.len() {
                assert_eq!(opens.open(&mut whole[..len].to_vec()), None, "{len} bytes");
            }
        }
    }

    /// A payload that lies elsewhere is as good as one that follows.
    #[test]
    fn parts_are_sealed_as_one() {
        for security in [Security::Authenticate, Security::Trust] {
            let [mut seals, mut opens] = pair(security);
            let whole = packet(9, 1000);
            let mut head = whole[..HEADER_BYTES + 5].to_vec();
            let tag = seals.seal(&mut head, &whole[HEADER_BYTES + 5..]);
            let mut arrived = [&whole[..], &tag].concat();
            assert_eq!(opens.open(&mut arrived), Some(&whole[..]));
        }
    }

    #[test]
    fn directions_connections_and_kinds_have_keys_of_their_own() {
        let job = Secret::from_bytes(&[7; 32]).expect("long enough").prover();
        for security in Security::ALL {
            let [mut seals, _] = sealers(security, &job, &[1; 16], &[2; 16]);
            let whole = sealed(&mut seals, packet(1, 64));
            for other in Security::ALL {
                let [same, back] = sealers(other, &job, &[1; 16], &[2; 16]);
                let [later, _] = sealers(other, &job, &[1; 16], &[3; 16]);
                for mut opens in
                    [same, back, later].into_iter().skip(usize::from(other == security))
                {
                    assert_eq!(opens.open(&mut whole.clone()), None);
                }
            }
        }
    }

    #[test]
    fn names_are_read_again() {
        for security in Security::ALL {
            assert_eq!(Security::by_name(security.name()), Some(security));
        }
        assert_eq!(Security::by_name("none"), None);
    }
}
