//! Pairs of ranks as text in the format of Prometheus, for a collector that reads files.

use std::collections::BTreeMap;

use laneway_core::prometheus::{Labels, Page};
use laneway_core::{Document, Row, Value};

/// More pairs than these (64 ranks have 2,016) are not listed one by one, but those that are slow.
const LISTED: usize = 2048;

fn text(row: &Row, name: &str) -> String {
    match row.get(name) {
        Some(Value::Text(text)) => text.clone(),
        Some(Value::Whole(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// What was measured.
fn number(row: &Row, name: &str) -> Option<f64> {
    match row.get(name) {
        Some(Value::Real(number)) => Some(*number).filter(|number| number.is_finite()),
        Some(Value::Whole(number)) => Some(*number as f64),
        _ => None,
    }
}

fn truth(row: &Row, name: &str) -> Option<u8> {
    match row.get(name) {
        Some(Value::Truth(truth)) => Some(u8::from(*truth)),
        _ => None,
    }
}

fn labels(row: &Row) -> Labels {
    ["from", "to", "from_host", "to_host"].map(|name| (name, text(row, name))).to_vec()
}

/// A document of `measure pairs`: the figures of each pair, those of each host, and the verdict.
pub fn pairs(document: &Document) -> String {
    let mut page = Page::new("laneway_pairs_");
    if let Some(summary) = &document.summary {
        verdict(&mut page, summary);
    }
    hosts(&mut page, document);
    let lists_all = document.rows.len() <= LISTED;
    let is_listed = |row: &&Row| lists_all || truth(row, "slow") == Some(1);
    let rows: Vec<&Row> = document.rows.iter().filter(is_listed).collect();
    let latencies = rows.iter().filter_map(|row| {
        let latency = number(row, "latency_us")?;
        Some((labels(row), latency / 1e6))
    });
    page.metric("latency_seconds", "gauge", "Latency of a pair of ranks.", latencies);
    let bandwidths = rows.iter().flat_map(|row| {
        [("there", "there_mb_s"), ("back", "back_mb_s")].map(|(way, name)| {
            let mut labels = labels(row);
            labels.push(("way", way.into()));
            number(row, name).map(|rate| (labels, rate * 1e6))
        })
    });
    let help = "Bandwidth of a pair of ranks, from the first to the second and back.";
    page.metric("bandwidth_bytes_per_second", "gauge", help, bandwidths.flatten());
    let slow = rows.iter().filter_map(|row| Some((labels(row), truth(row, "slow")?)));
    page.metric("slow", "gauge", "Whether a pair of ranks is slow.", slow);
    page.text()
}

fn verdict(page: &mut Page, summary: &Row) {
    for (name, help) in
        [("complete", "Whether all pairs were measured."), ("healthy", "Whether no pair is slow.")]
    {
        page.metric(name, "gauge", help, truth(summary, name).map(|truth| (Labels::new(), truth)));
    }
    for (name, of, help) in [
        ("measured_pairs", "pairs", "Pairs that were measured."),
        ("all_pairs", "all_pairs", "Pairs of which a sample was measured."),
        ("quick_pairs", "quick_pairs", "Pairs that had a quick look."),
        ("unseen_pairs", "unseen_pairs", "Pairs that were neither measured nor looked at."),
        ("open_pairs", "open_pairs", "Pairs that stood out at a quick look, not measured."),
        ("slow_pairs", "slow_pairs", "Slow pairs."),
    ] {
        page.metric(name, "gauge", help, number(summary, of).map(|count| (Labels::new(), count)));
    }
}

/// What the pairs of one host show.
#[derive(Default)]
struct Host {
    pairs: u64,
    slow: u64,
    latency: Option<f64>,
    rates: [Option<f64>; 2],
}

fn hosts(page: &mut Page, document: &Document) {
    let mut hosts: BTreeMap<String, Host> = BTreeMap::new();
    for row in &document.rows {
        let least = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => Some(f64::min(one, other)),
            (one, other) => one.or(other),
        };
        // What leaves the first arrives at the second.
        let (from, to) = (text(row, "from_host"), text(row, "to_host"));
        let ways = [(&from, ["there_mb_s", "back_mb_s"]), (&to, ["back_mb_s", "there_mb_s"])];
        for (name, rates) in &ways[..if from == to { 1 } else { 2 }] {
            let host = hosts.entry((*name).clone()).or_default();
            host.pairs += 1;
            host.slow += u64::from(truth(row, "slow") == Some(1));
            host.latency = least(host.latency, number(row, "latency_us"));
            for (most, rate) in host.rates.iter_mut().zip(rates) {
                *most = [*most, number(row, rate)].into_iter().flatten().reduce(f64::max);
            }
        }
    }
    let of = |host: &str| vec![("host", host.to_owned())];
    let slow = document.summary.as_ref().map(|summary| text(summary, "slow_nodes"));
    let is_slow = |host: &str| slow.iter().flat_map(|slow| slow.split(',')).any(|one| one == host);
    let is_judged = document.summary.as_ref().is_some_and(|row| truth(row, "healthy").is_some());
    let judged = hosts.keys().filter(|_| is_judged);
    let verdicts = judged.map(|host| (of(host), u8::from(is_slow(host))));
    page.metric("host_slow", "gauge", "Whether a host is to blame for slow pairs.", verdicts);
    let each = |count: fn(&Host) -> u64| hosts.iter().map(move |(name, host)| (name, count(host)));
    let counts = each(|host| host.pairs).map(|(name, count)| (of(name), count));
    page.metric("host_pairs", "gauge", "Pairs of ranks that a host is in.", counts);
    let counts = each(|host| host.slow).map(|(name, count)| (of(name), count));
    page.metric("host_slow_pairs", "gauge", "Slow pairs of ranks that a host is in.", counts);
    let latencies = hosts.iter().filter_map(|(name, host)| Some((of(name), host.latency? / 1e6)));
    page.metric("host_latency_seconds", "gauge", "Least latency of a host's pairs.", latencies);
    let rates = hosts.iter().flat_map(|(name, host)| {
        ["out", "in"].into_iter().zip(host.rates).filter_map(|(way, rate)| {
            let mut labels = of(name);
            labels.push(("way", way.into()));
            rate.map(|rate| (labels, rate * 1e6))
        })
    });
    let help = "Most bandwidth of a host's pairs, out of it and into it.";
    page.metric("host_bandwidth_bytes_per_second", "gauge", help, rates);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(from: u32, to: u32, latency_us: f64, slow: bool) -> Row {
        Row::new()
            .with("from", from)
            .with("to", to)
            .with("from_host", format!("n{from}"))
            .with("to_host", format!("n{to}"))
            .with("latency_us", latency_us)
            .with("there_mb_s", 100.0)
            .with("back_mb_s", if slow { f64::NAN } else { 50.0 })
            .with("slow", slow)
    }

    #[test]
    fn pairs_hosts_and_the_verdict_are_metrics() {
        let rows = vec![row(0, 1, 2.0, false), row(0, 2, 4.0, true), row(1, 2, 4.0, true)];
        let summary = Row::new().with("complete", true).with("pairs", 3u32);
        let summary = summary.with("slow_pairs", 2u32).with("slow_nodes", "n2");
        let summary = Some(summary.with("healthy", false));
        let (env, params) = (Row::new(), Row::new());
        let text = pairs(&Document { verb: "measure-pairs", env, params, rows, summary });
        for line in [
            "laneway_pairs_healthy 0",
            "laneway_pairs_slow_pairs 2",
            "laneway_pairs_host_slow{host=\"n1\"} 0",
            "laneway_pairs_host_slow{host=\"n2\"} 1",
            "laneway_pairs_host_slow_pairs{host=\"n0\"} 1",
            "laneway_pairs_host_latency_seconds{host=\"n1\"} 0.000002",
            "laneway_pairs_host_bandwidth_bytes_per_second{host=\"n1\",way=\"in\"} 100000000",
            "laneway_pairs_latency_seconds{from=\"0\",to=\"1\",from_host=\"n0\",to_host=\"n1\"} \
             0.000002",
            "laneway_pairs_slow{from=\"1\",to=\"2\",from_host=\"n1\",to_host=\"n2\"} 1",
        ] {
            assert!(text.lines().any(|other| other == line), "{line} is not in {text}");
        }
        // What was not measured is not a sample.
        assert!(!text.contains("NaN") && text.matches("way=\"back\"").count() == 1, "{text}");
    }

    #[test]
    fn of_many_pairs_only_the_slow_ones_are_listed() {
        let rows: Vec<Row> = (0..=2048).map(|to| row(0, to + 1, 1.0, to == 7)).collect();
        let (env, params) = (Row::new(), Row::new());
        let document = Document { verb: "measure-pairs", env, params, rows, summary: None };
        let text = pairs(&document);
        assert_eq!(text.matches("laneway_pairs_slow{").count(), 1, "{text}");
        assert_eq!(text.matches("laneway_pairs_host_pairs{").count(), 2050);
        assert!(!text.contains("laneway_pairs_host_slow{"), "there is no verdict");
    }
}
