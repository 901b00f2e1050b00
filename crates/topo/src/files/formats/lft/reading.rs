//! Reads tables that OpenSM (`opensm-lfts.dump`, `opensm.fdbs`), `ibroute` or `dump_lfts` print.
//!
//! A switch's entries follow its heading. What is behind the port of an entry may be a comment that
//! names the destination; its GUID counts for more than the address, which another run of OpenSM
//! may give to another port, and its name for more than a planned GUID, which is a mere place in
//! the order of a file. The text is gone through once: a large fabric has 100 MiB of it, and
//! nearly every line repeats what another switch's line has said about the address.

use std::collections::BTreeMap;

use super::super::ReadError;
use super::super::guid2lid::hexadecimal;
use super::super::identity::{Id, Identity, is_planned};
use crate::wiring::{MOST_PORTS, Switch, Wiring};

/// Addresses that can be written: four digits.
pub(super) const ADDRESSES: usize = 1 << 16;

/// A line of a table.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub line: u32,
    pub lid: u16,
    /// As the file counts, from 1; [`NO_WAY`] where it says that there is none.
    pub port: u8,
}

/// What is at an address, according to comments.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Owner {
    #[default]
    Nothing,
    Host(u32),
    Switch(u32),
    /// A part that the fabric does not have.
    Other,
}

/// Which part is meant: by a GUID of the fabric's own file, else by name.
struct Known {
    guids: BTreeMap<u64, u32>,
    names: BTreeMap<String, u32>,
    /// Whose GUID is given in the fabric's own file: a name does not match another one.
    has_guid: Vec<bool>,
}

impl Known {
    fn new(ids: &[Id], name: impl Fn(u32) -> String) -> Known {
        Known {
            guids: ids.iter().enumerate().map(|(at, id)| (id.guid, at as u32)).collect(),
            names: (0..ids.len() as u32).map(|at| (name(at), at)).collect(),
            has_guid: ids.iter().map(|id| !is_planned(id.guid)).collect(),
        }
    }

    /// A planned GUID alone is taken if it has no name with it, or one that no other part has and
    /// that `is_like` the part's own.
    fn find(&self, guid: Option<u64>, name: &str, is_like: impl Fn(u32) -> bool) -> Option<u32> {
        let by_guid = guid.and_then(|guid| self.guids.get(&guid)).copied();
        if by_guid.is_some_and(|at| self.has_guid[at as usize]) {
            return by_guid;
        }
        let may = |at: &u32| guid.is_none() || !self.has_guid[*at as usize];
        let by_name = self.names.get(name).copied().filter(may);
        by_name.or_else(|| by_guid.filter(|&at| is_like(at)))
    }
}

/// Letters of a node's description in InfiniBand: a longer name is cut there.
const MOST_DESCRIBED: usize = 64;

/// Whether a name in a table may be a part's own: it, none, or what is left where it was cut.
fn is_like(own: &str, name: &str) -> bool {
    let is_cut = |rest: &str| rest.starts_with(' ') || name.len() + 1 >= MOST_DESCRIBED;
    name.is_empty() || own.strip_prefix(name).is_some_and(|rest| rest.is_empty() || is_cut(rest))
}

/// Refuses a switch by another name. Of a plan a GUID is no more than a number, which the table of
/// any other plan has too; where a fabric's own file tells it, a switch may have been renamed.
fn ensure_named(
    line: usize,
    wiring: &dyn Wiring,
    switch: Switch,
    name: &str,
) -> Result<(), ReadError> {
    let own = wiring.switch_name(switch);
    if is_like(&own, name) {
        return Ok(());
    }
    let what = format!("this switch is `{own}` in the fabric and `{name}` in the table");
    Err(ReadError::new(line, format!("{what}: it is for another fabric")))
}

/// The GUID and the name in `# Channel Adapter portguid 0x0000000000200001: 'node0'`.
fn comment(text: &str) -> (Option<u64>, &str) {
    let guid = text.split_once("portguid ").map(|(_, rest)| rest);
    let guid = guid.and_then(|rest| hexadecimal(rest.split([':', ' ', ')']).next()?));
    let name = text.split_once('\'').and_then(|(_, rest)| rest.rsplit_once('\''));
    (guid, name.map_or("", |(name, _)| name))
}

/// A switch's heading: its GUID, its name, and whether its entries have comments.
///
/// `Unicast lids [0-110] of switch Lid 2 guid 0x0000000000100000 ('vertex-0-0'):` or
/// `dump_ucast_routes: Switch 0x0000000000100000`.
fn heading(text: &str) -> Option<(Option<u64>, &str, bool)> {
    if let Some(rest) = text.strip_prefix("dump_ucast_routes: Switch ") {
        return Some((rest.split_whitespace().next().and_then(hexadecimal), "", false));
    }
    let rest = text.strip_prefix("Unicast lids")?;
    let guid = rest.split_once("guid ").map(|(_, rest)| rest);
    let guid = guid.and_then(|rest| hexadecimal(rest.split_whitespace().next()?));
    let name = rest.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')'));
    let name = name.map_or("", |(name, _)| name);
    let quoted = name.strip_prefix('\'').and_then(|name| name.strip_suffix('\''));
    Some((guid, quoted.unwrap_or(name), true))
}

/// The address and the port of `0x0001 005 : (…)` or `0x0001 : 005  : 02   : yes`, and the rest.
fn entry(line: usize, text: &str) -> Result<(Entry, &str), ReadError> {
    let bytes = text.as_bytes();
    let (mut lid, mut at) = (0u32, 2);
    while let Some(digit) = bytes.get(at).and_then(|&byte| char::from(byte).to_digit(16)) {
        lid = (lid << 4 | digit).min(ADDRESSES as u32);
        at += 1;
    }
    let ended = bytes.get(at).is_none_or(u8::is_ascii_whitespace);
    if at == 2 || lid as usize >= ADDRESSES || !ended {
        return Err(ReadError::new(line, "an address is a number up to 0xffff"));
    }
    let is_between = |byte: &u8| matches!(byte, b' ' | b'\t' | b':');
    while bytes.get(at).is_some_and(is_between) {
        at += 1;
    }
    let (begin, mut port) = (at, 0u32);
    while let Some(digit) = bytes.get(at).filter(|byte| byte.is_ascii_digit()) {
        port = (port * 10 + u32::from(digit - b'0')).min(1000);
        at += 1;
    }
    let ended = bytes.get(at).is_none_or(u8::is_ascii_whitespace);
    let port = match port {
        port if begin < at && ended && port <= MOST_PORTS => port as u8,
        255 if begin < at && ended => NO_WAY,
        _ if text.get(begin..).is_some_and(|rest| rest.starts_with("UNREACHABLE")) => NO_WAY,
        _ => {
            let word = text.get(begin..).and_then(|rest| rest.split_whitespace().next());
            return Err(ReadError::new(line, format!("`{}` is not a port", word.unwrap_or(""))));
        }
    };
    let entry = Entry { line: line as u32, lid: lid as u16, port };
    Ok((entry, text.get(at..).unwrap_or("")))
}

/// A port as files count it that is none.
pub(super) const NO_WAY: u8 = u8::MAX;

/// The headings of columns, sums and warnings of OpenSM, ibroute and dump_lfts.
fn is_other(text: &str) -> bool {
    let known = ["Lid ", "LID ", "Port ", "#", "***"];
    let is_heading = known.iter().any(|word| text.starts_with(word));
    text.is_empty() || is_heading || text.ends_with("lids dumped")
}

/// What a text says: the entries of each switch, and the parts at the addresses.
pub(super) struct Source<'t> {
    pub tables: Vec<(Switch, Vec<Entry>)>,
    pub owners: Vec<Owner>,
    /// The comment that named it, so that the same one is not parsed again.
    comments: Vec<&'t str>,
    /// The last entry for each address: the number of its table, from 1, and its port.
    last: Vec<(u32, u8)>,
}

impl<'t> Source<'t> {
    pub fn of(
        text: &'t str,
        wiring: &dyn Wiring,
        identity: &Identity,
    ) -> Result<Source<'t>, ReadError> {
        let switches = Known::new(&identity.switches, |at| wiring.switch_name(at));
        let hosts = Known::new(&identity.hosts, |at| wiring.host_name(at));
        let mut source = Source {
            tables: Vec::new(),
            owners: vec![Owner::default(); ADDRESSES],
            comments: vec![""; ADDRESSES],
            last: vec![(0, 0); ADDRESSES],
        };
        let mut seen = vec![false; switches.has_guid.len()];
        let mut has_comments = false;
        // The first switch that has another place in the order than its planned GUID.
        let mut moved = None;
        for (at, line) in text.lines().enumerate() {
            let (number, line) = (at + 1, line.trim_ascii());
            if line.starts_with("0x") {
                let (entry, rest) = entry(number, line)?;
                source.push(entry)?;
                if has_comments && source.comments[usize::from(entry.lid)] != rest {
                    source.understand(&entry, rest, (&switches, &hosts), wiring)?;
                }
            } else if let Some((guid, name, comments)) = heading(line) {
                let switch = switches.find(guid, name, |_| true).ok_or_else(|| {
                    let guid = guid.unwrap_or(0);
                    let what = format!("the fabric has no switch `{name}`, GUID {guid:#x}");
                    ReadError::new(number, what)
                })?;
                if !switches.has_guid[switch as usize] {
                    ensure_named(number, wiring, switch, name)?;
                    let place = guid.and_then(|guid| switches.guids.get(&guid));
                    let is_moved = place.is_some_and(|&place| place != switch);
                    moved = moved.or(place.filter(|_| is_moved).map(|&at| (number, at, name)));
                }
                if std::mem::replace(&mut seen[switch as usize], true) {
                    return Err(ReadError::new(number, format!("a second table of `{name}`")));
                }
                source.tables.push((switch, Vec::new()));
                has_comments = comments;
            } else if !is_other(line) {
                return Err(ReadError::new(number, "neither a switch nor an entry of its table"));
            }
        }
        if source.tables.is_empty() {
            return Err(ReadError::new(text.lines().count().max(1), "no table of any switch"));
        }
        // Another order is one of the same switches; a smaller plan has some of the names too.
        if let Some((line, at, name)) = moved.filter(|_| seen.contains(&false)) {
            ensure_named(line, wiring, at, name)?;
        }
        Ok(source)
    }

    /// An entry of the last table. Its switch has no two ways to one address.
    fn push(&mut self, entry: Entry) -> Result<(), ReadError> {
        let number = self.tables.len() as u32;
        let Some((_, entries)) = self.tables.last_mut() else {
            return Err(ReadError::new(entry.line as usize, "an entry before any switch"));
        };
        entries.push(entry);
        let now = (number, entry.port);
        let before = std::mem::replace(&mut self.last[usize::from(entry.lid)], now);
        if before.0 == number && before != now {
            let what = format!("a second entry for {:#x}, and another port", entry.lid);
            return Err(ReadError::new(entry.line as usize, what));
        }
        Ok(())
    }

    /// Takes note of who a comment says is at an address.
    fn understand(
        &mut self,
        &Entry { line, lid, .. }: &Entry,
        rest: &'t str,
        (switches, hosts): (&Known, &Known),
        wiring: &dyn Wiring,
    ) -> Result<(), ReadError> {
        self.comments[usize::from(lid)] = rest;
        if !rest.contains(['(', '#']) {
            return Ok(());
        }
        let (guid, name) = comment(rest);
        let host = hosts.find(guid, name, |at| is_like(&wiring.host_name(at), name));
        let switch = || switches.find(guid, name, |at| is_like(&wiring.switch_name(at), name));
        let now = host.map(Owner::Host).or_else(|| switch().map(Owner::Switch));
        let now = now.unwrap_or(Owner::Other);
        let before = std::mem::replace(&mut self.owners[usize::from(lid)], now);
        if before != Owner::Nothing && before != now {
            let what = format!("address {lid:#x} belongs to another part above");
            return Err(ReadError::new(line as usize, what));
        }
        Ok(())
    }
}
