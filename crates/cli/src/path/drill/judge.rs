//! What a round of a drill comes to: one row.

use laneway_core::Row;
use laneway_stats::{median, quantile, sorted};

use super::stage::{Round, Seen, Struck};

/// Nanoseconds before a fault in which the rate is taken, and after which it is taken again.
const BEFORE: u64 = 100_000_000;
const SETTLED: u64 = 60_000_000;
/// After a repair, what stands still still belongs to the fault.
const AFTER: u64 = 50_000_000;

/// A round in figures.
pub struct Verdict {
    pub row: Row,
    /// Whether every message came, once and in order, and the connection lived.
    pub is_sound: bool,
}

/// Milliseconds that messages stood still for, beyond the time that one takes when nothing is
/// broken and beyond what the machine itself stood still for.
fn stall_ms(round: &Round, seen: &Seen, struck: &Struck) -> f64 {
    let (from, until) = (struck.begun, struck.repaired + AFTER);
    let rate = seen.client.rate(from.saturating_sub(BEFORE), from);
    // Each connection has a message under way.
    let bytes = (round.load.bytes * round.load.connections) as f64;
    let usual = if rate > 0.0 { (1e9 * bytes / rate) as u64 } else { 0 };
    let others = seen.client.control.as_ref().map_or(0, |control| control.longest_gap(from, until));
    seen.client.longest_gap(from, until).saturating_sub(others.max(usual)) as f64 / 1e6
}

pub fn judge(round: &Round, seen: &Seen) -> Verdict {
    let stalls: Vec<f64> = seen.struck.iter().map(|struck| stall_ms(round, seen, struck)).collect();
    let stalls = sorted(&stalls);
    let all = &seen.client;
    let mb = |rates: Vec<f64>| median(&rates).map(|rate| rate / 1e6);
    let before = seen.struck.iter().map(|s| all.rate(s.begun.saturating_sub(BEFORE), s.begun));
    let long = |s: &&Struck| s.repaired - s.begun > 2 * SETTLED;
    let after = seen.struck.iter().filter(long);
    let after = after.map(|s| all.rate(s.begun + SETTLED, s.repaired));
    let recovered: Vec<f64> = seen
        .struck
        .iter()
        .filter_map(|s| s.armed.map(|at| at.saturating_sub(s.repaired) as f64 / 1e6))
        .collect();
    let unarmed = seen.struck.len() - recovered.len();
    let (client, server) = (&seen.client.checked, &seen.served.checked);
    let lost = client.lost(seen.client.sent) + server.lost(seen.client.sent);
    let duplicated = client.duplicated + server.duplicated;
    let reordered = client.reordered + server.reordered;
    let damaged = client.damaged + server.damaged;
    let row = Row::new()
        .with("fault", round.kind.name())
        .with("size_bytes", round.load.bytes as u64)
        .with("faults", seen.struck.len() as u64)
        .with("stall_p50_ms", quantile(&stalls, 0.5))
        .with("stall_p99_ms", quantile(&stalls, 0.99))
        .with("stall_max_ms", stalls.last().copied())
        .with("messages", all.messages())
        .with("lost", lost)
        .with("duplicated", duplicated)
        .with("reordered", reordered)
        .with("damaged", damaged)
        .with("bandwidth_before", mb(before.collect()))
        .with("bandwidth_after", mb(after.collect()))
        .with("recovered_ms", median(&recovered))
        .with("recovered_max_ms", recovered.iter().copied().reduce(f64::max))
        .with("migrations", seen.served.migrations);
    let misfires = match round.kind.is_harmless() {
        true => seen.served.migrations + seen.client.migrations,
        false => 0,
    };
    let wrong = lost + duplicated + reordered + damaged + seen.served.broken + misfires;
    Verdict { row, is_sound: wrong == 0 && !seen.client.broken && unarmed == 0 }
}
