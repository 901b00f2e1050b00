//! Packs messages into as few phases as it can, so that no two of a phase need the same thing.
//!
//! Phases are colours and messages that meet are neighbours in a graph; this is a search for a
//! colouring that is never wrong but may be partial (Blöchliger and Zufferey 2008). A message
//! without a phase takes the one where it displaces fewest; those wait, and may not come back there
//! for a while. When that leads nowhere there is a phase more.

use laneway_core::{Observer, Stage};
use laneway_stats::SplitMix64;

use super::roads::{Message, Roads};
use crate::wiring::Host;

/// Not needed by any message in a phase.
const FREE: u32 = u32::MAX;

/// Displacements that are tried before there is a phase more.
const TRIES: u32 = 20_000;

struct Packer<'a> {
    messages: &'a [Message],
    /// Where the needs of each message begin, and all of them.
    begin: Vec<u32>,
    needs: Vec<u32>,
    /// For each resource its owner in each phase: rows, because a search looks at all phases.
    owners: Vec<Vec<u32>>,
    phases: usize,
    /// Whom a message would displace in each phase: how many, and the last; used again for each.
    displaced: Vec<u32>,
    last: Vec<u32>,
    /// The phase of each message, and the ones that it may not return to, with the time till when.
    phase: Vec<u32>,
    barred: Vec<[(u32, u32); 4]>,
    waiting: Vec<u32>,
    draws: SplitMix64,
}

/// The partner of each host in each phase; itself where it rests.
pub(super) fn pack(roads: &Roads, messages: &[Message], observer: &dyn Observer) -> Vec<Vec<Host>> {
    let mut packer = Packer::new(roads, messages);
    let least = packer.least();
    for _ in 0..least {
        packer.add_phase();
    }
    packer.place_in_turn(observer);
    while !packer.waiting.is_empty() {
        packer.search();
        if !packer.waiting.is_empty() {
            packer.add_phase();
        }
    }
    packer.rows(roads.hosts)
}

impl<'a> Packer<'a> {
    fn new(roads: &Roads, messages: &'a [Message]) -> Packer<'a> {
        let (mut begin, mut needs) = (vec![0], Vec::new());
        for &message in messages {
            needs.extend(roads.needs(message).map(|need| need as u32));
            begin.push(needs.len() as u32);
        }
        Packer {
            messages,
            begin,
            needs,
            owners: vec![Vec::new(); roads.count()],
            phases: 0,
            displaced: Vec::new(),
            last: Vec::new(),
            phase: vec![FREE; messages.len()],
            barred: vec![[(FREE, 0); 4]; messages.len()],
            waiting: (0..messages.len() as u32).collect(),
            draws: SplitMix64::new(messages.len() as u64),
        }
    }

    fn needs(&self, message: u32) -> &[u32] {
        let at = message as usize;
        &self.needs[self.begin[at] as usize..self.begin[at + 1] as usize]
    }

    /// How often each thing is needed.
    fn wanted(&self) -> Vec<u32> {
        let mut wanted = vec![0; self.owners.len()];
        self.needs.iter().for_each(|&need| wanted[need as usize] += 1);
        wanted
    }

    /// No fewer phases can do.
    fn least(&self) -> u32 {
        self.wanted().into_iter().max().unwrap_or(0)
    }

    fn add_phase(&mut self) {
        self.owners.iter_mut().for_each(|owners| owners.push(FREE));
        self.phases += 1;
    }

    fn put(&mut self, message: u32, phase: usize) {
        let at = message as usize;
        for need in self.begin[at] as usize..self.begin[at + 1] as usize {
            self.owners[self.needs[need] as usize][phase] = message;
        }
        self.phase[at] = phase as u32;
    }

    fn take(&mut self, message: u32) {
        let at = message as usize;
        let phase = self.phase[at] as usize;
        for need in self.begin[at] as usize..self.begin[at + 1] as usize {
            self.owners[self.needs[need] as usize][phase] = FREE;
        }
        self.phase[at] = FREE;
    }

    /// Those that want what is scarce first, each into the first phase where it displaces no other.
    fn place_in_turn(&mut self, observer: &dyn Observer) {
        let wanted = self.wanted();
        let mut turn = std::mem::take(&mut self.waiting);
        let scarce = |&message: &u32| {
            let needs = self.needs(message).iter();
            let mut needs: Vec<u32> = needs.map(|&need| wanted[need as usize]).collect();
            needs.sort_unstable_by(|a, b| b.cmp(a));
            (std::cmp::Reverse(needs), message)
        };
        turn.sort_by_cached_key(scarce);
        let stage = Stage::new(observer, "messages put into phases", turn.len() as u64);
        for message in stage.over(turn) {
            let fits = |&phase: &usize| {
                self.needs(message).iter().all(|&need| self.owners[need as usize][phase] == FREE)
            };
            match (0..self.phases).find(fits) {
                Some(phase) => self.put(message, phase),
                None => self.waiting.push(message),
            }
        }
    }

    /// Displaces until none waits or the tries are used up.
    fn search(&mut self) {
        self.barred.fill([(FREE, 0); 4]);
        for now in 0..TRIES {
            if self.waiting.is_empty() {
                return;
            }
            let next = self.draws.index(self.waiting.len());
            let message = self.waiting.swap_remove(next);
            let phase = self.best_phase(message, now);
            let at = message as usize;
            for need in self.begin[at] as usize..self.begin[at + 1] as usize {
                let owner = self.owners[self.needs[need] as usize][phase];
                if owner != FREE {
                    self.take(owner);
                    self.waiting.push(owner);
                    let patience = self.waiting.len() as u32 + self.draws.index(10) as u32;
                    let barred = &mut self.barred[owner as usize];
                    barred.rotate_right(1);
                    barred[0] = (phase as u32, now + patience);
                }
            }
            self.put(message, phase);
        }
    }

    /// The phase where a message displaces fewest; of equal ones, any.
    fn best_phase(&mut self, message: u32, now: u32) -> usize {
        self.count_displaced(message);
        let barred = self.barred[message as usize];
        for (at, &(phase, till)) in barred.iter().enumerate() {
            let again = barred[..at].iter().any(|&(other, till)| other == phase && till > now);
            if till > now && !again {
                self.displaced[phase as usize] += 100;
            }
        }
        let fewest = self.displaced.iter().copied().min().unwrap_or(0);
        let equal = self.displaced.iter().filter(|&&displaced| displaced == fewest).count();
        let one = self.draws.index(equal);
        let mut equal = (0..self.phases).filter(|&phase| self.displaced[phase] == fewest);
        // There are more of them than that.
        equal.nth(one).unwrap_or(0)
    }

    fn count_displaced(&mut self, message: u32) {
        self.displaced.clear();
        self.displaced.resize(self.phases, 0);
        self.last.clear();
        self.last.resize(self.phases, FREE);
        let at = message as usize;
        for &need in &self.needs[self.begin[at] as usize..self.begin[at + 1] as usize] {
            let counts = self.displaced.iter_mut().zip(&mut self.last);
            for ((count, last), &owner) in counts.zip(&self.owners[need as usize]) {
                // A message that shares two links with it mostly shares neighbouring ones.
                *count += u32::from(owner != FREE && owner != *last);
                *last = if owner == FREE { *last } else { owner };
            }
        }
    }

    fn rows(&self, hosts: u32) -> Vec<Vec<Host>> {
        let mut rows: Vec<Vec<Host>> = vec![(0..hosts).collect(); self.phases];
        for (&(from, to), &phase) in self.messages.iter().zip(&self.phase) {
            rows[phase as usize][from as usize] = to;
        }
        rows.retain(|row| row.iter().enumerate().any(|(from, &to)| from as Host != to));
        rows
    }
}
