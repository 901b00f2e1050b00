//! Tables that were read, for the addresses and the forwarding of a fabric.

use std::collections::BTreeMap;

use super::super::identity::{Identity, LAST_LID, MOST_LMC};
use super::super::{ReadError, ReadFault};
use super::reading::{ADDRESSES, Entry, NO_WAY, Owner, Source};
use crate::routing::table::Table;
use crate::wiring::{Switch, Wiring};

/// What an entry for an address is.
#[derive(Clone, Copy)]
enum Place {
    Unknown,
    Destination(u32),
    Switch(u32),
    Other,
}

/// The places of all addresses, as the file itself gives them or else as they are pinned.
fn places(source: &Dump, identity: &Identity) -> Result<(u32, Vec<Place>), ReadError> {
    let mut places = vec![Place::Unknown; ADDRESSES];
    let known = source.hosts();
    // Addresses that are not given are not guessed: OpenSM assigns them as it likes.
    if known.is_empty() && identity.hosts.iter().any(|id| id.lid != 0) {
        let mut own = identity.clone();
        if !own.is_pinned() && own.pin(own.lmc).is_err() {
            own = Identity::default();
        }
        for (switch, id) in own.switches.iter().enumerate() {
            places[usize::from(id.lid)] = Place::Switch(switch as u32);
        }
        for (lid, destination) in own.destinations() {
            places[usize::from(lid)] = Place::Destination(destination);
        }
        return Ok((own.paths(), places));
    }
    let wide = |lids: &Vec<u16>| lids.last().zip(lids.first()).map_or(0, |(to, from)| to - from);
    let widest = known.values().max_by_key(|lids| wide(lids));
    let paths = (widest.map_or(0, |lids| u64::from(wide(lids))) + 1).next_power_of_two();
    let line = || source.line_of(widest.and_then(|lids| lids.last()).copied().unwrap_or(0));
    if paths > 1 << MOST_LMC {
        let what = format!("one host with {paths} addresses, and at most 128 are possible");
        return Err(ReadError::new(line(), what));
    }
    // All hosts have equally many; what does not fit into a subnet need not fit into memory.
    let (hosts, switches) = (identity.hosts.len() as u64, identity.switches.len() as u64);
    if paths > 1 && hosts * paths + switches > u64::from(LAST_LID) {
        let what = format!("one host with {paths} addresses, and as many for each of {hosts}");
        return Err(ReadError::new(line(), format!("{what} do not fit into a subnet")));
    }
    let paths = paths as u32;
    for (place, owner) in places.iter_mut().zip(&source.owners) {
        *place = match owner {
            Owner::Nothing | Owner::Host(_) => Place::Unknown,
            Owner::Switch(switch) => Place::Switch(*switch),
            Owner::Other => Place::Other,
        };
    }
    for (host, lids) in known {
        for lid in &lids {
            let path = u32::from(lid - lids[0]);
            places[usize::from(*lid)] = Place::Destination(host * paths + path);
        }
    }
    Ok((paths, places))
}

/// Tables as a text says them, parsed once: their entries, and the parts at their addresses.
pub struct Dump {
    tables: Vec<(Switch, Vec<Entry>)>,
    owners: Vec<Owner>,
}

impl Dump {
    /// Parses tables of a fabric whose parts have these names and numbers.
    pub fn parse(text: &str, wiring: &dyn Wiring, identity: &Identity) -> Result<Dump, ReadError> {
        let Source { tables, owners, .. } = Source::of(text, wiring, identity)?;
        Ok(Dump { tables, owners })
    }

    /// Gives the parts of the fabric the addresses in the comments.
    pub fn address(&self, identity: &mut Identity) -> Result<(), ReadError> {
        let (paths, _) = places(self, identity)?;
        let known = self.hosts();
        if known.is_empty() {
            return Ok(());
        }
        identity.lmc = paths.ilog2() as u8;
        // A host that the tables lack keeps the address of its own file, unless another part has
        // it.
        let mut taken: Vec<bool> =
            self.owners.iter().map(|owner| *owner != Owner::Nothing).collect();
        for lids in known.values() {
            taken
                .iter_mut()
                .skip(usize::from(lids[0]))
                .take(paths as usize)
                .for_each(|at| *at = true);
        }
        let is_free =
            |lid: u16| taken.iter().skip(usize::from(lid)).take(paths as usize).all(|at| !at);
        for (host, id) in identity.hosts.iter_mut().enumerate() {
            let kept = if is_free(id.lid) { id.lid } else { 0 };
            id.lid = known.get(&(host as u32)).map_or(kept, |lids| lids[0]);
        }
        for (lid, owner) in self.owners.iter().enumerate() {
            if let Owner::Switch(switch) = owner {
                identity.switches[*switch as usize].lid = lid as u16;
            }
        }
        Ok(())
    }

    /// The table to hosts and the one to switches; the parts have the addresses of the comments, or
    /// else these.
    pub fn tables(
        &self,
        wiring: &dyn Wiring,
        identity: &Identity,
    ) -> Result<(Table, Table), ReadError> {
        let mut to_switches = Table::empty(wiring.switches(), wiring.switches(), 1);
        let table = read_into(self, wiring, identity, Some(&mut to_switches))?;
        Ok((table, to_switches))
    }

    /// The line of an address's first entry.
    fn line_of(&self, lid: u16) -> usize {
        let mut entries = self.tables.iter().flat_map(|(_, entries)| entries);
        entries.find(|entry| entry.lid == lid).map_or(1, |entry| entry.line as usize)
    }

    /// The addresses of each host that has one in the tables, in order.
    fn hosts(&self) -> BTreeMap<u32, Vec<u16>> {
        let mut hosts: BTreeMap<u32, Vec<u16>> = BTreeMap::new();
        for (lid, owner) in self.owners.iter().enumerate() {
            if let Owner::Host(host) = owner {
                hosts.entry(*host).or_default().push(lid as u16);
            }
        }
        hosts
    }
}

/// Reads the table of a fabric. Entries for switches are left out: messages go to hosts.
pub fn read(text: &str, wiring: &dyn Wiring, identity: &Identity) -> Result<Table, ReadError> {
    read_into(&Dump::parse(text, wiring, identity)?, wiring, identity, None)
}

/// Reads the table to hosts and the one to switches, as [`super::write_both`] writes them.
pub fn read_both(
    text: &str,
    wiring: &dyn Wiring,
    identity: &Identity,
) -> Result<(Table, Table), ReadError> {
    Dump::parse(text, wiring, identity)?.tables(wiring, identity)
}

fn read_into(
    source: &Dump,
    wiring: &dyn Wiring,
    identity: &Identity,
    mut to_switches: Option<&mut Table>,
) -> Result<Table, ReadError> {
    let (paths, places) = places(source, identity)?;
    let is_addressed = identity.hosts.iter().any(|id| id.lid != 0) || !source.hosts().is_empty();
    let mut table = Table::empty(wiring.switches(), wiring.hosts(), paths);
    for (switch, entries) in &source.tables {
        let (ports, row) = (wiring.ports(*switch), table.row_mut(*switch));
        for &Entry { line, lid, port } in entries {
            let wrong = |what: String| Err(ReadError::new(line as usize, what));
            let has_port = (1..=ports).contains(&u32::from(port));
            match (places[usize::from(lid)], port) {
                (_, NO_WAY) | (Place::Other, _) => {}
                (Place::Switch(to), _) => {
                    // Its own entry leads to port 0, itself.
                    if let Some(ways) = to_switches.as_mut().filter(|_| has_port && to != *switch) {
                        ways.set(*switch, to, port - 1);
                    }
                }
                (Place::Unknown, _) if is_addressed => {
                    return wrong(format!("the fabric has no address {lid:#x}"));
                }
                (Place::Unknown, _) => {
                    let what = "addresses alone, and the fabric has none: give a guid2lid file";
                    let error = ReadError::new(line as usize, what);
                    return Err(ReadError { fault: ReadFault::NoAddresses, ..error });
                }
                (Place::Destination(to), _) if has_port => row[to as usize] = port - 1,
                _ => {
                    return wrong(format!("{} has no port {port}", wiring.switch_name(*switch)));
                }
            }
        }
    }
    Ok(table)
}
