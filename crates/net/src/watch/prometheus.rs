//! What was seen in the text format of Prometheus, for a collector that reads a file.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};

use laneway_path::Counters;

use super::look::{Seen, Snapshot};
use crate::control::{ConnectionStatus, PathStatus};

/// Names and values of labels.
type Labels = Vec<(&'static str, String)>;

/// What was seen as the text of a file that a collector of Prometheus reads.
pub fn metrics(look: &Snapshot) -> String {
    let mut page = Page(String::new());
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
    page.0
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

/// The text of a file.
struct Page(String);

impl Page {
    fn metric<V: Display>(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels, V)>,
    ) {
        // A string takes everything.
        _ = writeln!(self.0, "# HELP laneway_path_{name} {help}");
        _ = writeln!(self.0, "# TYPE laneway_path_{name} {kind}");
        for (labels, value) in samples {
            let pair = |(name, value): &(&str, String)| format!("{name}=\"{}\"", escape(value));
            let labels: Vec<String> = labels.iter().map(pair).collect();
            let labels = match labels.is_empty() {
                true => String::new(),
                false => format!("{{{}}}", labels.join(",")),
            };
            _ = writeln!(self.0, "laneway_path_{name}{labels} {value}");
        }
    }
}

fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_a_page_without_processes_says_so() {
        assert_eq!(escape("a\\b\"c\nd"), "a\\\\b\\\"c\\nd");
        let text = metrics(&Snapshot::default());
        assert!(text.contains("\nlaneway_path_processes 0\n"), "{text}");
        assert!(text.lines().all(|line| line.starts_with("# ") || line.ends_with(" 0")), "{text}");
    }
}
