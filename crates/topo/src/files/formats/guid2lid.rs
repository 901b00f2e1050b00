//! OpenSM's `guid2lid`: which addresses a port keeps when OpenSM starts anew (`-x`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::ReadError;
use super::identity::{Identity, LAST_LID, MOST_LMC};

/// A line for each port, and an empty one after it, as OpenSM writes them.
pub fn write(identity: &Identity) -> String {
    let mut text = String::new();
    let last = identity.paths() as u16 - 1;
    let hosts = identity.hosts.iter().map(|id| (id, last));
    for (id, more) in identity.switches.iter().map(|id| (id, 0)).chain(hosts) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:#018x} {:#06x} {:#06x}\n", id.guid, id.lid, id.lid + more);
    }
    text
}

/// Gives the parts of a fabric the addresses of a file; those that it does not name keep none.
pub fn read(text: &str, identity: &mut Identity) -> Result<(), ReadError> {
    let parts = identity.switches.iter().chain(&identity.hosts).map(|id| id.guid);
    let parts: BTreeSet<u64> = parts.collect();
    let mut ranges: BTreeMap<u64, (u16, u16)> = BTreeMap::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let Some(guid) = words.next() else { continue };
        let wrong = |word: &str| ReadError::new(at + 1, format!("`{word}` is not a number"));
        let number = |word: Option<&str>| {
            let word = word.unwrap_or("");
            hexadecimal(word).ok_or_else(|| wrong(word))
        };
        let guid = hexadecimal(guid).ok_or_else(|| wrong(guid))?;
        let (first, last) = (number(words.next())?, number(words.next())?);
        let wide = last.saturating_sub(first) >= 1 << MOST_LMC;
        if first == 0 || first > last || last > u64::from(LAST_LID) || wide {
            let what = format!("{first:#x} to {last:#x} are not addresses of a port");
            return Err(ReadError::new(at + 1, what));
        }
        if let Some(word) = words.next() {
            let what = format!("`{word}` behind a GUID and its first and last address");
            return Err(ReadError::new(at + 1, what));
        }
        // A file may name any number of strangers.
        let range = (first as u16, last as u16);
        if parts.contains(&guid) && *ranges.entry(guid).or_insert(range) != range {
            let what = format!("other addresses of {guid:#x} than in a line above");
            return Err(ReadError::new(at + 1, what));
        }
    }
    let mask = |id: &super::Id| {
        let range = ranges.get(&id.guid);
        range.map_or(0, |(first, last)| (last - first + 1).ilog2() as u8)
    };
    identity.lmc = identity.hosts.iter().map(mask).max().unwrap_or(0);
    for id in identity.switches.iter_mut().chain(&mut identity.hosts) {
        id.lid = ranges.get(&id.guid).map_or(0, |range| range.0);
    }
    Ok(())
}

pub(super) fn hexadecimal(word: &str) -> Option<u64> {
    u64::from_str_radix(word.strip_prefix("0x").unwrap_or(word), 16).ok()
}
