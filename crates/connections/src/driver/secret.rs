//! The secret that all processes of a job share, and the keys that come from it.
//!
//! Keys and tags are HighwayHash, a keyed pseudo-random function that is fast on long packets and
//! on short ones. The job's key is made from the secret; it proves a handshake, and makes two keys
//! for each connection, one a direction, from numbers that both ends drew for it.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use highway::{HighwayHash, HighwayHasher, Key};

use crate::error::NetError;

/// The least length of a secret.
pub const LEAST_BYTES: usize = 16;
/// More than this is not a secret but another file.
const MOST_BYTES: usize = 4096;

pub const TAG_BYTES: usize = 16;

/// Drawn for one connection.
pub type Drawn = [u8; 16];

/// Distinguishes keys of different purposes; four words of the digits of pi.
const JOB: [u64; 4] =
    [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0, 0x082e_fa98_ec4e_6c89];

/// What makes and checks tags: a hasher that has taken in the key. That takes half as long as a
/// packet does, and is done once.
#[derive(Clone)]
pub struct Sealer {
    keyed: HighwayHasher,
}

impl Sealer {
    fn new(key: [u64; 4]) -> Sealer {
        Sealer { keyed: HighwayHasher::new(Key(key)) }
    }

    /// The tag of what these parts are together.
    #[inline]
    pub fn tag(&self, parts: &[&[u8]]) -> [u8; TAG_BYTES] {
        let mut hasher = self.keyed.clone();
        parts.iter().for_each(|part| hasher.append(part));
        let [a, b] = hasher.finalize128();
        let mut tag = [0; TAG_BYTES];
        tag[..8].copy_from_slice(&a.to_be_bytes());
        tag[8..].copy_from_slice(&b.to_be_bytes());
        tag
    }

    /// What stands before its tag, if the tag is right. All of it is compared, whatever differs.
    #[inline]
    pub fn open<'a>(&self, packet: &'a [u8]) -> Option<&'a [u8]> {
        let (body, tag) = packet.split_last_chunk::<TAG_BYTES>()?;
        let right = u128::from_be_bytes(self.tag(&[body]));
        (std::hint::black_box(right ^ u128::from_be_bytes(*tag)) == 0).then_some(body)
    }

    /// A key of its own for what is named.
    pub fn derive(&self, name: &[u8]) -> Sealer {
        Sealer::new(self.key_of(name))
    }

    fn key_of(&self, name: &[u8]) -> [u64; 4] {
        let mut hasher = self.keyed.clone();
        hasher.append(name);
        hasher.finalize256()
    }
}

impl std::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sealer")
    }
}

/// A job's secret; without one, only loopback addresses are served.
#[derive(Clone, Copy)]
pub struct Secret {
    key: [u64; 4],
    pub(crate) is_known: bool,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    fn named(name: &[u8], is_known: bool) -> Secret {
        Secret { key: Sealer::new(JOB).key_of(name), is_known }
    }

    /// What the job itself seals with.
    pub(crate) fn sealer(&self) -> Sealer {
        Sealer::new(self.key)
    }

    /// Whether it is a secret at all.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// For processes of one machine that need none: every user there can reach them.
    pub fn none() -> Secret {
        Secret::named(b"none", false)
    }

    /// At least 16 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Secret, NetError> {
        if bytes.len() < LEAST_BYTES {
            return Err(NetError::ShortSecret { bytes: bytes.len() });
        }
        let name = [b"job".as_slice(), bytes].concat();
        Ok(Secret::named(&name, true))
    }

    /// The secret in a file that only its owner can read.
    pub fn from_file(path: &Path) -> Result<Secret, NetError> {
        let failed = |error: io::Error| NetError::SecretFile {
            path: path.display().to_string(),
            why: error.to_string(),
        };
        let file = File::open(path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        let mode = about.permissions().mode() & 0o777;
        // SAFETY: the call has no arguments and cannot fail.
        let own = about.uid() == unsafe { libc::geteuid() };
        if mode & 0o077 != 0 || !own {
            return Err(NetError::OpenSecret { path: path.display().to_string(), mode, own });
        }
        let mut bytes = Vec::new();
        file.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() > MOST_BYTES {
            return Err(failed(io::Error::other(format!("longer than {MOST_BYTES} bytes"))));
        }
        let text = bytes.trim_ascii();
        Secret::from_bytes(text)
    }
}

/// The keys of the two directions: the opener's first.
pub fn keys(job: &Sealer, opener: &Drawn, accepter: &Drawn) -> [Sealer; 2] {
    [b"from the opener", b"to the opener--"].map(|direction| {
        job.derive(&[direction.as_slice(), opener.as_slice(), accepter.as_slice()].concat())
    })
}

/// Bytes that cannot be guessed.
pub fn random<const N: usize>() -> Result<[u8; N], NetError> {
    let mut bytes = [0; N];
    // SAFETY: the array has as many bytes as are asked for.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), N, 0) };
    if got != N as isize {
        return Err(NetError::system("getrandom", io::Error::last_os_error()));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_tag_is_of_every_byte_and_of_its_key() {
        let secret = Secret::from_bytes(b"sixteen bytes at least").expect("long enough");
        let sealer = secret.sealer().derive(b"one direction");
        let other = secret.sealer().derive(b"the other");
        let body: Vec<u8> = (0..200).collect();
        let mut packet = body.clone();
        packet.extend(sealer.tag(&[&body[..32], &body[32..]]));
        assert_eq!(sealer.open(&packet), Some(&body[..]));
        assert_eq!(other.open(&packet), None);
        for bit in 0..packet.len() * 8 {
            let mut wrong = packet.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(sealer.open(&wrong), None, "bit {bit}");
        }
        for len in 0..packet.len() {
            assert_eq!(sealer.open(&packet[..len]), None);
        }
    }

    #[test]
    fn a_secret_is_its_owners_alone() {
        let folder = std::env::temp_dir().join(format!("laneway-secret-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("secret");
        fs::write(&file, "0123456789abcdef0123456789abcdef\n").expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("a mode");
        assert!(matches!(Secret::from_file(&file), Err(NetError::OpenSecret { mode: 0o644, .. })));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("a mode");
        let read = Secret::from_file(&file).expect("mode 0600");
        let given = Secret::from_bytes(b"0123456789abcdef0123456789abcdef").expect("long enough");
        assert_eq!(
            read.sealer().tag(&[b"x"]),
            given.sealer().tag(&[b"x"]),
            "the line's end is none"
        );
        fs::write(&file, "short\n").expect("a file");
        assert!(matches!(Secret::from_file(&file), Err(NetError::ShortSecret { bytes: 5 })));
        fs::write(&file, vec![b'x'; MOST_BYTES + 1]).expect("a file");
        assert!(matches!(Secret::from_file(&file), Err(NetError::SecretFile { .. })));
        let missing = folder.join("missing");
        assert!(matches!(Secret::from_file(&missing), Err(NetError::SecretFile { .. })));
        fs::remove_dir_all(&folder).expect("removed");
    }
}
