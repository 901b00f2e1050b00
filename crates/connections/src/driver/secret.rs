//! The secret that all processes of a job share, and the key that comes from it.
//!
//! The job's key proves handshakes and is never used for a packet of a connection: these have keys
//! of their own, see [`seal`](super::seal). Keys and proofs are BLAKE3, in its modes for deriving
//! keys and for keyed hashes.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::error::NetError;

/// The least length of a secret.
pub const LEAST_BYTES: usize = 16;
/// More than this is not a secret but another file.
const MOST_BYTES: usize = 4096;

pub const TAG_BYTES: usize = 16;

/// Drawn for one connection.
pub type Drawn = [u8; 16];

/// Says what a key is for, as BLAKE3 asks for: it names the program, the year, and the purpose.
const JOB: &str = "laneway 2026 key of a job";
const OPEN_JOB: &str = "laneway 2026 key of a job without a secret";

/// Proves that its holder knows a key.
#[derive(Clone)]
pub struct Prover {
    key: [u8; 32],
}

impl Prover {
    pub(crate) fn from_key(key: [u8; 32]) -> Prover {
        Prover { key }
    }

    fn hash(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        for part in parts {
            hasher.update(part);
        }
        hasher.finalize().into()
    }

    /// The proof of what these parts are together.
    pub fn tag(&self, parts: &[&[u8]]) -> [u8; TAG_BYTES] {
        let mut tag = [0; TAG_BYTES];
        tag.copy_from_slice(&self.hash(parts)[..TAG_BYTES]);
        tag
    }

    /// What stands before its proof, if the proof is right.
    pub fn open<'a>(&self, packet: &'a [u8]) -> Option<&'a [u8]> {
        let (body, tag) = packet.split_last_chunk::<TAG_BYTES>()?;
        is_same(&self.tag(&[body]), tag).then_some(body)
    }

    /// A prover of its own for what is named.
    pub fn derive(&self, name: &[u8]) -> Prover {
        Prover { key: self.hash(&[b"derive", name]) }
    }

    /// A key of its own for a purpose, from what was drawn for it.
    pub fn key_for(&self, purpose: &str, drawn: &[&[u8]]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(purpose);
        hasher.update(&self.key);
        for part in drawn {
            hasher.update(part);
        }
        hasher.finalize().into()
    }
}

impl std::fmt::Debug for Prover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Prover")
    }
}

/// Compares all bytes, whichever differ.
pub fn is_same(a: &[u8; TAG_BYTES], b: &[u8; TAG_BYTES]) -> bool {
    std::hint::black_box(u128::from_ne_bytes(*a) ^ u128::from_ne_bytes(*b)) == 0
}

/// A job's secret; without one, only loopback addresses are served.
#[derive(Clone, Copy)]
pub struct Secret {
    key: [u8; 32],
    pub(crate) is_known: bool,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// Proves that this process belongs to the job.
    pub(crate) fn prover(&self) -> Prover {
        Prover { key: self.key }
    }

    /// Whether it is a secret at all.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// For processes of one machine that need none: every user there can reach them.
    pub fn none() -> Secret {
        Secret { key: blake3::derive_key(OPEN_JOB, &[]), is_known: false }
    }

    /// At least 16 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Secret, NetError> {
        if bytes.len() < LEAST_BYTES {
            return Err(NetError::ShortSecret { bytes: bytes.len() });
        }
        Ok(Secret { key: blake3::derive_key(JOB, bytes), is_known: true })
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
    fn a_proof_is_of_every_byte_and_of_its_key() {
        let secret = Secret::from_bytes(b"sixteen bytes at least").expect("long enough");
        let prover = secret.prover();
        let body: Vec<u8> = (0..200).collect();
        let mut packet = body.clone();
        packet.extend(prover.tag(&[&body[..32], &body[32..]]));
        assert_eq!(prover.open(&packet), Some(&body[..]));
        for other in [prover.derive(b"x"), Secret::none().prover()] {
            assert_eq!(other.open(&packet), None);
        }
        for bit in 0..packet.len() * 8 {
            let mut wrong = packet.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(prover.open(&wrong), None, "bit {bit}");
        }
        for len in 0..packet.len() {
            assert_eq!(prover.open(&packet[..len]), None);
        }
        let keys = ["a", "b"].map(|purpose| prover.key_for(purpose, &[b"drawn"]));
        assert_ne!(keys[0], keys[1]);
        assert_ne!(keys[0], prover.key_for("a", &[b"other"]));
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
            read.prover().tag(&[b"x"]),
            given.prover().tag(&[b"x"]),
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
