//! The ways from every switch that has hosts to every host, worked out once.
//!
//! Hosts of one switch share their ways, so there are d times fewer ways than pairs of hosts; a way
//! is a few numbers of links. The link to the destination itself is known from the destination.

use std::thread;

use laneway_core::{Observer, Stage};

use crate::routing::table::Table;
use crate::threads::threads;
use crate::wiring::links::Links;
use crate::wiring::{End, Host, NO_PORT, Switch, Wiring, by_switch};

/// A number of a link, as small as it can be, so that ways lie densely; and a count of messages.
pub(crate) trait Number: Copy + Send + Sync {
    type Count: Copy + Default + Ord + Into<u32> + From<u8> + Send;
    /// Counts that there are at least: with one for every number no place has to be checked.
    const ROOM: usize;
    /// Counts one more of a link. Only a number that is not a link can wrap around.
    fn add(counts: &mut [Self::Count], link: Self);
    fn more(count: Self::Count) -> Self::Count;
    fn less(count: Self::Count) -> Self::Count;
    fn new(link: u32) -> Self;
    fn at(self) -> usize;
}

impl Number for u16 {
    /// A link to each host that has a cable: so a link carries fewer messages than there are links.
    type Count = u16;

    const ROOM: usize = 1 << 16;

    #[inline(always)]
    fn add(counts: &mut [u16], link: u16) {
        // The caller has made ROOM.
        let all = counts.first_chunk_mut::<{ 1 << 16 }>().expect("a count for every number");
        all[link as usize] = all[link as usize].wrapping_add(1);
    }

    fn more(count: u16) -> u16 {
        count.wrapping_add(1)
    }

    fn less(count: u16) -> u16 {
        count.wrapping_sub(1)
    }

    fn new(link: u32) -> u16 {
        link as u16
    }

    fn at(self) -> usize {
        usize::from(self)
    }
}

impl Number for u32 {
    type Count = u32;

    const ROOM: usize = 0;

    #[inline(always)]
    fn add(counts: &mut [u32], link: u32) {
        counts[link as usize] = counts[link as usize].wrapping_add(1);
    }

    fn more(count: u32) -> u32 {
        count.wrapping_add(1)
    }

    fn less(count: u32) -> u32 {
        count.wrapping_sub(1)
    }

    fn new(link: u32) -> u32 {
        link
    }

    fn at(self) -> usize {
        self as usize
    }
}

/// Ways as numbers of links.
pub(crate) struct Ways<N> {
    /// Links of a way; shorter ones are filled up with `nowhere`.
    pub hops: usize,
    pub links: Vec<N>,
    /// Where the ways of a host's switch begin.
    pub begin: Vec<usize>,
    /// Hosts in a row that share a switch: the first of them.
    pub runs: Vec<Host>,
    /// The link to each host.
    pub last: Vec<N>,
}

/// Two numbers that are no link: for messages that need none, and for those that do not arrive.
pub(crate) fn nowhere(links: &Links) -> u32 {
    links.count()
}

pub(crate) fn lost(links: &Links) -> u32 {
    links.count() + 1
}

/// What is needed to follow a way.
struct Map<'a> {
    table: &'a Table,
    links: &'a Links,
    ends: Vec<End>,
}

/// What following a way came to.
enum Outcome {
    Arrived,
    Lost,
    /// It has more links than there is room for.
    TooLong,
}

impl Map<'_> {
    fn follow<N: Number>(&self, from: Switch, to: Host, way: &mut [N]) -> Outcome {
        let (mut switch, mut passed) = (from, 0);
        loop {
            let port = self.table.row_of(switch)[to as usize * self.table.paths() as usize];
            let Some(link) = self.links.checked(switch, port).filter(|_| port != NO_PORT) else {
                return Outcome::Lost;
            };
            match self.ends[link as usize] {
                End::Host(host) if host == to && passed <= way.len() => return Outcome::Arrived,
                End::Host(host) if host == to => return Outcome::TooLong,
                End::Host(_) | End::Nothing => return Outcome::Lost,
                End::Switch(next, _) => {
                    if let Some(place) = way.get_mut(passed) {
                        *place = N::new(link);
                    }
                    passed += 1;
                    switch = next;
                }
            }
            // A way that has passed every switch and goes on goes round.
            if passed > self.table.switches() as usize {
                return Outcome::Lost;
            }
        }
    }

    /// The ways out of one switch; `None` if one of them is too long.
    fn ways_of<N: Number>(&self, from: Switch, hops: usize, ways: &mut [N]) -> Option<()> {
        let (nowhere, lost) = (N::new(nowhere(self.links)), N::new(lost(self.links)));
        for (to, way) in ways.chunks_mut(hops).enumerate() {
            way.fill(nowhere);
            match self.follow(from, to as Host, way) {
                Outcome::Arrived => {}
                Outcome::TooLong => return None,
                Outcome::Lost => {
                    way.fill(nowhere);
                    way[0] = lost;
                }
            }
        }
        Some(())
    }
}

/// The switches that have hosts.
fn leaves(wiring: &dyn Wiring) -> Vec<Switch> {
    by_switch(wiring, 0..wiring.hosts()).into_keys().collect()
}

/// Bytes that all ways may take.
const MOST_BYTES: u64 = 4 << 30;

/// Refuses ways of this number of links if they do not fit.
pub(crate) fn ensure_fit<N>(wiring: &dyn Wiring, hops: usize) -> Result<(), String> {
    let (rows, hosts) = (leaves(wiring).len() as u64 + 1, wiring.hosts());
    if rows * u64::from(hosts) * (hops * size_of::<N>()) as u64 <= MOST_BYTES {
        return Ok(());
    }
    let most = MOST_BYTES >> 30;
    Err(format!("the paths between {hosts} hosts need more than {most} GiB"))
}

impl<N: Number> Ways<N> {
    /// Works out all of them; refuses those that do not fit into memory.
    pub fn new(
        wiring: &dyn Wiring,
        table: &Table,
        links: &Links,
        observer: &dyn Observer,
    ) -> Result<Ways<N>, String> {
        let map = Map { table, links, ends: links.ends(wiring) };
        let hosts = wiring.hosts();
        let places: Vec<_> = (0..hosts).map(|host| wiring.attached(host)).collect();
        let switches = leaves(wiring);
        let mut hops = 2;
        let mut found = loop {
            ensure_fit::<N>(wiring, hops)?;
            let stage = Stage::new(observer, "paths followed, by switch", switches.len() as u64);
            match all_ways(&map, &switches, hosts as usize, hops, &stage) {
                Some(found) => break found,
                None => hops *= 2,
            }
        };
        // The last row is that of hosts without a cable.
        let (nowhere, lost) = (N::new(nowhere(links)), N::new(lost(links)));
        let wide = hosts as usize * hops;
        let last = switches.len() * wide;
        for (at, link) in found[last..].iter_mut().enumerate() {
            *link = if at % hops == 0 { lost } else { nowhere };
        }
        let row = |place: &Option<(Switch, _)>| {
            let row = place.and_then(|(switch, _)| switches.binary_search(&switch).ok());
            row.unwrap_or(switches.len()) * wide
        };
        let begin: Vec<usize> = places.iter().map(row).collect();
        let is_first = |&host: &usize| host == 0 || begin[host] != begin[host - 1];
        let runs = (0..begin.len()).filter(is_first).map(|host| host as Host).collect();
        let last = |place: &Option<(Switch, u8)>| {
            place.map_or(nowhere, |(switch, port)| N::new(links.link(switch, port)))
        };
        Ok(Ways { hops, begin, runs, last: places.iter().map(last).collect(), links: found })
    }
}

/// The ways of all switches, each thread some of them; and room for one row more.
fn all_ways<N: Number>(
    map: &Map,
    switches: &[Switch],
    hosts: usize,
    hops: usize,
    stage: &Stage,
) -> Option<Vec<N>> {
    let mut ways = vec![N::new(0); (switches.len() + 1) * hosts * hops];
    if hosts == 0 {
        return Some(ways);
    }
    let threads = threads().min(switches.len()).max(1);
    let share = switches.len().div_ceil(threads).max(1);
    let work = |switches: &[Switch], ways: &mut [N]| {
        let mut rows = switches.iter().zip(ways.chunks_mut(hosts * hops));
        rows.all(|(&from, row)| {
            stage.step();
            map.ways_of(from, hops, row).is_some()
        })
    };
    let done = thread::scope(|scope| {
        let parts = switches.chunks(share).zip(ways.chunks_mut(share * hosts * hops));
        let spawn = |(switches, ways)| scope.spawn(move || work(switches, ways));
        let handles: Vec<_> = parts.map(spawn).collect();
        // A thread panics only where this one would have; then so does this one.
        handles.into_iter().all(|handle| handle.join().expect("a thread that works out ways"))
    });
    done.then_some(ways)
}

/// Whether the ways' numbers fit into two bytes, and a count of messages too.
pub(crate) fn are_few(links: &Links, hosts: u32) -> bool {
    u16::try_from(lost(links).max(hosts)).is_ok()
}
