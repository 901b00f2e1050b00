//! Small talk between the ranks of a verb: who has something to say, and what all should know.

use laneway_core::{Comm, CommError, Rank, Tag};

const TAG: Tag = 1;

fn send(comm: &dyn Comm, to: Rank, bytes: &[u8]) -> Result<(), CommError> {
    comm.send(to, TAG, &(bytes.len() as u64).to_le_bytes())?;
    if bytes.is_empty() { Ok(()) } else { comm.send(to, TAG, bytes) }
}

fn receive(comm: &dyn Comm, from: Rank) -> Result<Vec<u8>, CommError> {
    let mut len = [0; 8];
    comm.recv(Some(from), Some(TAG), &mut len)?;
    let mut bytes = vec![0; u64::from_le_bytes(len) as usize];
    if !bytes.is_empty() {
        comm.recv(Some(from), Some(TAG), &mut bytes)?;
    }
    Ok(bytes)
}

/// Collective: what each rank has to say, by rank, at rank 0; nothing elsewhere.
pub fn collect(comm: &dyn Comm, own: &[u8]) -> Result<Vec<Vec<u8>>, CommError> {
    if comm.rank() != 0 {
        send(comm, 0, own)?;
        return Ok(Vec::new());
    }
    let mut all = vec![own.to_vec()];
    for from in 1..comm.size() {
        all.push(receive(comm, from)?);
    }
    Ok(all)
}

/// Collective: what rank 0 says, on every rank.
pub fn announce(comm: &dyn Comm, own: &[u8]) -> Result<Vec<u8>, CommError> {
    if comm.rank() != 0 {
        return receive(comm, 0);
    }
    for to in 1..comm.size() {
        send(comm, to, own)?;
    }
    Ok(own.to_vec())
}

/// Collective: the objection of the lowest rank that has one, on every rank.
pub fn objection(comm: &dyn Comm, own: Option<String>) -> Result<Option<String>, CommError> {
    let all = collect(comm, own.unwrap_or_default().as_bytes())?;
    let first = all.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    let first = announce(comm, &first)?;
    Ok((!first.is_empty()).then(|| String::from_utf8_lossy(&first).into_owned()))
}
