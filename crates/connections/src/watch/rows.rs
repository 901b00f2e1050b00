//! What was seen as rows: one for each path, one for each connection or for many that are alike.

use std::collections::BTreeMap;
use std::net::IpAddr;

use laneway_core::units::counted;
use laneway_core::{Row, Value};
use laneway_path::{MigrationState, Nanos, QpState};

use super::look::{Seen, Snapshot};
use crate::control::{ConnectionStatus, PathStatus, Status};

/// Rows of connections of one service; more of them are summed up.
const LISTED: usize = 32;

/// Connections that are alike are one row: host of the peer, states, primary and alternate path.
type Alike = (Option<IpAddr>, QpState, MigrationState, u8, Option<u8>);

/// What was seen as rows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rows {
    /// A row for each path of a service.
    pub paths: Vec<Row>,
    /// A row for each connection, or for those that are alike where there are many.
    pub connections: Vec<Row>,
    /// What they add up to.
    pub summary: Row,
    /// The same in words.
    pub sentence: String,
}

impl Rows {
    /// With the rates since an earlier look, which was `seconds` before. More than 32
    /// connections of a service are summed up by their peers or states, unless all are to be
    /// listed.
    pub fn new(look: &Snapshot, before: Option<(&Snapshot, f64)>, lists_all: bool) -> Rows {
        let (summary, sentence) = (summary(look), sentence(look));
        let mut rows = Rows { paths: Vec::new(), connections: Vec::new(), summary, sentence };
        for seen in &look.seen {
            let paths = seen.status.paths.iter();
            rows.paths.extend(paths.map(|path| path_row(seen, path, before)));
            let groups = groups(&seen.status.connections, lists_all);
            rows.connections.extend(groups.iter().map(|group| connection_row(seen, group)));
        }
        rows
    }

    /// The paths for a table: one word for what each can do, and rates where there are some, else
    /// sums.
    pub fn brief_paths(&self) -> Vec<Row> {
        self.paths.iter().map(brief_path).collect()
    }

    /// The connections for a table, in few columns.
    pub fn brief_connections(&self) -> Vec<Row> {
        let is_single = |row: &Row| row.get("connections") == Some(&Value::Whole(1));
        let counts = !self.connections.iter().all(is_single);
        self.connections.iter().map(|row| brief_connection(row, counts)).collect()
    }
}

/// The state of the migration, with that of the queue pair where it is not RTS; both paths in one
/// column.
fn brief_connection(row: &Row, counts: bool) -> Row {
    let text = |name: &str| match row.get(name) {
        Some(Value::Text(text)) => text.clone(),
        _ => String::new(),
    };
    let state = match text("state").as_str() {
        "RTS" => text("migration"),
        other => format!("{other} {}", text("migration")),
    };
    let paths = [text("primary"), text("alternate")].join(" ");
    let value = |name: &str| row.get(name).cloned().unwrap_or(Value::Nothing);
    let brief = Row::new()
        .with("pid", value("pid"))
        .with("peer", value("peer"))
        .with("state", state)
        .with("paths", paths.trim_end());
    let brief = if counts { brief.with("count", value("connections")) } else { brief };
    brief
        .with("waiting", value("waiting"))
        .with("moved", value("migrations"))
        .with("again", value("sent_again"))
        .with("trip_us", value("round_trip_us"))
}

fn without(row: &Row, names: &[&str]) -> Row {
    row.only(|name| !names.contains(&name))
}

fn brief_path(row: &Row) -> Row {
    let is = |name: &str| row.get(name) == Some(&Value::Truth(true));
    let state = match (is("carrier"), is("drained")) {
        (false, _) => "no carrier",
        (true, true) => "drained",
        (true, false) => "up",
    };
    let mut left_out = vec!["what", "service", "number", "carrier", "sent_packets"];
    left_out.push("received_packets");
    if row.get("sent_mb_s").is_some() {
        left_out.extend(["sent_bytes", "received_bytes"]);
    }
    let mut brief = without(row, &left_out);
    for cell in &mut brief.0 {
        match &*cell.0 {
            "drained" => *cell = ("state".into(), state.into()),
            "connections" => cell.0 = "used_by".into(),
            _ => {}
        }
    }
    brief
}

fn summary(look: &Snapshot) -> Row {
    let all = || look.seen.iter().flat_map(|seen| &seen.status.connections);
    let is_armed = |one: &&ConnectionStatus| one.migration == MigrationState::Armed;
    let row = Row::new()
        .with("processes", look.processes() as u64)
        .with("connections", all().count() as u64)
        .with("armed", all().filter(is_armed).count() as u64);
    match look.silent.len() {
        0 => row,
        silent => row.with("silent", silent as u64),
    }
}

fn sentence(look: &Snapshot) -> String {
    let all = || look.seen.iter().flat_map(|seen| &seen.status.connections);
    let is_armed = |one: &&ConnectionStatus| one.migration == MigrationState::Armed;
    let processes = counted(look.processes() as u64, "process");
    let connections = counted(all().count() as u64, "connection");
    let armed = all().filter(is_armed).count() as u64;
    let silent = match look.silent.len() as u64 {
        0 => String::new(),
        silent => format!("; {silent} did not answer"),
    };
    let have = if look.processes() == 1 { "has" } else { "have" };
    format!("{processes} {have} {connections}, {armed} of them armed{silent}.")
}

fn own_row(what: &'static str, seen: &Seen) -> Row {
    Row::new()
        .with("what", what)
        .with("pid", seen.pid)
        .with("service", seen.service)
        .with("program", seen.status.program.as_str())
}

fn path_row(seen: &Seen, path: &PathStatus, before: Option<(&Snapshot, f64)>) -> Row {
    let users = seen.status.connections.iter().filter(|one| one.primary == path.number);
    let row = own_row("path", seen)
        .with("path", path.name())
        .with("number", u32::from(path.number))
        .with("address", path.address.to_string())
        .with("carrier", path.carrier)
        .with("drained", path.drained)
        .with("connections", users.count() as u64)
        .with("sent_packets", path.sent.packets)
        .with("sent_bytes", path.sent.bytes)
        .with("received_packets", path.received.packets)
        .with("received_bytes", path.received.bytes);
    let Some((before, seconds)) = before else { return row };
    let same = |then: &&Seen| (then.pid, then.service) == (seen.pid, seen.service);
    let then = before.seen.iter().find(same);
    let then = then.and_then(|then| then.status.paths.get(usize::from(path.number)));
    let rate = |now: u64, then: Option<u64>| {
        then.map(|then| now.saturating_sub(then) as f64 / seconds.max(1e-6) / 1e6)
    };
    row.with("sent_mb_s", rate(path.sent.bytes, then.map(|then| then.sent.bytes)))
        .with("received_mb_s", rate(path.received.bytes, then.map(|then| then.received.bytes)))
}

/// Each connection for itself where they are few; else those together that are alike.
fn groups(all: &[ConnectionStatus], lists_all: bool) -> Vec<Vec<&ConnectionStatus>> {
    if lists_all || all.len() <= LISTED {
        return all.iter().map(|one| vec![one]).collect();
    }
    let by = |peers: bool| {
        let mut groups: BTreeMap<Alike, Vec<&ConnectionStatus>> = BTreeMap::new();
        for one in all {
            let peer = peers.then_some(one.peer.ip());
            let alike = (peer, one.state, one.migration, one.primary, one.alternate);
            groups.entry(alike).or_default().push(one);
        }
        groups.into_values().collect::<Vec<_>>()
    };
    let by_peer = by(true);
    if by_peer.len() <= LISTED { by_peer } else { by(false) }
}

fn connection_row(seen: &Seen, group: &[&ConnectionStatus]) -> Row {
    let one = group[0];
    let sum = |of: fn(&ConnectionStatus) -> u64| group.iter().map(|one| of(one)).sum::<u64>();
    let mut hosts: Vec<IpAddr> = group.iter().map(|one| one.peer.ip()).collect();
    hosts.sort();
    hosts.dedup();
    let peer = match (group.len(), hosts.len()) {
        (1, _) => one.peer.to_string(),
        (_, 1) => one.peer.ip().to_string(),
        (_, hosts) => format!("{hosts} hosts"),
    };
    let trip = group.iter().filter_map(|one| one.round_trip).max();
    let micros = |trip: Nanos| trip as f64 / 1e3;
    own_row("connections", seen)
        .with("peer", peer)
        .with("number", (group.len() == 1).then_some(one.number))
        .with("state", one.state.name())
        .with("migration", one.migration.name())
        .with("primary", path_name(&seen.status, one.primary))
        .with("alternate", one.alternate.map(|path| path_name(&seen.status, path)))
        .with("connections", group.len() as u64)
        .with("waiting", sum(|one| one.waiting_messages))
        .with("migrations", sum(|one| one.migrations))
        .with("sent_again", sum(|one| one.sent_again))
        .with("round_trip_us", trip.map(micros))
        .with("data", kinds(group))
}

/// What carries the data of connections.
fn kinds(group: &[&ConnectionStatus]) -> &'static str {
    match group.iter().all(|one| one.kind == group[0].kind) {
        true => group[0].kind.name(),
        false => "both",
    }
}

fn path_name(status: &Status, number: u8) -> String {
    let path = status.paths.get(usize::from(number));
    path.map_or_else(|| number.to_string(), PathStatus::name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::kind::PathKind;

    fn connections(count: u32, hosts: u32) -> Vec<ConnectionStatus> {
        let one = |number: u32| ConnectionStatus {
            number,
            peer: ([10, 0, (number % hosts / 250) as u8, (number % hosts % 250) as u8], 9).into(),
            state: QpState::Rts,
            migration: MigrationState::ALL[2 - usize::from(number == 7)],
            primary: 0,
            alternate: (number != 7).then_some(1),
            waiting_messages: 1,
            migrations: 2,
            sent_again: 3,
            round_trip: Some(u64::from(number)),
            kind: PathKind::ALL[(number % 2) as usize],
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn many_connections_are_few_rows() {
        let sizes = |count: u32, hosts: u32, all: bool| {
            let all_of_them = connections(count, hosts);
            groups(&all_of_them, all).iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(sizes(32, 2, false), [1; 32]);
        // One of them is not armed.
        assert_eq!(sizes(4096, 2, false), [2048, 1, 2047]);
        assert_eq!(sizes(4096, 1000, false), [1, 4095]);
        assert_eq!(sizes(4096, 1000, true), [1; 4096]);
        assert_eq!(sizes(0, 1, false), [0; 0]);
    }
}
