//! Netlists: what `ibnetdiscover` prints and what `ibsim` simulates.
//!
//! They are one format. `ibnetdiscover` calls a part by its GUID and gives its name in a comment;
//! for `ibsim` any word is a name, and a person types it at its console.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::guid2lid::hexadecimal;
use super::identity::{Identity, MOST_LMC};
use super::{Builder, Discovered, MOST_HOSTS, MOST_SWITCHES, ReadError, port};
use crate::wiring::{End, Port, Wiring};

/// The words before an equals sign that a netlist may begin with.
pub fn is_key(word: &str) -> bool {
    matches!(word, "vendid" | "devid" | "sysimgguid" | "switchguid" | "caguid" | "rtguid")
}

/// A switch or an adapter as it is written.
#[derive(Default)]
struct Record {
    line: usize,
    is_switch: bool,
    ports: u32,
    id: String,
    name: String,
    guid: Option<u64>,
    lid: u16,
    cables: Vec<Cable>,
    /// Ports with a cable, a bit for each.
    used: [u64; 4],
}

struct Cable {
    line: usize,
    port: Port,
    guid: Option<u64>,
    lid: u16,
    lmc: u8,
    peer: String,
    peer_port: Port,
}

/// The text between the first two quotes, and what is behind.
fn quoted(text: &str) -> Option<(&str, &str)> {
    text.split_once('"')?.1.split_once('"')
}

/// The number after a word of a comment; 0 where there is none.
fn number_after(line: usize, comment: &str, word: &str, most: u16) -> Result<u16, ReadError> {
    let mut words = comment.split_whitespace().skip_while(|found| *found != word).skip(1);
    let Some(number) = words.next().filter(|next| next.starts_with(|c: char| c.is_ascii_digit()))
    else {
        return Ok(0);
    };
    let wrong = || ReadError::new(line, format!("{word} `{number}` is none from 0 to {most}"));
    number.parse().ok().filter(|&number| number <= most).ok_or_else(wrong)
}

fn header(line: usize, text: &str) -> Result<Option<Record>, ReadError> {
    let (kind, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let is_switch = match kind {
        "Switch" => true,
        "Ca" | "Hca" | "Rt" => false,
        _ => return Ok(None),
    };
    let wrong = || ReadError::new(line, "a part is written: Switch 36 \"name\"");
    let (ports, _) = rest.trim_start().split_once(char::is_whitespace).ok_or_else(wrong)?;
    let ports = ports.parse::<u32>().map_err(|_| wrong())?;
    let (id, behind) = quoted(rest).ok_or_else(wrong)?;
    let comment = behind.split_once('#').map_or("", |(_, comment)| comment);
    let (name, behind) = quoted(comment).unwrap_or((id, comment));
    Ok(Some(Record {
        line,
        is_switch,
        ports,
        id: id.to_string(),
        name: if name.trim().is_empty() { id } else { name.trim() }.to_string(),
        lid: number_after(line, behind, "lid", u16::MAX)?,
        ..Record::default()
    }))
}

/// `[1](guid) "peer"[2](guid) # lid 9 lmc 0 "name" lid 5 4xEDR`.
fn cable(line: usize, text: &str) -> Result<Cable, ReadError> {
    let wrong = || ReadError::new(line, "a cable is written: [1] \"name\"[2]");
    let (own, rest) = text.strip_prefix('[').and_then(|r| r.split_once(']')).ok_or_else(wrong)?;
    let before = &rest[..rest.find('"').ok_or_else(wrong)?];
    let guid = before.split_once('(').and_then(|(_, guid)| guid.split_once(')'));
    let (peer, behind) = quoted(rest).ok_or_else(wrong)?;
    let its = behind.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (its, behind) = its.ok_or_else(wrong)?;
    let (behind, comment) = behind.split_once('#').unwrap_or((behind, ""));
    if behind.contains('"') {
        return Err(ReadError::new(line, "a second cable in one line"));
    }
    // The numbers before the peer's name are this port's own.
    let own_part = comment.split('"').next().unwrap_or("");
    Ok(Cable {
        line,
        port: port(line, own)?,
        guid: guid.and_then(|(guid, _)| hexadecimal(guid.trim())),
        lid: number_after(line, own_part, "lid", u16::MAX)?,
        lmc: number_after(line, own_part, "lmc", MOST_LMC.into())? as u8,
        peer: peer.to_string(),
        peer_port: port(line, its)?,
    })
}

fn records(text: &str) -> Result<Vec<Record>, ReadError> {
    let mut records: Vec<Record> = Vec::new();
    let mut guid = None;
    for (at, line) in text.lines().enumerate() {
        let (number, line) = (at + 1, line.trim());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with('[') {
            let Some(record) = records.last_mut() else {
                return Err(ReadError::new(number, "a cable before the part that it leaves"));
            };
            let cable = cable(number, line)?;
            if !record.is_switch && u32::from(cable.port) >= record.ports {
                let (ports, port) = (record.ports, u32::from(cable.port) + 1);
                let what = format!("an adapter has {ports} ports, and no port {port}");
                return Err(ReadError::new(number, what));
            }
            let (word, bit) = (usize::from(cable.port / 64), 1 << (cable.port % 64));
            if record.used[word] & bit != 0 {
                let what = format!("a second cable at port {}", u32::from(cable.port) + 1);
                return Err(ReadError::new(number, what));
            }
            record.used[word] |= bit;
            record.cables.push(cable);
        } else if let Some((key, value)) = line.split_once('=').filter(|(key, _)| is_key(key)) {
            if key.ends_with("guid") && key != "sysimgguid" {
                let value = value.split('(').next().unwrap_or("").trim();
                let wrong = || ReadError::new(number, format!("`{value}` is not a GUID"));
                guid = Some(hexadecimal(value).ok_or_else(wrong)?);
            }
        } else if let Some(record) = header(number, line)? {
            if records.len() >= MOST_SWITCHES + MOST_HOSTS {
                return Err(ReadError::new(number, "too many switches and hosts"));
            }
            records.push(Record { guid: guid.take(), ..record });
        } else {
            return Err(ReadError::new(number, "neither a part nor a cable"));
        }
    }
    Ok(records)
}

/// Names that are unique: a second part of the same name carries its own word too.
fn make_unique(records: &mut [Record]) {
    let mut taken = BTreeSet::new();
    for record in records {
        if !taken.insert(record.name.clone()) {
            record.name = format!("{} {}", record.name, record.id);
            taken.insert(record.name.clone());
        }
    }
}

/// GUIDs that a part has already.
#[derive(Default)]
struct Guids(BTreeSet<u64>);

impl Guids {
    /// A GUID, or 0 where none is given.
    fn note(&mut self, line: usize, guid: Option<u64>) -> Result<u64, ReadError> {
        match guid.filter(|&guid| guid != 0) {
            Some(guid) if !self.0.insert(guid) => {
                Err(ReadError::new(line, format!("a second part with GUID {guid:#x}")))
            }
            guid => Ok(guid.unwrap_or(0)),
        }
    }
}

/// Reads a netlist. An adapter with several cables is a host for each.
pub fn read(text: &str) -> Result<Discovered, ReadError> {
    let mut records = records(text)?;
    make_unique(&mut records);
    let mut builder = Builder::default();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut switches = vec![None; records.len()];
    let mut hosts: BTreeMap<(usize, Port), u32> = BTreeMap::new();
    let (mut identity, mut guids) = (Identity::default(), Guids::default());
    for (at, record) in records.iter().enumerate() {
        if places.insert(&record.id, at).is_some() {
            return Err(ReadError::new(record.line, format!("a second \"{}\"", record.id)));
        }
        if record.is_switch {
            switches[at] = Some(builder.switch(record.line, &record.name, record.ports)?);
            let guid = guids.note(record.line, record.guid)?;
            identity.switches.push(super::Id { guid, lid: record.lid });
            continue;
        }
        for (index, cable) in record.cables.iter().enumerate() {
            let name = match index {
                0 => record.name.clone(),
                _ => format!("{}/{}", record.name, u32::from(cable.port) + 1),
            };
            hosts.insert((at, cable.port), builder.host(cable.line, &name)?);
            // An adapter's ports count on from its own GUID, as ibsim gives them.
            let next = u64::from(cable.port) + 1;
            let guid = cable.guid.or(record.guid.map(|guid| guid.wrapping_add(next)));
            let guid = guids.note(cable.line, guid)?;
            identity.hosts.push(super::Id { guid, lid: cable.lid });
            identity.lmc = identity.lmc.max(cable.lmc);
        }
        if record.cables.is_empty() {
            builder.host(record.line, &record.name)?;
            let guid = guids.note(record.line, record.guid.map(|guid| guid.wrapping_add(1)))?;
            identity.hosts.push(super::Id { guid, lid: 0 });
        }
    }
    for (at, record) in records.iter().enumerate() {
        for cable in &record.cables {
            let Some(&peer) = places.get(cable.peer.as_str()) else {
                return Err(ReadError::new(cable.line, format!("there is no \"{}\"", cable.peer)));
            };
            let end = |at: usize, port: Port| match switches[at] {
                Some(switch) => Some(End::Switch(switch, port)),
                None => hosts.get(&(at, port)).map(|&host| End::Host(host)),
            };
            let one_sided = || {
                let what = format!("\"{}\" does not know of this cable", cable.peer);
                ReadError::new(cable.line, what)
            };
            let there = end(peer, cable.peer_port).ok_or_else(one_sided)?;
            match (end(at, cable.port), there) {
                (Some(End::Switch(switch, port)), there) => {
                    if builder.fabric.end(switch, port) != there {
                        builder.plug(cable.line, (switch, port), there)?;
                    }
                }
                (Some(here), End::Switch(switch, port)) => {
                    if builder.fabric.end(switch, port) != here {
                        builder.plug(cable.line, (switch, port), here)?;
                    }
                }
                _ => return Err(ReadError::new(cable.line, "a cable between two hosts")),
            }
        }
    }
    identity.complete(&builder.fabric);
    Ok(Discovered { fabric: builder.fabric, identity })
}

/// What `ibsim` simulates; its console calls the parts by their names.
pub fn write_ibsim(wiring: &dyn Wiring, identity: &Identity) -> String {
    write(wiring, identity, |_, name| name.to_string())
}

/// What `ibnetdiscover` would print.
pub fn write_ibnetdiscover(wiring: &dyn Wiring, identity: &Identity) -> String {
    write(wiring, identity, |node, _| match node {
        Node::Switch(guid) => format!("S-{guid:016x}"),
        Node::Host(guid) => format!("H-{guid:016x}"),
    })
}

/// An adapter's GUID by that of its port; ibsim counts from the one to the other itself.
fn adapter(port: u64) -> u64 {
    port.wrapping_sub(1)
}

#[derive(Clone, Copy)]
enum Node {
    Switch(u64),
    Host(u64),
}

fn write(wiring: &dyn Wiring, identity: &Identity, call: fn(Node, &str) -> String) -> String {
    let id = |end: End| match end {
        End::Switch(switch, port) => {
            let id = identity.switches[switch as usize];
            let name = wiring.switch_name(switch);
            Some((call(Node::Switch(id.guid), &name), name, id, u32::from(port) + 1))
        }
        End::Host(host) => {
            let id = identity.hosts[host as usize];
            let name = wiring.host_name(host);
            Some((call(Node::Host(adapter(id.guid)), &name), name, id, 1))
        }
        End::Nothing => None,
    };
    let mut text = String::from("# Topology file: written by laneway\n");
    // Writing to a String cannot fail.
    for switch in 0..wiring.switches() {
        let Some((word, name, own, _)) = id(End::Switch(switch, 0)) else { continue };
        let ports = wiring.ports(switch);
        let _ = write!(text, "\nswitchguid={0:#x}({0:x})\nSwitch\t{ports} \"{word}\"", own.guid);
        let _ = writeln!(text, "\t\t# \"{name}\" base port 0 lid {} lmc 0", own.lid);
        for port in 0..ports as Port {
            if let Some((word, name, peer, its)) = id(wiring.end(switch, port)) {
                let _ = write!(text, "[{}]\t\"{word}\"[{its}]", u32::from(port) + 1);
                let _ = writeln!(text, "\t\t# \"{name}\" lid {} 4xEDR", peer.lid);
            }
        }
    }
    for host in 0..wiring.hosts() {
        let Some((word, name, own, _)) = id(End::Host(host)) else { continue };
        let _ =
            writeln!(text, "\ncaguid={:#x}\nCa\t1 \"{word}\"\t\t# \"{name}\"", adapter(own.guid));
        if let Some((switch, port)) = wiring.attached(host)
            && let Some((word, name, peer, its)) = id(End::Switch(switch, port))
        {
            let _ = write!(text, "[1]({:x})\t\"{word}\"[{its}]\t\t# ", own.guid);
            let (lid, lmc) = (own.lid, identity.lmc);
            let _ = writeln!(text, "lid {lid} lmc {lmc} \"{name}\" lid {} 4xEDR", peer.lid);
        }
    }
    text
}
