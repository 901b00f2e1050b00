//! Which machine a rank is on.

/// What processes have in common that reach each other over loopback: one kernel, and one network
/// namespace of it.
pub(crate) fn machine() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let network = std::fs::read_link("/proc/self/ns/net").unwrap_or_default();
    format!("{}/{}", boot.trim(), network.display()).replace(char::is_whitespace, "")
}
