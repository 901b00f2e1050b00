//! Takes out of each phase the messages that meet others, and finds those that have no phase.

use laneway_core::{Observer, Phases, Stage};

use super::roads::{Message, Roads};
use crate::threads::shared;
use crate::wiring::Host;

/// Phases, and what is not in them.
#[derive(Default)]
pub(super) struct Thinned {
    /// For each phase the partner of each host; itself where it rests.
    pub rows: Vec<Vec<Host>>,
    /// Messages that were taken out.
    pub out: Vec<Message>,
    /// Messages that cannot be.
    pub unreached: Vec<Message>,
}

/// Lets no link carry more messages than its phase is allowed; each thread has some of the phases.
pub(super) fn thin(
    roads: &Roads,
    order: &(dyn Phases + Sync),
    allowed: &[u32],
    observer: &dyn Observer,
) -> Thinned {
    let stage = Stage::new(observer, "phases repaired", allowed.len() as u64);
    let parts = shared(allowed.len(), |phases| {
        let mut work = Work::new(roads);
        for phase in phases {
            let mut row = vec![0; roads.hosts as usize];
            order.partners(phase as u64, &mut row);
            work.thin(row, allowed[phase]);
            stage.step();
        }
        work.done
    });
    let mut all = Thinned::default();
    for mut part in parts {
        all.rows.append(&mut part.rows);
        all.out.append(&mut part.out);
        all.unreached.append(&mut part.unreached);
    }
    all
}

impl Thinned {
    /// Messages on the fullest link or from the busiest sender, and all messages.
    pub fn bound(&self, roads: &Roads) -> (u64, u64) {
        let mut all = 0;
        let mut counts = vec![0u64; roads.count()];
        let kept = self.rows.iter().flat_map(|row| roads.messages(row));
        for message in kept.chain(self.out.iter().copied()) {
            all += 1;
            roads.needs(message).for_each(|need| counts[need] += 1);
        }
        (counts.into_iter().max().unwrap_or(0), all)
    }

    /// Adds what the order never sends to what was taken out, and removes repeated messages.
    pub fn complete(&mut self, roads: &Roads) {
        let hosts = roads.hosts as usize;
        let mut met = vec![false; hosts * hosts];
        let mut is_new = |(from, to): Message| {
            !std::mem::replace(&mut met[from as usize * hosts + to as usize], true)
        };
        for row in &mut self.rows {
            for (from, to) in row.iter_mut().enumerate() {
                let message = (from as Host, *to);
                if message.0 != message.1 && !is_new(message) {
                    *to = message.0;
                }
            }
        }
        self.out.retain(|&message| is_new(message));
        self.unreached.retain(|&message| is_new(message));
        for from in 0..roads.hosts {
            for to in (0..roads.hosts).filter(|&to| to != from) {
                match (is_new((from, to)), roads.arrives((from, to))) {
                    (false, _) => {}
                    (true, true) => self.out.push((from, to)),
                    (true, false) => self.unreached.push((from, to)),
                }
            }
        }
    }
}

struct Work<'a> {
    roads: &'a Roads,
    done: Thinned,
    counts: Vec<u32>,
}

impl Work<'_> {
    fn new(roads: &Roads) -> Work<'_> {
        Work { roads, done: Thinned::default(), counts: vec![0; roads.count()] }
    }

    fn thin(&mut self, mut row: Vec<Host>, allowed: u32) {
        let Work { roads, done, counts } = self;
        counts.fill(0);
        let mut full = false;
        for (from, to) in row.iter_mut().enumerate() {
            let message = (from as Host, *to);
            if !roads.arrives(message) {
                done.unreached.push(message);
                *to = message.0;
            } else if message.0 != message.1 {
                for need in roads.needs(message) {
                    counts[need] += 1;
                    full |= counts[need] > allowed;
                }
            }
        }
        if full {
            self.take_out(&mut row, allowed);
        }
        self.done.rows.push(row);
    }

    /// Takes messages out until all links are free enough: those first that meet others on most
    /// links, because one of them gone frees many others.
    fn take_out(&mut self, row: &mut [Host], allowed: u32) {
        let Work { roads, done, counts } = self;
        let meets = |message| roads.needs(message).filter(|&need| counts[need] > allowed).count();
        let asked = roads.messages(row).map(|message| (meets(message), message));
        let mut asked: Vec<_> = asked.filter(|asked| asked.0 > 0).collect();
        asked.sort_unstable_by_key(|&(meets, message)| (std::cmp::Reverse(meets), message));
        for (_, message) in asked {
            let needs = roads.needs(message);
            if needs.clone().any(|need| counts[need] > allowed) {
                needs.for_each(|need| counts[need] -= 1);
                row[message.0 as usize] = message.0;
                done.out.push(message);
            }
        }
    }
}
