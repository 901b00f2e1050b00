//! What the documents of a run say of where it ran.

use laneway_core::{Comm, Row};
use laneway_processes::memory::memory_bytes;

/// What a run's ranks say of themselves, the machine and the backend.
pub fn environment(comm: &dyn Comm) -> Row {
    let mut row = machine();
    for (name, value) in comm.describe() {
        // What the ranks say of the machine is nearer than what this process sees.
        row.0.retain(|(other, _)| *other != name);
        row.0.push((name.into(), value.into()));
    }
    row.with("ranks", comm.size()).with("clock_is_global", comm.clock().is_global())
}

/// This machine as this process sees it.
pub fn machine() -> Row {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    Row::new()
        .with("host", host.trim())
        .with("os", std::env::consts::OS)
        .with("arch", std::env::consts::ARCH)
        .with("cores", cores)
        .with("memory_bytes", memory_bytes())
        .with("laneway", env!("CARGO_PKG_VERSION"))
}
