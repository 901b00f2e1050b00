//! Where one end of a connection is, as the program hands it to the other end.

use laneway_path::wire::MOST_PATHS;

use super::ffi::{IBV_MTU_256, IBV_MTU_4096};
use crate::error::NetError;

/// Who migrates: both ends must be of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The device, by itself: one reliable queue pair.
    Hardware = 1,
    /// A connection of `laneway-path`: one queue pair for datagrams a path.
    Software = 2,
}

/// This end on one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathAddress {
    /// With the path bits that choose a route; 0 where the network has none.
    pub lid: u16,
    /// The port's address of 128 bits.
    pub gid: [u8; 16],
    /// The queue pair of this path, and the key of its datagrams.
    pub number: u32,
    /// The key of its datagrams.
    pub key: u32,
}

/// What a peer needs to know. The program hands it over its own way, as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// What migrates the connection.
    pub kind: Kind,
    /// The longest packet of the paths, in InfiniBand's code.
    pub mtu: u8,
    /// The connection's number.
    pub number: u32,
    /// The number of the first packet from here, in 24 bits.
    pub start: u32,
    /// Drawn for this connection alone.
    pub drawn: [u8; 16],
    /// This end of each path.
    pub paths: Vec<PathAddress>,
}

const VERSION: u8 = 3;
const FIXED_BYTES: usize = 28;
const PATH_BYTES: usize = 26;
/// Addresses from here on are of groups, and of none.
const FIRST_GROUP_LID: u16 = 0xc000;

impl Address {
    /// As it is handed over.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![VERSION, self.kind as u8, self.mtu, self.paths.len() as u8];
        out.extend(self.number.to_be_bytes());
        out.extend(self.start.to_be_bytes());
        out.extend(self.drawn);
        for path in &self.paths {
            out.extend(path.lid.to_be_bytes());
            out.extend(path.gid);
            out.extend(path.number.to_be_bytes());
            out.extend(path.key.to_be_bytes());
        }
        out
    }

    /// Whether this end can have that peer.
    pub(super) fn check_peer(&self, peer: &Address) -> Result<(), NetError> {
        let why = if peer.kind != self.kind {
            "its paths migrate another way"
        } else if peer.drawn == self.drawn {
            "it is this connection's own"
        } else if peer.paths.len() != self.paths.len() {
            "it has another number of paths"
        } else {
            return Ok(());
        };
        Err(NetError::Peer { why })
    }

    /// Refuses everything that [`Address::to_bytes`] cannot have written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Address, NetError> {
        read(bytes).map_err(|why| NetError::Peer { why })
    }
}

fn read(bytes: &[u8]) -> Result<Address, &'static str> {
    let short = "its length is wrong";
    let (head, list) = bytes.split_at_checked(FIXED_BYTES).ok_or(short)?;
    let [version, kind, mtu, count] = head[..4] else { return Err(short) };
    if version != VERSION {
        return Err("it is of another version");
    }
    if !(1..=MOST_PATHS).contains(&usize::from(count)) {
        return Err("it has no path, or more than eight");
    }
    if list.len() != usize::from(count) * PATH_BYTES {
        return Err(short);
    }
    let kind = match kind {
        1 => Kind::Hardware,
        2 => Kind::Software,
        _ => return Err("it is of no known kind"),
    };
    if !(IBV_MTU_256..=IBV_MTU_4096).contains(&u32::from(mtu)) {
        return Err("its longest packet has no known length");
    }
    let word = |at: usize| bytes.get(at..)?.first_chunk().map(|word| u32::from_be_bytes(*word));
    let number = |at: usize| match word(at).ok_or(short)? {
        number if number < 1 << 24 => Ok(number),
        _ => Err("a number is longer than 24 bits"),
    };
    let mut paths = Vec::new();
    for at in (0..usize::from(count)).map(|path| FIXED_BYTES + path * PATH_BYTES) {
        let lid = bytes.get(at..).and_then(|lid| lid.first_chunk()).ok_or(short)?;
        let gid = bytes.get(at + 2..).and_then(|gid| gid.first_chunk()).ok_or(short)?;
        let (lid, gid) = (u16::from_be_bytes(*lid), *gid);
        if lid >= FIRST_GROUP_LID || (lid == 0 && (kind == Kind::Hardware || gid == [0; 16])) {
            return Err("a path leads nowhere");
        }
        let key = word(at + 22).ok_or(short)?;
        paths.push(PathAddress { lid, gid, number: number(at + 18)?, key });
    }
    let drawn = *head.get(12..).and_then(|drawn| drawn.first_chunk()).ok_or(short)?;
    Ok(Address { kind, mtu, number: number(4)?, start: number(8)?, drawn, paths })
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_stats::SplitMix64;

    fn address(kind: Kind, paths: u8) -> Address {
        let path =
            |i: u8| PathAddress { lid: 4 + u16::from(i), gid: [i; 16], number: 77, key: 1 << 31 };
        Address {
            kind,
            mtu: 3,
            number: 0xff_ffff,
            start: 9,
            drawn: [7; 16],
            paths: (0..paths).map(path).collect(),
        }
    }

    #[test]
    fn what_is_written_is_read_and_nothing_shorter_or_longer() {
        for kind in [Kind::Hardware, Kind::Software] {
            for paths in [1, 2, 8] {
                let mut bytes = address(kind, paths).to_bytes();
                assert_eq!(Address::from_bytes(&bytes), Ok(address(kind, paths)));
                for len in 0..bytes.len() {
                    assert!(Address::from_bytes(&bytes[..len]).is_err(), "{len}");
                }
                bytes.push(0);
                assert!(Address::from_bytes(&bytes).is_err());
            }
        }
    }

    #[test]
    fn each_bad_field_is_named() {
        let refused = |change: fn(&mut Address)| {
            let mut bad = address(Kind::Hardware, 2);
            change(&mut bad);
            Address::from_bytes(&bad.to_bytes()).expect_err("refused").to_string()
        };
        assert!(refused(|a| a.paths.clear()).contains("no path"));
        assert!(refused(|a| a.mtu = 0).contains("longest packet"));
        assert!(refused(|a| a.mtu = 6).contains("longest packet"));
        assert!(refused(|a| a.number = 1 << 24).contains("24 bits"));
        assert!(refused(|a| a.start = 1 << 24).contains("24 bits"));
        assert!(refused(|a| a.paths[1].number = 1 << 24).contains("24 bits"));
        assert!(refused(|a| a.paths[1].lid = 0).contains("nowhere"));
        assert!(refused(|a| a.paths[0].lid = 0xc000).contains("nowhere"));
    }

    #[test]
    fn garbage_is_refused_or_reads_as_what_it_writes() {
        let mut random = SplitMix64::new(11);
        let mut read_some = 0;
        for round in 0..50_000 {
            let mut bytes: Vec<u8> =
                (0..random.index(260)).map(|_| random.next_u64() as u8).collect();
            if round % 2 == 0 {
                bytes = address(Kind::Software, 2).to_bytes();
                let place = random.index(bytes.len());
                bytes[place] ^= 1 << random.index(8);
            }
            if let Ok(address) = Address::from_bytes(&bytes) {
                assert_eq!(address.to_bytes(), bytes);
                read_some += 1;
            }
        }
        assert!(read_some > 0, "some changes are harmless");
    }
}
