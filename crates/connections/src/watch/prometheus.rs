//! What was seen in the text format of Prometheus, for a collector that reads a file.

use std::collections::BTreeMap;

use laneway_core::prometheus::{Labels, Page};
use laneway_path::{Counters, Histogram};

use super::look::{Seen, Snapshot};
use super::sums::{Sums, limits};
use crate::control::{ConnectionStatus, PathStatus};

/// What was seen as the text of a file that a collector of Prometheus reads: for each process, and
/// for this host without the numbers of processes (`laneway_path_host_…`).
pub fn metrics(look: &Snapshot, sums: &Sums) -> String {
    let mut page = Page::new("laneway_path_");
    let processes = [(Labels::new(), look.processes())];
    page.metric("processes", "gauge", "Processes that answered.", processes);
    page.metric(
        "silent",
        "gauge",
        "Control sockets whose process did not answer.",
        [(Labels::new(), look.silent.len())],
    );
    paths(&mut page, look);
    connections(&mut page, look);
    totals(&mut page, look);
    host(&mut page, look, sums);
    page.text()
}

/// Sums over all processes.
fn host(page: &mut Page, look: &Snapshot, sums: &Sums) {
    let mut counts: BTreeMap<Labels, u64> = BTreeMap::new();
    for seen in &look.seen {
        for one in &seen.status.connections {
            *counts.entry(state_labels(seen, one).split_off(OWN_LABELS)).or_default() += 1;
        }
    }
    let help = "Connections of this host, by state, migration, and primary path.";
    page.metric("host_connections", "gauge", help, counts);
    let all = look.seen.iter().flat_map(|seen| &seen.status.connections);
    let waiting = all.map(|one| one.waiting_messages).sum::<u64>();
    let help = "Messages of this host that have not arrived.";
    page.metric("host_waiting_messages", "gauge", help, [(Labels::new(), waiting)]);
    for (way, name) in [(0, "sent"), (1, "received")] {
        let traffic = |bytes: bool| {
            let each = sums.sum.traffic.iter();
            each.map(move |(device, both)| {
                let count = if bytes { both[way].bytes } else { both[way].packets };
                (vec![("device", device.clone())], count)
            })
        };
        let help = format!("Packets {name} by this host through a device.");
        page.metric(&format!("host_{name}_packets_total"), "counter", &help, traffic(false));
        let help = format!("Bytes {name} by this host through a device.");
        page.metric(&format!("host_{name}_bytes_total"), "counter", &help, traffic(true));
    }
    let Counters { migrations, suspicions, sent_again, duplicates, replayed, .. } =
        sums.sum.counters;
    for (name, help, count) in [
        ("migrations", "Migrations of connections.", migrations),
        ("suspicions", "Suspected failures of a primary path.", suspicions),
        ("sent_again", "Packets sent more than once.", sent_again),
        ("duplicates", "Packets received twice.", duplicates),
        ("replayed", "Packets replayed or received too late.", replayed),
    ] {
        page.metric(&format!("host_{name}_total"), "counter", help, [(Labels::new(), count)]);
    }
    let left = reasons(&sums.sum.counters).map(|(label, count)| (vec![label], count));
    page.metric("host_left_paths_total", "counter", LEFT, left);
    let Counters { trips, stalls, .. } = &sums.sum.counters;
    let mut times = |name: &str, help: &str, seen: &Histogram| {
        let sample = (Labels::new(), seen.counts.to_vec(), seen.sum as f64 / 1e9);
        page.histogram(name, help, &limits(), [sample]);
    };
    times("host_round_trip_seconds", "Round trips of packets.", trips);
    let help = "How long messages had waited when a connection left a dead path.";
    times("host_stall_seconds", help, stalls);
}

fn paths(page: &mut Page, look: &Snapshot) {
    let mut each = |name: &str, kind: &str, help: &str, of: fn(&PathStatus) -> u64| {
        let all = look.seen.iter().flat_map(|seen| {
            seen.status.paths.iter().map(move |path| (path_labels(seen, path), of(path)))
        });
        page.metric(name, kind, help, all);
    };
    each("carrier", "gauge", "Whether the device of a path has a carrier.", |path| {
        path.carrier.into()
    });
    each("drained", "gauge", "Whether a path is drained.", |path| path.drained.into());
    each("sent_packets_total", "counter", "Packets sent over a path.", |path| path.sent.packets);
    each("sent_bytes_total", "counter", "Bytes sent over a path.", |path| path.sent.bytes);
    each("received_packets_total", "counter", "Packets received over a path.", |path| {
        path.received.packets
    });
    each("received_bytes_total", "counter", "Bytes received over a path.", |path| {
        path.received.bytes
    });
    let slowest = look.seen.iter().flat_map(|seen| {
        seen.status.paths.iter().filter_map(|path| {
            let users = seen.status.connections.iter().filter(|one| one.primary == path.number);
            let trip = users.filter_map(|one| one.round_trip).max()?;
            Some((path_labels(seen, path), trip as f64 / 1e9))
        })
    });
    let help = "The slowest smoothed round trip of the connections that use a path.";
    page.metric("round_trip_seconds", "gauge", help, slowest);
}

fn connections(page: &mut Page, look: &Snapshot) {
    let counted = look.seen.iter().flat_map(|seen| {
        let mut counts: BTreeMap<Labels, u64> = BTreeMap::new();
        for one in &seen.status.connections {
            *counts.entry(state_labels(seen, one)).or_default() += 1;
        }
        counts
    });
    let help = "Connections, by the state of the queue pair, of the migration, and primary path.";
    page.metric("connections", "gauge", help, counted);
    let waiting = look.seen.iter().map(|seen| {
        let all = seen.status.connections.iter();
        (labels(seen), all.map(|one| one.waiting_messages).sum::<u64>())
    });
    page.metric("waiting_messages", "gauge", "Messages that have not arrived.", waiting);
}

fn totals(page: &mut Page, look: &Snapshot) {
    let mut each = |name: &str, help: &str, of: fn(&Counters) -> u64| {
        let all = look.seen.iter().map(|seen| (labels(seen), of(&seen.status.totals)));
        page.metric(name, "counter", help, all);
    };
    each("migrations_total", "Migrations of connections.", |totals| totals.migrations);
    each("suspicions_total", "Suspected failures of a primary path.", |totals| totals.suspicions);
    each("sent_again_total", "Packets sent more than once.", |totals| totals.sent_again);
    each("duplicates_total", "Packets received twice.", |totals| totals.duplicates);
    each("replayed_total", "Packets replayed or received too late.", |totals| totals.replayed);
    let left = look.seen.iter().flat_map(|seen| {
        reasons(&seen.status.totals).map(|(label, count)| {
            let mut labels = labels(seen);
            labels.push(label);
            (labels, count)
        })
    });
    page.metric("left_paths_total", "counter", LEFT, left);
    let dropped = look.seen.iter().flat_map(|seen| {
        let dropped = seen.status.dropped;
        [
            ("strange", dropped.strange),
            ("misplaced", dropped.misplaced),
            ("forged", dropped.forged),
            ("refused", dropped.refused),
        ]
        .map(|(reason, count)| {
            let mut labels = labels(seen);
            labels.push(("reason", reason.into()));
            (labels, count)
        })
    });
    page.metric("dropped_packets_total", "counter", "Dropped packets of unknown senders.", dropped);
}

const LEFT: &str = "Migrations that this end decided on because of the path, by the reason.";

/// Why paths were left, and how often.
fn reasons(totals: &Counters) -> [((&'static str, String), u64); 3] {
    [("dead", totals.left_dead), ("length", totals.left_short), ("loss", totals.left_lossy)]
        .map(|(reason, count)| (("reason", reason.to_string()), count))
}

/// How many labels say which service it is.
const OWN_LABELS: usize = 3;

fn labels(seen: &Seen) -> Labels {
    vec![
        ("pid", seen.pid.to_string()),
        ("service", seen.service.to_string()),
        ("program", seen.status.program.clone()),
    ]
}

fn path_labels(seen: &Seen, path: &PathStatus) -> Labels {
    let mut labels = labels(seen);
    labels.push(("path", path.number.to_string()));
    labels.push(("device", path.device.clone().unwrap_or_default()));
    labels.push(("address", path.address.to_string()));
    labels
}

fn state_labels(seen: &Seen, one: &ConnectionStatus) -> Labels {
    let path = seen.status.paths.get(usize::from(one.primary));
    let mut labels = labels(seen);
    labels.push(("state", one.state.name().into()));
    labels.push(("migration", one.migration.name().into()));
    labels.push(("path", one.primary.to_string()));
    labels.push(("device", path.and_then(|path| path.device.clone()).unwrap_or_default()));
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_without_processes_says_so() {
        let text = metrics(&Snapshot::default(), &Sums::new());
        assert!(text.contains("\nlaneway_path_processes 0\n"), "{text}");
        assert!(text.lines().all(|line| line.starts_with("# ") || line.ends_with(" 0")), "{text}");
    }
}
