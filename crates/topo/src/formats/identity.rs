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

/// One part. A switch's is that of its port 0, a host's that of its port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Id {
    pub guid: u64,
    /// The first address; 0 where it has none yet.
    pub lid: u16,
}

/// All parts of a fabric, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    pub switches: Vec<Id>,
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

    /// Gives every part its addresses, unless all have some with this mask: hosts first, because
    /// theirs begin at multiples of 2^lmc.
    pub fn pin(&mut self, lmc: u8) -> Result<(), String> {
        let (hosts, switches) = (self.hosts.len() as u64, self.switches.len() as u64);
        if lmc > MOST_LMC {
            return Err(format!("a host has at most {} addresses", 1 << MOST_LMC));
        }
        let need = ((hosts + 1) << lmc) + switches - 1;
        if need > u64::from(LAST_LID) {
            let each = 1 << lmc;
            return Err(format!(
                "{hosts} hosts with {each} addresses each and {switches} switches need addresses \
                 up to {need}, and those of one subnet end at {LAST_LID}"
            ));
        }
        if self.lmc == lmc && self.is_pinned() {
            return Ok(());
        }
        self.lmc = lmc;
        let mut next = 1u16 << lmc;
        for id in &mut self.hosts {
            id.lid = next;
            next += 1 << lmc;
        }
        for id in &mut self.switches {
            id.lid = next;
            next += 1;
        }
        Ok(())
    }

    /// Whether every part has addresses that no other has.
    pub fn is_pinned(&self) -> bool {
        let parts = self.hosts.len() * self.paths() as usize + self.switches.len();
        let mut all = self.destinations();
        all.extend(self.switches.iter().map(|id| (id.lid, u32::MAX)));
        let last = all.keys().last().map_or(0, |&last| u32::from(last));
        all.len() == parts && !all.contains_key(&0) && last <= LAST_LID
    }

    /// Gives planned GUIDs to parts of a file that tells none.
    pub(super) fn complete(&mut self, wiring: &dyn Wiring) {
        let planned = Identity::planned(wiring);
        let pairs = self.switches.iter_mut().zip(planned.switches);
        for (id, planned) in pairs.chain(self.hosts.iter_mut().zip(planned.hosts)) {
            if id.guid == 0 {
                id.guid = planned.guid;
            }
        }
    }

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

    pub fn hosts_by_guid(&self) -> BTreeMap<u64, Host> {
        self.hosts.iter().enumerate().map(|(host, id)| (id.guid, host as Host)).collect()
    }

    pub fn switches_by_guid(&self) -> BTreeMap<u64, u32> {
        self.switches.iter().enumerate().map(|(switch, id)| (id.guid, switch as u32)).collect()
    }
}
