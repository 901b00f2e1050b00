//! What the parts of a fabric are called in tables: global identifiers for life, addresses of one
//! subnet for its traffic.

use std::collections::BTreeMap;

use crate::wiring::{Host, Wiring};

/// The last address for one port: above it InfiniBand has those of groups.
pub const LAST_LID: u32 = 0xbfff;

/// Paths to a host at most: a mask has three bits.
pub const MOST_LMC: u8 = 7;

/// The GUIDs of planned parts, marked as given locally. An adapter's own is one less than that of
/// its port, as usual.
const SWITCHES: u64 = 0x0200_4c57_0000_0001;
const HOSTS: u64 = 0x0200_4c57_8000_0001;

/// Whether a GUID is one of those, and so no part of any real fabric has it.
pub fn is_planned(guid: u64) -> bool {
    guid >> 32 == SWITCHES >> 32
}

/// Takes addresses in a row, if they are free and begin at a multiple of their number.
fn take(taken: &mut [bool], lid: u16, each: usize) -> bool {
    let lid = usize::from(lid);
    match taken.get_mut(lid..lid + each) {
        Some(row) if lid.is_multiple_of(each) && row.iter().all(|taken| !taken) => {
            row.fill(true);
            true
        }
        _ => false,
    }
}

/// The identity of one part. A switch's is that of its port 0, a host's that of its port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Id {
    /// The global identifier.
    pub guid: u64,
    /// The first address; 0 where it has none yet.
    pub lid: u16,
}

/// The identities of all parts of a fabric, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The identities of the switches.
    pub switches: Vec<Id>,
    /// The identities of the hosts.
    pub hosts: Vec<Id>,
    /// A host has 2^lmc addresses, one for each path to it.
    pub lmc: u8,
}

impl Identity {
    /// GUIDs in order and no addresses.
    pub fn planned(wiring: &dyn Wiring) -> Identity {
        let id = |guid: u64| Id { guid, lid: 0 };
        let switches = 0..u64::from(wiring.switches());
        let hosts = 0..u64::from(wiring.hosts());
        Identity {
            switches: switches.map(|at| id(SWITCHES + at)).collect(),
            hosts: hosts.map(|at| id(HOSTS + 2 * at)).collect(),
            lmc: 0,
        }
    }

    /// Gives addresses to every part that has none of its own with this mask; the others keep
    /// theirs, because OpenSM and its clients have learnt them. Returns how many parts
    /// have new ones.
    pub fn pin(&mut self, lmc: u8) -> Result<usize, String> {
        let (hosts, switches) = (self.hosts.len() as u64, self.switches.len() as u64);
        if lmc > MOST_LMC {
            return Err(format!("a host has at most {} addresses", 1 << MOST_LMC));
        }
        let each = 1usize << lmc;
        let need = ((hosts + 1) << lmc) + switches - 1;
        if need > u64::from(LAST_LID) {
            return Err(format!(
                "{hosts} hosts with {each} addresses each and {switches} switches need addresses \
                 up to {need}, and those of one subnet end at {LAST_LID}"
            ));
        }
        let mut pinned = Identity { lmc, ..self.clone() };
        let mut taken = vec![false; LAST_LID as usize + 1];
        taken[0] = true;
        let mut new_hosts: Vec<&mut Id> = Vec::new();
        for id in &mut pinned.hosts {
            if !take(&mut taken, id.lid, each) {
                new_hosts.push(id);
            }
        }
        let mut new_switches: Vec<&mut Id> = Vec::new();
        for id in &mut pinned.switches {
            if !take(&mut taken, id.lid, 1) {
                new_switches.push(id);
            }
        }
        let new = new_hosts.len() + new_switches.len();
        // Hosts first, because theirs begin at multiples of 2^lmc.
        let full = || format!("no {each} addresses in a row are left between those that are kept");
        let mut next = 0;
        for id in new_hosts {
            let mut free = (next..taken.len()).step_by(each);
            let free = free.find(|&lid| take(&mut taken, lid as u16, each));
            id.lid = free.ok_or_else(full)? as u16;
            next = usize::from(id.lid) + each;
        }
        let mut free = (next..taken.len()).chain(1..next).filter(|&lid| !taken[lid]);
        for id in new_switches {
            id.lid = free.next().ok_or_else(full)? as u16;
        }
        *self = pinned;
        Ok(new)
    }

    /// Whether every part has addresses that no other has.
    pub fn is_pinned(&self) -> bool {
        let parts = self.hosts.len() * self.paths() as usize + self.switches.len();
        let mut all = self.destinations();
        all.extend(self.switches.iter().map(|id| (id.lid, u32::MAX)));
        let last = all.keys().last().map_or(0, |&last| u32::from(last));
        all.len() == parts && !all.contains_key(&0) && last <= LAST_LID
    }

    /// Gives planned GUIDs to parts of a file without any.
    pub(super) fn complete(&mut self, wiring: &dyn Wiring) {
        let planned = Identity::planned(wiring);
        let pairs = self.switches.iter_mut().zip(planned.switches);
        for (id, planned) in pairs.chain(self.hosts.iter_mut().zip(planned.hosts)) {
            if id.guid == 0 {
                id.guid = planned.guid;
            }
        }
    }

    /// The number of addresses of a host, and so of paths to it.
    pub fn paths(&self) -> u32 {
        1 << self.lmc
    }

    /// The destination of each address: host times paths plus path.
    pub fn destinations(&self) -> BTreeMap<u16, u32> {
        let all = self.hosts.iter().enumerate().filter(|(_, id)| id.lid != 0);
        let paths = self.paths();
        let each = |(host, id): (usize, &Id)| {
            let first = host as u32 * paths;
            let lid = id.lid;
            (0..paths).map(move |path| (lid.saturating_add(path as u16), first + path))
        };
        all.flat_map(each).collect()
    }

    /// The host of each GUID.
    pub fn hosts_by_guid(&self) -> BTreeMap<u64, Host> {
        self.hosts.iter().enumerate().map(|(host, id)| (id.guid, host as Host)).collect()
    }

    /// The switch of each GUID.
    pub fn switches_by_guid(&self) -> BTreeMap<u64, u32> {
        self.switches.iter().enumerate().map(|(switch, id)| (id.guid, switch as u32)).collect()
    }
}
