//! What a round of a drill comes to, in figures.

use laneway_core::Row;
use laneway_stats::{median, quantile, sorted};

use crate::kinds::Kind;
use crate::stage::{Round, Seen, Struck};

/// Nanoseconds before a fault in which the rate is taken, and after which it is taken again.
const BEFORE: u64 = 100_000_000;
const SETTLED: u64 = 60_000_000;
/// After a repair, what stands still still belongs to the fault.
const AFTER: u64 = 50_000_000;

/// A round in figures. Milliseconds are those that messages stood still for beyond what a
/// connection on an untouched path stood still at the same time; rates are in MB/s.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verdict {
    /// What was broken.
    pub kind: Kind,
    /// Bytes of a message.
    pub bytes: usize,
    /// How many faults there were.
    pub faults: usize,
    /// The median over faults; `None` without a fault.
    pub stall_p50_ms: Option<f64>,
    /// 99 of 100 faults took no longer.
    pub stall_p99_ms: Option<f64>,
    /// The longest of all faults; one that had not ended when the traffic did, by its length so
    /// far.
    pub stall_max_ms: Option<f64>,
    /// Whether a message was still under way when the traffic ended.
    pub unfinished: bool,
    /// Messages that came back.
    pub messages: u64,
    /// Messages that never came.
    pub lost: u64,
    /// Messages that came twice.
    pub duplicated: u64,
    /// Messages that came out of order.
    pub reordered: u64,
    /// Messages whose bytes changed.
    pub damaged: u64,
    /// The median rate before faults.
    pub bandwidth_before: Option<f64>,
    /// The median rate while the path was dead and the connection had settled on the other.
    pub bandwidth_after: Option<f64>,
    /// From a repair until both ends had two paths again: the median.
    pub recovered_ms: Option<f64>,
    /// The same, the longest.
    pub recovered_max_ms: Option<f64>,
    /// Migrations, as the far end counted them.
    pub migrations: u64,
    /// Whether every message came, once and in order, the connection lived, both paths came back,
    /// and no path was left that worked.
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

/// Makes figures of what a round has seen.
pub fn judge(round: &Round, seen: &Seen) -> Verdict {
    let stalls: Vec<f64> = seen.struck.iter().map(|struck| stall_ms(round, seen, struck)).collect();
    let stalls = sorted(&stalls);
    // It may have begun when no fault was there to be counted with.
    let unfinished = seen.client.unfinished();
    let longest =
        unfinished.map(|stall| stall as f64 / 1e6).into_iter().chain(stalls.last().copied());
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
    let misfires = match round.kind.is_harmless() {
        true => seen.served.migrations + seen.client.migrations,
        false => 0,
    };
    let wrong = lost + duplicated + reordered + damaged + seen.served.broken + misfires;
    Verdict {
        kind: round.kind,
        bytes: round.load.bytes,
        faults: seen.struck.len(),
        stall_p50_ms: quantile(&stalls, 0.5),
        stall_p99_ms: quantile(&stalls, 0.99),
        stall_max_ms: longest.reduce(f64::max),
        unfinished: unfinished.is_some(),
        messages: all.messages(),
        lost,
        duplicated,
        reordered,
        damaged,
        bandwidth_before: mb(before.collect()),
        bandwidth_after: mb(after.collect()),
        recovered_ms: median(&recovered),
        recovered_max_ms: recovered.iter().copied().reduce(f64::max),
        migrations: seen.served.migrations,
        is_sound: wrong == 0 && !seen.client.broken && unarmed == 0,
    }
}

impl Verdict {
    /// The figures under their names.
    pub fn row(&self) -> Row {
        Row::new()
            .with("fault", self.kind.name())
            .with("size_bytes", self.bytes as u64)
            .with("faults", self.faults as u64)
            .with("stall_p50_ms", self.stall_p50_ms)
            .with("stall_p99_ms", self.stall_p99_ms)
            .with("stall_max_ms", self.stall_max_ms)
            .with("unfinished", self.unfinished)
            .with("messages", self.messages)
            .with("lost", self.lost)
            .with("duplicated", self.duplicated)
            .with("reordered", self.reordered)
            .with("damaged", self.damaged)
            .with("bandwidth_before", self.bandwidth_before)
            .with("bandwidth_after", self.bandwidth_after)
            .with("recovered_ms", self.recovered_ms)
            .with("recovered_max_ms", self.recovered_max_ms)
            .with("migrations", self.migrations)
    }
}

#[cfg(test)]
mod tests {
    use laneway_connections::drill::{Checked, Outcome, Served, Trace};
    use laneway_core::Value;

    use super::*;

    fn seen(sent: u64, struck: Vec<Struck>, migrations: u64) -> Seen {
        let client = Outcome {
            traces: vec![Trace::new(0)],
            control: None,
            migrations,
            sent,
            checked: Checked::default(),
            broken: false,
        };
        Seen { client, served: Served::default(), struck }
    }

    fn struck(armed: Option<u64>) -> Struck {
        Struck { begun: 1_000_000_000, repaired: 1_400_000_000, armed }
    }

    #[test]
    fn a_round_is_sound_where_nothing_was_lost_and_all_paths_came_back() {
        let round = Round::default();
        let verdict = judge(&round, &seen(0, vec![struck(Some(1_500_000_000))], 1));
        assert!(verdict.is_sound);
        assert_eq!((verdict.faults, verdict.recovered_ms), (1, Some(100.0)));
        assert_eq!(verdict.row().get("fault"), Some(&Value::from("drop")));
        assert!(!judge(&round, &seen(0, vec![struck(None)], 1)).is_sound, "no alternate path");
        let lost = judge(&round, &seen(3, Vec::new(), 0));
        assert!(!lost.is_sound && lost.lost > 0 && lost.stall_max_ms.is_none(), "{lost:?}");
    }

    #[test]
    fn a_path_that_works_is_not_to_be_left() {
        let round = Round { kind: Kind::Busy, ..Round::default() };
        assert!(judge(&round, &seen(0, Vec::new(), 0)).is_sound);
        assert!(!judge(&round, &seen(0, Vec::new(), 1)).is_sound);
    }
}
