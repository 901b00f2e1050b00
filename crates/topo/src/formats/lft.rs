//! Forwarding tables as OpenSM reads them (`-R file -U FILE`) and as it, `ibroute` and `dump_lfts`
//! print them.
//!
//! A switch's entries follow its heading. What is behind the port of an entry is a comment that
//! names the destination; its GUID counts for more than the address, which another run of OpenSM
//! may give to another port.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::ReadError;
use super::guid2lid::hexadecimal;
use super::identity::{Identity, MOST_LMC};
use crate::table::Table;
use crate::wiring::{End, MOST_PORTS, NO_PORT, Port, Switch, Wiring};

/// Writes a table. The switches themselves are destinations too, by shortest ways, because OpenSM
/// and its tools talk to them.
pub fn write(wiring: &dyn Wiring, table: &Table, identity: &Identity) -> String {
    let to_switches: Vec<Vec<Port>> =
        (0..wiring.switches()).map(|switch| ways_to(wiring, switch)).collect();
    let last = identity.destinations().keys().last().copied().unwrap_or(0);
    let last = identity.switches.iter().map(|id| id.lid).fold(last, u16::max);
    let mut text = String::new();
    // Writing to a String cannot fail.
    for switch in 0..wiring.switches() {
        let (own, name) = (identity.switches[switch as usize], wiring.switch_name(switch));
        let _ = writeln!(
            text,
            "Unicast lids [0x0-{last:#x}] of switch Lid {} guid {:#018x} ({name}):",
            own.lid, own.guid
        );
        for (destination, &port) in table.row_of(switch).iter().enumerate() {
            if port == NO_PORT {
                continue;
            }
            let (host, path) =
                (destination / table.paths() as usize, destination % table.paths() as usize);
            let (id, name) = (identity.hosts[host], wiring.host_name(host as u32));
            let (lid, port) = (usize::from(id.lid) + path, u32::from(port) + 1);
            let guid = id.guid;
            let _ = writeln!(
                text,
                "{lid:#06x} {port:03} : (Channel Adapter portguid {guid:#018x}: '{name}')"
            );
        }
        for (to, ways) in to_switches.iter().enumerate() {
            let port = match ways[switch as usize] {
                _ if to == switch as usize => 0,
                NO_PORT => continue,
                port => u32::from(port) + 1,
            };
            let (id, name) = (identity.switches[to], wiring.switch_name(to as Switch));
            let (lid, guid) = (id.lid, id.guid);
            let _ =
                writeln!(text, "{lid:#06x} {port:03} : (Switch portguid {guid:#018x}: '{name}')");
        }
        text.push('\n');
    }
    text
}

/// The port by which each switch sends to one of them.
fn ways_to(wiring: &dyn Wiring, to: Switch) -> Vec<Port> {
    let mut ways = vec![NO_PORT; wiring.switches() as usize];
    let mut known = vec![false; ways.len()];
    known[to as usize] = true;
    let mut reached = vec![to];
    let mut at = 0;
    while let Some(&switch) = reached.get(at) {
        at += 1;
        for port in 0..wiring.ports(switch) as Port {
            if let End::Switch(other, its) = wiring.end(switch, port)
                && !std::mem::replace(&mut known[other as usize], true)
            {
                ways[other as usize] = its;
                reached.push(other);
            }
        }
    }
    ways
}

/// A line of a table.
struct Entry<'t> {
    lid: u16,
    /// None where the file says that there is no way.
    port: Option<u32>,
    guid: Option<u64>,
    name: &'t str,
}

/// `0x0001 005 : (Channel Adapter portguid 0x0000000000200001: 'node0')`, or with `#` for `:`.
fn entry(line: usize, text: &str) -> Result<Option<Entry<'_>>, ReadError> {
    if !text.starts_with("0x") {
        // The headings, sums and warnings of OpenSM, ibroute and dump_lfts.
        let known = ["Lid ", "Port ", "#", "***"];
        let is_heading = known.iter().any(|word| text.starts_with(word));
        if text.is_empty() || is_heading || text.ends_with("lids dumped") {
            return Ok(None);
        }
        return Err(ReadError::new(line, "neither a switch nor an entry of its table"));
    }
    let mut words = text.splitn(3, char::is_whitespace);
    let lid = words.next().and_then(hexadecimal).filter(|lid| *lid <= 0xffff);
    let lid = lid.ok_or_else(|| ReadError::new(line, "an address is a number up to 0xffff"))?;
    let port = match words.next().unwrap_or("") {
        "UNREACHABLE" => None,
        word => match word.parse::<u32>() {
            Ok(255) => None,
            Ok(port) if port <= MOST_PORTS => Some(port),
            _ => return Err(ReadError::new(line, format!("`{word}` is no port"))),
        },
    };
    let comment = words.next().unwrap_or("");
    let guid = comment.split_once("portguid ").map(|(_, rest)| rest);
    let guid = guid.and_then(|rest| hexadecimal(rest.split([':', ' ', ')']).next()?));
    let name = comment.split_once('\'').and_then(|(_, rest)| rest.rsplit_once('\''));
    Ok(Some(Entry { lid: lid as u16, port, guid, name: name.map_or("", |(name, _)| name) }))
}

/// `Unicast lids [0-110] of switch Lid 2 guid 0x0000000000100000 ('vertex-0-0'):`.
fn heading(text: &str) -> Option<(Option<u64>, &str)> {
    let rest = text.strip_prefix("Unicast lids")?;
    let guid = rest.split_once("guid ").map(|(_, rest)| rest);
    let guid = guid.and_then(|rest| hexadecimal(rest.split_whitespace().next()?));
    let name = rest.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')'));
    Some((guid, name.map_or("", |(name, _)| name.trim_matches('\''))))
}

/// Who is meant: by GUID, else by name.
struct Known {
    guids: BTreeMap<u64, u32>,
    names: BTreeMap<String, u32>,
}

impl Known {
    fn find(&self, guid: Option<u64>, name: &str) -> Option<u32> {
        let by_guid = guid.and_then(|guid| self.guids.get(&guid));
        by_guid.or_else(|| self.names.get(name)).copied()
    }
}

/// Addresses of hosts, as the file itself tells them or else as they are pinned.
struct Addresses {
    paths: u32,
    destinations: BTreeMap<u16, u32>,
    switches: Vec<u16>,
}

impl Addresses {
    fn of(text: &str, hosts: &Known, identity: &Identity) -> Result<Addresses, ReadError> {
        let mut told: BTreeMap<u32, (u16, u16)> = BTreeMap::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if heading(line).is_some() {
                continue;
            }
            let Some(entry) = entry(at + 1, line)? else { continue };
            if let Some(host) = hosts.find(entry.guid, entry.name) {
                let range = told.entry(host).or_insert((entry.lid, entry.lid));
                *range = (range.0.min(entry.lid), range.1.max(entry.lid));
            }
        }
        let mut own = identity.clone();
        if !own.is_pinned() && own.pin(own.lmc).is_err() {
            own = Identity::default();
        }
        if told.is_empty() {
            let switches = own.switches.iter().map(|id| id.lid).collect();
            return Ok(Addresses {
                paths: own.paths(),
                destinations: own.destinations(),
                switches,
            });
        }
        let most = told.values().map(|(first, last)| u32::from(last - first)).max().unwrap_or(0);
        let paths = (most + 1).next_power_of_two();
        if paths > 1 << MOST_LMC {
            let what = format!("one host with {paths} addresses, and at most 128 are possible");
            return Err(ReadError::new(text.lines().count(), what));
        }
        let each = |(&host, &(first, _)): (&u32, &(u16, u16))| {
            (0..paths).map(move |path| (first.saturating_add(path as u16), host * paths + path))
        };
        let destinations = told.iter().flat_map(each).collect();
        Ok(Addresses { paths, destinations, switches: Vec::new() })
    }
}

/// Reads the table of a fabric. Entries for switches are left out: messages go to hosts.
pub fn read(text: &str, wiring: &dyn Wiring, identity: &Identity) -> Result<Table, ReadError> {
    let names =
        |count: u32, name: &dyn Fn(u32) -> String| (0..count).map(|at| (name(at), at)).collect();
    let switches = Known {
        guids: identity.switches_by_guid(),
        names: names(wiring.switches(), &|at| wiring.switch_name(at)),
    };
    let hosts = Known {
        guids: identity.hosts_by_guid(),
        names: names(wiring.hosts(), &|at| wiring.host_name(at)),
    };
    let addresses = Addresses::of(text, &hosts, identity)?;
    let mut table = Table::empty(wiring.switches(), wiring.hosts(), addresses.paths);
    let mut here: Option<Switch> = None;
    let mut seen = vec![false; wiring.switches() as usize];
    for (at, line) in text.lines().enumerate() {
        let (number, line) = (at + 1, line.trim());
        if let Some((guid, name)) = heading(line) {
            let switch = switches.find(guid, name).ok_or_else(|| {
                let what =
                    format!("the fabric has no switch `{name}`, GUID {:#x}", guid.unwrap_or(0));
                ReadError::new(number, what)
            })?;
            if std::mem::replace(&mut seen[switch as usize], true) {
                return Err(ReadError::new(number, format!("a second table of `{name}`")));
            }
            here = Some(switch);
            continue;
        }
        let Some(entry) = entry(number, line)? else { continue };
        let Some(switch) = here else {
            return Err(ReadError::new(number, "an entry before any switch"));
        };
        let Some(&destination) = addresses.destinations.get(&entry.lid) else {
            let tells = entry.guid.is_some() || line.contains('(') || line.contains('#');
            if tells || addresses.switches.contains(&entry.lid) {
                continue;
            }
            let what = format!("the fabric has no address {:#x}", entry.lid);
            return Err(ReadError::new(number, what));
        };
        match entry.port {
            None => {}
            Some(port) if (1..=wiring.ports(switch)).contains(&port) => {
                table.set(switch, destination, (port - 1) as Port);
            }
            Some(port) => {
                let name = wiring.switch_name(switch);
                return Err(ReadError::new(number, format!("{name} has no port {port}")));
            }
        }
    }
    if here.is_none() {
        return Err(ReadError::new(text.lines().count().max(1), "no table of any switch"));
    }
    Ok(table)
}
