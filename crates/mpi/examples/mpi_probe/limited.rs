//! Waits with a limit: what does not come in time is an error, and all else goes as without one.

use std::time::{Duration, Instant};

use laneway_core::{Comm, CommError};
use laneway_mpi::MpiComm;

use crate::{ALL, Verdict, expect};

const LIMIT: Duration = Duration::from_millis(500);

fn is_late<T>(waited: Result<T, CommError>, begun: Instant) -> bool {
    let took = begun.elapsed();
    matches!(waited, Err(CommError::TimedOut { .. })) && took >= LIMIT && took < 20 * LIMIT
}

/// Every check under a limit that none reaches.
pub fn all(comm: &MpiComm) -> Verdict {
    comm.set_wait_limit(Some(Duration::from_secs(60)));
    for (name, check) in ALL {
        check(comm).map_err(|error| format!("{name}: {error}"))?;
    }
    comm.set_wait_limit(None);
    Ok(())
}

/// Rank 0 waits for messages that no rank sends.
pub fn receives(comm: &MpiComm) -> Verdict {
    comm.set_wait_limit(Some(LIMIT));
    if comm.rank() == 0 {
        let begun = Instant::now();
        expect!(is_late(comm.recv(Some(1), Some(5), &mut [0]), begun), "a receive without message");
        let begun = Instant::now();
        expect!(is_late(comm.probe(None, None, true), begun), "a probe without message");
    }
    comm.set_wait_limit(None);
    Ok(())
}

/// Rank 0 sends what rank 1 does not take in time. The bytes are those of the call.
pub fn sends(comm: &MpiComm) -> Verdict {
    const BYTES: usize = 32 << 20;
    if comm.rank() == 1 {
        std::thread::sleep(4 * LIMIT);
        let mut into = vec![0; BYTES];
        comm.recv(Some(0), Some(5), &mut into)?;
        expect!(into.iter().all(|byte| *byte == 7), "the bytes were changed behind the call");
        return Ok(());
    }
    comm.set_wait_limit(Some(LIMIT));
    let mut data = vec![7; BYTES];
    let begun = Instant::now();
    let sent = comm.send(1, 5, &data);
    // A library may take all of it at once.
    expect!(sent.is_ok() || is_late(sent, begun), "a send without a receive");
    data.fill(9);
    comm.set_wait_limit(None);
    Ok(())
}
