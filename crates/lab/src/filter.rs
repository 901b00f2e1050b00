//! Filters of the kernel that lose packets silently, for `tc`.

/// What a packet filter in the kernel calls a random number: an offset into no packet.
const RANDOM: u32 = 0xFFFF_F038;
/// What a filter answers: drop it silently, or go on.
const LOSE: u32 = 2;
const GO_ON: u32 = u32::MAX;

/// Where a filter stands: all packets lost, or a part of them.
pub(crate) fn place(device: &str, part: Option<f64>) -> String {
    let priority = if part.is_none() { 1 } else { 2 };
    format!("dev {device} parent 1: protocol all prio {priority}")
}

/// A filter of the old kind (`tc` takes its instructions as numbers): load a random number, compare
/// it, and answer. The sender learns nothing of it, as with a real loss.
pub(crate) fn filter(device: &str, part: Option<f64>) -> String {
    let program = match part {
        None => format!("1,6 0 0 {LOSE}"),
        Some(part) => {
            let limit = (part * f64::from(u32::MAX)) as u32;
            format!("4,32 0 0 {RANDOM},53 1 0 {limit},6 0 0 {LOSE},6 0 0 {GO_ON}")
        }
    };
    format!("{} handle 1 bpf da bytecode '{program}'", place(device, part))
}
