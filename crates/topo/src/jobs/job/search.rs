//! Messages in as few phases as possible, by ejection.
//!
//! Messages are put one after the other into a phase in which all that they need is free. Where
//! there is none, a message throws others out: those that have been hardest to place are spared
//! (guided ejection: Nagata and Bräysy 2009). It is all counted and seeded, never timed.

use laneway_core::{Observer, Stage};
use laneway_stats::SplitMix64;

use super::flows::Flows;

/// In no phase.
const NONE: u32 = u32::MAX;

/// What is taken in which phase. Messages are numbered sender times ranks plus receiver.
struct Taken<'f> {
    flows: &'f Flows,
    /// Phases in use.
    phases: usize,
    words: usize,
    /// A bit for each resource and phase that there is room for.
    bits: Vec<u64>,
}

/// A partial schedule in which nothing meets, and the messages that have no phase yet.
struct Search<'f> {
    flows: &'f Flows,
    taken: Taken<'f>,
    /// Phases that there is room for.
    room: usize,
    /// The owner of each, and how often that message found no free phase: rows that a processor
    /// reads many phases at once of.
    holder: Vec<u32>,
    price: Vec<u32>,
    /// The phase of each message.
    phase: Vec<u32>,
    /// How often a message found no free phase.
    trouble: Vec<u32>,
    waiting: Vec<u32>,
    /// What each phase would cost, and whom it counts: used again for each message.
    costs: Vec<u32>,
    counts: Vec<u32>,
    draws: SplitMix64,
}

/// The first schedule that comes: every message in the first phase that is free, in the order of a
/// shift, which fills phases well. `None` if that takes more than `most` phases.
pub fn list(flows: &Flows, most: usize) -> Option<(usize, Vec<u32>)> {
    let ranks = flows.ranks();
    let mut taken = Taken::new(flows, most, most);
    let (mut used, mut phase_of) = (0, vec![NONE; ranks * ranks]);
    for far in 1..ranks {
        for from in 0..ranks {
            let message = (from * ranks + (from + far) % ranks) as u32;
            let phase = taken.free_phase(message, 0)?;
            taken.put(message, phase);
            phase_of[message as usize] = phase as u32;
            used = used.max(phase + 1);
        }
    }
    Some((used, phase_of))
}

/// How many numbers of phases are tried in earnest.
const TRIES: usize = 6;

/// Phases beyond the bound at each try: a few are enough for a small job, a few in a hundred for a
/// large one.
fn slack(bound: usize, tries: usize) -> usize {
    tries + bound * tries * tries / 400
}

/// Looks for a schedule of at least `bound` and at most `most` phases: their number, and the phase
/// of each message. `effort` is how many pairs of holders all of it may look at.
pub fn search(
    flows: &Flows,
    bound: usize,
    most: usize,
    seed: u64,
    effort: u64,
    observer: &dyn Observer,
) -> Option<(usize, Vec<u32>)> {
    if bound > most {
        return None;
    }
    let mut search = Search::new(flows, bound, most, seed);
    search.begin();
    let mut tries = 0;
    loop {
        // In the end, what still waits opens phases of its own.
        let effort = if tries < TRIES { effort / TRIES as u64 } else { 0 };
        if search.settle(effort, observer) {
            return Some((search.taken.phases, search.phase));
        }
        if search.taken.phases == most {
            return None;
        }
        tries += 1;
        let more = match tries < TRIES {
            true => bound + slack(bound, tries),
            false => search.taken.phases + 1,
        };
        search.taken.phases = more.min(most);
    }
}

impl<'f> Taken<'f> {
    fn new(flows: &'f Flows, phases: usize, room: usize) -> Taken<'f> {
        let words = room.div_ceil(64);
        Taken { flows, phases, words, bits: vec![0; flows.resources() * words] }
    }

    fn needs(&self, message: u32) -> impl Iterator<Item = usize> + Clone + use<'f> {
        let ranks = self.flows.ranks();
        self.flows.needs(message as usize / ranks, message as usize % ranks)
    }

    /// The first phase from `start` on, and round, in which a message meets no contention.
    fn free_phase(&self, message: u32, start: usize) -> Option<usize> {
        let needs = self.needs(message);
        let words = self.phases.div_ceil(64);
        let first = start / 64;
        for step in 0..=words {
            let word = (first + step) % words;
            let mut busy = 0;
            for need in needs.clone() {
                busy |= self.bits[need * self.words + word];
            }
            let left = self.phases - word * 64;
            if left < 64 {
                busy |= u64::MAX << left;
            }
            if step == 0 {
                busy |= (1 << (start % 64)) - 1;
            }
            if busy != u64::MAX {
                return Some(word * 64 + (!busy).trailing_zeros() as usize);
            }
        }
        None
    }

    fn put(&mut self, message: u32, phase: usize) {
        for need in self.needs(message) {
            self.bits[need * self.words + phase / 64] |= 1 << (phase % 64);
        }
    }

    fn take_out(&mut self, message: u32, phase: usize) {
        for need in self.needs(message) {
            self.bits[need * self.words + phase / 64] &= !(1 << (phase % 64));
        }
    }
}

impl<'f> Search<'f> {
    fn new(flows: &'f Flows, phases: usize, room: usize, seed: u64) -> Search<'f> {
        let messages = flows.ranks() * flows.ranks();
        Search {
            flows,
            taken: Taken::new(flows, phases, room),
            room,
            holder: vec![NONE; flows.resources() * room],
            price: vec![0; flows.resources() * room],
            phase: vec![NONE; messages],
            trouble: vec![1; messages],
            waiting: Vec::new(),
            costs: Vec::new(),
            counts: Vec::new(),
            draws: SplitMix64::new(seed),
        }
    }

    /// The messages with the most wanted resources go first.
    fn begin(&mut self) {
        let (load, ranks) = (self.flows.load(), self.flows.ranks());
        let mut order: Vec<(u64, u64, u32)> = Vec::with_capacity(ranks * ranks);
        for (from, to) in self.flows.all() {
            let wanted = self.flows.needs(from, to).map(|need| u64::from(load[need]));
            let wanted: u64 = wanted.map(|load| load * load).sum();
            order.push((wanted, self.draws.next_u64(), (from * ranks + to) as u32));
        }
        order.sort_unstable();
        for (_, _, message) in order.into_iter().rev() {
            match self.taken.free_phase(message, 0) {
                Some(phase) => self.put(message, phase),
                None => self.waiting.push(message),
            }
        }
    }

    fn put(&mut self, message: u32, phase: usize) {
        self.taken.put(message, phase);
        for need in self.taken.needs(message) {
            self.holder[need * self.room + phase] = message;
            self.price[need * self.room + phase] = self.trouble[message as usize];
        }
        self.phase[message as usize] = phase as u32;
    }

    fn take_out(&mut self, message: u32) {
        let phase = std::mem::replace(&mut self.phase[message as usize], NONE) as usize;
        self.taken.take_out(message, phase);
        for need in self.taken.needs(message) {
            self.holder[need * self.room + phase] = NONE;
            self.price[need * self.room + phase] = 0;
        }
    }

    /// The phase in which those that are in a message's way have had the least trouble.
    fn cheapest_phase(&mut self, message: u32) -> usize {
        let needs: Vec<usize> = self.taken.needs(message).collect();
        let row = |need: usize| need * self.room..need * self.room + self.taken.phases;
        self.costs.clear();
        self.costs.resize(self.taken.phases, 0);
        for (at, &need) in needs.iter().enumerate() {
            let (holder, price) = (&self.holder[row(need)], &self.price[row(need)]);
            self.counts.clear();
            self.counts.resize(self.taken.phases, 1);
            // A message that is in the way twice counts once.
            for &before in &needs[..at] {
                let before = &self.holder[row(before)];
                for ((counts, one), other) in self.counts.iter_mut().zip(holder).zip(before) {
                    *counts &= u32::from(one != other);
                }
            }
            for ((cost, price), counts) in self.costs.iter_mut().zip(price).zip(&self.counts) {
                *cost += price * counts;
            }
        }
        let least = self.costs.iter().copied().min().unwrap_or(0);
        let start = self.draws.index(self.taken.phases);
        let is_least = |&phase: &usize| self.costs[phase] == least;
        // One of them is the least.
        (start..self.taken.phases).chain(0..start).find(is_least).unwrap_or(start)
    }

    /// Finds a phase for all that wait; false where the effort is spent before.
    fn settle(&mut self, effort: u64, observer: &dyn Observer) -> bool {
        let mut left = effort / (self.taken.phases * self.flows.most_needs().pow(2)) as u64;
        let stage = Stage::new(observer, "exchanges of messages tried", left);
        let mut stuck = Vec::new();
        while let Some(message) = self.waiting.pop() {
            let start = self.draws.index(self.taken.phases);
            if let Some(phase) = self.taken.free_phase(message, start) {
                self.put(message, phase);
            } else if left > 0 {
                left -= 1;
                stage.step();
                self.force(message);
            } else {
                stuck.push(message);
            }
        }
        self.waiting = stuck;
        self.waiting.is_empty()
    }

    /// Puts a message where others are, who then wait.
    fn force(&mut self, message: u32) {
        self.trouble[message as usize] += 1;
        let phase = self.cheapest_phase(message);
        for need in self.taken.needs(message) {
            let holder = self.holder[need * self.room + phase];
            if holder != NONE {
                self.take_out(holder);
                self.waiting.push(holder);
            }
        }
        self.put(message, phase);
    }
}
