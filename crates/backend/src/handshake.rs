//! The first handshake between ranks of several hosts: do all run the same program?

use std::io::Read;

use laneway_core::talk::{broadcast_text, objection};
use laneway_core::{Comm, CommError};

use crate::BackendError;

/// Collective: refuses a run whose ranks are not one and the same program.
pub fn same_program(comm: &dyn Comm) -> Result<Option<BackendError>, CommError> {
    let mine = identity();
    let first = broadcast_text(comm, &mine)?;
    let differs = || format!("rank {} is {mine}, rank 0 is {first}", comm.rank());
    let objection = objection(comm, (first != mine).then(differs))?;
    Ok(objection.map(|cause| BackendError::Versions { cause }))
}
/// Version and a fingerprint of the file that runs.
fn identity() -> String {
    let print = fingerprint().map_or("unread".into(), |print| format!("{print:016x}"));
    format!("laneway {} ({print})", env!("CARGO_PKG_VERSION"))
}

/// FNV-1a over the words of the executable: to distinguish files, not to resist forgery.
fn fingerprint() -> Option<u64> {
    let mut file = std::fs::File::open("/proc/self/exe").ok()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let words = bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    Some(words.fold(0xCBF2_9CE4_8422_2325, |hash, word| {
        (hash ^ word).wrapping_mul(0x0000_0100_0000_01B3)
    }))
}
