//! Lists of cables as CSV: what is ordered, labelled and plugged.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Builder, Discovered, MOST_SWITCHES, Node, ReadError, is_nothing, port};
use crate::wiring::{End, Port, Reach, Wiring};

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

/// A name as a field, in quotes where it needs them.
pub fn field(name: &str) -> String {
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

/// The reach in a field, if any.
fn reach(number: usize, word: &str) -> Result<Option<Reach>, ReadError> {
    let word = word.trim();
    match Reach::ALL.into_iter().find(|reach| reach.name() == word) {
        None if !word.is_empty() => {
            let what = format!("`{word}` is not a reach: rack, row or hall");
            Err(ReadError::new(number, what))
        }
        reach => Ok(reach),
    }
}

/// The lines behind the header with their numbers, those without anything left out.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let from_header = numbered.skip_while(|(_, line)| is_nothing(line));
    from_header.skip(1).filter(|(_, line)| !line.trim().is_empty())
}

fn six(number: usize, line: &str) -> Result<Vec<String>, ReadError> {
    let fields = fields(line);
    match fields.len() {
        FIELDS => Ok(fields),
        count if count > FIELDS => Err(ReadError::new(number, "more than six fields")),
        count => Err(ReadError::new(number, format!("{count} fields and not six"))),
    }
}

/// All switches: those that lines begin with, then those that only end cables.
fn switches(text: &str) -> Result<Builder, ReadError> {
    let mut builder = Builder::default();
    let mut needs: BTreeMap<String, u32> = BTreeMap::new();
    for (number, line) in lines(text) {
        let mut fields = six(number, line)?;
        if let Ok(its) = fields[4].trim().parse::<u32>() {
            let need = needs.entry(std::mem::take(&mut fields[3])).or_default();
            *need = its.max(*need);
        }
        // Before a file of millions of them is in memory.
        if needs.len() > MOST_SWITCHES {
            return Err(ReadError::new(number, format!("more than {MOST_SWITCHES} switches")));
        }
    }
    for place in [0, 3] {
        for (number, line) in lines(text) {
            let fields = six(number, line)?;
            let wrong =
                |_| ReadError::new(number, format!("`{}` is not a number of ports", fields[1]));
            let (name, ports) = (&fields[place], fields[1].parse::<u32>().map_err(wrong)?);
            match builder.names.get(name) {
                None if place == 0 => {
                    builder.switch(number, name, ports)?;
                }
                None if !fields[4].is_empty() => {
                    let need = needs.get(name).copied().unwrap_or(0);
                    builder.switch(number, name, ports.max(need))?;
                }
                Some(&Node::Switch(switch)) if place == 0 => {
                    let had = builder.fabric.ports(switch);
                    if had != ports {
                        let what = format!("`{name}` has {had} ports in a line above, not {ports}");
                        return Err(ReadError::new(number, what));
                    }
                }
                _ => {}
            }
        }
    }
    Ok(builder)
}

/// Reads a list. Switches have the ports that the list gives, the other switch of a cable as many
/// as the first, or as it needs; hosts are in the order of their lines.
pub fn read(text: &str) -> Result<Discovered, ReadError> {
    let mut builder = switches(text)?;
    for (number, line) in lines(text) {
        let fields = six(number, line)?;
        let Some(&Node::Switch(switch)) = builder.names.get(&fields[0]) else {
            return Err(ReadError::new(number, format!("`{}` is not a switch", fields[0])));
        };
        let end = match fields[4].as_str() {
            "" => End::Host(builder.host(number, &fields[3])?),
            its => match builder.names.get(&fields[3]) {
                Some(&Node::Switch(other)) => End::Switch(other, port(number, its)?),
                _ => return Err(ReadError::new(number, format!("`{}` is a host", fields[3]))),
            },
        };
        let own = port(number, &fields[2])?;
        builder.plug(number, (switch, own), end)?;
        if let Some(reach) = reach(number, &fields[5])? {
            builder.fabric.set_reach((switch, own), reach);
        }
    }
    Ok(builder.finish())
}
