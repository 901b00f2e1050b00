//! Checks whether the request fits into memory, before anything is allocated.

use laneway_core::units::format_size;
use laneway_core::{Comm, CommError, Rank};

/// The machine's memory, if the system reports it.
pub fn memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes << 10)
}

/// Collective: the ranks that share this rank's memory: those of its host, and of a simulated
/// cluster all.
pub fn sharers(comm: &dyn Comm) -> Result<Vec<Rank>, CommError> {
    if comm.clock().is_virtual() {
        return Ok((0..comm.size()).collect());
    }
    let hosts = comm.hosts()?;
    let own = hosts.get(comm.rank() as usize);
    Ok((0..comm.size()).filter(|&rank| hosts.get(rank as usize) == own).collect())
}

/// Why `need` bytes for messages of `size` are more than this machine has.
pub fn objection(need: u64, size: u64) -> Option<String> {
    let available = memory_bytes()?;
    (need > available).then(|| {
        let (need, available) = (need >> 20, available >> 20);
        format!("size {} needs about {need} MiB of {available} MiB", format_size(size))
    })
}
