//! Lists of cables as CSV: what is ordered, labelled and plugged.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Builder, Discovered, Node, ReadError, port};
use crate::wiring::{End, Port, Wiring};

/// The first line.
pub const HEADER: &str = "switch,ports,port,peer,peer_port,reach";

/// Its fields.
const FIELDS: usize = 6;

/// A line for each cable; a host's port is empty.
pub fn write(wiring: &dyn Wiring) -> String {
    let mut text = format!("{HEADER}\n");
    // Writing to a String cannot fail.
    for switch in 0..wiring.switches() {
        let (name, ports) = (field(&wiring.switch_name(switch)), wiring.ports(switch));
        for at in 0..ports as Port {
            let (own, reach) = (u32::from(at) + 1, wiring.reach(switch, at).name());
            let _ = match wiring.end(switch, at) {
                End::Host(host) => {
                    let peer = field(&wiring.host_name(host));
                    writeln!(text, "{name},{ports},{own},{peer},,{reach}")
                }
                End::Switch(other, its) if (switch, at) < (other, its) => {
                    let (peer, its) = (field(&wiring.switch_name(other)), u32::from(its) + 1);
                    writeln!(text, "{name},{ports},{own},{peer},{its},{reach}")
                }
                End::Nothing | End::Switch(..) => continue,
            };
        }
    }
    text
}

fn field(name: &str) -> String {
    match name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_string(),
    }
}

/// The fields of a line, one more than a good line has at most; quotes keep commas, and a doubled
/// quote is one.
fn fields(line: &str) -> Vec<String> {
    let (mut all, mut quoted) = (vec![String::new()], false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let last = all.len() - 1;
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                all[last].push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted && all.len() > FIELDS => break,
            ',' if !quoted => all.push(String::new()),
            letter => all[last].push(letter),
        }
    }
    all
}

/// Reads a list. Switches have the ports that the list tells, the other switch of a cable as many
/// as the first, or as it needs; hosts are in the order of their lines.
pub fn read(text: &str) -> Result<Discovered, ReadError> {
    let mut builder = Builder::default();
    let lines = || text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty());
    let six = |number: usize, line: &str| {
        let fields = fields(line);
        match fields.len() {
            FIELDS => Ok(fields),
            count if count > FIELDS => Err(ReadError::new(number, "more than six fields")),
            count => Err(ReadError::new(number, format!("{count} fields and not six"))),
        }
    };
    let mut needs: BTreeMap<String, u32> = BTreeMap::new();
    for (at, line) in lines() {
        let mut fields = six(at + 1, line)?;
        if let Ok(its) = fields[4].trim().parse::<u32>() {
            let need = needs.entry(std::mem::take(&mut fields[3])).or_default();
            *need = its.max(*need);
        }
    }
    for place in [0, 3] {
        for (at, line) in lines() {
            let fields = six(at + 1, line)?;
            let is_switch = place == 0 || !fields[4].is_empty();
            if is_switch && !builder.names.contains_key(&fields[place]) {
                let ports = fields[1].parse::<u32>().map_err(|_| {
                    ReadError::new(at + 1, format!("`{}` is no number of ports", fields[1]))
                })?;
                let need = needs.get(&fields[place]).copied().filter(|_| place == 3);
                builder.switch(at + 1, &fields[place], ports.max(need.unwrap_or(0)))?;
            }
        }
    }
    for (at, line) in lines() {
        let (number, fields) = (at + 1, six(at + 1, line)?);
        let Some(&Node::Switch(switch)) = builder.names.get(&fields[0]) else {
            return Err(ReadError::new(number, format!("`{}` is no switch", fields[0])));
        };
        let end = match fields[4].as_str() {
            "" => End::Host(builder.host(number, &fields[3])?),
            its => match builder.names.get(&fields[3]) {
                Some(&Node::Switch(other)) => End::Switch(other, port(number, its)?),
                _ => return Err(ReadError::new(number, format!("`{}` is a host", fields[3]))),
            },
        };
        builder.plug(number, (switch, port(number, &fields[2])?), end)?;
    }
    Ok(builder.finish())
}
