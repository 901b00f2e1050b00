//! Measured sites as rows and sentences.

use laneway_core::units::format_size;
use laneway_core::{Row, Value};
use laneway_measure::Rule;
use laneway_measure::flags::{NO_TIME, PRECISION};
use laneway_measure::sites::{Found, Kind, Rated, Row as Measured};

use super::platform::not_looked_for;
use super::{HostLimits, Limits, WayLimits, helpers, lanes, order};

/// A card with less than this part of what is usual in its site, or as much more, is named.
const UNUSUAL: f64 = 0.8;
/// So many hosts are named in a sentence.
const NAMED: usize = 8;

/// What was measured between sites, and what follows from it.
#[derive(Clone, Copy, Debug)]
pub struct Findings<'a> {
    /// What was measured.
    pub found: &'a Found,
    /// What limits it: [`super::limits`].
    pub limits: &'a Limits,
    /// Sizes of blocks for which a number of lanes is given.
    pub blocks: &'a [u64],
    /// When measuring was to stop.
    pub rule: &'a Rule,
}

/// Bytes a second as people say it of networks.
fn mbit(rate: f64) -> String {
    let mbit = rate * 8e-6;
    let digits = if mbit < 100.0 { 1 } else { 0 };
    format!("{mbit:.digits$} Mbit/s")
}

fn ms(seconds: f64) -> String {
    format!("{:.2} ms", seconds * 1e3)
}

impl Findings<'_> {
    /// What all rows share.
    pub fn params(&self) -> Row {
        Row::new()
            .with("rate_unit", "bytes per second")
            .with("sites", self.found.sites.join(","))
            .with("hosts", self.found.hosts.len() as u64)
            .with("eager_bytes", self.found.eager_bytes as u64)
    }

    /// What the rows add up to, with the sentences.
    pub fn summary(&self, sentences: &[String]) -> Row {
        Row::new().with("measured", self.found.is_measured()).with("remarks", sentences.join("\n"))
    }

    /// A row for each experiment, then one for each way and block with its number of lanes.
    pub fn rows(&self) -> Vec<Row> {
        let measured = self.found.rows.iter().map(|row| self.row(row));
        measured.chain(self.lane_rows()).collect()
    }

    fn site(&self, site: Option<usize>) -> &str {
        site.map_or("others", |site| &self.found.sites[site])
    }

    fn row(&self, row: &Measured) -> Row {
        let Rated { flows, size, each, together, rates } = &row.rated;
        let count = |ranks: Vec<u32>| {
            let mut ranks = ranks;
            ranks.sort_unstable();
            ranks.dedup();
            ranks.len() as u64
        };
        let way = row.from.zip(row.to);
        let is_one = row.kind == Kind::Pairs && flows.len() == 1;
        let limits = way.filter(|_| is_one).and_then(|(from, to)| self.limits.way(from, to));
        let mut flags = Vec::new();
        flags.extend((!row.rated.is_measured()).then_some(NO_TIME));
        flags.extend((!each.reached || !together.reached).then_some(PRECISION));
        flags.extend(each.caution(self.rule));
        let latency = way.map(|(from, to)| self.found.latency(from, to) * 1e6);
        let [low, high] = [|i: laneway_stats::Interval| i.low, |i: laneway_stats::Interval| i.high];
        Row::new()
            .with("kind", row.kind.name())
            .with("from_site", self.site(row.from))
            .with("to_site", self.site(row.to))
            .with("p", flows.len() as u64)
            .with("from_hosts", count(flows.iter().map(|flow| flow.from).collect()))
            .with("to_hosts", count(flows.iter().map(|flow| flow.to).collect()))
            .with("size_bytes", *size as u64)
            .with("latency_us", latency)
            .with("reps", each.reps)
            .with("rate_each", each.value)
            .with("ci_low", each.interval.map(low))
            .with("ci_high", each.interval.map(high))
            .with("rate_together", together.value)
            .with("together_ci_low", together.interval.map(low))
            .with("together_ci_high", together.interval.map(high))
            .with("ci_level", each.interval.map(|interval| interval.level))
            .with("connection", limits.and_then(|limits| limits.connection))
            .with("capacity", limits.and_then(|limits| limits.capacity))
            .with("rates", rates.clone())
            .with("flags", flags.join(","))
    }

    fn lane_rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for way in &self.limits.ways {
            for &block in self.blocks {
                let Ok(lanes) = lanes(self.found, way.from, way.to, block) else { continue };
                rows.push(
                    Row::new()
                        .with("kind", "lanes")
                        .with("from_site", self.site(Some(way.from)))
                        .with("to_site", self.site(Some(way.to)))
                        .with("p", lanes.corrected.lanes)
                        .with("size_bytes", block)
                        .with("predicted_us", lanes.corrected.time * 1e6)
                        .with("printed_p", lanes.printed.lanes)
                        .with("printed_us", lanes.printed.time * 1e6),
                );
            }
        }
        rows
    }

    /// What follows from the rows, a sentence each.
    pub fn sentences(&self) -> Vec<String> {
        let sites = 0..self.found.sites.len();
        let mut all: Vec<String> = sites.clone().map(|site| self.inside(site)).collect();
        all.extend(self.limits.ways.iter().map(|way| self.between(way)));
        for site in sites.clone() {
            let shared = self.limits.uplinks[site].into_iter().zip(["out of", "into"]);
            all.extend(shared.filter_map(|(rate, word)| {
                let name = &self.found.sites[site];
                rate.map(|rate| format!("all links {word} {name} share {}", mbit(rate)))
            }));
        }
        let eager = format_size(self.found.eager_bytes as u64);
        all.push(format!("messages up to {eager} are sent eagerly"));
        let open = not_looked_for(self.found, self.limits);
        if !open.is_empty() {
            all.push(format!("not looked for, and choices may depend on it: {}", open.join(", ")));
        }
        // The choices come last.
        all.extend(self.limits.ways.iter().flat_map(|way| self.lanes(way)));
        if sites.len() > 2 {
            all.extend(sites.map(|site| self.order(site)));
        }
        all
    }

    fn names(&self, hosts: &[usize]) -> String {
        let name = |host: &usize| self.found.hosts[*host].name.as_str();
        let mut names: Vec<&str> = hosts.iter().take(NAMED).map(name).collect();
        if hosts.len() > NAMED {
            names.push("…");
        }
        names.join(", ")
    }

    fn inside(&self, site: usize) -> String {
        let (name, members) = (&self.found.sites[site], self.found.members(site));
        let hosts = self.names(&members);
        let count = members.len();
        let Some(lan) = self.found.lan(site) else {
            return format!("{name}: only {hosts}, so nothing inside was measured");
        };
        let latency = self.found.latency(site, site) * 1e6;
        let mut text =
            format!("{name}: {count} hosts ({hosts}), {latency:.0} us apart, {} each", mbit(lan));
        let cards: Vec<&HostLimits> =
            members.iter().map(|host| &self.limits.hosts[*host]).collect();
        for (end, word) in [(0, "to"), (1, "from")] {
            let mut rates: Vec<f64> =
                cards.iter().filter_map(|card| [card.wan_out, card.wan_into][end]).collect();
            rates.sort_by(f64::total_cmp);
            let Some(rate) = rates.first().copied() else { continue };
            let same = rates.len() == count && rates[count - 1] <= rate * 1.05;
            let which = if same { String::new() } else { format!(" for {} of them", rates.len()) };
            let least = if same { "" } else { "at least " };
            text += &format!(", {least}{} {word} other sites{which}", mbit(rate));
        }
        let uneven = self.uneven(&members, lan);
        if uneven.is_empty() { text } else { format!("{text}; {}", uneven.join(", ")) }
    }

    /// Hosts of a site whose cards differ from what is usual there.
    fn uneven(&self, members: &[usize], usual: f64) -> Vec<String> {
        let differs = |rate: f64| !(UNUSUAL..=1.0 / UNUSUAL).contains(&(rate / usual));
        let own = |&host: &usize| {
            let HostLimits { out, into, .. } = self.limits.hosts[host];
            let name = &self.found.hosts[host].name;
            let is_uneven = differs(out) || differs(into);
            is_uneven.then(|| format!("{name} sends {}, receives {}", mbit(out), mbit(into)))
        };
        members.iter().filter_map(own).take(NAMED).collect()
    }

    fn between(&self, way: &WayLimits) -> String {
        let [from, to] = [way.from, way.to].map(|site| self.site(Some(site)));
        let latency = ms(self.found.latency(way.from, way.to));
        let one = mbit(way.one);
        let limit = match way.connection {
            Some(_) => "a connection's limit",
            None => "no limit of its own: limited by a card, or by what all share",
        };
        let together = match (way.capacity, way.shared_from) {
            (Some(rate), Some(pairs)) => {
                format!("pairs share {} from {pairs} concurrent pairs on", mbit(rate))
            }
            (Some(rate), None) => format!("many connections share {}", mbit(rate)),
            (None, _) => format!("no shared limit up to {}", mbit(way.most)),
        };
        let congestion = match way.congestion.is_none() {
            true => String::new(),
            false => format!("; the total rate decreases with more of them: {}", way.congestion),
        };
        format!("{from} to {to}: {latency}, {one} for one pair ({limit}); {together}{congestion}")
    }

    fn lanes(&self, way: &WayLimits) -> Vec<String> {
        let [from, to] = [way.from, way.to].map(|site| self.site(Some(site)));
        let hosts = helpers(self.found, way.from, way.to);
        let of_block = |&block: &u64| {
            let lanes = lanes(self.found, way.from, way.to, block).ok()?;
            let (printed, corrected) = (lanes.printed.lanes, lanes.corrected.lanes);
            let by = self.names(&hosts[..corrected as usize]);
            Some(format!(
                "{from} to {to}, blocks of {}: {printed} lanes by the model as printed, \
                 {corrected} as corrected: {by}",
                format_size(block)
            ))
        };
        self.blocks.iter().filter_map(of_block).collect()
    }

    fn order(&self, site: usize) -> String {
        let far = |&other: &usize| {
            format!("{} ({})", self.site(Some(other)), ms(self.found.latency(site, other)))
        };
        let others: Vec<String> = order(self.found, site).iter().map(far).collect();
        format!("a root at {} serves {}", self.site(Some(site)), others.join(", then "))
    }
}

/// The columns and rows that a person needs: of what each host was measured for, the first figure.
pub fn brief_rows(rows: &[Row]) -> Vec<Row> {
    const SHOWN: [&str; 10] = [
        "kind",
        "from_site",
        "to_site",
        "p",
        "latency_us",
        "reps",
        "rate_each",
        "ci_low",
        "ci_high",
        "rate_together",
    ];
    let mut known: Vec<[Option<Value>; 3]> = Vec::new();
    let mut chosen = |row: &&Row| match row.get("kind") {
        Some(kind) if *kind == Value::from("lanes") => false,
        Some(kind)
            if [Kind::Pairs, Kind::Many].iter().any(|one| *kind == Value::from(one.name())) =>
        {
            true
        }
        _ => {
            let key = ["kind", "from_site", "to_site"].map(|name| row.get(name).cloned());
            let is_new = !known.contains(&key);
            known.push(key);
            is_new
        }
    };
    let shown = |row: &Row| {
        let flagged = row.get("flags").is_some_and(|flags| *flags != Value::from(""));
        row.only(|name| SHOWN.contains(&name) || name == "flags" && flagged)
    };
    rows.iter().filter(|row| chosen(row)).map(shown).collect()
}
